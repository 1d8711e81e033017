"""Error levels: of a claim, at an attempt, of a release; and several claims shown at once."""

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, SupportsIndex, get_args

from safegym.check.statistics.exact import (
    Probability,
    count,
    exact_probability,
    finite_float,
    float_at_least,
    float_at_most,
    one_of,
    real_float,
    shown,
)
from safegym.errors import EvidenceError

PI_ABOVE: Final = Fraction(314159265358979323846264338327950288419716939937511, 10**50)
"""A rational above pi, by less than 1e-50."""

Display = Literal["release", "holm", "one at a time"]

_HUGE: Final = Decimal("1e400")


def claim_level(confidence: float | None, *, default: Probability | None = None) -> float:
    """a_c = 1 - confidence, rounded down; `default` for a claim that names no confidence.

    A confidence is read both as the decimal it prints as and as its binary64 value, and the
    smaller level is taken: 0.99 gives at most 1/100. `default` never replaces a claim's own.
    Raises EvidenceError if neither is given or one is outside (0, 1).
    """
    if confidence is None:
        if default is None:
            raise EvidenceError(
                "The claim names no confidence and the gate no level; write Gate(level=0.05) or "
                "Claim(confidence=0.95)."
            )
        return float_at_most(exact_probability(default, "level"))
    exact = exact_probability(confidence, "confidence")
    printed = Fraction(repr(finite_float(confidence, "confidence")))
    return float_at_most(min(1 - exact, 1 - printed))


def spent_level(level: Probability, attempt: SupportsIndex) -> float:
    """a_j = level * 6 / (pi^2 j^2) at attempt j = 1, 2, ..., rounded down.

    All of them together sum to less than level.
    Raises EvidenceError for an attempt below 1 or a level outside (0, 1).
    """
    number = count(attempt, "attempt")
    if number < 1:
        raise EvidenceError(f"Attempts count from 1, got {number}.")
    spent = float_at_most(exact_probability(level, "level") * 6 / (PI_ABOVE * number) ** 2)
    if spent == 0.0:
        raise EvidenceError(f"At attempt {number} no level is left of {level}.")
    return spent


def release_level(levels: Iterable[float]) -> float:
    """Level of the statement "all claims hold" when each passed at its own: the largest of them.

    Intersection-union: a false release needs some false claim to pass, and that one passes with
    probability at most its own level, also when the claims share episodes.
    Rounded up. Raises EvidenceError when there is none.
    """
    found = list(levels)
    if not found:
        raise EvidenceError("A release needs at least one claim with a level.")
    return max(float_at_least(exact_probability(level, "level")) for level in found)


def holm(p_values: Sequence[float], level: Probability) -> tuple[bool, ...]:
    """Which null hypotheses Holm's step-down rejects with family-wise error at most `level`.

    In the order given; valid under any dependence. A p-value may be that of an e-process at any
    stopping time (`p_value`). Compared exactly. Raises EvidenceError for values outside [0, 1].
    """
    exact = [Fraction(finite_float(p, "p-value")) for p in p_values]
    if any(not 0 <= p <= 1 for p in exact):
        raise EvidenceError(f"p-values must lie in [0, 1], got {list(p_values)}.")
    allowed = exact_probability(level, "level")
    order = sorted(range(len(exact)), key=lambda i: exact[i])
    rejected = [False] * len(exact)
    for rank, index in enumerate(order):
        if exact[index] * (len(exact) - rank) > allowed:
            break
        rejected[index] = True
    return tuple(rejected)


def p_value(e_value: Fraction | Decimal | float) -> float:
    """1/e, at most 1, rounded up: a p-value at any stopping time, by Ville's inequality.

    e_value: of an e-process at a stopping time such as a latched decision, or a lower end of it.
    Raises EvidenceError for a negative or infinite e-value.
    """
    if isinstance(e_value, Decimal) and e_value.is_finite():
        if e_value > _HUGE:
            return math.ulp(0.0)
        exact = Fraction(e_value)
    elif isinstance(e_value, Fraction | int) and not isinstance(e_value, bool):
        exact = Fraction(e_value)
    else:
        number = real_float(e_value, "e-value")
        exact = Fraction(number) if math.isfinite(number) else Fraction(-1)
    if exact < 0:
        raise EvidenceError(f"An e-value is finite and >= 0, got {e_value}.")
    return 1.0 if exact <= 1 else float_at_least(1 / exact)


def holm_adjusted(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjusted p-values, rounded up: `holm` at a level rejects exactly those <= the level.

    In the order given: the running greatest of (m - rank) * p in rising order of p, at most 1.
    Valid under any dependence; e-values are turned into p-values by `p_value`. (Averages of
    e-values and e-BH control other errors, and are not for safety claims.)
    Raises EvidenceError for values outside [0, 1].
    """
    exact = [Fraction(finite_float(p, "p-value")) for p in p_values]
    if any(not 0 <= p <= 1 for p in exact):
        raise EvidenceError(f"p-values must lie in [0, 1], got {list(p_values)}.")
    order = sorted(range(len(exact)), key=lambda i: exact[i])
    adjusted, highest = [0.0] * len(exact), Fraction(0)
    for rank, index in enumerate(order):
        highest = max(highest, min(Fraction(1), exact[index] * (len(exact) - rank)))
        adjusted[index] = float_at_least(highest)
    return tuple(adjusted)


def joint_statement(levels: Sequence[float], display: Display) -> str:
    """What may be said of several per-claim verdicts taken together, in one sentence.

    display: "release" (all passed, each at its own level), "holm", or "one at a time".
    """
    if not levels:
        raise EvidenceError("A joint statement needs at least one claim with a level.")
    if not one_of(display, get_args(Display)):
        raise EvidenceError(f"display = {display!r} is not one of {', '.join(get_args(Display))}.")
    largest = release_level(levels)
    if display == "release":
        level = shown(largest, 4, up=True)
        return (
            f"{_all(len(levels))} at level {level}: released only if every claim "
            "passes at its own level, so a false claim is released in at most that share of runs"
        )
    if display == "holm":
        return f"jointly at confidence {_percent(largest)} over {_claims(len(levels))} (Holm)"
    missing = sum((exact_probability(level, "level") for level in levels), Fraction(0))
    return f"one at a time, jointly >= {_percent(missing)} over {_claims(len(levels))}"


def _claims(number: int) -> str:
    return "1 claim" if number == 1 else f"{number} claims"


def _all(number: int) -> str:
    return "the one claim" if number == 1 else f"all {number} claims jointly"


def _percent(missing: Fraction | float) -> str:
    """1 - missing in per cent, four decimals, rounded down, never below 0."""
    kept = max(Fraction(0), 1 - Fraction(missing))
    return f"{int(kept * 1_000_000) / 10_000:g} %"
