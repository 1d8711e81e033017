"""What may be said of an attempt's verdicts taken together, released or not."""

from collections.abc import Sequence
from fractions import Fraction

from safegym.check.statistics.exact import float_at_least
from safegym.check.statistics.levels import holm, joint_statement, release_level
from safegym.gate.counts import Count
from safegym.gate.tally import Outcome, Tally


def joint_text(tally: Tally, outcome: Outcome | None) -> str:
    """One sentence on all estimates of the attempt; "" where there is none.

    Released: intersection-union at the largest level. Otherwise each stands one at a time, unless
    the plan asked for Holm, which then decides what is called shown (docs/decisions/0014).
    """
    levels = [float(count.level) for count in tally.estimated if count.level is not None]
    if not levels:
        return ""
    if outcome == "certified":
        return joint_statement(levels, "release")
    return f"nothing is released: {joint_statement(levels, tally.display)}"


def demoted(tally: Tally, outcome: Outcome | None) -> frozenset[str]:
    """Ids of claims that crossed alone but that Holm does not allow to be called shown."""
    if outcome == "certified" or tally.display != "holm":
        return frozenset()
    family = tally.estimated
    rejected = _holm(family)
    return frozenset(
        count.obligation.claim.id
        for count, allowed in zip(family, rejected, strict=True)
        if count.decision == "below" and not allowed
    )


def _holm(family: Sequence[Count]) -> tuple[bool, ...]:
    if not family:
        return ()
    level = release_level([float(count.level) for count in family if count.level is not None])
    return holm([_p_value(count) for count in family], level)


def _p_value(count: Count) -> float:
    """1/e, rounded up; at most 1."""
    e_value = Fraction(count.e_value())
    return 1.0 if e_value <= 1 else min(1.0, float_at_least(1 / e_value))
