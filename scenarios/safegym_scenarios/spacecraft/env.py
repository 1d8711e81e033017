"""A chaser near a station, pushed by thrusters and turned by wheels; the base of the family.

Axes: x along the orbit, z away from the Earth, y across; the origin goes round with the station.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from safegym.formula.terms import Signal
from safegym.scenario.signals import Custom
from safegym.scenario.spec import Parameter
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector, push, standard_faults
from safegym_scenarios.spacecraft import view
from safegym_scenarios.spacecraft.craft import NOSE, THRUST, TORQUE
from safegym_scenarios.spacecraft.rotation import (
    Quaternion,
    Vector3,
    cross,
    inverse,
    length,
    less,
    product,
    turned,
    vector_of,
)

ORBIT = 0.00113
"""rad/s, mean motion of a circular orbit about 400 km up (period 93 min)."""
BUDGET = 2000.0
"""N s on board: enough to change the chaser's speed by 10 m/s."""
DT = 0.5
RANGE = Signal("range", unit="m", scale=0.5, hold="min")
"""Distance from the chaser's ring (or middle) to the goal, m."""
SPEED = Signal("speed", unit="m/s", scale=0.05, hold="max")
"""Speed relative to the goal's frame, m/s."""
ATTITUDE = Signal("attitude_error", unit="rad", scale=0.05, hold="max")
"""Angle between the attitude that is wanted and the chaser's, rad."""
RATE = Signal("angular_rate", unit="rad/s", scale=0.01, hold="max")
"""Angular rate relative to the goal's frame, rad/s."""
IMPULSE = Signal("impulse", unit="N*s", scale=100.0)
"""Impulse that the thrusters have given so far, N s."""
STILL: Quaternion = (1.0, 0.0, 0.0, 0.0)
CORE = (RANGE, SPEED, ATTITUDE, RATE)


@dataclass(frozen=True, kw_only=True)
class CraftSetting(Setting):
    """A spacecraft's variant. layout: a word that the task reads. orbit: rad/s, 0 far from any.

    strength: thrust relative to the chaser's, as the scene's gears have it; of the impulse.
    """

    observations: int = view.SIZE
    actions: int = 6
    timestep: float = 0.1
    substeps: int = 5
    layout: str = ""
    orbit: float = ORBIT
    strength: float = 1.0


def craft_faults(horizon: int, dt: float = DT) -> tuple[Parameter, ...]:
    """The standard faults, and one thruster, the one that brakes, that weakens."""
    early = 0.3 * horizon * dt
    return (*standard_faults(early, delay=2.0), *thruster_fault(horizon, dt=dt))


def thruster_fault(
    horizon: int, low: float = 0.0, high: float = 1.0, dt: float = DT
) -> tuple[Parameter, ...]:
    """Loss of the thruster that pushes back: how much, and when. Above 0 it is part of the task."""
    early = 0.3 * horizon * dt
    return (
        Parameter("thruster_loss", "1", low, high, low, "share of the braking thruster's thrust"),
        Parameter("thruster_loss_time", "s", 0.0, early, 0.0, "when it is lost"),
    )


PUSHES = push(1.5, axes=("forward", "left", "up"))


class CraftEnv(SceneEnv):
    """Six thrusts and torques in the chaser's axes; one step is 0.5 s.

    In a turning frame about an orbit the Clohessy-Wiltshire terms act as forces on the chaser.
    """

    pushed = "craft"

    # what a task gives

    def begin(self, values: dict[str, float]) -> tuple[Vector3, Vector3, Quaternion]:
        """Set the goal for these values; returns the start: place, velocity, attitude."""
        raise NotImplementedError

    def move(self, time: float) -> None:
        """Bring what moves by itself (goal, its attitude and rate) to this time in s."""

    def lean(self) -> tuple[float, float, float, float]:
        """Two angles and rates of a pendulum or panel, rad and rad/s."""
        return 0.0, 0.0, 0.0, 0.0

    def near(self) -> Vector3:
        """Way in m, in world axes, to what must not be touched."""
        return less((0.0, 0.0, 0.0), self.here())

    def direction(self) -> Vector3:
        """A direction in world axes that the task tells."""
        return 0.0, 0.0, 0.0

    def own(self) -> float:
        """The task's own entry of the observation."""
        return 0.0

    # the base

    def prepare(self) -> None:
        """Look up addresses; start values of what an episode carries."""
        self.goal: Vector3 = (0.0, 0.0, 0.0)
        self.goal_speed: Vector3 = (0.0, 0.0, 0.0)
        self.goal_attitude: Quaternion = STILL
        self.goal_rate: Vector3 = (0.0, 0.0, 0.0)
        self.nose = NOSE
        self.impulse = 0.0
        self.mass = float(self.model.body("craft").subtreemass[0])
        self._action = [0.0] * 6
        self._last = 0.0

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        return (
            (RANGE, Custom(lambda model, data: length(self.way()))),
            (SPEED, Custom(lambda model, data: length(self.velocity()))),
            (ATTITUDE, Custom(lambda model, data: length(self.turn()))),
            (RATE, Custom(lambda model, data: length(self.rate()))),
        )

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals as of the sample."""
        return (self.impulse,)

    def place(self, values: dict[str, float]) -> None:
        """Start a new episode."""
        self.impulse = 0.0
        self.goal_speed = self.goal_rate = (0.0, 0.0, 0.0)
        self.goal_attitude = STILL
        self._action = [0.0] * 6
        place, velocity, attitude = self.begin(values)
        self.data.qpos[:7] = (*place, *attitude)
        self.data.qvel[:3] = velocity
        self.move(0.0)
        self._last = length(self.way())

    def command(self, action: Vector) -> None:
        """Take the action as what is asked for."""
        self._action = action.tolist()

    def tick(self) -> None:
        """One physics step: what moves by itself, the thrusters, the orbit's terms."""
        data, dt, values = self.data, self.setting.timestep, self.values
        self.move(data.time)
        push, turn = self._action[:3], self._action[3:]
        forth = [THRUST * max(0.0, share) for share in push]
        back = [THRUST * max(0.0, -share) for share in push]
        loss = values.get("thruster_loss", 0.0)
        if loss and data.time >= values["thruster_loss_time"] - 1e-9:
            back[0] *= 1.0 - loss
        data.ctrl[:9] = (*forth, *back, *(TORQUE * share for share in turn))
        self.impulse += dt * self.setting.strength * (sum(forth) + sum(back))
        self._orbit()

    def _orbit(self) -> None:
        n = self.setting.orbit
        if not n:
            return
        (x, y, z), (vx, vy, vz) = self.here(), self.data.qvel[:3].tolist()
        pull = relative_pull(n, (x, y, z), (vx, vy, vz))
        self.data.qfrc_applied[:3] = [self.mass * part for part in pull]

    def reward(self, action: Vector) -> float:
        """Metres gained on the goal, less effort, turning and haste when near."""
        distance = length(self.way())
        gained, self._last = self._last - distance, distance
        haste = max(0.0, length(self.velocity()) - 0.05 - 0.1 * distance)
        effort = 0.002 * float(action @ action)
        ending = {"": 0.0, "docked": 10.0, "landed": 10.0, "done": 10.0}.get(self.terminal(), -10.0)
        return gained - effort - haste - 0.1 * length(self.turn()) + ending

    def observe(self) -> Sequence[float]:
        """What the policy sees, see `view`."""
        back = inverse(self.attitude())
        lean = self.lean()
        return (
            *(part / view.WAY for part in turned(back, self.way())),
            *(part / view.SPEED for part in turned(back, self.velocity())),
            *(part / view.TURN for part in self.turn()),
            *(part / view.RATE for part in self.rate()),
            *(part / view.NEAR for part in turned(back, self.near())),
            *turned(back, self.direction()),
            *(part / view.LEAN for part in lean),
            self.impulse / BUDGET,
            self.own(),
        )

    # what the tasks read

    def here(self) -> Vector3:
        """Where the chaser's middle is, m."""
        x, y, z = self.data.qpos[:3].tolist()
        return x, y, z

    def attitude(self) -> Quaternion:
        """The chaser's attitude."""
        w, x, y, z = self.data.qpos[3:7].tolist()
        return w, x, y, z

    def ring(self) -> Vector3:
        """Where the docking ring is, m."""
        x, y, z = self.here()
        if not self.nose:
            return x, y, z
        a, b, c = turned(self.attitude(), (self.nose, 0.0, 0.0))
        return x + a, y + b, z + c

    def way(self) -> Vector3:
        """From the ring to the goal, m."""
        return less(self.goal, self.ring())

    def velocity(self) -> Vector3:
        """Of the ring, m/s, relative to the goal's turning frame."""
        vx, vy, vz, p, q, r = self.data.qvel[:6].tolist()
        moved = (vx, vy, vz)
        if self.nose:
            a, b, c = turned(self.attitude(), cross((p, q, r), (self.nose, 0.0, 0.0)))
            moved = (vx + a, vy + b, vz + c)
        if any(self.goal_rate):
            moved = less(moved, cross(self.goal_rate, less(self.ring(), self.goal)))
        return less(moved, self.goal_speed)

    def turn(self) -> Vector3:
        """Rotation still to be made, rad, in the chaser's axes."""
        return vector_of(product(inverse(self.attitude()), self.goal_attitude))

    def rate(self) -> Vector3:
        """Angular rate relative to the goal's, rad/s, in the chaser's axes."""
        wx, wy, wz = self.data.qvel[3:6].tolist()
        return less((wx, wy, wz), turned(inverse(self.attitude()), self.goal_rate))


def relative_pull(n: float, place: Vector3, velocity: Vector3) -> Vector3:
    """Acceleration in m/s^2 of a body near a circular orbit, in the frame that goes round with it.

    n: mean motion in rad/s. x along the orbit, y across, z away from the Earth. Source: Clohessy
    and Wiltshire 1960.
    """
    _, y, z = place
    vx, _, vz = velocity
    return -2.0 * n * vz, -n * n * y, 3.0 * n * n * z + 2.0 * n * vx


def touching(model: Any, data: Any) -> float:
    """1.0 while anything touches, else 0.0."""
    return 1.0 if data.ncon and bool((data.contact.dist <= 0.0).any()) else 0.0
