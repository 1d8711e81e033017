"""`prob(A, given=B)`: a bound on a probability among the episodes where a condition holds."""

from dataclasses import dataclass
from typing import NoReturn

from safegym.errors import FormulaError
from safegym.formula.checks import number_text
from safegym.formula.expression import operand, short
from safegym.formula.interning import postorder
from safegym.formula.nodes import Atom, Comparison, Formula, is_formula
from safegym.formula.thresholds import no_truth, threshold_of
from safegym.formula.traps import MYPY, Unfinished, not_a_formula


@dataclass(frozen=True, slots=True)
class ConditionalBound:
    """`prob(formula, given=B) comparison threshold`: over the episodes where B holds at sample 0.

    threshold: strictly in (0, 1). Raises FormulaError for a condition that reads no signal, and
    for a share, which cannot stand inside the episode property `B implies formula`.
    """

    formula: Formula
    given: Formula
    comparison: Comparison
    threshold: float

    def __post_init__(self) -> None:
        check_conditional(self.formula, self.given)
        found = threshold_of(self.threshold, self.comparison, "prob")
        object.__setattr__(self, "threshold", found)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas inside: what is claimed, then the condition."""
        return (self.formula, self.given)

    @property
    def below(self) -> bool:
        """Whether the claim bounds the probability from above."""
        return self.comparison in ("<", "<=")

    def __str__(self) -> str:
        text = conditional_text(self.formula, self.given)
        return f"{text} {self.comparison} {number_text(self.threshold)}"

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            no_truth(f"{_shown(self.formula, self.given)} {self.comparison} {self.threshold}")


@dataclass(frozen=True, slots=True, eq=False)
class Conditional(Unfinished):
    """`prob(formula, given=B)`, waiting for its bound: compare it with a number."""

    finish = "a bound on it is a whole statement: Claim(statement=prob(f, given=b) < 0.01)"

    formula: Formula
    given: Formula

    def __post_init__(self) -> None:
        check_conditional(self.formula, self.given)

    def __lt__(self, threshold: float) -> ConditionalBound:
        return ConditionalBound(self.formula, self.given, "<", threshold)

    def __le__(self, threshold: float) -> ConditionalBound:
        return ConditionalBound(self.formula, self.given, "<=", threshold)

    def __gt__(self, threshold: float) -> ConditionalBound:
        return ConditionalBound(self.formula, self.given, ">", threshold)

    def __ge__(self, threshold: float) -> ConditionalBound:
        return ConditionalBound(self.formula, self.given, ">=", threshold)

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            no_truth(_shown(self.formula, self.given))


def conditional_text(formula: Formula, given: Formula) -> str:
    """Returns the canonical text, `prob((a) given (b))` without its bound."""
    left, right = ("".join(map(str, operand(side))) for side in (formula, given))
    return f"prob({left} given {right})"


def check_conditional(formula: object, given: object) -> None:
    """Raises TypeError or FormulaError unless `prob(formula, given=given)` means something."""
    for side, where in ((formula, "prob"), (given, "prob(..., given=)")):
        if not is_formula(side):
            not_a_formula(where, side)
    for side in (formula, given):
        if isinstance(side, Formula) and side.only_root:
            raise FormulaError(
                f"`{short(side)}` is a bound on a share of the episode, and `prob(a, given=b)` is "
                "about `b implies a` on each episode, inside which a share cannot stand; state "
                f"`prob({short(side)}) >= 0.9` over all episodes, or write the condition or the "
                "event with always, eventually, until."
            )
    if isinstance(given, Formula) and not any(isinstance(n, Atom) for n in postorder(given)):
        raise FormulaError(
            f"The condition `{short(given)}` of prob(..., given=) reads no signal, so it holds on "
            "every episode or on none; leave it out, `prob(f) < 0.01`, or give one that some "
            "episodes meet: `given=eventually(fault >= 1)`."
        )


def _shown(formula: Formula, given: Formula) -> str:
    return f"prob({short(formula)}, given={short(given)})"
