"""Clopper-Pearson limits for a number of episodes that was fixed before the run."""

import math
from decimal import Decimal
from fractions import Fraction

from safegym.check.statistics.directed import directed, power
from safegym.check.statistics.search import least_float

DIGITS = 60
MOST_TERMS = 20_000
"""Beyond as many terms on both sides, a float limit is moved outward instead of certified."""


def clopper_pearson_upper(k: int, n: int, level: Fraction) -> float:
    """Least binary64 p with P(X <= k; n, p) <= level, certified; 1.0 if k = n.

    Starts at the beta quantile of scipy and moves in units in the last place; with very many
    terms the quantile is moved outward by 1e-9 relative instead.
    """
    from scipy.special import betainccinv

    if k == n:
        return 1.0
    guess = float(betainccinv(k + 1.0, float(n - k), float(level)))  # 1 - level would round
    if k >= 1 and min(k + 1, n - k) > MOST_TERMS:
        return min(1.0, guess * (1.0 + 1e-9))
    return least_float(lambda p: lower_tail_at_most(k, n, Fraction(p), level), guess)


def clopper_pearson_lower(k: int, n: int, level: Fraction) -> float:
    """Greatest binary64 p with P(X >= k; n, p) <= level, certified; 0.0 if k = 0."""
    from scipy.special import betaincinv

    if k == 0:
        return 0.0
    guess = float(betaincinv(float(k), n - k + 1.0, float(level)))
    if min(n - k + 1, k) > MOST_TERMS:
        return guess * (1.0 - 1e-9)

    def heavier(p: float) -> bool:
        return not lower_tail_at_most(n - k, n, 1 - Fraction(p), level)

    return math.nextafter(least_float(heavier, guess), 0.0)


def lower_tail_at_most(k: int, n: int, p: Fraction, level: Fraction) -> bool:
    """Whether P(X <= k) <= level is certain, for X ~ Binomial(n, p) and 0 <= k < n.

    Sums directed decimals over the shorter side; False where 60 digits leave it open.
    """
    arithmetic = directed(DIGITS)
    if k + 1 <= n - k:
        return _first_terms(k, n, p, up=True) <= arithmetic.lower(level)
    return _first_terms(n - k - 1, n, 1 - p, up=False) >= arithmetic.upper(1 - level)


def _first_terms(k: int, n: int, p: Fraction, *, up: bool) -> Decimal:
    """An upper (lower) end of P(X <= k) for X ~ Binomial(n, p)."""
    arithmetic = directed(DIGITS)
    context = arithmetic.up if up else arithmetic.down
    end = arithmetic.upper if up else arithmetic.lower
    odds = end(p / (1 - p))
    term = total = power(end(1 - p), n, context)
    for i in range(k):
        grown = context.multiply(context.multiply(term, odds), Decimal(n - i))
        term = context.divide(grown, Decimal(i + 1))
        total = context.add(total, term)
    return total
