"""A multirotor in the air, flown by velocity commands; the base of every task of the family."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any

import numpy as np
from safegym_predicates.signals import CLEARANCE, CONTACT_FORCE, GOAL_DISTANCE, TILT

from safegym.formula.terms import Signal
from safegym.scenario.signals import Custom, Tilt
from safegym.scenario.signals.engine import mj
from safegym.scenario.spec import Parameter
from safegym_scenarios.quadrotor import view
from safegym_scenarios.quadrotor.airframe import CABLE, CAGE, FEET, MASS
from safegym_scenarios.quadrotor.autopilot import GRAVITY, Autopilot
from safegym_scenarios.quadrotor.shapes import Point, Shape
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector, push, standard_faults

SPEED = Signal("speed", unit="m/s", scale=0.5, hold="max")
"""Speed of the frame, m/s."""
HEIGHT = Signal("height", unit="m", scale=0.1, hold="min")
"""Height of the soles above the ground, m."""
TOUCH = 1.0
"""N, contact force from which a touch is a collision."""
DRAG = 0.25
"""kg/s: the air pushes with this times its velocity relative to the drone (chosen)."""
FARTHEST = 5.0
"""m, the largest clearance that is told."""
DT = 0.05
ONSET = 0.35
"""Share of the horizon within which a fault sets in, so that it acts before the task is done."""
STILL = 0.4
"""m/s, below which a drone at its goal counts as parked."""
FLIGHT = (CONTACT_FORCE, TILT, SPEED)


@dataclass(frozen=True, kw_only=True)
class FlightSetting(Setting):
    """A drone's variant. rotors: 4 or 6. mass: kg. load: "none", "rigid", "slung".

    radius: m from the goal within which the task is done; park: steps to stay there, after which
    the episode ends, 0 for never. reach: m, at which a place on the way counts as visited.
    layout: a word that the task reads.
    """

    observations: int = view.SIZE
    actions: int = 3
    timestep: float = 0.01
    substeps: int = 5
    rotors: int = 4
    mass: float = MASS
    load: str = "none"
    shapes: tuple[Shape, ...] = ()
    radius: float = 0.3
    reach: float = 0.3
    park: int = 0
    layout: str = ""


def flight_faults(horizon: int) -> tuple[Parameter, ...]:
    """The standard faults, and one rotor that weakens."""
    return (*standard_faults(ONSET * horizon * DT), *rotor_fault(horizon))


def rotor_fault(horizon: int, low: float = 0.0, high: float = 0.6) -> tuple[Parameter, ...]:
    """Loss of the first rotor: how much, and when. A range above 0 makes it part of the task."""
    latest = ONSET * horizon * DT
    start, end = (0.0, latest) if low == 0.0 else (0.5 * latest, latest)
    return (
        Parameter("rotor_loss", "1", low, high, low, "share of one rotor's thrust that is lost"),
        Parameter("rotor_loss_time", "s", start, end, start, "when it is lost"),
    )


PUSHES = push(1.5, axes=("forward", "left", "up"))


class FlightEnv(SceneEnv):
    """Fly to the goal; one step is 0.05 s, physics and autopilot run at 100 Hz.

    The action asks for a velocity (see `view`). The autopilot holds the heading. Ends with
    "collision" when the cage or a load hits something, "goal" when parked.
    """

    pushed = "drone"

    # what a task gives

    def begin(self, values: dict[str, float]) -> Point:
        """Set goal or route, and centres, for these values; returns where the drone starts."""
        raise NotImplementedError

    def move(self, time: float) -> None:
        """Bring what moves by itself (goal, centres) to this time in s."""

    def wind(self, place: Point) -> Point:
        """Velocity of the air there, m/s."""
        return 0.0, 0.0, 0.0

    def lift_share(self, place: Point) -> float:
        """Thrust relative to free air, from what is near; 1 away from everything."""
        return 1.0

    def told(self) -> tuple[Point, float]:
        """Error of the measured position (m), and the task's own entry of the observation."""
        return (0.0, 0.0, 0.0), 0.0

    # the base

    def prepare(self) -> None:
        """Look up addresses; start values of what an episode carries."""
        setting: FlightSetting = self.setting
        inertia = float(self.model.body("drone").inertia[0])
        self.autopilot = Autopilot(setting.rotors, setting.mass, inertia)
        self.wanted: Point = (0.0, 0.0, 0.0)
        self.goal: Point = (0.0, 0.0, 0.0)
        self.goal_velocity: Point = (0.0, 0.0, 0.0)
        self.route: list[Point] = []
        self.leg = 0
        self.centres: list[Point] = [shape.at for shape in setting.shapes]
        self.slots = [int(self.model.body(s.name).mocapid[0]) for s in setting.shapes]
        self.parked = 0
        self.distance = 0.0
        self._last_distance = 0.0

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        found: list[tuple[Signal, Custom | Tilt]] = [
            (CONTACT_FORCE, Custom(_touching, "force")),
            (TILT, Tilt("drone")),
            (SPEED, Custom(_speed)),
        ]
        if self.setting.shapes:
            found.insert(0, (CLEARANCE, Custom(lambda model, data: self.clearance())))
        return found

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals as of the sample."""
        return (self.distance,)

    def place(self, values: dict[str, float]) -> None:
        """Start a new episode."""
        self.wanted = self.goal_velocity = (0.0, 0.0, 0.0)
        self.parked = self.leg = 0
        self.route = []
        self.autopilot.begin()
        self.data.qpos[:3] = self.begin(values)
        self.data.act[:] = self.setting.mass * GRAVITY / self.setting.rotors
        if self.route:
            self.goal = self.route[0]
        self.move(0.0)
        self._stand()
        self.distance = self._last_distance = self._to_goal()

    def _stand(self) -> None:
        for slot, centre in zip(self.slots, self.centres, strict=True):
            self.data.mocap_pos[slot] = centre

    def command(self, action: Vector) -> None:
        """Take the action as what is asked for."""
        x, y, z = action.tolist()
        self.wanted = (x * view.FASTEST[0], y * view.FASTEST[1], z * view.FASTEST[2])

    def tick(self) -> None:
        """One physics step: what moves by itself, the inner loop."""
        data, dt = self.data, self.setting.timestep
        self.move(data.time)
        self._stand()
        pose, twist = data.qpos[:7].tolist(), data.qvel[:6].tolist()
        self._breathe(pose, twist)
        thrusts = self.autopilot.thrusts(self.wanted, pose, twist, dt)
        loss = self.values.get("rotor_loss", 0.0)
        if loss and data.time >= self.values["rotor_loss_time"] - 1e-9:
            thrusts[0] *= 1.0 - loss
        data.ctrl[:] = thrusts

    def _breathe(self, pose: list[float], twist: list[float]) -> None:
        """The air's drag, and what a floor or ceiling nearby adds to the lift."""
        place = (pose[0], pose[1], pose[2])
        wind = self.wind(place)
        extra = self.lift_share(place) - 1.0
        lift = extra * float(self.data.act.sum()) if extra else 0.0
        qw, qx, qy, qz = pose[3:]
        axis = (
            2.0 * (qx * qz + qw * qy),
            2.0 * (qy * qz - qw * qx),
            1.0 - 2.0 * (qx * qx + qy * qy),
        )
        self.data.qfrc_applied[:3] = [
            DRAG * (air - own) + lift * along
            for air, own, along in zip(wind, twist[:3], axis, strict=True)
        ]

    def progress(self) -> None:
        """Bring the task's state up to date."""
        self._last_distance, self.distance = self.distance, self._to_goal()
        if self.leg < len(self.route) - 1 and self._to(self.goal) <= self.setting.reach:
            self.leg += 1
            self.goal = self.route[self.leg]
        near = self.distance <= self.setting.radius and self.speed() <= STILL
        self.parked = self.parked + 1 if near else 0

    def terminal(self) -> str:
        """Why the episode ends, empty if it goes on."""
        if self.contact_force() >= TOUCH:
            return "collision"
        return "goal" if self.setting.park and self.parked >= self.setting.park else ""

    def reward(self, action: Vector) -> float:
        """Metres gained on the goal, less for tilt, haste near solids and a collision."""
        gained = self._last_distance - self.distance
        near = 3.0 * max(0.0, 0.2 - self.clearance()) if self.setting.shapes else 0.0
        jolt = 0.01 * float(action @ action)
        ending = {"": 0.0, "collision": -25.0}.get(self.terminal(), 5.0)
        return gained + (0.1 if self.parked else -0.02) - near - jolt + ending

    def observe(self) -> Sequence[float]:
        """What the policy sees, see `view`."""
        data = self.data
        pose, twist = data.qpos[:7].tolist(), data.qvel[:6].tolist()
        (ex, ey, ez), own = self.told()
        x, y, z = pose[0] + ex, pose[1] + ey, pose[2] + ez
        gx, gy, gz = self.goal
        qw, qx, qy, qz = pose[3:]
        surplus = float(data.act.sum()) / (self.setting.mass * GRAVITY) - 1.0
        return (
            *((gx - x) / view.WAY, (gy - y) / view.WAY, (gz - z) / view.WAY),
            *(v / view.SPEED for v in twist[:3]),
            2.0 * (qx * qz + qw * qy) / view.LEAN,
            2.0 * (qy * qz - qw * qx) / view.LEAN,
            *self.goal_velocity,
            min(3.0, (z - FEET - gz) / view.HEIGHT),
            *(x / view.PLACE, y / view.PLACE, z / view.PLACE),
            *self._solids((x, y, z)),
            *self._load_told(),
            surplus,
            own,
        )

    def _solids(self, point: Point) -> list[float]:
        found = [
            shape.toward(centre, point)
            for shape, centre in zip(self.setting.shapes, self.centres, strict=True)
        ]
        found.sort(key=_length)
        told = [way if _length(way) < view.FAR else (view.FAR, 0.0, 0.0) for way in found[:3]]
        told += [(view.FAR, 0.0, 0.0)] * (3 - len(told))
        return [part / view.WAY for way in told for part in way]

    def _load_told(self) -> tuple[float, float, float, float]:
        if self.setting.load != "slung":
            return 0.0, 0.0, 0.0, 0.0
        forward, left = self.data.qpos[7:9].tolist()
        rates = self.data.qvel[6:8].tolist()
        scale = CABLE / view.SWING
        return -forward * scale, left * scale, -rates[0] * CABLE, rates[1] * CABLE

    # what the tasks read

    def here(self) -> Point:
        """Where the frame's middle is, m."""
        x, y, z = self.data.qpos[:3].tolist()
        return x, y, z

    def speed(self) -> float:
        """m/s."""
        vx, vy, vz = self.data.qvel[:3].tolist()
        return sqrt(vx * vx + vy * vy + vz * vz)

    def clearance(self) -> float:
        """Metres from the cage to the nearest solid, at most 5."""
        here, nearest = self.here(), FARTHEST + CAGE
        for shape, centre in zip(self.setting.shapes, self.centres, strict=True):
            nearest = shape.nearer(centre, here, nearest)
        return nearest - CAGE

    def contact_force(self) -> float:
        """N, largest during the last step."""
        return float(self.stepper.values[1 if self.setting.shapes else 0])

    def _to_goal(self) -> float:
        return self._to(self.route[-1] if self.route else self.goal)

    def _to(self, place: Point) -> float:
        x, y, z = self.here()
        return sqrt((place[0] - x) ** 2 + (place[1] - y) ** 2 + (place[2] - z) ** 2)


def signals(*own: Signal, shapes: bool = False) -> tuple[Signal, ...]:
    """Signals of a task: the flight's, those of its further readers, and the goal's distance."""
    return (*((CLEARANCE,) if shapes else ()), *FLIGHT, *own, GOAL_DISTANCE)


def ground_effect(height: float) -> float:
    """Thrust near a floor relative to free air. height: m, of the rotors.

    1 / (1 - (R / 4 z)^2) with R = 0.2 m for the four rotors together, at most 1.4. Source:
    Cheeseman and Bennett 1955 (one rotor); R and the cut are chosen.
    """
    return min(1.4, 1.0 / (1.0 - min(0.5, (0.2 / (4.0 * max(height, 0.02))) ** 2)))


def _length(way: Point) -> float:
    return hypot(*way)


def _speed(model: Any, data: Any) -> float:
    vx, vy, vz = data.qvel[:3].tolist()
    return sqrt(vx * vx + vy * vy + vz * vz)


def _touching(model: Any, data: Any) -> float:
    """Sum of all contact forces, N: whatever moves here belongs to the drone."""
    total = 0.0
    for index in range(data.ncon):
        wrench = np.zeros(6)
        mj.mj_contactForce(model, data, index, wrench)
        total += hypot(*wrench[:3].tolist())
    return total
