"""What one episode gives to a claim about a mean over episodes: its share of samples."""

import math
from fractions import Fraction as Rational

from safegym.check.monitor.naming import naming_its_claim
from safegym.check.monitor.plan import plan_of
from safegym.check.monitor.robustness import share_counts
from safegym.check.monitor.subject import check_trace
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.statements import MeanBound
from safegym.trace.model import Trace
from safegym.verdict import Measured


@naming_its_claim
def measure(claim: Claim, trace: Trace) -> Measured:
    """Returns the share of an episode's samples on which a mean claim's formula holds.

    The share is s/N to (s + open)/N over the N = T + 1 samples 0..T, or horizon + 1 where the
    episode was interrupted; samples that never came count as open, and without a horizon the share
    is anything in [0, 1]. lo and hi are these quotients rounded outward to binary64. Raises
    UnsupportedError for a claim of another kind, TraceError for a trace that does not fit.
    """
    argument = _argument_of(claim)
    check_trace(trace)
    plan = plan_of(argument, trace.clock.dt, claim.rounding)
    least, most, total = share_counts(plan, trace)
    if not total:
        return Measured(claim.id, 0.0, 1.0, trace.digest)
    lo, hi = outward(Rational(least, total), Rational(most, total))
    return Measured(claim.id, lo, hi, trace.digest)


def _argument_of(claim: object) -> Formula:
    """What a claim takes the mean share of. Raises TypeError, UnsupportedError."""
    if not isinstance(claim, Claim):
        raise TypeError(f"measure takes a Claim about a mean, found {type(claim).__name__}.")
    if not isinstance(claim.statement, MeanBound):
        raise UnsupportedError(
            f"Claim {claim.id} is of kind {claim.kind!r}, which is judged, not measured; write "
            "safegym.check(claim, trace)."
        )
    return claim.statement.argument


def outward(low: Rational, high: Rational) -> tuple[float, float]:
    """Returns binary64 numbers around the interval, as near as there are."""
    below, above = float(low), float(high)
    if Rational(below) > low:
        below = math.nextafter(below, -math.inf)
    if Rational(above) < high:
        above = math.nextafter(above, math.inf)
    return below, above
