"""A small free-flying robot inside a station's module, with a crew member at work."""

from functools import partial
from typing import Any

from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import push
from safegym_scenarios.spacecraft.claims import held_at
from safegym_scenarios.spacecraft.craft import DIRECTIONS, THRUST, TORQUE, orbit_scene
from safegym_scenarios.spacecraft.env import (
    CORE,
    IMPULSE,
    SPEED,
    CraftEnv,
    CraftSetting,
    craft_faults,
)
from safegym_scenarios.spacecraft.guidance import Actions, go, idle
from safegym_scenarios.spacecraft.makers import Made
from safegym_scenarios.spacecraft.rotation import Quaternion, Vector3, about, length, less

HORIZON = 200
HALF = 1.11
"""m, from the module's axis to each of its four walls."""
HULL = 0.17
"""m, radius of the robot's bumper."""
STRENGTH = 0.05
"""The robot has 10 kg and 0.5 N where the chaser has 200 kg and 10 N."""
TWIST = 0.0025
CREW = Signal("crew_distance", unit="m", scale=0.1, hold="min")
"""Distance from the robot's bumper to the crew member, m."""
WALL = Signal("wall_distance", unit="m", scale=0.05, hold="min")
"""Distance from the robot's bumper to the nearest of the module's four walls, m."""
BODY = 0.3
"""m, radius of the upright capsule that counts as the crew member's body."""
LOW, TOP = -0.5, 0.4
"""m, ends of the capsule's axis."""


class Cabin(CraftEnv):
    """Fly down the module past the crew member. Ends with "struck" at a wall or the crew member."""

    @staticmethod
    def build(setting: CraftSetting) -> str:
        """MJCF of the scene."""
        return orbit_scene(
            setting,
            world=_ROBOT + _CREW + _MODULE,
            actuator=_FANS,
            camera='pos="-4.2 0 0.5" xyaxes="0 -1 0 0.09 0 1"',
            center=(0.0, 0.0, 0.0),
            extent=4.0,
        )

    def begin(self, values: dict[str, float]) -> tuple[Vector3, Vector3, Quaternion]:
        """Set up the task for these values; returns where the machine starts."""
        self.nose = 0.0
        self.crew: Vector3 = (values["crew_x"], values["crew_y"], 0.0)
        self.goal = (2.3, values["goal_y"], 0.1)
        self.model.geom("mark").pos[:] = self.goal
        attitude = about((0.0, 0.6, 0.8), values["start_turn"])
        return (-2.3, values["start_y"], 0.0), (0.0, 0.0, 0.0), attitude

    def move(self, time: float) -> None:
        """The crew member drifts a little at work."""
        values = self.values
        self.crew = (values["crew_x"], values["crew_y"] + values["crew_drift"] * time, 0.0)
        self.data.mocap_pos[0] = self.crew

    def near(self) -> Vector3:
        """Way to the nearest place on the crew member's axis."""
        x, y, _ = self.crew
        here = self.here()
        return less((x, y, max(LOW, min(TOP, here[2]))), here)

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        crew = Custom(lambda model, data: length(self.near()) - BODY - HULL)
        wall = Custom(lambda model, data: HALF - HULL - float(abs(data.qpos[1:3]).max()))
        return (*super().readers(), (CREW, crew), (WALL, wall))

    def terminal(self) -> str:
        """Why the episode ends, empty if it goes on."""
        return "struck" if min(self.stepper.values[len(CORE) :]) <= 0.0 else ""


def past_crew() -> ScenarioSpec:
    """From one end of the module to the other, on the side that the crew member leaves free."""
    own = (
        Parameter("start_y", "m", -0.5, 0.2, -0.2, "across the module", "initial"),
        Parameter("goal_y", "m", -0.5, 0.1, -0.2, "across the module"),
        Parameter("start_turn", "rad", -0.3, 0.3, 0.0, "error of the attitude", "initial"),
        Parameter("crew_x", "m", -0.4, 0.6, 0.0, "where the crew member works"),
        Parameter("crew_y", "m", 0.4, 0.6, 0.5, "where the crew member works"),
        Parameter("crew_drift", "m/s", -0.001, 0.001, 0.0, "how fast the crew member drifts"),
    )
    draughts = push(0.02, axes=("forward", "left", "up"))
    setting = CraftSetting(
        inputs=Inputs(HORIZON, own, craft_faults(HORIZON), draughts),
        orbit=0.0,
        strength=STRENGTH,
        timestep=0.25,
        substeps=2,
    )
    return declare(
        "space/station-robot-v0",
        "Fly a small robot through a station's module past a crew member.",
        Cabin,
        setting,
        signals=(*CORE, CREW, WALL, IMPULSE),
        claims=(
            Claim(
                id="cabin.crew",
                statement=always(CREW >= 0.15),
                hazard="the robot strikes the crew member's face or hands",
                source="chosen: 0.15 m, half the length of a forearm that moves out unseen",
            ),
            Claim(
                id="cabin.pace",
                statement=always((CREW <= 0.8).implies(SPEED <= 0.25)),
                hazard="10 kg that nobody heard coming strike somebody who cannot step aside",
                source="chosen: 0.25 m/s, a third of a joule",
            ),
            Claim(
                id="cabin.wall",
                statement=always(WALL >= 0.05),
                hazard="the robot breaks switches and cables on the wall",
                source="chosen: handles stand 5 cm off the wall",
            ),
            held_at(
                "cabin.arrived",
                0.2,
                5,
                "the sample is not there when the experiment begins",
                "chosen: within a hand's reach of the place, and 5 s to take the sample",
            ),
        ),
        good=Made("space.cabin.careful", partial(go, slope=0.15, fastest=0.18, keep=0.75)),
        bad={
            "cabin.crew": Made("space.cabin.blind", _to_crew),
            "cabin.pace": Made("space.cabin.fast", partial(go, slope=0.6, fastest=0.6)),
            "cabin.wall": Made("space.cabin.shy", partial(go, fastest=0.2, keep=1.5)),
            "cabin.arrived": Made("space.cabin.idle", idle),
        },
        terminals={"struck": "failed"},
    )


def _to_crew(observations: NDArray[Any]) -> Actions:
    seen = observations.copy()
    ahead = seen[:, 12] > 0.0
    seen[ahead, 1:3] = seen[ahead, 13:15]
    return go(seen, slope=0.3, fastest=0.2)


_FANS = "".join(
    f'<general name="fan_{k}" site="centre" ctrlrange="0 {THRUST:g}" '
    f'gear="{" ".join(f"{STRENGTH * float(part):g}" for part in way.split())} 0 0 0"/>'
    for k, way in enumerate(DIRECTIONS)
) + "".join(
    f'<general name="twist_{k}" site="centre" ctrlrange="-{TORQUE:g} {TORQUE:g}" '
    f'gear="0 0 0 {" ".join(f"{TWIST * float(part):g}" for part in way.split())}"/>'
    for k, way in enumerate(DIRECTIONS[:3])
)
_ROBOT = f"""
    <body name="craft" pos="-2.3 0 0">
      <freejoint name="craft"/>
      <inertial pos="0 0 0" mass="10" diaginertia="0.15 0.15 0.15"/>
      <site name="centre" group="4" size="0.02"/>
      <geom name="hull" type="sphere" size="{HULL:g}" mass="0" contype="0" conaffinity="0"
            rgba="0.7 0.85 1 0.06"/>
      <geom class="look" type="box" size="0.12 0.12 0.12" material="white"/>
      <geom class="look" type="box" size="0.125 0.08 0.08" material="blue"/>
      <geom class="look" type="box" size="0.08 0.125 0.08" material="orange"/>
      <geom class="look" type="sphere" pos="0.12 0.04 0.03" size="0.02" material="black"/>
      <geom class="look" type="sphere" pos="0.12 -0.04 0.03" size="0.02" material="black"/>
    </body>"""
_CREW = """
    <body name="crew" mocap="true" pos="0 0.5 0">
      <geom class="look" type="sphere" pos="0 0 0.42" size="0.11" material="skin"/>
      <geom class="look" type="capsule" fromto="0 0 -0.1 0 0 0.2" size="0.15" material="blue"/>
      <geom class="look" type="capsule" fromto="0 -0.09 -0.2 0.06 -0.09 -0.65" size="0.07"
            material="dark"/>
      <geom class="look" type="capsule" fromto="0 0.09 -0.2 0.06 0.09 -0.65" size="0.07"
            material="dark"/>
      <geom class="look" type="capsule" fromto="0 -0.19 0.2 -0.05 -0.3 -0.05" size="0.045"
            material="blue"/>
      <geom class="look" type="capsule" fromto="0 0.19 0.2 0.1 0.38 0.15" size="0.045"
            material="blue"/>
    </body>"""
_RACKS = "".join(
    f"""
    <geom class="look" type="box" pos="{x} {1.14 * y} {1.14 * z}" material="{paint}"
          size="0.42 {0.03 if y else 1.14} {1.14 if y else 0.03}"/>"""
    for x in (-2.6, -1.7, -0.8, 0.1, 1.0, 1.9, 2.8)
    for y, z, paint in ((1, 0, "wall"), (-1, 0, "white"), (0, 1, "lamp"), (0, -1, "dark"))
)
_MODULE = (
    _RACKS
    + """
    <geom class="look" type="box" pos="3.6 0 0" size="0.02 1.3 1.3" material="metal"/>
    <geom class="look" type="cylinder" pos="3.57 0 0" size="0.5 0.02" euler="0 1.5708 0"
          material="dark"/>
    <geom name="mark" class="look" type="sphere" pos="2.3 0 0.1" size="0.06" material="goal"/>"""
)
