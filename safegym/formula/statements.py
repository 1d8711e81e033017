"""What a claim may state besides a formula: bounds on a probability or a mean over episodes."""

from dataclasses import dataclass
from typing import NoReturn

from safegym.formula.checks import number_text
from safegym.formula.conditional import Conditional, ConditionalBound
from safegym.formula.expression import short
from safegym.formula.nodes import Comparison, Formula, Fraction, check_formula, is_formula
from safegym.formula.quantile import Quantile, QuantileBound
from safegym.formula.thresholds import no_truth, threshold_of
from safegym.formula.traps import MYPY, Unfinished, not_a_formula

__all__ = [
    "Bound",
    "Conditional",
    "ConditionalBound",
    "Mean",
    "MeanBound",
    "ProbBound",
    "Probability",
    "Quantile",
    "QuantileBound",
    "Share",
    "Statement",
]


@dataclass(frozen=True, slots=True)
class ProbBound:
    """`prob(formula) comparison threshold` over episodes, threshold strictly in (0, 1)."""

    formula: Formula
    comparison: Comparison
    threshold: float

    def __post_init__(self) -> None:
        if not is_formula(self.formula):
            not_a_formula("prob", self.formula)
        object.__setattr__(self, "threshold", threshold_of(self.threshold, self.comparison, "prob"))

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
            no_truth(f"prob({short(self.formula)}) {self.comparison} {self.threshold}")


@dataclass(frozen=True, slots=True)
class MeanBound:
    """`mean(fraction(argument)) comparison threshold`: expected share of samples per episode."""

    argument: Formula
    comparison: Comparison
    threshold: float

    def __post_init__(self) -> None:
        check_formula(self.argument, "mean(fraction(...))")
        object.__setattr__(self, "threshold", threshold_of(self.threshold, self.comparison, "mean"))

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas inside."""
        return (self.argument,)

    def __str__(self) -> str:
        return f"mean(fraction({self.argument})) {self.comparison} {number_text(self.threshold)}"

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            no_truth(f"mean(fraction({short(self.argument)})) {self.comparison} {self.threshold}")


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
            no_truth(f"prob({short(self.formula)})")


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
            no_truth(f"fraction({short(self.argument)})")


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
            no_truth(f"mean(fraction({short(self.argument)}))")


Bound = ProbBound | ConditionalBound | QuantileBound | MeanBound
"""A bound on something over episodes; `isinstance` takes it."""
Statement = Formula | Bound
