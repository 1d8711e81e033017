"""What a claim may state besides a formula: bounds on a probability or a mean over episodes."""

from dataclasses import dataclass
from typing import NoReturn, get_args

from safegym.errors import FormulaError
from safegym.formula.checks import finite, number_text
from safegym.formula.expression import short
from safegym.formula.nodes import Comparison, Formula, Fraction, check_formula, is_formula
from safegym.formula.traps import MYPY, Unfinished, not_a_formula


def _no_truth(text: str) -> NoReturn:
    raise TypeError(
        f"`{text}` has no truth value in Python. State one bound at a time, each in a claim of its "
        "own: `prob(f) >= 0.9`, `prob(f) < 0.99`."
    )


def _threshold(value: object, comparison: object, what: str) -> float:
    if comparison not in get_args(Comparison):
        raise FormulaError(f"{what} is compared by < <= > >=, found {comparison!r:.20}.")
    found = finite(value, f"The threshold of {what}")
    if not 0 < found < 1:
        raise FormulaError(
            f"The threshold of {what} must lie strictly between 0 and 1, found {found!r}; "
            "for 'always' or 'never' over all episodes state the bare formula."
        )
    return found


@dataclass(frozen=True, slots=True)
class ProbBound:
    """`prob(formula) comparison threshold` over episodes, threshold strictly in (0, 1)."""

    formula: Formula
    comparison: Comparison
    threshold: float

    def __post_init__(self) -> None:
        if not is_formula(self.formula):
            not_a_formula("prob", self.formula)
        object.__setattr__(self, "threshold", _threshold(self.threshold, self.comparison, "prob"))

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas inside."""
        return (self.formula,)

    @property
    def below(self) -> bool:
        """Whether the claim bounds the probability from above."""
        return self.comparison in ("<", "<=")

    def __str__(self) -> str:
        return f"prob({self.formula}) {self.comparison} {number_text(self.threshold)}"

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            _no_truth(f"prob({short(self.formula)}) {self.comparison} {self.threshold}")


@dataclass(frozen=True, slots=True)
class MeanBound:
    """`mean(fraction(argument)) comparison threshold`: expected share of samples per episode."""

    argument: Formula
    comparison: Comparison
    threshold: float

    def __post_init__(self) -> None:
        check_formula(self.argument, "mean(fraction(...))")
        object.__setattr__(self, "threshold", _threshold(self.threshold, self.comparison, "mean"))

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas inside."""
        return (self.argument,)

    def __str__(self) -> str:
        return f"mean(fraction({self.argument})) {self.comparison} {number_text(self.threshold)}"

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            _no_truth(f"mean(fraction({short(self.argument)})) {self.comparison} {self.threshold}")


@dataclass(frozen=True, slots=True, eq=False)
class Probability(Unfinished):
    """`prob(formula)`, waiting for its bound: compare it with a number."""

    finish = "a bound on it is a whole statement: Claim(statement=prob(f) < 0.01)"

    formula: Formula

    def __lt__(self, threshold: float) -> ProbBound:
        return ProbBound(self.formula, "<", threshold)

    def __le__(self, threshold: float) -> ProbBound:
        return ProbBound(self.formula, "<=", threshold)

    def __gt__(self, threshold: float) -> ProbBound:
        return ProbBound(self.formula, ">", threshold)

    def __ge__(self, threshold: float) -> ProbBound:
        return ProbBound(self.formula, ">=", threshold)

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            _no_truth(f"prob({short(self.formula)})")


@dataclass(frozen=True, slots=True, eq=False)
class Share(Unfinished):
    """`fraction(argument)`, waiting for its bound: compare it with a number in [0, 1]."""

    finish = "compare it with a number, as a whole statement: fraction(f) >= 0.999"

    argument: Formula

    def __lt__(self, bound: float) -> Fraction:
        return Fraction(self.argument, "<", bound)

    def __le__(self, bound: float) -> Fraction:
        return Fraction(self.argument, "<=", bound)

    def __gt__(self, bound: float) -> Fraction:
        return Fraction(self.argument, ">", bound)

    def __ge__(self, bound: float) -> Fraction:
        return Fraction(self.argument, ">=", bound)

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            _no_truth(f"fraction({short(self.argument)})")


@dataclass(frozen=True, slots=True, eq=False)
class Mean(Unfinished):
    """`mean(fraction(argument))`, waiting for its bound: compare it with a number."""

    finish = "a bound on it is a whole statement: Claim(statement=mean(fraction(f)) >= 0.99)"

    argument: Formula

    def __lt__(self, threshold: float) -> MeanBound:
        return MeanBound(self.argument, "<", threshold)

    def __le__(self, threshold: float) -> MeanBound:
        return MeanBound(self.argument, "<=", threshold)

    def __gt__(self, threshold: float) -> MeanBound:
        return MeanBound(self.argument, ">", threshold)

    def __ge__(self, threshold: float) -> MeanBound:
        return MeanBound(self.argument, ">=", threshold)

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            _no_truth(f"mean(fraction({short(self.argument)}))")


Statement = Formula | ProbBound | MeanBound
