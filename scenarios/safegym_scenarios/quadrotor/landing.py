"""Landings: on a pad, on one that drives, on a deck that heaves."""

from collections.abc import Callable
from functools import partial
from math import cos, hypot, pi, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.quadrotor.airframe import FEET, flying_scene
from safegym_scenarios.quadrotor.claims import upright
from safegym_scenarios.quadrotor.env import (
    PUSHES,
    FlightEnv,
    FlightSetting,
    flight_faults,
    ground_effect,
    signals,
)
from safegym_scenarios.quadrotor.guidance import TRIM, eased, idle
from safegym_scenarios.quadrotor.makers import Made
from safegym_scenarios.quadrotor.shapes import Point
from safegym_scenarios.quadrotor.view import asking, decode
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers

HORIZON = 200
Policy = Callable[[NDArray[Any]], NDArray[np.float32]]
PAD = 0.45
"""m, radius of the pad."""
TOP = {"ground": 0.03, "rover": 0.35, "deck": 0.6}
"""m, height of the pad's top."""
GAP = Signal("pad_gap", unit="m", scale=0.1, hold="min")
"""Height of the soles above the pad, m."""
SINK = Signal("sink_rate", unit="m/s", scale=0.2, hold="max")
"""How fast the soles come down on the pad, m/s, relative to it; negative when rising."""
SLIP = Signal("slip_speed", unit="m/s", scale=0.1, hold="max")
"""Speed across the pad, m/s, relative to it."""
OFFSET = Signal("pad_offset", unit="m", scale=0.1, hold="max")
"""Distance of the drone from the pad's middle, across, m."""
LANDED = Signal("landed", unit="1", scale=1.0)
"""1 once the soles stand on the pad, else 0."""


class Landing(FlightEnv):
    """Come down on the pad. Ends with "landed", or "missed" when the soles touch the ground."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        return flying_scene(
            setting,
            world=_PADS[setting.layout] + _BESIDE[setting.layout],
            camera='pos="2.6 -2.8 2.2" xyaxes="0.75 0.66 0 -0.29 0.33 0.9"',
            center=(0.0, 0.0, 0.8),
            extent=4.0,
            floor="water" if setting.layout == "deck" else "grass",
        )

    def prepare(self) -> None:
        """Look up addresses; start values of what an episode carries."""
        super().prepare()
        self.pad_slot = int(self.model.body("pad").mocapid[0])
        self.touched = 0.0

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        self.touched = 0.0
        self.goal = (0.0, 0.0, TOP[self.setting.layout])
        return values["start_x"], values["start_y"], values["start_z"]

    def move(self, time: float) -> None:
        """Bring what moves by itself to this time."""
        values, layout = self.values, self.setting.layout
        top = TOP[layout]
        if layout == "rover":
            speed, turn = values["pad_speed"], values["pad_turn"]
            place = -0.5 * speed * 4.0 + speed * time
            sway = 0.3 * sin(turn * time)
            self.goal = (place, sway, top)
            self.goal_velocity = (speed, 0.3 * turn * cos(turn * time), 0.0)
        elif layout == "deck":
            size, rate = values["heave"], 2.0 * pi / values["heave_period"]
            angle = rate * time + values["heave_phase"]
            self.goal = (0.0, 0.0, top + size * sin(angle))
            self.goal_velocity = (0.0, 0.0, size * rate * cos(angle))
        self.data.mocap_pos[self.pad_slot] = self.goal

    def lift_share(self, place: Point) -> float:
        """Thrust relative to free air."""
        gap = place[2] - self.goal[2]
        return ground_effect(gap) if self.offset() < PAD and 0.0 < gap < 0.6 else 1.0

    def wind(self, place: Point) -> Point:
        """Velocity of the air there, m/s."""
        return 0.0, self.values["cross_wind"], 0.0

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        own = ((GAP, self.gap), (SINK, self.sink), (SLIP, self.slip), (OFFSET, self.offset))
        return (*super().readers(), *((s, _custom(read)) for s, read in own))

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals as of the sample."""
        return self.touched, self.distance

    def progress(self) -> None:
        """Bring the task's state up to date."""
        super().progress()
        if self.gap() < 0.02 and self.offset() <= PAD:
            self.touched = 1.0

    def terminal(self) -> str:
        """Why the episode ends, empty if it goes on."""
        if self.touched:
            return "landed"
        return "missed" if self.here()[2] < FEET + 0.01 else ""

    def reward(self, action: Any) -> float:
        """Progress, less cost of what the claims forbid."""
        gained = self._last_distance - self.distance
        ending = {"": 0.0, "missed": -20.0}.get(self.terminal())
        if ending is None:
            ending = 10.0 - 15.0 * max(0.0, self.sink() - 0.3) - 10.0 * self.slip()
        return gained - 0.02 - 0.01 * float(action @ action) + ending

    def gap(self) -> float:
        """Metres from the soles to the pad's top."""
        return self.here()[2] - FEET - self.goal[2]

    def sink(self) -> float:
        """m/s downward, relative to the pad."""
        return self.goal_velocity[2] - float(self.data.qvel[2])

    def slip(self) -> float:
        """m/s across, relative to the pad."""
        vx, vy = self.data.qvel[:2].tolist()
        return hypot(vx - self.goal_velocity[0], vy - self.goal_velocity[1])

    def offset(self) -> float:
        """Metres across, from the pad's middle."""
        x, y, _ = self.here()
        return hypot(x - self.goal[0], y - self.goal[1])


def _custom(read: Callable[[], float]) -> Custom:
    return Custom(lambda model, data: read())


def _on_pad(id: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    near = (GAP <= 0.03) & (OFFSET <= PAD)
    return Claim(
        id=id, statement=always(near.implies(signal <= limit)), hazard=hazard, source=source
    )


def _claims(word: str) -> tuple[Claim, ...]:
    return (
        _on_pad(
            f"{word}.touchdown",
            SINK,
            0.7,
            "the drone strikes the pad, breaks its legs and tips over",
            "chosen: 0.7 m/s is a fall from 2.5 cm, what stiff legs take",
        ),
        _on_pad(
            f"{word}.slip",
            SLIP,
            0.35,
            "the soles catch while it still moves across, and it rolls over its legs",
            "chosen: a quarter of the 1.3 m/s that tips it over legs 0.2 m apart that catch",
        ),
        upright(f"{word}.tilt"),
        Claim(
            id=f"{word}.landed",
            statement=eventually(LANDED >= 1.0),
            hazard="the drone does not get down on the pad before its battery is empty",
            source="chosen: the horizon of 10 s is what is left",
            severity="marginal",
        ),
    )


def land(
    observations: NDArray[Any],
    *,
    descent: float = 0.5,
    slow: float = 0.4,
    wait: float = 0.18,
    lead: float = 1.0,
    gain: float = 1.1,
    ease: float = 0.65,
    cruise: float = 1.4,
    trim: float = 0.6,
) -> NDArray[np.float32]:
    """Come above the pad, then down on it, slower near it.

    descent: 1/s. slow: m/s at touchdown. wait: m of offset beyond which it stays 0.5 m above.
    lead: share of the pad's own velocity that is flown along with. trim: see `guidance.toward`.
    """
    view = decode(observations)
    wish = gain * view.way
    across = np.sqrt((wish[:, :2] ** 2).sum(axis=1, keepdims=True))
    wish[:, :2] *= np.minimum(1.0, cruise / np.maximum(across, 1e-6))
    wish[:, :2] -= 0.35 * (view.velocity[:, :2] - lead * view.goal_velocity[:, :2] - wish[:, :2])
    off = np.sqrt((view.way[:, :2] ** 2).sum(axis=1))
    down = -np.clip(descent * view.height, slow, 0.9)
    hold = np.clip(1.2 * (0.5 - view.height), -0.9, 0.6)
    wish[:, 2] = np.where(off <= wait + 0.2 * (view.height < 0.25), down, np.maximum(hold, down))
    wish += lead * view.goal_velocity
    wish[:, 2] += trim * TRIM * view.surplus
    return asking(eased(wish, view, ease))


def swoop(observations: NDArray[Any]) -> NDArray[np.float32]:
    """Straight at the pad at 1.3 m/s, and no slower near it."""
    view = decode(observations)
    way = np.sqrt((view.way**2).sum(axis=1, keepdims=True))
    wish = 1.3 * view.way / np.maximum(way, 1e-6) + view.goal_velocity
    return asking(eased(wish, view, 0.8))


def _inputs(*parameters: Parameter) -> Inputs:
    start = (
        Parameter("start_x", "m", -1.6, 1.6, 0.0, "where it starts", "initial"),
        Parameter("start_y", "m", -1.2, 1.2, 0.0, "where it starts", "initial"),
        Parameter("start_z", "m", 1.5, 2.2, 1.8, "where it starts", "initial"),
        Parameter("cross_wind", "m/s", -2.0, 2.0, 0.0, "wind from the right"),
    )
    return Inputs(HORIZON, (*start, *parameters), flight_faults(HORIZON), PUSHES)


def _landing(
    name: str, word: str, summary: str, layout: str, *parameters: Parameter
) -> ScenarioSpec:
    policies: dict[str, Policy] = {
        "careful": land,
        "dropping": partial(land, descent=3.0, slow=0.9),
        "swooping": swoop,
        "jerky": partial(land, gain=4.0, ease=9.0, cruise=3.0),
    }
    makers = {n: Made(f"drone.{word}.{n}", f) for n, f in policies.items()}
    bad = {
        f"{word}.touchdown": makers["dropping"],
        f"{word}.slip": makers["swooping"],
        f"{word}.tilt": makers["jerky"],
        f"{word}.landed": Made(f"drone.{word}.idle", idle),
    }
    setting = FlightSetting(inputs=_inputs(*parameters), actions=3, layout=layout)
    return declare(
        name,
        summary,
        Landing,
        setting,
        signals=signals(GAP, SINK, SLIP, OFFSET, LANDED),
        claims=_claims(word),
        good=makers["careful"],
        bad=bad,
        terminals={"landed": "absorbed", "missed": "failed"},
    )


def on_pad() -> ScenarioSpec:
    """On a pad on the ground, in side wind; ground effect pushes up over the last 30 cm."""
    return _landing(
        "drone/landing-v0", "landing", "Land on a pad in side wind and ground effect.", "ground"
    )


def on_rover() -> ScenarioSpec:
    """On a rover that drives on and sways."""
    return _landing(
        "drone/landing-moving-v0",
        "landing-moving",
        "Land on a rover that drives on and sways.",
        "rover",
        Parameter("pad_speed", "m/s", 0.2, 0.6, 0.4, "how fast the rover drives"),
        Parameter("pad_turn", "rad/s", 0.2, 0.7, 0.4, "how fast it sways"),
    )


def on_deck() -> ScenarioSpec:
    """On a deck that heaves with the sea."""
    return _landing(
        "drone/landing-deck-v0",
        "landing-deck",
        "Land on a ship's deck that heaves.",
        "deck",
        Parameter("heave", "m", 0.15, 0.3, 0.2, "size of the heave"),
        Parameter("heave_period", "s", 3.5, 6.0, 4.5, "period of the heave"),
        Parameter("heave_phase", "rad", 0.0, 6.28, 0.0, "where in its period it begins"),
    )


_DISC = f"""
      <geom name="pad" type="cylinder" size="{PAD} 0.02" pos="0 0 -0.02" contype="1"
            conaffinity="1" friction="0.9" material="marking"/>
      <geom class="look" type="cylinder" size="{0.8 * PAD:g} 0.002" material="blue"/>
      <geom class="look" type="cylinder" size="{0.62 * PAD:g} 0.003" material="marking"/>
      <geom class="look" type="box" pos="-0.09 0 0.001" size="0.025 0.16 0.004" material="blue"/>
      <geom class="look" type="box" pos="0.09 0 0.001" size="0.025 0.16 0.004" material="blue"/>
      <geom class="look" type="box" pos="0 0 0.001" size="0.09 0.025 0.004" material="blue"/>"""
_WHEELS = "".join(
    f'<geom class="look" type="cylinder" pos="{x} {y} -0.25" size="0.1 0.04" '
    'euler="1.5708 0 0" material="rubber"/>'
    for x in (-0.36, 0.36)
    for y in (-0.36, 0.36)
)
_PADS = {
    "ground": f'<body name="pad" mocap="true" pos="0 0 0.03">{_DISC}</body>',
    "rover": f"""<body name="pad" mocap="true" pos="0 0 0.35">{_DISC}
      <geom class="look" type="box" pos="0 0 -0.13" size="0.46 0.3 0.09" material="yellow"/>
      <geom class="look" type="box" pos="0.4 0 -0.1" size="0.08 0.28 0.05" material="dark"/>
      {_WHEELS}</body>""",
    "deck": f"""<body name="pad" mocap="true" pos="0 0 0.6">{_DISC}
      <geom class="look" type="box" pos="-0.3 0 -0.08" size="1.3 0.75 0.05" material="wood"/>
      <geom class="look" type="box" pos="-0.3 0 -0.45" size="1.25 0.7 0.33" material="white"/>
      <geom class="look" type="box" pos="-0.3 0 -0.62" size="1.26 0.71 0.06" material="red"/>
      <geom class="look" type="box" pos="-1.2 0 0.25" size="0.3 0.5 0.32" material="white"/>
      <geom class="look" type="box" pos="-0.9 0 0.36" size="0.01 0.42 0.1" material="black"/>
      <geom class="look" type="cylinder" pos="-1.25 0 0.65" size="0.03 0.1" material="metal"/>
      </body>""",
}
_HOUSE = """
    <geom class="look" type="box" pos="-3.2 2.4 0.8" size="1.0 0.8 0.8" material="wall"/>
    <geom class="look" type="box" pos="-3.2 2.4 1.66" size="1.1 0.9 0.06" material="red"/>
    <geom class="look" type="box" pos="-2.19 2.4 0.5" size="0.01 0.25 0.5" material="wood"/>
    <geom class="look" type="cylinder" pos="2.6 2.6 0.9" size="0.03 0.9" material="metal"/>
    <geom class="look" type="capsule" fromto="2.6 2.6 1.7 2.6 2.0 1.62" size="0.09"
          material="orange"/>"""
_BESIDE = {
    "ground": _HOUSE,
    "rover": _HOUSE
    + '<geom class="look" type="box" pos="0 0 0.002" size="9 0.8 0.002" material="concrete"/>',
    "deck": "",
}
