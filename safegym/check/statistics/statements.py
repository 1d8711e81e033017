"""What may be said of one claim after a run, in words that never round up."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import shown, written
from safegym.check.statistics.limits import lower_limit, upper_limit
from safegym.check.statistics.mean import MeanEProcess

METHOD = "e-process, fixed grid, in index order"


def statement(process: EProcess, *, attempt: int = 0, confidence: float | None = None) -> str:
    """The claim's statement: shown, refuted or open, with counts, limit, level and attempt.

    confidence: the claim's own, named when given; without it 1 - level. Limits are printed
    rounded outward.
    """
    counts = _counts(process.violations, process.undecided, process.episodes, attempt)
    level = float(process.level)
    sure = f"{shown(1 - level if confidence is None else confidence, 6, up=False)} confidence"
    limits = {
        "violations": process.violations,
        "episodes": process.episodes,
        "undecided": process.undecided,
    }
    upper = upper_limit(**limits, level=process.level)
    lower = lower_limit(**limits, level=process.level)
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


def mean_statement(
    process: MeanEProcess, *, attempt: int = 0, confidence: float | None = None
) -> str:
    """The statement of a claim about a bounded mean."""
    level = float(process.level)
    sure = f"{shown(1 - level if confidence is None else confidence, 6, up=False)} confidence"
    bound = _number(process.threshold)
    if process.decision is None:
        head = f"inconclusive: mean neither < nor > {bound} at {sure}"
    else:
        sign = "<" if process.decision == "below" else ">"
        head = f"estimated: mean {sign} {bound} at {sure}"
    tail = f", attempt {attempt}" if attempt else ""
    return (
        f"{head}; {process.episodes} episodes{tail}, level {shown(level, 4, up=True)}; "
        "betting e-process, fixed grid, in index order, valid at every peek"
    )


def observed_statement(violations: int, undecided: int, episodes: int) -> str:
    """For an invariant: what was seen, which is never a certificate."""
    return f"observed, {violations} of {episodes} violated, {undecided} undecided; not certified"


def outward(limit: float, *, up: bool) -> str:
    """Four significant digits, rounded up for an upper and down for a lower limit."""
    if limit in (0.0, 1.0) or not math.isfinite(limit):
        return f"{limit:g}"
    context = Context(prec=4, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.create_decimal(Decimal(limit)).normalize():g}"


def _number(exact: Fraction) -> str:
    """The shortest decimal that is this number's binary64 value, else the fraction."""
    nearest = float(exact)
    return f"{nearest!r}" if Fraction(nearest) == exact else written(exact)


def _counts(violations: int, undecided: int, episodes: int, attempt: int) -> str:
    text = f"{violations} violated and {undecided} undecided of {episodes} episodes"
    return f"{text}, attempt {attempt}" if attempt else text
