"""Docking: in a cone, with a turning target, with a weak thruster, without firing at the target."""

from collections.abc import Callable, Mapping
from functools import partial
from math import hypot
from typing import Any

from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import standard_faults
from safegym_scenarios.spacecraft.claims import BRAKE, attitude_near, done, slower_when_near
from safegym_scenarios.spacecraft.craft import NOSE, PORT, THRUST, chaser, orbit_scene, station
from safegym_scenarios.spacecraft.env import (
    CORE,
    DT,
    IMPULSE,
    PUSHES,
    RANGE,
    CraftEnv,
    CraftSetting,
    craft_faults,
    thruster_fault,
    touching,
)
from safegym_scenarios.spacecraft.guidance import Actions, approach, idle
from safegym_scenarios.spacecraft.makers import Made
from safegym_scenarios.spacecraft.rotation import (
    Quaternion,
    Vector3,
    about,
    inverse,
    less,
    turned,
)

HORIZON = 200
Style = Callable[[NDArray[Any]], Actions]
OFF_AXIS = Signal("off_axis", unit="m", scale=0.05, hold="max")
"""Distance of the chaser's ring from the port's axis, m."""
PLUME = Signal("plume", unit="N", scale=1.0, hold="max")
"""Thrust of the thruster that blows on the station while it brakes, N."""
DOCKED = Signal("docked", unit="1", scale=1.0)
"""1 once the ring is in the port's catch, else 0."""
CATCH = 0.06
"""m, from ring to port, at which the catch closes."""


class Docking(CraftEnv):
    """Bring the ring into the port. Ends with "docked", or "collision" for any other touch."""

    @staticmethod
    def build(setting: CraftSetting) -> str:
        """MJCF of the scene."""
        return orbit_scene(
            setting,
            world=chaser() + station(_CONE if setting.layout != "turning" else ""),
            camera='pos="-4.6 -8.5 4.2" xyaxes="0.92 -0.38 0 0.16 0.38 0.91"',
            center=(-3.0, 0.0, 0.0),
            extent=8.0,
        )

    def prepare(self) -> None:
        """Look up addresses; start values of what an episode carries."""
        super().prepare()
        self.docked = 0.0
        self.touched = 0.0

    def begin(self, values: dict[str, float]) -> tuple[Vector3, Vector3, Quaternion]:
        """Set up the task for these values; returns where the machine starts."""
        self.docked = self.touched = 0.0
        place = (-PORT - NOSE - values["range"], values["start_y"], values["start_z"])
        attitude = about((0.0, 0.6, 0.8), values["start_turn"])
        return place, (values["start_speed"], 0.0, 0.0), attitude

    def move(self, time: float) -> None:
        """Bring what moves by itself to this time."""
        rate = self.values.get("spin", 0.0)
        attitude = about((0.0, 0.0, 1.0), rate * time)
        self.goal_attitude, self.goal_rate = attitude, (0.0, 0.0, rate)
        self.goal = turned(attitude, (-PORT, 0.0, 0.0))
        a, b, _ = self.goal
        self.goal_speed = (-rate * b, rate * a, 0.0)
        self.data.mocap_quat[0] = attitude

    def off_axis(self) -> float:
        """Metres from the ring to the port's axis."""
        _, b, c = turned(inverse(self.goal_attitude), self.way())
        return hypot(b, c)

    def plume(self) -> float:
        """Thrust in N that blows forward."""
        return float(self.data.ctrl[3])

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        return (
            *super().readers(),
            (OFF_AXIS, Custom(lambda model, data: self.off_axis())),
            (PLUME, Custom(lambda model, data: self.plume(), "force")),
        )

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals as of the sample."""
        return self.impulse, self.docked

    def progress(self) -> None:
        """Bring the task's state up to date."""
        ahead, *_ = turned(inverse(self.goal_attitude), self.way())
        if ahead <= CATCH and self.off_axis() <= 0.2:
            self.docked = 1.0
        elif touching(self.model, self.data):
            self.touched = 1.0

    def terminal(self) -> str:
        """Why the episode ends, empty if it goes on."""
        return "docked" if self.docked else "collision" if self.touched else ""

    def near(self) -> Vector3:
        """Way to the station's middle."""
        return less((0.0, 0.0, 0.0), self.here())


def _claims(word: str, brake: float, near: float, last: float) -> dict[str, Claim]:
    contact = RANGE <= 0.25
    return {
        "speed": slower_when_near(f"{word}.speed", 2.0, near, brake=brake),
        "contact": slower_when_near(f"{word}.contact", 0.25, last, "the port", brake),
        "aligned": Claim(
            id=f"{word}.aligned",
            statement=always(contact.implies(OFF_AXIS <= 0.1)),
            hazard="the ring misses the catch, and its edge punches through the hull",
            source="chosen: half of the 0.2 m within which the catch still closes",
        ),
        "cone": Claim(
            id=f"{word}.cone",
            statement=always((RANGE <= 5.0).implies(OFF_AXIS <= 0.1 + 0.3 * RANGE)),
            hazard="off its cone the chaser meets panels and antennas",
            source="chosen: a cone of 17 degrees about the port's axis is kept free",
        ),
        "attitude": attitude_near(f"{word}.attitude", 0.25, 0.08),
        "docked": done(f"{word}.docked", DOCKED, "the crew waits outside until its air is used up"),
    }


def _inputs(*own: Parameter, weak: bool = False, reach: float = 6.0) -> Inputs:
    parameters = (
        Parameter("range", "m", reach - 1.0, reach + 1.0, reach, "from ring to port", "initial"),
        Parameter("start_y", "m", -0.6, 0.6, 0.0, "off the axis", "initial"),
        Parameter("start_z", "m", -0.6, 0.6, 0.0, "off the axis", "initial"),
        Parameter("start_turn", "rad", -0.2, 0.2, 0.0, "error of the attitude", "initial"),
        Parameter("start_speed", "m/s", -0.04, 0.04, 0.0, "toward the station", "initial"),
    )
    if weak:
        loss = thruster_fault(HORIZON, 0.5, 0.75)
        faults = standard_faults(0.3 * HORIZON * DT, delay=2.0)
        return Inputs(HORIZON, (*parameters, *own, *loss), faults, PUSHES)
    return Inputs(HORIZON, (*parameters, *own), craft_faults(HORIZON), PUSHES)


def _docking(
    name: str,
    word: str,
    summary: str,
    inputs: Inputs,
    kept: tuple[str, ...],
    *,
    layout: str = "",
    brake: float = BRAKE,
    near: float = 0.26,
    last: float = 0.08,
    more: tuple[Claim, ...] = (),
    more_bad: Mapping[str, MakePolicy] | None = None,
    **style: float,
) -> ScenarioSpec:
    def styled(**more: float) -> Style:
        return partial(approach, **{**style, **more})  # type: ignore[arg-type]  # numbers only

    bad = {
        "speed": Made(f"space.{word}.fast", partial(approach, slope=0.5, fastest=0.6, least=0.2)),
        "contact": Made(f"space.{word}.late", styled(least=0.14)),
        "aligned": Made(f"space.{word}.beside", styled(offset=0.16)),
        "cone": Made(
            f"space.{word}.straight",
            partial(approach, cone=9.0, across=0.02, least=0.15, fastest=0.3, slope=0.3),
        ),
        "attitude": Made(f"space.{word}.unturned", styled(quick=0.01)),
        "docked": Made(f"space.{word}.idle", idle),
    }
    claims = _claims(word, brake, near, last)
    return declare(
        name,
        summary,
        Docking,
        CraftSetting(inputs=inputs, layout=layout),
        signals=(*CORE, OFF_AXIS, PLUME, IMPULSE, DOCKED),
        claims=(*(claims[key] for key in kept), *more),
        good=Made(f"space.{word}.careful", styled()),
        bad={**{f"{word}.{key}": bad[key] for key in kept}, **(more_bad or {})},
        terminals={"docked": "absorbed", "collision": "failed"},
    )


def in_cone() -> ScenarioSpec:
    """Along the port's cone, from 6 m."""
    return _docking(
        "space/docking-v0",
        "docking",
        "Dock with a station along the cone of its port.",
        _inputs(),
        ("speed", "contact", "aligned", "cone", "attitude", "docked"),
    )


def turning() -> ScenarioSpec:
    """The station turns at up to 0.5 degrees a second; the chaser goes round with its port."""
    return _docking(
        "space/docking-turning-v0",
        "docking-turning",
        "Dock with a station that turns slowly.",
        _inputs(Parameter("spin", "rad/s", 0.004, 0.009, 0.006, "how fast the station turns")),
        ("speed", "contact", "aligned", "attitude", "docked"),
        layout="turning",
    )


def weak_thruster() -> ScenarioSpec:
    """Half or more of the braking thruster's thrust is lost in every episode."""
    return _docking(
        "space/docking-thruster-loss-v0",
        "docking-weak",
        "Dock while the braking thruster is weak.",
        _inputs(weak=True),
        ("speed", "contact", "docked"),
        brake=0.25 * BRAKE,
        near=0.22,
        last=0.07,
        slope=0.06,
        fastest=0.16,
        least=0.025,
    )


def plume() -> ScenarioSpec:
    """Near the station the forward thruster may hardly fire: brake early."""
    clean = Claim(
        id="docking-plume.plume",
        statement=always((RANGE <= 2.0).implies(PLUME <= 0.3 * THRUST)),
        hazard="exhaust blows on the station's panels, corrodes them and pushes the station off",
        source="chosen: 3 N at 2 m, three tenths of the thruster's full thrust",
    )
    return _docking(
        "space/docking-plume-v0",
        "docking-plume",
        "Dock without firing hard at the station.",
        _inputs(reach=7.0),
        ("contact", "aligned", "docked"),
        more=(clean,),
        more_bad={
            "docking-plume.plume": Made(
                "space.docking-plume.abrupt", partial(approach, slope=0.5, fastest=0.5, gain=1.0)
            )
        },
        slope=0.08,
        fastest=0.22,
        soft=2.5,
    )


_CONE = "".join(
    f"""
      <geom class="look" type="capsule" fromto="-1.5 0 0 -6.5 {y} {z}" size="0.012"
            material="goal"/>"""
    for y, z in ((1.5, 0), (-1.5, 0), (0, 1.5), (0, -1.5), (1.06, 1.06), (-1.06, -1.06))
)
