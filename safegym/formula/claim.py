"""Claims: a statement with a hazard, a confidence, and one episode property."""

from dataclasses import dataclass
from typing import Literal

from safegym.formula.nodes import Comparison, Formula, Not
from safegym.formula.terms import Signal

Severity = Literal["catastrophic", "critical", "marginal", "negligible"]
Rounding = Literal["refuse", "conservative"]


@dataclass(frozen=True, slots=True)
class ProbBound:
    """`prob(formula) comparison threshold` over episodes, threshold in (0, 1)."""

    formula: Formula
    comparison: Comparison
    threshold: float


@dataclass(frozen=True, slots=True)
class MeanBound:
    """`mean(fraction(argument)) comparison threshold`: expected share of samples per episode."""

    argument: Formula
    comparison: Comparison
    threshold: float


Statement = Formula | ProbBound | MeanBound


@dataclass(frozen=True, slots=True)
class Claim:
    """What must hold.

    id: dotted name. statement: a formula (must hold on every episode), or a bound on a
    probability or mean over episodes. confidence: 1 - error level. hazard, source, severity: why.
    rounding: what to do with time bounds off the clock's grid.
    """

    id: str
    statement: Statement
    confidence: float | None = None
    hazard: str = ""
    source: str = ""
    severity: Severity = "critical"
    rounding: Rounding = "refuse"

    @property
    def property(self) -> Formula:
        """The episode property g: what one episode must satisfy (language.md)."""
        statement = self.statement
        if isinstance(statement, Formula):
            return statement
        if isinstance(statement, MeanBound):
            raise TypeError("to be completed")
        return Not(statement.formula) if statement.comparison in ("<", "<=") else statement.formula

    @property
    def failure_threshold(self) -> float | None:
        """p0: the threshold on the probability that g fails; None for a claim about each trace."""
        statement = self.statement
        if not isinstance(statement, ProbBound):
            return None
        below = statement.comparison in ("<", "<=")
        return statement.threshold if below else 1.0 - statement.threshold

    @property
    def digest(self) -> str: ...

    @property
    def signals(self) -> tuple[Signal, ...]: ...
