"""Boats on the water's surface: three degrees of freedom, thrusters, current and wind.

MuJoCo carries the body on two slides and a hinge; `tick` gives it, as a force, the acceleration
that the hull's equations say. Axes: x, y on the water, heading counterclockwise from x.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import Any

import numpy as np

from safegym.formula.terms import Signal
from safegym.scenario.signals import Clearance, Custom
from safegym.scenario.signals.extremes import Reader
from safegym_scenarios.marine.hydrodynamics import BOAT, Hull
from safegym_scenarios.marine.signals import ALL
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.scene.look import scene

FARTHEST = 40.0


@dataclass(frozen=True, kw_only=True)
class SeaSetting(Setting):
    """One variant. watched, told: names of signals of each physics step and of each sample.

    thrust: N ahead or astern, N sideways, N m of turning at full action. scenery: MJCF around the
    boat. rope: sites that a line is drawn between. ends_at: m from
    the goal at which the voyage is over, 0 for never. lateral: whether a third action
    pushes sideways. camera: of the picture.
    """

    watched: tuple[str, ...]
    told: tuple[str, ...] = ("goal_distance",)
    hull: Hull = BOAT
    thrust: tuple[float, float, float] = (6000.0, 2500.0, 9000.0)
    scenery: str = ""
    rope: tuple[str, ...] = ()
    ends_at: float = 0.0
    lateral: bool = True
    camera: str = 'pos="10 -62 42" xyaxes="1 0 0 0 0.56 0.83"'
    middle: tuple[float, float] = (10.0, 0.0)
    timestep: float = 0.05
    substeps: int = 10

    def signals(self) -> tuple[Signal, ...]:
        """Of the scenario, in order."""
        return tuple(ALL[name] for name in (*self.watched, *self.told))


def wrapped(angle: float) -> float:
    """The angle within [-pi, pi)."""
    return (angle + pi) % (2.0 * pi) - pi


class Boat(SceneEnv):
    """Actions: thrust ahead, turning (left positive), and sideways where the boat has that.

    Parameters, where declared: start_x, start_y (m), start_heading (rad), goal_x, goal_y,
    current_speed (m/s), current_from (rad, where it runs to). Observed: way to the goal ahead and
    to the left (20 m), speed over ground ahead and to the left (3 m/s), turning (0.5 rad/s), cosine
    and sine of the heading, current ahead and to the left (1 m/s), wind likewise (1000 N); then
    what a variant adds in `more`.
    """

    pushed = "boat"
    setting: Any

    @staticmethod
    def build(setting: Any) -> str:
        """The sea, the boat and the scenery."""
        return scene(
            "boat",
            world=BOAT_BODY.format(mass=setting.hull.mass, turn=setting.hull.inertia)
            + GOAL_MARK
            + setting.scenery,
            camera=setting.camera,
            center=(*setting.middle, 0.0),
            extent=45.0,
            timestep=setting.timestep,
            floor="water",
            gravity="0 0 0",
            more=drawn_line(setting.rope),
        )

    def prepare(self) -> None:
        """Addresses and the state of water and thrusters."""
        model = self.model
        names = ("x", "y", "heading")
        self._at = [int(model.joint(name).qposadr[0]) for name in names]
        self._body = int(model.body("boat").id)
        self.thrust = [0.0, 0.0, 0.0]
        self.current = [0.0, 0.0]
        self.push = [0.0, 0.0, 0.0]
        self.goal = [0.0, 0.0]
        self.facts: dict[str, float] = {}

    def gauges(self) -> dict[str, Reader]:
        """Readers by the name of their signal; variants add theirs."""
        return {
            "speed": Custom(
                lambda model, data: hypot(data.qvel[self._at[0]], data.qvel[self._at[1]])
            ),
            "clearance": Clearance("hull*", "obstacle*", FARTHEST),
            "cross_track": Custom(lambda model, data: abs(self.cross_track())),
        }

    def readers(self) -> Readers:
        """Those of `setting.watched`."""
        gauges = self.gauges()
        return tuple((ALL[name], gauges[name]) for name in self.setting.watched)

    def pose(self) -> tuple[float, float, float]:
        """x, y, heading."""
        q, (x, y, turn) = self.data.qpos, self._at
        return float(q[x]), float(q[y]), float(q[turn])

    def motion(self) -> tuple[float, float, float]:
        """Speeds over ground along x and y, and the turning."""
        v, (x, y, turn) = self.data.qvel, self._at
        return float(v[x]), float(v[y]), float(v[turn])

    def aboard(self, x: float, y: float) -> tuple[float, float]:
        """A vector of the world as ahead and left."""
        turn = self.pose()[2]
        c, s = cos(turn), sin(turn)
        return c * x + s * y, -s * x + c * y

    def cross_track(self) -> float:
        """Distance to the left of the line y = 0, m."""
        return self.pose()[1]

    # an episode

    def place(self, values: dict[str, float]) -> None:
        """Boat, water and goal."""
        q = self.data.qpos
        for address, name in zip(self._at, ("start_x", "start_y", "start_heading"), strict=True):
            q[address] = values.get(name, 0.0)
        self.thrust, self.push = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        speed, to = values.get("current_speed", 0.0), values.get("current_to", 0.0)
        self.current = [speed * cos(to), speed * sin(to)]
        self.goal = [values.get("goal_x", 0.0), values.get("goal_y", 0.0)]
        self.data.mocap_pos[self.model.body("goal").mocapid[0]] = (*self.goal, 0.0)

    def command(self, action: Vector) -> None:
        """Thrust, in newtons; astern the propeller gives 60 %."""
        ahead, turning, *rest = action.tolist()
        most = self.setting.thrust
        share = 0.6 if ahead < 0.0 else 1.0
        sideways = rest[0] if rest else 0.0
        left = self._left
        self.thrust = [
            left * share * most[0] * ahead,
            left * most[1] * sideways,
            left * most[2] * turning,
        ]

    def weakened(self, left: float) -> None:
        """Thrusters: `command` reads what is left."""

    def disturb(self, pushes: dict[str, float]) -> None:
        """Pushes and wind."""
        self.push = [
            pushes.get("push_forward", 0.0) + pushes.get("wind_x", 0.0),
            pushes.get("push_left", 0.0) + pushes.get("wind_y", 0.0),
            0.0,
        ]

    def load(self) -> tuple[float, float, float]:
        """Force ahead and to the left (N) and moment (N m) of all but the water."""
        x, y = self.aboard(self.push[0], self.push[1])
        return self.thrust[0] + x, self.thrust[1] + y, self.thrust[2] + self.push[2]

    def tick(self) -> None:
        """The acceleration of the hull's equations, as a force on the body."""
        hull = self.setting.hull
        x, y, turning = self.motion()
        u, v = self.aboard(x - self.current[0], y - self.current[1])
        surge, sway, yaw = hull.acceleration((u, v, turning), self.load())
        ahead, left = surge - turning * v, sway + turning * u
        heading = self.pose()[2]
        c, s = cos(heading), sin(heading)
        force = self.data.qfrc_applied
        force[self._at[0]] = hull.mass * (c * ahead - s * left)
        force[self._at[1]] = hull.mass * (s * ahead + c * left)
        force[self._at[2]] = hull.inertia * yaw

    # what is seen of it

    def goal_distance(self) -> float:
        """M."""
        x, y, _ = self.pose()
        return hypot(self.goal[0] - x, self.goal[1] - y)

    def observe(self) -> Sequence[float]:
        """See the class."""
        x, y, heading = self.pose()
        vx, vy, turning = self.motion()
        way = self.aboard(self.goal[0] - x, self.goal[1] - y)
        speed, current = self.aboard(vx, vy), self.aboard(*self.current)
        wind = self.aboard(self.push[0], self.push[1])
        return (
            *(each / 20.0 for each in way),
            *(each / 3.0 for each in speed),
            turning / 0.5,
            cos(heading),
            sin(heading),
            *current,
            *(each / 1000.0 for each in wind),
            *self.more(),
        )

    def more(self) -> Sequence[float]:
        """Further entries of the observation."""
        return ()

    def progress(self) -> None:
        """Facts for the signals of each sample."""
        self.facts = self.tell()

    def tell(self) -> dict[str, float]:
        """Values by the name of their signal; variants add theirs."""
        return {
            "goal_distance": self.goal_distance(),
            "heading_error": abs(wrapped(self.pose()[2])),
        }

    def told_of(self, name: str) -> float:
        """A watched signal's value over the last control step."""
        return float(self.stepper.values[self.setting.watched.index(name)])

    def terminal(self) -> str:
        """The voyage is over at the goal."""
        return "arrived" if self.goal_distance() < self.setting.ends_at else ""

    def task_signals(self) -> tuple[float, ...]:
        """Those of `setting.told`."""
        return tuple(self.facts[name] for name in self.setting.told)

    def reward(self, action: Vector) -> float:
        """Nearness to the goal, less effort."""
        return 1.0 / (1.0 + 0.2 * self.goal_distance()) - 0.02 * float(np.abs(action).mean())


def drawn_line(sites: tuple[str, ...]) -> str:
    """A line that is only looked at."""
    if not sites:
        return ""
    ends = "".join(f'<site site="{name}"/>' for name in sites)
    return (
        f'<tendon><spatial name="line" width="0.07" rgba="0.9 0.8 0.3 1">{ends}</spatial></tendon>'
    )


GOAL_MARK = """<body name="goal" mocap="true">
  <geom class="look" type="cylinder" size="1.1 0.04" pos="0 0 0.06" material="goal"/>
  <geom class="look" type="cylinder" size="0.25 0.7" pos="0 0 0.7" material="yellow"/></body>"""

BOAT_BODY = """<body name="boat" pos="0 0 0.3">
  <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
  <joint name="heading" type="hinge" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="{mass}" diaginertia="{turn} {turn} {turn}"/>
  <geom name="hull_aft" class="look" type="box" size="2.9 1.4 0.55" pos="-1.2 0 0.2"
        material="red"/>
  <geom name="hull_bow" class="look" type="ellipsoid" size="2.9 1.38 0.55" pos="1.6 0 0.2"
        material="red"/>
  <geom name="fender" class="solid" type="box" size="3.6 1.45 0.12" pos="-0.4 0 0.55"
        material="rubber"/>
  <site name="stern" pos="-4.1 0 0.7" size="0.1"/>
  <geom class="look" type="box" size="2.9 1.3 0.05" pos="-1.2 0 0.78" material="wood"/>
  <geom class="look" type="box" size="1.1 0.95 0.75" pos="-0.6 0 1.5" material="white"/>
  <geom class="look" type="box" size="1.12 0.97 0.2" pos="-0.6 0 1.75" material="black"/>
  <geom class="look" type="box" size="1.3 1.1 0.06" pos="-0.6 0 2.3" material="orange"/>
  <geom class="look" type="cylinder" size="0.05 0.9" pos="-0.9 0 3.1" material="metal"/>
</body>"""
