"""The two ordered sets that formulas are evaluated in: truth values and margins.

A temporal operator is a pattern of meets and joins, so each kernel is written once, for the
existential operators (eventually, until, once, since); the universal ones (always, release,
historically, trigger) are the same kernels in the `dual` lattice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]
"""Truth values (bool) or margins (float64); the last axis is time."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Meet and join as ufuncs, with their bounds.

    bottom: identity of `join`; top: identity of `meet`; false: the value of a false atom, which
    stays the same in the dual lattice.
    """

    meet: np.ufunc
    join: np.ufunc
    bottom: bool | float
    top: bool | float
    false: bool | float
    dtype: type[np.bool_] | type[np.float64]

    @property
    def dual(self) -> "Lattice":
        """The same values upside down."""
        return _DUALS[self.meet is np.logical_or or self.meet is np.maximum, self.dtype]


TRUTH = Lattice(np.logical_and, np.logical_or, False, True, False, np.bool_)
MARGIN = Lattice(np.minimum, np.maximum, -np.inf, np.inf, -np.inf, np.float64)

_DUALS: dict[tuple[bool, type], Lattice] = {
    (False, np.bool_): Lattice(np.logical_or, np.logical_and, True, False, False, np.bool_),
    (False, np.float64): Lattice(np.maximum, np.minimum, np.inf, -np.inf, -np.inf, np.float64),
    (True, np.bool_): TRUTH,
    (True, np.float64): MARGIN,
}
