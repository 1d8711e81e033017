"""One door to intervals for a proportion, each with the condition under which it is valid."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, SupportsIndex, get_args

from safegym.check.statistics.beta_mixture import beta_mixture_limits
from safegym.check.statistics.clopper_pearson import (
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from safegym.check.statistics.exact import count, episode_count, float_at_most
from safegym.check.statistics.levels import claim_level
from safegym.check.statistics.limits import lower_limit, upper_limit
from safegym.errors import EvidenceError
from safegym.verdict import Validity

Method = Literal["clopper-pearson", "hoeffding", "beta-mixture", "e-process"]
Side = Literal["two", "upper", "lower"]

VALIDITY: Final[dict[Method, Validity]] = {
    "clopper-pearson": "fixed_n",
    "hoeffding": "fixed_n",
    "beta-mixture": "anytime",
    "e-process": "anytime",
}
"""fixed_n: only when the number of episodes was fixed before the run. anytime: at every peek."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Limits on a probability. confidence is that of the whole statement, one- or two-sided."""

    lo: float
    hi: float
    confidence: float
    method: Method
    side: Side
    validity: Validity


def interval(
    k: SupportsIndex,
    n: SupportsIndex,
    *,
    confidence: float = 0.95,
    method: Method = "clopper-pearson",
    side: Side = "two",
) -> tuple[float, float]:
    """(lo, hi): limits on the probability of which k of n independent episodes showed the event.

    side="upper" gives (0, hi), side="lower" (lo, 1), each with the whole error on one end.
    method: "clopper-pearson" and "hoeffding" hold only if n was fixed before the run;
    "beta-mixture" and "e-process" hold at every peek (see `VALIDITY`). No episode gives (0, 1);
    k = 0 never gives hi = 0, k = n never lo = 1.
    Raises EvidenceError for k > n, negative or fractional counts, or an unknown name.
    """
    found = labelled_interval(k, n, confidence=confidence, method=method, side=side)
    return found.lo, found.hi


def labelled_interval(
    k: SupportsIndex,
    n: SupportsIndex,
    *,
    confidence: float = 0.95,
    method: Method = "clopper-pearson",
    side: Side = "two",
) -> Interval:
    """`interval` with its method and validity beside the limits. Raises EvidenceError likewise."""
    successes, total = count(k, "k"), episode_count(n, "n")
    if successes > total:
        raise EvidenceError(f"k = {successes} of n = {total}: more events than episodes.")
    if method not in VALIDITY:
        raise EvidenceError(
            f"method = {method!r} is not one of {', '.join(VALIDITY)}. Wald and Wilson intervals "
            "do not hold their confidence and are not offered."
        )
    if side not in get_args(Side):
        raise EvidenceError(f"side = {side!r} is not 'two', 'upper' or 'lower'.")
    level = Fraction(claim_level(confidence))
    lo, hi = (0.0, 1.0) if total == 0 else _limits(successes, total, level, method, side)
    return Interval(
        lo=0.0 if side == "upper" else lo,
        hi=1.0 if side == "lower" else hi,
        confidence=float(confidence),
        method=method,
        side=side,
        validity=VALIDITY[method],
    )


def _limits(k: int, n: int, level: Fraction, method: Method, side: Side) -> tuple[float, float]:
    if method == "beta-mixture":
        lower, upper = beta_mixture_limits(k, n, float_at_most(level))
        return float(lower), float(upper)
    share = level / 2 if side == "two" else level
    want_low, want_high = side != "upper", side != "lower"
    if method == "clopper-pearson":
        return (
            clopper_pearson_lower(k, n, share) if want_low else 0.0,
            clopper_pearson_upper(k, n, share) if want_high else 1.0,
        )
    if method == "e-process":
        return (
            lower_limit(k, n, level=share) if want_low else 0.0,
            upper_limit(k, n, level=share) if want_high else 1.0,
        )
    return _hoeffding(k, n, share)


def _hoeffding(k: int, n: int, level: Fraction) -> tuple[float, float]:
    """k/n -+ sqrt(log(1/level) / (2n)), moved outward by 1e-12 and cut to [0, 1]."""
    reach = math.sqrt(-math.log(level) / (2 * n)) + 1e-12
    return max(0.0, k / n - reach), min(1.0, k / n + reach)
