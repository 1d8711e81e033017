"""A crane that is driven by wanted accelerations of travel, cross and hoist."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, sin, sqrt
from typing import Any

import numpy as np

from safegym.scenario.signals import Clearance, Custom
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Reader
from safegym_scenarios.crane.machine import BOOM, HALF_HEIGHT, ROPE_STIFFNESS, TOP, crane_scene
from safegym_scenarios.crane.signals import ALL
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector

GRAVITY = 9.81
AXES = ("travel", "cross", "hoist")
SLEWING_RADIUS = 12.0
"""m of arc that a radian of slewing counts as."""
FARTHEST = 4.0
_PIVOT = {"gantry": TOP, "tower": TOP, "luffing": 6.0}


@dataclass(frozen=True, kw_only=True)
class CraneSetting(Setting):
    """One variant. machine: "gantry", "tower" or "luffing". axes: which the action moves, in order.

    watched, told: names of the signals read at each physics step and at each sample. top, boost:
    largest speed (m/s) and acceleration (m/s^2) of travel, cross and hoist. sling: m from hook to
    load, 0 for a load right at the hook. pull: N that the winch can hold. braking: share of the
    drive's force that slows the trolley down. rope: m, paid out at the start where no parameter
    says. load_size: m, halves of length and width. scenery, tendons: MJCF of this variant.
    """

    watched: tuple[str, ...]
    told: tuple[str, ...] = ("goal_distance",)
    machine: str = "gantry"
    axes: tuple[str, ...] = ("travel",)
    top: tuple[float, float, float] = (2.0, 2.0, 1.0)
    boost: tuple[float, float, float] = (1.0, 1.0, 1.0)
    sling: float = 0.0
    pull: float = 4e5
    rope: float = 9.0
    load_size: tuple[float, float] = (1.2, 1.2)
    load_material: str = "blue"
    scenery: str = ""
    tendons: str = ""
    timestep: float = 0.02
    substeps: int = 5


class Crane(SceneEnv):
    """Lengths along the axes in m: rope for the hoist, arc for what turns.

    Observed, each about [-1, 1]: way to go on travel, cross and hoist (10 m); their speeds (the
    largest); rope angles along travel and cross (0.2 rad) and their rates (0.2 rad/s); rope length
    (10 m); pull (100 kN); height of the load's lower side (10 m); then what a variant adds in
    `more`.
    """

    pushed = "load"
    setting: Any

    @staticmethod
    def build(setting: Any) -> str:
        """The scene of the variant."""
        return crane_scene(setting)

    def prepare(self) -> None:
        """Ids, addresses and the state of the drives."""
        model, setting = self.model, self.setting
        self._at = [int(model.joint(name).qposadr[0]) for name in (*AXES, "sway_x", "sway_y")]
        self._load = int(model.geom("load").id)
        self._body = int(model.body("load").id)
        self._inertia = model.body_inertia[self._body].copy()
        self._slings = setting.sling > 0.0
        luffing = setting.machine == "luffing"
        self._leans = 1.0 if luffing else 0.0
        arcs = {"gantry": (1.0, 1.0), "tower": (1.0, SLEWING_RADIUS)}
        self.arc = (*arcs.get(setting.machine, (BOOM, SLEWING_RADIUS)), 1.0)
        self.wanted = [0.0, 0.0, 0.0]
        self.paid_out: float = setting.rope
        self.goal: list[float] = [0.0, 0.0, setting.rope]
        self.spot = [0.0, 0.0, 0.0]
        self.origin = [0.0, 0.0]
        self.heading = 1.0
        self.mass, self.weight = 5000.0, 5.0 * GRAVITY
        self.facts: dict[str, float] = {}

    def gauges(self) -> dict[str, Reader]:
        """Readers by the name of their signal; variants add theirs."""
        return {
            "sway": Custom(lambda model, data: self.sway()),
            "tension": Custom(lambda model, data: self.tension(), phase="force"),
            "travel_speed": Custom(lambda model, data: abs(self.speeds()[0])),
            "load_factor": Custom(lambda model, data: self.tension() / self.weight, phase="force"),
            "clearance": Clearance("load", "obstacle*", FARTHEST),
            "load_moment": Custom(lambda model, data: self.load_moment(), phase="force"),
            "overrun": Custom(
                lambda model, data: self.heading * (data.geom_xpos[self._load, 0] - self.spot[0])
            ),
        }

    def readers(self) -> Readers:
        """Those of `setting.watched`."""
        gauges = self.gauges()
        return tuple((ALL[name], gauges[name]) for name in self.setting.watched)

    def sway(self) -> float:
        """Largest angle of rope or sling out of the vertical, rad."""
        one, two = self.lean()
        angle = hypot(one, two)
        if self._slings:
            three, four = self.lean_of_sling()
            angle = max(angle, hypot(three, four))
        return angle

    def lean(self) -> tuple[float, float]:
        """Angles of the rope out of the vertical, in the trolley's frame, rad."""
        q = self.data.qpos
        travel, x, y = self._at[0], self._at[3], self._at[4]
        return float(q[x] + self._leans * q[travel]), float(q[y])

    def lean_of_sling(self) -> tuple[float, float]:
        """Angles of the sling out of the vertical, rad."""
        q, last = self.data.qpos, self._at[2]
        one, two = self.lean()
        return one + float(q[last + 1]), two + float(q[last + 2])

    def tension(self) -> float:
        """Pull in the rope, kN."""
        return -float(self.data.actuator_force[2]) / 1000.0

    def load_moment(self) -> float:
        """Rope pull times the load's distance from the slewing axis, kN m."""
        x, y, _ = self.data.geom_xpos[self._load].tolist()
        return self.tension() * hypot(x, y)

    def speeds(self) -> tuple[float, float, float]:
        """Of travel, cross and winch (paying out positive), m/s."""
        v, at, arc = self.data.qvel, self._at, self.arc
        winch = self.wanted[2] * self._left
        return float(v[at[0]] * arc[0]), float(v[at[1]] * arc[1]), winch

    # an episode

    def place(self, values: dict[str, float]) -> None:
        """Masses, joints, drives at rest and the goal."""
        setting, q, at = self.setting, self.data.qpos, self._at
        self._weigh(values.get("load_mass", 5000.0))
        self.wanted = [0.0, 0.0, 0.0]
        self.paid_out = values["rope"] if "rope" in values else float(setting.rope)
        self.goal = [
            values.get("goal", values.get("start", 0.0)),
            values.get("goal_cross", 0.0) * self.arc[1],
            values.get("goal_rope", self.paid_out),
        ]
        start = values.get("start", 0.0)
        q[at[0]], q[at[1]] = start / self.arc[0], values.get("start_cross", 0.0)
        hung = self.mass + (1500.0 if self._slings else 0.0)
        q[at[2]] = self.paid_out + hung * GRAVITY / ROPE_STIFFNESS
        self.data.ctrl[2] = self.paid_out
        q[at[3]] = values.get("start_sway", 0.0) - self._leans * q[at[0]]
        self.heading = 1.0 if self.goal[0] >= start else -1.0
        self._mark_goal()
        mj.mj_kinematics(self.model, self.data)
        self.origin = self.data.geom_xpos[self._load, :2].tolist()

    def _weigh(self, mass: float) -> None:
        self.mass = mass
        self.weight = mass * GRAVITY / 1000.0
        self.model.body_mass[self._body] = mass
        self.model.body_inertia[self._body] = self._inertia * (mass / 5000.0)
        mj.mj_setConst(self.model, self.data)

    def _mark_goal(self) -> None:
        travel, cross, rope = self.goal
        kind = self.setting.machine
        if kind == "gantry":
            x, y = travel, cross
        else:
            reach = travel if kind == "tower" else BOOM * cos(travel / BOOM)
            turn = cross / self.arc[1]
            x, y = reach * cos(turn), reach * sin(turn)
        head = _PIVOT[kind] + (BOOM * sin(travel / BOOM) if kind == "luffing" else 0.0)
        hung = rope + self.mass * GRAVITY / ROPE_STIFFNESS + self.setting.sling
        self.spot = [x, y, head - hung - HALF_HEIGHT]
        self.data.mocap_pos[self.model.body("goal").mocapid[0]] = (x, y, 0.0)

    def command(self, action: Vector) -> None:
        """Integrate the wanted accelerations to wanted speeds of the drives."""
        setting, dt = self.setting, self.setting.dt
        for asked, name in zip(action.tolist(), setting.axes, strict=True):
            axis = AXES.index(name)
            top = setting.top[axis]
            speed = self.wanted[axis] + asked * setting.boost[axis] * dt
            self.wanted[axis] = min(top, max(-top, speed))
        self.data.ctrl[0] = self.wanted[0] / self.arc[0]
        self.data.ctrl[1] = self.wanted[1] / self.arc[1]

    def tick(self) -> None:
        """Pay rope out or take it up."""
        self.paid_out += self.wanted[2] * self._left * self.setting.timestep
        self.data.ctrl[2] = self.paid_out

    def weakened(self, left: float) -> None:
        """Drives lose force and the winch speed; the rope holds."""
        gain, bias = self._healthy
        self.model.actuator_gainprm[:2] = gain[:2] * left
        self.model.actuator_biasprm[:2] = bias[:2] * left

    def disturb(self, pushes: dict[str, float]) -> None:
        """Pushes and wind on the load."""
        force = self.data.xfrc_applied[self._body]
        force[0] = pushes.get("push_forward", 0.0) + pushes.get("wind_x", 0.0)
        force[1] = pushes.get("push_left", 0.0) + pushes.get("wind_y", 0.0)

    # what is seen of it

    def ways(self) -> tuple[float, float, float]:
        """M still to go on travel, cross and hoist."""
        q, at, arc = self.data.qpos, self._at, self.arc
        return (
            self.goal[0] - float(q[at[0]]) * arc[0],
            self.goal[1] - float(q[at[1]]) * arc[1],
            self.goal[2] - self.paid_out,
        )

    def lifted(self) -> float:
        """Height of the load's lower side above the ground, m."""
        return float(self.data.geom_xpos[self._load, 2]) - HALF_HEIGHT

    def goal_distance(self) -> float:
        """Distance of the load's middle from its goal, m."""
        found = self.data.geom_xpos[self._load].tolist()
        return sqrt(sum((a - b) ** 2 for a, b in zip(found, self.spot, strict=True)))

    def observe(self) -> Sequence[float]:
        """See the class."""
        setting, v, at = self.setting, self.data.qvel, self._at
        x, y = self.lean()
        rate = float(v[at[3]] + self._leans * v[at[0]])
        along = -1.0 if self._leans else 1.0  # a boom that rises draws the load in
        return (
            *(way / 10.0 for way in self.ways()),
            *(speed / top for speed, top in zip(self.speeds(), setting.top, strict=True)),
            *(along * x / 0.2, y / 0.2, along * rate / 0.2, float(v[at[4]]) / 0.2),
            float(self.data.qpos[at[2]]) / 10.0,
            self.tension() / 100.0,
            self.lifted() / 10.0,
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
        x, y = self.data.geom_xpos[self._load, :2].tolist()
        return {
            "goal_distance": self.goal_distance(),
            "lifted": self.lifted(),
            "progress": hypot(x - self.origin[0], y - self.origin[1]),
        }

    def task_signals(self) -> tuple[float, ...]:
        """Those of `setting.told`."""
        return tuple(self.facts[name] for name in self.setting.told)

    def reward(self, action: Vector) -> float:
        """Nearness to the goal, less sway and effort."""
        near = 1.0 / (1.0 + self.facts["goal_distance"])
        return near - 2.0 * self.sway() - 0.02 * float(np.abs(action).mean())
