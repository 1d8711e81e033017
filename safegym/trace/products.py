"""What rounding took from binary64 products, exactly (Dekker 1971).

Exact where neither the parts nor the products overflow, and the products do not underflow; what
overflows becomes NaN.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_SPLIT = 2.0**27 + 1


def lost(a: Floats, b: Floats | float, product: Floats) -> Floats:
    """Returns a * b less `product`, its rounded value. a: any shape; b: the same, or one number."""
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(np.asarray(b))
    rest = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high
    return np.asarray(rest + a_low * b_low)


def _halves(x: Floats) -> tuple[Floats, Floats]:
    """A number in two parts of at most 26 digits."""
    wide = x * _SPLIT
    high: Floats = wide - (wide - x)
    return high, x - high
