"""One door to intervals for a proportion, each with the condition under which it is valid."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal, SupportsIndex, get_args

from safegym.check.statistics.beta_mixture import beta_mixture_limits, beta_mixture_upper
from safegym.check.statistics.bounded_mean import hoeffding_upper, kl_upper
from safegym.check.statistics.clopper_pearson import (
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import (
    count,
    episode_count,
    float_at_most,
    one_of,
    outward,
    shown,
)
from safegym.check.statistics.levels import claim_level
from safegym.check.statistics.limits import lower_limit, upper_limit
from safegym.check.statistics.mixture import log_of
from safegym.check.statistics.screen import Screen
from safegym.check.statistics.validity import MEANING, running_refusal
from safegym.errors import EvidenceError
from safegym.verdict import Validity

Method = Literal["clopper-pearson", "hoeffding", "kl", "beta-mixture", "e-process"]
Side = Literal["two", "upper", "lower"]

VALIDITY: Final[dict[Method, Validity]] = {
    "clopper-pearson": "fixed_n",
    "hoeffding": "fixed_n",
    "kl": "fixed_n",
    "beta-mixture": "anytime",
    "e-process": "anytime",
}
"""fixed_n: only when the number of episodes was fixed before the run. anytime: at every peek."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Limits on a probability. confidence is that of the whole statement, one- or two-sided.

    running: whether they are the intersection of the limits of all looks so far.
    """

    lo: float
    hi: float
    confidence: float
    method: Method
    side: Side
    validity: Validity
    running: bool = False

    @property
    def words(self) -> str:
        """The limits and when they hold, in one line; limits rounded outward."""
        lo, hi = outward(self.lo, up=False), outward(self.hi, up=True)
        sure = shown(self.confidence, 6, up=False)
        name = f"{self.method}, running intersection" if self.running else self.method
        return f"[{lo}, {hi}] at {sure} confidence, {name}: holds {MEANING[self.validity]}"


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
    method: "clopper-pearson", "kl" and "hoeffding" hold only if n was fixed before the run;
    "beta-mixture" and "e-process" hold at every peek (see `VALIDITY`; `labelled_interval` says it
    beside the limits, `FixedSample` and `process_interval` check it). No episode gives (0, 1);
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
    if isinstance(k, EProcess | Screen):
        raise EvidenceError(
            f"interval(k, n) takes two numbers; for a {type(k).__name__} use "
            "process_interval(process)."
        )
    successes, total = count(k, "k"), episode_count(n, "n")
    if successes > total:
        raise EvidenceError(
            f"k = {successes} of n = {total}: more events than episodes; write interval(k, n) with "
            f"k <= n, for example interval({total}, {successes})."
        )
    if not one_of(method, VALIDITY):
        raise EvidenceError(
            f"method = {method!r} is not one of {', '.join(VALIDITY)}. Wald and Wilson intervals "
            "do not hold their confidence and are not offered."
        )
    if not one_of(side, get_args(Side)):
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


def process_interval(
    process: EProcess | Screen,
    *,
    confidence: float = 0.95,
    method: Method = "e-process",
    side: Side = "two",
) -> Interval:
    """Limits from the running counts of a process, whose n was not fixed: anytime methods only.

    Undecided episodes count as failures for the upper end and as safe for the lower, doubtful ones
    as safe for the lower only. Raises EvidenceError for a fixed-n method.
    """
    if not isinstance(process, EProcess):
        raise EvidenceError(
            f"process_interval takes an EProcess, not a {type(process).__name__}: a Screen "
            "makes no claim; of strata in rounds give .process, of many claims .process(number)."
        )
    if one_of(method, VALIDITY) and VALIDITY[method] == "fixed_n":
        raise running_refusal(process)
    bad, open_ = process.violations, process.undecided
    upper = labelled_interval(
        bad + open_, process.episodes, confidence=confidence, method=method, side=side
    )
    total = process.episodes + process.doubtful
    lower = labelled_interval(bad, total, confidence=confidence, method=method, side=side)
    return replace(upper, lo=lower.lo)


def _limits(k: int, n: int, level: Fraction, method: Method, side: Side) -> tuple[float, float]:
    if method == "beta-mixture":
        return _beta_mixture(k, n, float_at_most(level), side)
    share = level / 2 if side == "two" else level
    if method == "hoeffding":
        return _hoeffding(k, n, share)
    if method == "kl":
        goal = log_of(1 / share)
        return max(0.0, 1.0 - kl_upper((n - k) / n, n, goal)), kl_upper(k / n, n, goal)
    want_low, want_high = side != "upper", side != "lower"
    if method == "clopper-pearson":
        return (
            clopper_pearson_lower(k, n, share) if want_low else 0.0,
            clopper_pearson_upper(k, n, share) if want_high else 1.0,
        )
    return (
        lower_limit(k, n, level=share) if want_low else 0.0,
        upper_limit(k, n, level=share) if want_high else 1.0,
    )


def _beta_mixture(k: int, n: int, level: float, side: Side) -> tuple[float, float]:
    if side == "two":
        lower, upper = beta_mixture_limits(k, n, level)
        return float(lower), float(upper)
    if side == "upper":
        return 0.0, float(beta_mixture_upper(k, n, level))
    return 1.0 - float(beta_mixture_upper(n - k, n, level)), 1.0


def _hoeffding(k: int, n: int, level: Fraction) -> tuple[float, float]:
    goal = log_of(1 / level)
    return max(0.0, 1.0 - hoeffding_upper((n - k) / n, n, goal)), hoeffding_upper(k / n, n, goal)
