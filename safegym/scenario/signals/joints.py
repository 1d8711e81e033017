"""Joint-limit margin and joint speed."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Phase, Reading
from safegym.scenario.signals.select import ids_of

_HINGE = int(mj.mjtJoint.mjJNT_HINGE)
_SLIDE = int(mj.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True, slots=True)
class JointLimitMargin:
    """Smallest distance of a joint to its nearest limit: rad for hinges, m for slides.

    Negative beyond the limit. The joints must all be limited and of one type, hinge or slide;
    ScenarioError at `bind` otherwise.
    """

    joints: str | tuple[str, ...] = "*"

    @property
    def phase(self) -> Phase:
        """Follows from positions."""
        return "state"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        ids = _plain_joints(model, self.joints)
        free = [index for index in ids if not model.jnt_limited[index]]
        if free:
            name = mj.mj_id2name(model, int(mj.mjtObj.mjOBJ_JOINT), free[0])
            raise ScenarioError(
                f"Joint {name!r} has no limit; name only limited joints, or give it a range."
            )
        position = _picker(data.qpos, [int(model.jnt_qposadr[index]) for index in ids])
        low, high = model.jnt_range[list(ids)].T.copy()

        def read() -> float:
            q = position()
            return float(np.minimum(q - low, high - q).min())

        return read


@dataclass(frozen=True, slots=True)
class JointSpeed:
    """Euclidean norm of the joints' velocities: rad/s for hinges, m/s for slides, never mixed."""

    joints: str | tuple[str, ...] = "*"

    @property
    def phase(self) -> Phase:
        """Follows from velocities."""
        return "state"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        ids = _plain_joints(model, self.joints)
        velocity = _picker(data.qvel, [int(model.jnt_dofadr[index]) for index in ids])

        def read() -> float:
            v = velocity()
            return sqrt(v @ v)

        return read


def _plain_joints(model: Any, patterns: str | tuple[str, ...]) -> tuple[int, ...]:
    """Ids of matching joints, all hinges or all slides."""
    ids = ids_of(model, "joint", patterns)
    kinds = {int(model.jnt_type[index]) for index in ids}
    if kinds not in ({_HINGE}, {_SLIDE}):
        names = [mj.mj_id2name(model, int(mj.mjtObj.mjOBJ_JOINT), index) for index in ids]
        raise ScenarioError(
            f"Joints {', '.join(names)} are not all hinges (rad) or all slides (m); "
            "name one type, e.g. 'hinge_*'."
        )
    return ids


def _picker(array: NDArray[np.float64], indices: list[int]) -> Callable[[], NDArray[np.float64]]:
    """Reads the entries: through a view where they are contiguous, else by a gather."""
    first, count = indices[0], len(indices)
    if indices == list(range(first, first + count)):
        view = array[first : first + count]
        return lambda: view
    where, room = np.array(indices), np.zeros(count)
    return lambda: array.take(where, out=room)
