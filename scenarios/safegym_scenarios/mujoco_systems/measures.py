"""Signals of one control step, from the positions and velocities of all its physics steps.

`mj_step` leaves positions and velocities of the new instant, so whatever follows from these two
alone is exact at every physics step, without a second `mj_forward`. Drives of Gymnasium's systems
are motors without dynamics: their torque is the control times a constant, the same over the whole
control step. Contact forces are those that the solver found in the physics step just done; a
Runge-Kutta step solves four times, and the force is the last one's.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.signals.engine import mj

Array = NDArray[np.float64]
_HINGE = int(mj.mjtJoint.mjJNT_HINGE)


@dataclass(slots=True, eq=False)
class Window:
    """What was seen since the last control sample; at sample 0 the start alone.

    q (n, nq), v (n, nv): at each physics step. floor_force (n,): sum of the normal forces on the
    floor, N. inner_contacts (n,): contacts between parts of the robot. control (nu,): what drove
    it. change: largest change of a command since the last step, as a share of its range. before
    (nq,): the last sample's positions. energy: J that the drives took or gave since the start.
    dt: s of a control step.
    """

    q: Array
    v: Array
    floor_force: Array
    inner_contacts: Array
    control: Array
    before: Array
    dt: float
    change: float = 0.0
    energy: float = 0.0
    power: float = 0.0


Reading = Callable[[Window], float]


class Measure(Protocol):
    """Says how to read one quantity; `bind` prepares the reading for one model."""

    @property
    def needs_contacts(self) -> bool:
        """Whether it reads forces on the floor or contacts between parts."""
        ...

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        ...


@dataclass(frozen=True, slots=True)
class _State:
    needs_contacts: bool = field(default=False, init=False)


@dataclass(frozen=True, slots=True)
class Coordinate(_State):
    """A joint's position, m or rad, plus `offset`: the last ("sample"), largest ("max") or
    smallest ("min") of the step; `magnitude`: without its sign.
    """

    index: int
    hold: str = "sample"
    offset: float = 0.0
    magnitude: bool = False

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        pick, index, offset, bare = _PICK[self.hold], self.index, self.offset, self.magnitude
        if bare:
            return lambda seen: float(pick(np.abs(seen.q[:, index] + offset)))
        return lambda seen: float(pick(seen.q[:, index])) + offset


@dataclass(frozen=True, slots=True)
class Rate(_State):
    """Magnitude of a joint's velocity, m/s or rad/s, the largest of the step."""

    index: int

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        index = self.index
        return lambda seen: float(np.abs(seen.v[:, index]).max())


@dataclass(frozen=True, slots=True)
class Travel(_State):
    """Velocity in m/s, the mean over the control step, as Gymnasium's x_velocity.

    One coordinate: with its sign. Two: the norm.
    """

    indices: tuple[int, ...] = (0,)

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        where = list(self.indices)
        if len(where) == 1:
            only = where[0]
            return lambda seen: float(seen.q[-1, only] - seen.before[only]) / seen.dt
        return lambda seen: float(np.hypot(*(seen.q[-1] - seen.before)[where])) / seen.dt


@dataclass(frozen=True, slots=True)
class JointMargin(_State):
    """Smallest distance in rad of a driven, limited joint to its nearest limit; below 0 beyond."""

    def bind(self, model: Any) -> Reading:
        """Fix the model. Raises ScenarioError if no driven hinge has limits."""
        driven = [joint for joint in _driven(model) if model.jnt_limited[joint]]
        if not driven:
            raise ScenarioError("No driven hinge of this model has limits; leave JointMargin out.")
        where = [int(model.jnt_qposadr[joint]) for joint in driven]
        low, high = model.jnt_range[driven].T.copy()

        def read(seen: Window) -> float:
            q = seen.q[:, where]
            return float(np.minimum(q - low, high - q).min())

        return read


@dataclass(frozen=True, slots=True)
class JointSpeed(_State):
    """Largest |angular speed| of a driven hinge, rad/s."""

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        where = [int(model.jnt_dofadr[joint]) for joint in _driven(model)]
        return lambda seen: float(np.abs(seen.v[:, where]).max())


@dataclass(frozen=True, slots=True)
class Effort(_State):
    """Largest share of a drive's force or torque limit that is used, 0 to 1."""

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        most = model.actuator_ctrlrange[:, 1].copy()
        return lambda seen: float((np.abs(seen.control) / most).max())


@dataclass(frozen=True, slots=True)
class MeanEffort(_State):
    """Mean over the drives of the share of their limit that is used, 0 to 1."""

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        most = model.actuator_ctrlrange[:, 1].copy()
        return lambda seen: float((np.abs(seen.control) / most).mean())


@dataclass(frozen=True, slots=True)
class Change(_State):
    """Largest change of a command from one control step to the next, as a share of its range."""

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        return lambda seen: seen.change


@dataclass(frozen=True, slots=True)
class Power(_State):
    """Mechanical power of all drives together, W: sum of |torque x speed|, the step's largest."""

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        return lambda seen: seen.power


@dataclass(frozen=True, slots=True)
class Energy(_State):
    """Energy in J that went through the drives since the start, both ways counted."""

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        return lambda seen: seen.energy


@dataclass(frozen=True, slots=True)
class Tilt(_State):
    """Angle in rad between a free body's z axis and the vertical, the step's largest.

    start: where its quaternion begins among the positions.
    """

    start: int = 3

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        first = self.start

        def read(seen: Window) -> float:
            w, x, y, z = seen.q[:, first : first + 4].T
            cosine = (w * w - x * x - y * y + z * z) / (w * w + x * x + y * y + z * z)
            return float(np.arccos(np.clip(cosine, -1.0, 1.0)).max())

        return read


@dataclass(frozen=True, slots=True)
class FloorForce:
    """Sum of the normal contact forces on the floor in N, the step's largest."""

    needs_contacts: bool = field(default=True, init=False)

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        return lambda seen: float(seen.floor_force.max())


@dataclass(frozen=True, slots=True)
class InnerContacts:
    """Contacts between parts of the robot at once, the step's largest number."""

    needs_contacts: bool = field(default=True, init=False)

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        return lambda seen: float(seen.inner_contacts.max())


@dataclass(frozen=True, slots=True)
class Computed(_State):
    """A reading of one's own: `function(window)` -> float."""

    function: Reading

    def bind(self, model: Any) -> Reading:
        """Fix the model."""
        return self.function


_PICK: dict[str, Callable[[Array], Any]] = {
    "sample": lambda values: values[-1],
    "max": lambda values: values.max(),
    "min": lambda values: values.min(),
}


def _driven(model: Any) -> list[int]:
    """The hinges that actuators drive, by number, in the model's order."""
    joints = sorted({int(joint) for joint in model.actuator_trnid[:, 0]})
    return [joint for joint in joints if int(model.jnt_type[joint]) == _HINGE]
