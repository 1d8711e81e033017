"""Readings that any MuJoCo robot has, whatever its parts are called."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from safegym.formula.terms import Signal
from safegym.scenario.adapt import from_mujoco
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Phase
from safegym_scenarios.packs.reading import Reading

_HINGE = int(mj.mjtJoint.mjJNT_HINGE)
_SLIDE = int(mj.mjtJoint.mjJNT_SLIDE)
FARTHEST = 10.0
"""Margin in rad that stands for no limited hinge."""


@dataclass(frozen=True, slots=True)
class HingeSpeed:
    """Largest |speed| of a hinge, rad/s; 0 without hinges."""

    @property
    def phase(self) -> Phase:
        """Follows from velocities."""
        return "state"

    def bind(self, model: Any, data: Any) -> Callable[[], float]:
        """Fix model and data."""
        hinges = [i for i in range(int(model.njnt)) if int(model.jnt_type[i]) == _HINGE]
        where = np.array([int(model.jnt_dofadr[i]) for i in hinges], np.int64)
        return lambda: float(np.abs(data.qvel[where]).max(initial=0.0))


@dataclass(frozen=True, slots=True)
class SlideSpeed:
    """Largest |speed| of a sliding joint, m/s; 0 without slides."""

    @property
    def phase(self) -> Phase:
        """Follows from velocities."""
        return "state"

    def bind(self, model: Any, data: Any) -> Callable[[], float]:
        """Fix model and data."""
        slides = [i for i in range(int(model.njnt)) if int(model.jnt_type[i]) == _SLIDE]
        where = np.array([int(model.jnt_dofadr[i]) for i in slides], np.int64)
        return lambda: float(np.abs(data.qvel[where]).max(initial=0.0))


@dataclass(frozen=True, slots=True)
class HingeMargin:
    """Least distance of a limited hinge from its limits, rad; 10 without such hinges."""

    @property
    def phase(self) -> Phase:
        """Follows from positions."""
        return "state"

    def bind(self, model: Any, data: Any) -> Callable[[], float]:
        """Fix model and data."""
        hinges = [
            i
            for i in range(int(model.njnt))
            if int(model.jnt_type[i]) == _HINGE and bool(model.jnt_limited[i])
        ]
        where = np.array([int(model.jnt_qposadr[i]) for i in hinges], np.int64)
        low, high = (np.array([model.jnt_range[i, side] for i in hinges]) for side in (0, 1))

        def read() -> float:
            angle = data.qpos[where]
            return float(np.minimum(angle - low, high - angle).min(initial=FARTHEST))

        return read


@dataclass(frozen=True, slots=True)
class ContactForce:
    """Largest force of a contact between any two geoms, N; 0 without contact."""

    @property
    def phase(self) -> Phase:
        """Known after the dynamics."""
        return "force"

    def bind(self, model: Any, data: Any) -> Callable[[], float]:
        """Fix model and data."""
        room, call = np.zeros(6), mj.mj_contactForce

        def read() -> float:
            largest = 0.0
            for index in range(int(data.ncon)):
                call(model, data, index, room)
                largest = max(largest, float(room[0] ** 2 + room[1] ** 2 + room[2] ** 2))
            return float(np.sqrt(largest))

        return read


@dataclass(frozen=True, slots=True)
class Effort:
    """Norm of what all actuators give, in the unit of each (N or N m), so it has none."""

    @property
    def phase(self) -> Phase:
        """Known after the dynamics."""
        return "force"

    def bind(self, model: Any, data: Any) -> Callable[[], float]:
        """Fix model and data."""
        return lambda: float(np.linalg.norm(data.actuator_force))


def mechanical(hooked: bool) -> tuple[Reading, ...]:
    """Speed, margin, contact and effort. hooked: whether every physics step is read."""
    most, least = ("max", "min") if hooked else ("sample", "sample")
    return (
        Reading(
            Signal("hinge_speed", unit="rad/s", scale=1.0, hold=most),  # type: ignore[arg-type]
            from_mujoco(HingeSpeed()),
            "low",
            "a joint moves faster than people nearby can react to",
        ),
        Reading(
            Signal("slide_speed", unit="m/s", scale=1.0, hold=most),  # type: ignore[arg-type]
            from_mujoco(SlideSpeed()),
            "low",
            "a slide runs faster than it can be stopped",
        ),
        Reading(
            Signal("hinge_margin", unit="rad", scale=0.1, hold=least),  # type: ignore[arg-type]
            from_mujoco(HingeMargin()),
            "high",
            "a joint runs into its end stop",
        ),
        Reading(
            Signal("contact_force", unit="N", scale=10.0, hold=most),  # type: ignore[arg-type]
            from_mujoco(ContactForce()),
            "low",
            "the robot hits something hard",
        ),
        Reading(
            Signal("effort", unit="1", scale=1.0, hold=most),  # type: ignore[arg-type]
            from_mujoco(Effort()),
            "low",
            "drives overheat",
        ),
    )
