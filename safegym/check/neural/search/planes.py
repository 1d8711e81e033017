"""A region's cuts as rows that binary64 holds."""

from fractions import Fraction

import numpy as np

from safegym.check.neural.problem import Region
from safegym.check.neural.search.rows import Rows


def cut_planes(region: Region) -> Rows:
    """Rows (1, K, n), (1, K): below `coefficients . x - bound` everywhere in the region's box.

    What the coefficients lose in binary64 is taken off the constants, exactly.
    """
    size = len(region.low)
    slopes, constants = np.zeros((1, len(region.cuts), size)), np.zeros((1, len(region.cuts)))
    low, high = region.outward()
    reach = [
        max(abs(Fraction(bottom)), abs(Fraction(top)))
        for bottom, top in zip(low.tolist(), high.tolist(), strict=True)
    ]
    for index, cut in enumerate(region.cuts):
        kept = [float(value) for value in cut.coefficients]
        lost = sum(
            (
                abs(value - Fraction(held)) * most
                for value, held, most in zip(cut.coefficients, kept, reach, strict=True)
            ),
            Fraction(0),
        )
        try:
            constants[0, index] = below(-cut.bound - lost)
        except OverflowError:  # a row that closes nothing
            constants[0, index] = -1e300
        else:
            slopes[0, index] = kept
    return Rows(slopes, constants)


def below(value: Fraction) -> float:
    """The greatest binary64 number that is not above a fraction."""
    near = float(value)
    return near if near <= value else float(np.nextafter(near, -np.inf))
