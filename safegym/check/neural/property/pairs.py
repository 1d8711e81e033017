"""A property of two observations that differ in one entry, as a graph with two copies."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import HalfSpace, Positive, Problem, Region, Semantics
from safegym.check.neural.property.layout import ACTION, OBSERVATION, Layout
from safegym.check.neural.property.question import Question, Vectors
from safegym.check.neural.property.volumes import weights_of
from safegym.digest import digest_text


@dataclass(frozen=True, slots=True)
class Rise:
    """As entry `obs` rises, entry `action` rises (or falls), but for less than `tolerance`."""

    obs: int
    action: int
    increasing: bool
    tolerance: float


def monotone_question(
    policy: PolicyGraph,
    layout: Layout,
    rise: Rise,
    regions: Sequence[Region],
    semantics: Semantics,
) -> Question:
    """Inputs of the problems: the lower observation, and last the risen entry of the upper one."""
    size = layout.observations
    builder = GraphBuilder(size + 1)
    lower = builder.input(0, size)
    upper = builder.linear([(builder.input(), _raised(size, rise.obs))])
    sign = 1.0 if rise.increasing else -1.0
    row = np.zeros((1, layout.actions))
    row[0, rise.action] = sign
    actions = [
        (builder.append(policy.graph, upper), row),
        (builder.append(policy.graph, lower), -row),
    ]
    graph = builder.graph(builder.linear(actions, [rise.tolerance]))
    obs, action = (OBSERVATION, rise.obs), (ACTION, rise.action)
    text = (
        f"where {layout.name(obs)} rises and all else stays, {layout.name(action)} "
        f"{'falls' if rise.increasing else 'rises'} by less than {rise.tolerance!r}"
    )

    def rows(point: Sequence[Fraction]) -> Vectors:
        above = list(point[:size])
        above[rise.obs] = point[size]
        return list(point[:size]), above

    def holds(observations: Vectors, found: Vectors) -> bool:
        changed = found[1][rise.action] - found[0][rise.action]
        return Fraction(sign) * changed + Fraction(rise.tolerance) > 0

    names = [layout.name((OBSERVATION, at)) for at in range(size)]
    return Question(
        text,
        "",
        digest_text(text),
        layout,
        tuple(
            Problem(graph, _pair(region, rise.obs), ((Positive(0),),), semantics)
            for region in regions
        ),
        weights_of(regions),
        (*names, f"risen {names[rise.obs]}"),
        rows,
        holds,
    )


def _raised(size: int, at: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """From (x, y) to x with entry `at` replaced by y."""
    matrix = np.zeros((size, size + 1))
    matrix[:, :size] = np.eye(size)
    matrix[at, at], matrix[at, size] = 0.0, 1.0
    return matrix


def _pair(region: Region, at: int) -> Region:
    """Both observations in the region, the second not below the first."""
    size = len(region.low)
    zero = Fraction(0)
    order = [zero] * (size + 1)
    order[at], order[size] = Fraction(1), Fraction(-1)
    cuts = [HalfSpace(tuple(order), zero)]
    for cut in region.cuts:
        first = (*cut.coefficients, zero)
        second = list(first)
        second[at], second[size] = zero, cut.coefficients[at]
        cuts += [HalfSpace(first, cut.bound), HalfSpace(tuple(second), cut.bound)]
    return Region((*region.low, region.low[at]), (*region.high, region.high[at]), tuple(cuts))
