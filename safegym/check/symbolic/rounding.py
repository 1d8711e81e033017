"""How far a deployed node's result can lie from the exact one, as exact rationals."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Precision = Literal["exact", "float32", "float64"]


@dataclass(frozen=True, slots=True)
class Format:
    """An IEEE binary format, round to nearest.

    unit: the largest relative error of one rounding to a normal number. tiny: the smallest positive
    number; a subnormal result is off by at most half of it. largest: the greatest finite number.
    """

    unit: Fraction
    tiny: Fraction
    largest: Fraction

    def gamma(self, roundings: int) -> Fraction:
        """Relative error of a product of `roundings` factors 1 + d, |d| <= unit.

        Source: Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1.
        """
        return roundings * self.unit / (1 - roundings * self.unit)

    def rounded(self, size: Fraction) -> Fraction:
        """Error of one rounding of a value of at most this size."""
        return self.unit * size + self.tiny

    def summed(self, terms: int, sizes: Fraction) -> Fraction:
        """Error of a sum of `terms` products and a bias, in any order, fused or not.

        sizes: the sum of the absolute values of products and bias. Each product passes at most
        terms + 1 roundings; an underflowing one adds at most half of `tiny`, which later roundings
        do not double.
        """
        return self.gamma(terms + 2) * sizes + (terms + 1) * self.tiny


FORMATS = {
    "float32": Format(Fraction(1, 2**24), Fraction(1, 2**149), (2 - Fraction(1, 2**23)) * 2**127),
    "float64": Format(Fraction(1, 2**53), Fraction(1, 2**1074), (2 - Fraction(1, 2**52)) * 2**1023),
}
