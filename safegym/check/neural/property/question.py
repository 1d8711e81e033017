"""What one proof asks: problems for the search, and how a point of one is judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from safegym.check.neural.problem import Problem
from safegym.check.neural.property.layout import Layout
from safegym.check.neural.property.truth import Truth

Vectors = Sequence[Sequence[Fraction]]
"""One or two observations, or the actions on them, exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A property of a policy over a region, ready for the search.

    text: the property in words or in the language. problems: one for each part of the region.
    weights: each part's share of the whole. names: of the problems' inputs, for people. rows: the
    observations that a point of a problem stands for. holds: whether the property holds of those
    observations and the actions on them. notes: what a reader must know.
    """

    text: str
    claim_id: str
    claim_digest: str
    layout: Layout
    problems: tuple[Problem, ...]
    weights: tuple[float, ...]
    names: tuple[str, ...]
    rows: Callable[[Sequence[Fraction]], Vectors]
    holds: Callable[[Vectors, Vectors], Truth]
    notes: tuple[str, ...] = ()
