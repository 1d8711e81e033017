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

    bottom: identity of `join`; top: identity of `meet`; false, true: the values of a false and of a
    true atom, which stay the same in the dual lattice. up: whether the join is the larger value.
    """

    meet: np.ufunc
    join: np.ufunc
    bottom: bool | float
    top: bool | float
    false: bool | float
    true: bool | float
    up: bool
    dtype: type[np.bool_] | type[np.float64]

    @property
    def dual(self) -> "Lattice":
        """The same values upside down."""
        return _DUALS[self.up, self.dtype]


TRUTH = Lattice(np.logical_and, np.logical_or, False, True, False, True, True, np.bool_)
MARGIN = Lattice(np.minimum, np.maximum, -np.inf, np.inf, -np.inf, np.inf, True, np.float64)
_TRUTH_DUAL = Lattice(np.logical_or, np.logical_and, True, False, False, True, False, np.bool_)
_MARGIN_DUAL = Lattice(np.maximum, np.minimum, np.inf, -np.inf, -np.inf, np.inf, False, np.float64)

_DUALS: dict[tuple[bool, type], Lattice] = {
    (True, np.bool_): _TRUTH_DUAL,
    (True, np.float64): _MARGIN_DUAL,
    (False, np.bool_): TRUTH,
    (False, np.float64): MARGIN,
}
