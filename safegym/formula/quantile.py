"""`quantile(f, q) > m`: a bound on a quantile, over episodes, of a formula's robustness."""

from dataclasses import dataclass
from typing import Literal, NoReturn

from safegym.errors import FormulaError
from safegym.formula.checks import finite, number_text
from safegym.formula.expression import short
from safegym.formula.nodes import Formula, Fraction, is_formula
from safegym.formula.reading import atoms_of, margin_scale
from safegym.formula.thresholds import check_comparison, no_truth, share_of_episodes
from safegym.formula.tighten import tightened
from safegym.formula.traps import MYPY, Unfinished, not_a_formula

Beyond = Literal[">", ">="]


@dataclass(frozen=True, slots=True)
class QuantileBound:
    """`quantile(formula, q) comparison threshold`: all but less than q of the episodes beat it.

    threshold: m, in multiples of the atoms' scale, or in their common unit where none has a scale;
    finite, of any sign. `quantile(f, q) > m` is `prob(robustness(f) <= m) < q`, and `>= m` is
    `prob(robustness(f) < m) < q`. Raises FormulaError for q outside (0, 1), for `<` and `<=`, for
    a share, and where margins of the formula's atoms do not compare.
    """

    formula: Formula
    q: float
    comparison: Beyond
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", check_quantile(self.formula, self.q))
        check_comparison(self.comparison, "quantile", (">", ">="))
        found = finite(self.threshold, "The threshold of quantile")
        object.__setattr__(self, "threshold", found)
        _ = self.tightened  # refused here, not when it is judged

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas inside."""
        return (self.formula,)

    @property
    def tightened(self) -> Formula:
        """What an episode satisfies exactly when its robustness beats the threshold; tighten.py."""
        return tightened(self.formula, self.threshold, strict=self.comparison == ">")

    def __str__(self) -> str:
        bound = f"{self.comparison} {number_text(self.threshold)}"
        return f"quantile({self.formula}, {number_text(self.q)}) {bound}"

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            no_truth(f"{_shown(self.formula, self.q)} {self.comparison} {self.threshold}")


@dataclass(frozen=True, slots=True, eq=False)
class Quantile(Unfinished):
    """`quantile(formula, q)`, waiting for its bound: compare it with a margin."""

    finish = "a bound on it is a whole statement: Claim(statement=quantile(f, 0.05) > 0.1)"

    formula: Formula
    q: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", check_quantile(self.formula, self.q))

    def __gt__(self, threshold: float) -> QuantileBound:
        return QuantileBound(self.formula, self.q, ">", threshold)

    def __ge__(self, threshold: float) -> QuantileBound:
        return QuantileBound(self.formula, self.q, ">=", threshold)

    def __lt__(self, threshold: float) -> NoReturn:
        not_from_above(self, "<", threshold)

    def __le__(self, threshold: float) -> NoReturn:
        not_from_above(self, "<=", threshold)

    if not MYPY:  # mypy reports truthy-bool only where there is no __bool__

        def __bool__(self) -> NoReturn:
            no_truth(_shown(self.formula, self.q))


def not_from_above(found: Quantile, comparison: str, threshold: object) -> NoReturn:
    """Refuses a bound on a quantile from above, with the line that means something."""
    raise FormulaError(
        f"`{_shown(found.formula, found.q)} {comparison} {threshold!r:.30}` would claim that "
        "episodes come close to failing, which no safety claim needs. For a margin that episodes "
        f"keep write `quantile(f, {number_text(found.q)}) > {threshold!r:.30}`; for a failure that "
        f"must be possible write `prob(f) < {number_text(1 - found.q)}`."
    )


def check_quantile(formula: object, q: object) -> float:
    """Returns q. Raises TypeError or FormulaError unless `quantile(formula, q)` has a meaning."""
    if not is_formula(formula):
        not_a_formula("quantile", formula)
    found = share_of_episodes(q, "quantile's q", "; for 5 of 100 write 0.05")
    if isinstance(formula, Fraction):
        raise FormulaError(
            f"`{short(formula)}` is a bound on a share of the episode; its margin is a share of "
            "samples and is not shifted by a quantile. State the share itself: "
            f"`prob(fraction(f) {formula.comparison} {number_text(formula.bound)}) >= "
            f"{number_text(1 - found)}`, with the margin added to its bound."
        )
    if isinstance(formula, Formula):
        _check_margins(formula, found)
    return found


def _check_margins(formula: Formula, q: float) -> None:
    if not atoms_of(formula):
        raise FormulaError(
            f"`{short(formula)}` reads no signal, so it has no margin for quantile to bound."
        )
    scale = margin_scale(formula)
    if not scale.ok:
        raise FormulaError(
            f"quantile({short(formula)}, {number_text(q)}) is about margins, and {scale.reason}"
        )


def _shown(formula: Formula, q: float) -> str:
    return f"quantile({short(formula)}, {number_text(q)})"
