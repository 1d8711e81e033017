"""What may be said of one claim after a run, in words that never round up."""

from fractions import Fraction

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import (
    confidence_shown,
    count,
    exact_probability,
    outward,
    shown,
    written,
)
from safegym.check.statistics.limits import lower_limit, upper_limit
from safegym.check.statistics.mean import MeanEProcess
from safegym.errors import EvidenceError

METHOD = "e-process, fixed grid, in index order"


def statement(process: EProcess, *, attempt: int = 0, confidence: float | None = None) -> str:
    """The claim's statement: shown, refuted or open, with counts, limit, level and attempt.

    confidence: the claim's own, named when given; without it 1 - level. Limits are printed
    rounded outward. Raises EvidenceError for a confidence above 1 - level.
    """
    counts = _counts(process, count(attempt, "attempt"))
    level = float(process.level)
    sure = _sure(process, confidence)
    lower, upper = process_limits(process)
    bound = _number(process.threshold)
    if process.decision == "below":
        limit = f"upper limit {outward(upper, up=True)}"
        head = f"estimated: failure probability < {bound} at {sure} ({limit})"
    elif process.decision == "above":
        limit = f"lower limit {outward(lower, up=False)}"
        head = f"refuted: failure probability > {bound} at {sure} ({limit})"
    else:
        head = (
            f"inconclusive: failure probability neither < nor > {bound} at {sure} "
            f"(limits {outward(lower, up=False)} and {outward(upper, up=True)}, each on its own)"
        )
    return f"{head}; {counts}, level {shown(level, 4, up=True)}; {METHOD}, valid at every peek"


def process_limits(process: EProcess) -> tuple[float, float]:
    """(lower, upper) limit on p at the counts of the process, each at its level and on its own."""
    failed, open_, level = process.violations, process.undecided, process.level
    return (
        lower_limit(failed, process.episodes + process.doubtful, undecided=open_, level=level),
        upper_limit(failed, process.episodes, undecided=open_, level=level),
    )


def mean_statement(
    process: MeanEProcess, *, attempt: int = 0, confidence: float | None = None
) -> str:
    """The statement of a claim about a bounded mean. Raises EvidenceError as `statement` does."""
    level = float(process.level)
    sure = _sure(process, confidence)
    bound = _number(process.threshold)
    if process.decision is None:
        head = f"inconclusive: mean neither < nor > {bound} at {sure}"
    else:
        sign = "<" if process.decision == "below" else ">"
        head = f"estimated: mean {sign} {bound} at {sure}"
    tail = f", attempt {attempt}" if count(attempt, "attempt") else ""
    return (
        f"{head}; {process.episodes} episodes{tail}, level {shown(level, 4, up=True)}; "
        "betting e-process, fixed grid, in index order, valid at every peek"
    )


def observed_statement(violations: int, undecided: int, episodes: int) -> str:
    """For an invariant: what was seen, which is never a certificate.

    Raises EvidenceError for counts that do not fit.
    """
    failed, open_ = count(violations, "violations"), count(undecided, "undecided")
    total = count(episodes, "episodes")
    if failed + open_ > total:
        raise EvidenceError(f"{failed + open_} violated or undecided episodes of {total}.")
    return f"observed, {failed} of {total} violated, {open_} undecided; not certified"


def _sure(process: EProcess | MeanEProcess, confidence: float | None) -> str:
    """The confidence in words, rounded down, and never above what the level gives."""
    if confidence is None:
        return f"{confidence_shown(process.level)} confidence"
    kept = exact_probability(confidence, "confidence")
    if (1 - process.level) - kept < -Fraction(1, 10**9) * process.level:
        raise EvidenceError(
            f"confidence = {confidence} is above 1 - level of the process, which is at level "
            f"{float(process.level):g}: it shows nothing at that confidence. Leave confidence out, "
            "or make the process with level=claim_level(confidence)."
        )
    return f"{shown(float(confidence), 6, up=False)} confidence"


def _number(exact: Fraction) -> str:
    """The shortest decimal that is this number's binary64 value, else the fraction."""
    nearest = float(exact)
    return f"{nearest!r}" if Fraction(nearest) == exact else written(exact)


def _counts(process: EProcess, attempt: int) -> str:
    text = f"{process.violations} violated and {process.undecided} undecided of {process.episodes} "
    text += "episodes"
    if process.skipped or process.doubtful:
        text += f" under the condition ({process.skipped} without it"
        text += f", {process.doubtful} in doubt)" if process.doubtful else ")"
    return f"{text}, attempt {attempt}" if attempt else text
