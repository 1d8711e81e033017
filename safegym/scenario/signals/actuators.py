"""How hard the actuators work."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Phase, Reading
from safegym.scenario.signals.select import ids_of

_FIXED = int(mj.mjtGain.mjGAIN_FIXED)
_NO_BIAS = int(mj.mjtBias.mjBIAS_NONE)


@dataclass(frozen=True, slots=True)
class ActuatorEffort:
    """Largest |actuator force|: N for slides and thrusters, N m for hinges."""

    actuators: str | tuple[str, ...] = "*"

    @property
    def phase(self) -> Phase:
        """Forces are known after the dynamics."""
        return "force"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        where = np.array(ids_of(model, "actuator", self.actuators))
        force = data.actuator_force
        return lambda: float(np.abs(force.take(where)).max())


@dataclass(frozen=True, slots=True)
class ActuatorSaturation:
    """Largest share |force| / limit over the actuators, unit "1"; 1.0 means at the limit.

    The limit is the actuator's force range, or for a motor (fixed gain, no bias) without one its
    gain times its control range; on the side of the force's sign. ScenarioError at `bind` for an
    actuator with neither.
    """

    actuators: str | tuple[str, ...] = "*"

    @property
    def phase(self) -> Phase:
        """Forces are known after the dynamics."""
        return "force"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        ids = ids_of(model, "actuator", self.actuators)
        where, force = np.array(ids), data.actuator_force
        limits = np.array([_force_range(model, index) for index in ids])
        inverse = np.array(
            [
                [1.0 / low if low < 0 else 0.0, 1.0 / high if high > 0 else 0.0]
                for low, high in limits
            ]
        )
        low, high = inverse.T.copy()

        def read() -> float:
            f: NDArray[np.float64] = force.take(where)
            return float(np.maximum(f * low, f * high).max())

        return read


def _force_range(model: Any, index: int) -> tuple[float, float]:
    if model.actuator_forcelimited[index]:
        low, high = model.actuator_forcerange[index]
        return float(low), float(high)
    motor = (
        int(model.actuator_gaintype[index]) == _FIXED
        and int(model.actuator_biastype[index]) == _NO_BIAS
    )
    if motor and model.actuator_ctrllimited[index]:
        gain = float(model.actuator_gainprm[index, 0])
        ends = sorted(gain * float(end) for end in model.actuator_ctrlrange[index])
        return ends[0], ends[1]
    name = mj.mj_id2name(model, int(mj.mjtObj.mjOBJ_ACTUATOR), index)
    raise ScenarioError(
        f"Actuator {name!r} has no force limit; give it a forcerange, "
        "or a ctrlrange if it is a motor."
    )
