"""Builders: the words a user writes. One-place operators are functions, two-place ones methods.

Time words are keyword-only and exclusive: `within=b` is a deadline and `lasting=b` a hold, both
the window [0, b]; `window=(a, b)` is any closed window, b None for no end. Seconds, exact: text
such as "0.1" or "1/240", int, Fraction, or a float (read as the simplest rational near it).
"""

from typing import cast, overload

from safegym.errors import FormulaError
from safegym.formula.checks import positive
from safegym.formula.nodes import (
    Always,
    Bounds,
    Eventually,
    Formula,
    Historically,
    Next,
    Not,
    Once,
    Previous,
    WeakNext,
    WeakPrevious,
    all_of,
    any_of,
    check_formula,
    is_formula,
)
from safegym.formula.statements import Conditional, Mean, Probability, Quantile, Share
from safegym.formula.terms import Constant, Term, term
from safegym.formula.traps import not_a_formula
from safegym.formula.vectors import Elementwise, pair_each
from safegym.formula.windows import window_of
from safegym.rational import Exact

__all__ = [
    "all_of",
    "always",
    "any_of",
    "between",
    "eventually",
    "falling",
    "fraction",
    "historically",
    "mean",
    "near",
    "never",
    "next_",
    "once",
    "previous",
    "prob",
    "quantile",
    "rising",
    "weak_next",
    "weak_previous",
]


def always(
    formula: Formula, *, lasting: Exact | None = None, window: Bounds | None = None
) -> Formula:
    """Returns: the formula holds on the whole future window (unbounded: to the episode's end)."""
    return Always(formula, window_of("lasting", "always", lasting, window))


def eventually(
    formula: Formula, *, within: Exact | None = None, window: Bounds | None = None
) -> Formula:
    """Returns: the formula holds somewhere in the future window."""
    return Eventually(formula, window_of("within", "eventually", within, window))


def never(
    formula: Formula, *, lasting: Exact | None = None, window: Bounds | None = None
) -> Formula:
    """Returns: the formula holds nowhere in the future window; `always(~formula)`."""
    return Always(Not(formula), window_of("lasting", "never", lasting, window))


def once(formula: Formula, *, within: Exact | None = None, window: Bounds | None = None) -> Formula:
    """Returns: the formula held somewhere in the past window."""
    return Once(formula, window_of("within", "once", within, window))


def historically(
    formula: Formula, *, lasting: Exact | None = None, window: Bounds | None = None
) -> Formula:
    """Returns: the formula held on the whole past window."""
    return Historically(formula, window_of("lasting", "historically", lasting, window))


def next_(formula: Formula) -> Formula:
    """Returns: there is a next sample, and the formula holds there."""
    return Next(formula)


def weak_next(formula: Formula) -> Formula:
    """Returns: if there is a next sample, the formula holds there."""
    return WeakNext(formula)


def previous(formula: Formula) -> Formula:
    """Returns: there is a previous sample, and the formula held there."""
    return Previous(formula)


def weak_previous(formula: Formula) -> Formula:
    """Returns: if there is a previous sample, the formula held there."""
    return WeakPrevious(formula)


def rising(formula: Formula) -> Formula:
    """Returns: holds now and did not at the previous sample; at sample 0, holds now."""
    return all_of(formula, Not(Previous(formula)))


def falling(formula: Formula) -> Formula:
    """Returns: does not hold now but did at the previous sample; false at sample 0."""
    return all_of(Not(formula), Previous(formula))


def between(value: Term, low: Term | float, high: Term | float) -> Formula:
    """Returns `low <= value <= high`; of a vector, for each component (join by all_of or any_of).

    Raises FormulaError if both ends are numbers and low > high.
    """
    _check_term(value, "between")
    ends = term(low), term(high)
    if all(isinstance(end, Constant) for end in ends):
        first, last = cast("tuple[Constant, Constant]", ends)
        if first.unit_or_none == last.unit_or_none and first.value > last.value:
            raise FormulaError(
                f"between(x, {first}, {last}) never holds; write between(x, {last}, {first})."
            )
    above, below = value >= ends[0], value <= ends[1]
    if isinstance(above, Elementwise) or isinstance(below, Elementwise):
        return cast("Formula", pair_each(above, below))
    return all_of(above, below)


def near(value: Term, target: Term | float, tolerance: Term | float) -> Formula:
    """Returns `abs(value - target) <= tolerance`; of a vector, for each component.

    tolerance: a number > 0 in the unit of `value`, or one with a unit of its own.
    """
    _check_term(value, "near")
    allowed = term(tolerance)
    if not isinstance(allowed, Constant):
        raise FormulaError(f"near's tolerance must be a number > 0, found `{allowed}`.")
    positive(allowed.value, "near's tolerance")
    return abs(value - target) <= allowed


@overload
def prob(formula: Formula) -> Probability: ...


@overload
def prob(formula: Formula, *, given: Formula) -> Conditional: ...


def prob(formula: Formula, *, given: Formula | None = None) -> Probability | Conditional:
    """Returns the probability over episodes that the formula holds; compare it with a number.

    given: only episodes where this holds (at sample 0) count; all do without it.
    """
    if not is_formula(formula):
        not_a_formula("prob", formula)
    return Probability(formula) if given is None else Conditional(formula, given)


def quantile(formula: Formula, q: float) -> Quantile:
    """Returns the q-quantile over episodes of the formula's robustness; compare it with a margin.

    q: strictly between 0 and 1. `quantile(f, 0.05) > 0.1`: fewer than 5 % of the episodes keep a
    robustness of 0.1 or less. In multiples of the atoms' scale, or in their unit where none has a
    scale. Raises FormulaError where the margins do not compare.
    """
    return Quantile(formula, q)


def fraction(formula: Formula) -> Share:
    """Returns the share of an episode's samples where the formula holds; compare it in [0, 1]."""
    check_formula(formula, "fraction")
    return Share(formula)


def mean(share: Share) -> Mean:
    """Returns the mean over episodes of `fraction(...)`; compare it with a number in (0, 1)."""
    _check_share(share)
    return Mean(share.argument)


def _check_share(value: object) -> None:
    if not isinstance(value, Share):
        raise TypeError(f"mean takes fraction(formula), found {value!r:.60}.")


def _check_term(value: object, where: str) -> None:
    if not isinstance(value, Term):
        raise TypeError(f"{where} takes a term such as a signal first, found {value!r:.60}.")
