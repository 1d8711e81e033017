"""Second opinion on e-values: the mixture written out without any of the library."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

RATIOS = [float(Decimal(1) / 32 * Decimal("28.8") ** (Decimal(j) / 11)) for j in range(12)]


def slow_below(k: int, n: int, p0: Fraction) -> Fraction:
    """E_n written out in 120 digits (ties aside, exact enough)."""
    ratios = [Fraction(0), *(Fraction(ratio) for ratio in RATIOS)]
    weights = [Fraction(1, 2)] + [Fraction(1, 24)] * 12
    return slow_mixture(k, n, p0, weights, [ratio * p0 for ratio in ratios])


def slow_above(k: int, n: int, p0: Fraction) -> Fraction:
    odds = [p0 / (1 - p0) / Fraction(ratio) for ratio in RATIOS]
    return slow_mixture(k, n, p0, [Fraction(1, 12)] * 12, [o / (1 + o) for o in odds])


def slow_mixture(
    k: int, n: int, p0: Fraction, weights: list[Fraction], alternatives: list[Fraction]
) -> Fraction:
    with localcontext() as context:
        context.prec = 120
        total = Decimal(0)
        for weight, q in zip(weights, alternatives, strict=True):
            on_violation, on_safe = factors(q, p0)
            first = on_violation**k if k else Decimal(1)
            total += decimal(weight) * first * on_safe ** (n - k)
        return Fraction(total)


@lru_cache(maxsize=4096)
def factors(q: Fraction, p0: Fraction) -> tuple[Decimal, Decimal]:
    with localcontext() as context:
        context.prec = 120
        return decimal(q / p0), decimal((1 - q) / (1 - p0))


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)
