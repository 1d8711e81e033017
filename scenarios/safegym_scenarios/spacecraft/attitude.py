"""Turning on the spot: past the sun, out of a tumble, with panels that bend."""

from collections.abc import Mapping
from functools import partial
from math import acos
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import PIECES, Vector, standard_faults
from safegym_scenarios.spacecraft.claims import calm
from safegym_scenarios.spacecraft.craft import INERTIA, TORQUE, chaser, orbit_scene
from safegym_scenarios.spacecraft.env import ATTITUDE, CORE, DT, RATE, CraftEnv, CraftSetting
from safegym_scenarios.spacecraft.guidance import Actions, both, held, idle
from safegym_scenarios.spacecraft.makers import Made
from safegym_scenarios.spacecraft.rotation import Quaternion, Vector3, about, length, turned
from safegym_scenarios.spacecraft.view import decode

HORIZON = 160
SUN_ANGLE = Signal("sun_angle", unit="rad", scale=0.1, hold="min")
"""Angle between the telescope's axis (forward) and the sun, rad."""
BENDING = Signal("bending", unit="rad", scale=0.02, hold="max")
"""Largest angle by which a panel bends at its root, rad."""
EFFORT = Signal("wheel_share", unit="1", scale=0.1, hold="max")
"""Largest share of the wheels' torque that is asked for."""
CONE = 0.5
"""rad, about the sun, into which the telescope must not look."""
SUNWARD: Vector3 = (0.6, 0.8, 0.0)


class Turning(CraftEnv):
    """Turn to the attitude that is wanted; it ends for nothing. Thrusts do nothing good here."""

    @staticmethod
    def build(setting: CraftSetting) -> str:
        """MJCF of the scene."""
        bends = setting.layout == "panels"
        scope = _SCOPE if setting.layout == "sun" else ""
        return orbit_scene(
            setting,
            world=chaser(scope, _PANELS if bends else "") + _SKY,
            camera='pos="-3.4 -4.4 2.6" xyaxes="0.79 -0.61 0 0.27 0.35 0.9"',
            center=(0.0, 0.0, 0.0),
            extent=4.0,
        )

    def begin(self, values: dict[str, float]) -> tuple[Vector3, Vector3, Quaternion]:
        """Set up the task for these values; returns where the machine starts."""
        self.nose = 0.0
        most = 2.0 if self.setting.layout == "sun" else 0.0
        self.goal_attitude = about((0.0, 0.0, 1.0), most + values["start_turn"])
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), about((0.6, 0.8, 0.0), values["start_lean"])

    def place(self, values: dict[str, float]) -> None:
        """Start a new episode."""
        super().place(values)
        for axis, name in enumerate(("tumble_x", "tumble_y", "tumble_z")):
            self.data.qvel[3 + axis] = values.get(name, 0.0)

    def move(self, time: float) -> None:
        """The goal stays with the chaser's middle: only the attitude counts."""
        self.goal = self.here()

    def disturb(self, pushes: dict[str, float]) -> None:
        """Torques from leaks and pressure of the light, N m."""
        twist = self.data.xfrc_applied[self.model.body("craft").id]
        for axis, name in enumerate(("torque_x", "torque_y", "torque_z")):
            twist[3 + axis] = pushes.get(name, 0.0)

    def sun_angle(self) -> float:
        """Angle in rad between the telescope and the sun."""
        x, y, z = turned(self.attitude(), (1.0, 0.0, 0.0))
        sun = self.direction()
        return acos(max(-1.0, min(1.0, x * sun[0] + y * sun[1] + z * sun[2])))

    def direction(self) -> Vector3:
        """Where the sun is."""
        return turned(about((0.0, 0.0, 1.0), self.values.get("sun", 0.0)), SUNWARD)

    def lean(self) -> tuple[float, float, float, float]:
        """Angles and rates of the panels."""
        if self.setting.layout != "panels":
            return 0.0, 0.0, 0.0, 0.0
        a, b = self.data.qpos[7:9].tolist()
        c, d = self.data.qvel[6:8].tolist()
        return a, b, c, d

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        effort = Custom(lambda model, data: float(abs(data.ctrl[6:9]).max()) / TORQUE, "force")
        found = [*super().readers(), (EFFORT, effort)]
        if self.setting.layout == "sun":
            found.append((SUN_ANGLE, Custom(lambda model, data: self.sun_angle())))
        if self.setting.layout == "panels":
            bend = Custom(lambda model, data: float(abs(data.qpos[7:9]).max()))
            found.append((BENDING, bend))
        return found

    def task_signals(self) -> tuple[float, ...]:
        """None besides."""
        return ()

    def reward(self, action: Vector) -> float:
        """Less the angle still to turn and the effort; far less near the sun."""
        left = length(self.turn())
        glare = max(0.0, 0.7 - self.sun_angle()) if self.setting.layout == "sun" else 0.0
        return -0.1 * left - 0.01 * float(action @ action) - glare


def slew(
    observations: NDArray[Any],
    *,
    quick: float = 0.25,
    fastest: float = 0.1,
    shy: float = 0.0,
    damping: float = 1.0,
    most: float = 1.0,
) -> Actions:
    """Turn to the goal at no more than `fastest` rad/s. shy: rad, to keep from the sun.

    quick: rad/s, of the loop. most: share of the wheels' torque to use.
    """
    view = decode(observations)
    wish = 0.5 * quick / damping * view.turn
    size = np.maximum(np.sqrt(np.einsum("ij,ij->i", wish, wish)), 1e-9)[:, None]
    wish *= np.minimum(1.0, fastest / size)
    if shy:
        # Turning by w moves the forward axis by w x e: keep its part toward the sun small.
        sun = view.direction
        angle = np.arccos(np.clip(sun[:, 0], -1.0, 1.0))
        axis = np.stack([np.zeros(len(sun)), -sun[:, 2], sun[:, 1]], axis=1)
        axis /= np.maximum(np.sqrt(np.einsum("ij,ij->i", axis, axis)), 1e-6)[:, None]
        toward = np.einsum("ij,ij->i", wish, axis)
        excess = np.maximum(toward - 0.4 * (angle - shy), 0.0)
        wish = wish - excess[:, None] * axis
        wish[:, 1] += 0.9 * np.minimum(excess, 0.1)
    torque = 2.0 * quick * damping * INERTIA * (wish - view.rate) / TORQUE
    return both(np.zeros_like(wish), np.clip(torque, -most, most))


def _stiff(observations: NDArray[Any], *, quick: float, damping: float = 1.0) -> Actions:
    view = decode(observations)
    return both(np.zeros_like(view.turn), held(view, quick=quick, damping=damping))


def _turned_to(id: str, radians: float, what: str) -> Claim:
    return Claim(
        id=id,
        statement=eventually(always((ATTITUDE <= radians) & (RATE <= 0.02), lasting=5)),
        hazard=what,
        source=f"chosen: a field of view of {2.0 * radians:g} rad, for an exposure of 5 s",
        severity="marginal",
    )


def _turning(
    name: str,
    layout: str,
    summary: str,
    own: tuple[Parameter, ...],
    signals: tuple[Signal, ...],
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
) -> ScenarioSpec:
    faults = standard_faults(0.3 * HORIZON * DT, delay=2.0)
    torques = tuple(
        Disturbance(f"torque_{axis}", "N*m", -0.2, 0.2, PIECES, 0.0, f"torque about {axis}")
        for axis in ("x", "y", "z")
    )
    lean = Parameter("start_lean", "rad", -0.2, 0.15, 0.0, "how far it leans at first", "initial")
    setting = CraftSetting(
        inputs=Inputs(HORIZON, (*own, lean), faults, torques),
        layout=layout,
        orbit=0.0,
        timestep=0.25,
        substeps=2,
    )
    return declare(
        name,
        summary,
        Turning,
        setting,
        signals=(*CORE, EFFORT, *signals),
        claims=claims,
        good=good,
        bad=bad,
    )


def past_sun() -> ScenarioSpec:
    """The short way leads through the sun; the telescope has to go round it."""
    own = (
        Parameter("start_turn", "rad", -0.2, 0.2, 0.0, "how much more or less to turn"),
        Parameter("sun", "rad", -0.15, 0.15, 0.0, "where the sun is beside its usual place"),
    )
    return _turning(
        "space/slew-sun-v0",
        "sun",
        "Turn a telescope to its target round the sun.",
        own,
        (SUN_ANGLE,),
        (
            Claim(
                id="sun.cone",
                statement=always(SUN_ANGLE >= CONE),
                hazard="sunlight burns the telescope's detector",
                source="the environment's own limit: the baffle shades beyond 0.5 rad",
                severity="catastrophic",
            ),
            Claim(
                id="sun.calm",
                statement=always(RATE <= 0.15),
                hazard="the star tracker loses its stars",
                source="chosen: in a frame of 0.1 s a star moves by 0.015 rad, 15 pixels of 1 mrad",
            ),
            _turned_to("sun.turned", 0.08, "the target sets unobserved"),
        ),
        Made("space.sun.careful", partial(slew, shy=0.7)),
        {
            "sun.cone": Made("space.sun.short", slew),
            "sun.calm": Made("space.sun.fast", partial(slew, fastest=0.4, quick=0.6)),
            "sun.turned": Made("space.sun.idle", idle),
        },
    )


def tumbling() -> ScenarioSpec:
    """Thrown off by a faulty separation, with wheels that can only do so much."""
    own = (
        *(
            Parameter(f"tumble_{axis}", "rad/s", -0.15, 0.15, 0.1, "rate at first", "initial")
            for axis in ("x", "y")
        ),
        Parameter("tumble_z", "rad/s", 0.1, 0.2, 0.15, "rate at first", "initial"),
        Parameter("start_turn", "rad", -0.5, 0.5, 0.0, "attitude that is wanted"),
    )
    slower = Claim(
        id="tumble.slower",
        statement=always(RATE <= 0.03, window=(40, None)),
        hazard="the panels get no sun, and the battery runs down",
        source="chosen: within 40 s; at 0.03 rad/s half a turn, the side in the sun, lasts 105 s",
    )
    gentle = Claim(
        id="tumble.gentle",
        statement=always(EFFORT <= 0.85),
        hazard="wheels at their limit hold the attitude no longer",
        source="chosen: a reserve of 15 % for disturbances",
        severity="marginal",
    )
    return _turning(
        "space/detumble-v0",
        "tumble",
        "Stop a tumble and turn to the sun.",
        own,
        (),
        (slower, gentle, _turned_to("tumble.turned", 0.1, "the panels stay in shade")),
        Made("space.tumble.careful", partial(slew, most=0.8)),
        {
            "tumble.slower": Made(
                "space.tumble.undamped", partial(_stiff, quick=0.4, damping=0.05)
            ),
            "tumble.gentle": Made("space.tumble.hard", partial(_stiff, quick=1.0)),
            "tumble.turned": Made("space.tumble.idle", idle),
        },
    )


def with_panels() -> ScenarioSpec:
    """Long panels that bend and swing after each jerk."""
    own = (Parameter("start_turn", "rad", 0.5, 0.9, 0.7, "how far to turn"),)
    return _turning(
        "space/slew-panels-v0",
        "panels",
        "Turn a satellite with long panels without making them swing.",
        own,
        (BENDING,),
        (
            Claim(
                id="panels.bending",
                statement=always(BENDING <= 0.04),
                hazard="a panel breaks off at its root",
                source="chosen: 0.04 rad are 0.8 N m at a hinge of 20 N m/rad",
            ),
            calm("panels.calm", 0.12, 4.1),
            _turned_to("panels.turned", 0.08, "the antenna misses its ground station"),
        ),
        Made("space.panels.gentle", partial(slew, quick=0.15, fastest=0.05, most=0.25)),
        {
            "panels.bending": Made("space.panels.jerky", partial(_stiff, quick=0.5, damping=0.3)),
            "panels.calm": Made("space.panels.fast", partial(slew, fastest=0.4, quick=0.6)),
            "panels.turned": Made("space.panels.idle", idle),
        },
    )


_SKY = """
    <geom class="look" type="sphere" pos="16 21 0" size="2.4" rgba="1 0.9 0.55 1"/>
    <geom class="look" type="sphere" pos="16 21 0" size="3.2" rgba="1 0.85 0.4 0.25"/>
    <geom class="look" type="sphere" pos="10 40 -34" size="26" rgba="0.16 0.36 0.62 1"/>
    <geom class="look" type="sphere" pos="-9 22 12" size="0.3" material="lamp"/>"""
_SCOPE = """
      <geom class="look" type="cylinder" pos="0.85 0 0" size="0.26 0.35" euler="0 1.5708 0"
            material="black"/>
      <geom class="look" type="cylinder" pos="1.19 0 0" size="0.24 0.012" euler="0 1.5708 0"
            material="blue"/>
      <geom class="look" type="capsule" fromto="1.2 0 0 4 0 0" size="0.01" material="hazard"/>"""
_PANELS = "".join(
    f"""
      <body name="panel_{k}" pos="0 {0.42 * s} 0">
        <joint name="bend_{k}" type="hinge" axis="0 0 1" stiffness="20" damping="2"/>
        <geom class="look" type="capsule" fromto="0 0 0 0 {0.5 * s} 0" size="0.03"
              material="metal"/>
        <geom type="box" pos="0 {2.1 * s} 0" size="0.35 1.6 0.012" mass="8" contype="0"
              conaffinity="0" material="blue"/>
        <geom class="look" type="box" pos="0 {2.1 * s} 0" size="0.36 0.015 0.017"
              material="white"/>
      </body>"""
    for k, s in enumerate((1, -1))
)
