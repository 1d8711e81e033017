"""A decision tree that is to do what its teachers do, grown anew from all that was seen so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import PolicyError, UnsupportedError
from safegym.gate.distill.cart import grow
from safegym.policy.base import Policy
from safegym.policy.tree import LEAF, TreePolicy

Rows = NDArray[Any]
Weigh = Callable[[Rows], Rows]
"""Observations (B, n) -> weights (B,), >= 0: what a wrong action costs there."""


def tree_of(
    rows: Rows,
    labels: Rows,
    weights: Rows,
    *,
    name: str,
    leaves: int,
    smallest: int = 1,
    observation_space: Any = None,
    action_space: Any = None,
) -> TreePolicy:
    """The tree that acts at observations (B, n) as labelled, where weights (B,) count most.

    labels: choices (B,) of a whole-number type, or actions (B, ...).
    """
    discrete = labels.dtype.kind in "iu"
    choices = np.unique(labels) if discrete else np.zeros(0, np.int64)
    targets = (
        (labels.reshape(-1, 1) == choices).astype(np.float64)
        if discrete
        else labels.astype(np.float64).reshape(len(labels), -1)
    )
    grown = grow(rows, targets, weights, leaves=leaves, smallest=smallest)
    means = grown.means()
    chosen: dict[str, Any] = {"value": means}
    if discrete:
        inner = np.array(grown.feature) != LEAF
        chosen = {"index": np.where(inner, 0, choices[means.argmax(axis=1)])}
    return TreePolicy(
        name,
        inputs=rows.shape[1],
        **grown.arrays(),
        **chosen,
        observation_space=observation_space,
        action_space=action_space,
    )


def value_gap(oracle: Policy) -> Weigh | None:
    """Best less worst value of each choice, for a discrete policy that can be imported."""
    from safegym.check.neural.evaluate import evaluate
    from safegym.check.neural.importing import policy_graph

    try:
        imported = policy_graph(oracle)
    except (UnsupportedError, PolicyError):
        return None
    if imported.kind != "discrete":
        return None

    def gap(rows: Rows) -> Rows:
        values = evaluate(imported.graph, rows.astype(np.float64))
        return np.asarray(values.max(axis=1) - values.min(axis=1) + 1e-9)

    return gap


def evenly(rows: Rows) -> Rows:
    """1 for each row."""
    return np.ones(len(rows))


@dataclass(frozen=True, slots=True)
class Tree:
    """A student that is a decision tree, which can be read and proved with z3.

    leaves: most of them. smallest: rows in a leaf, at least. Rows of one teacher count by what a
    wrong action costs (`value_gap`), evenly where that is not known, and all teachers' rows
    together by the teachers' weights.
    """

    leaves: int = 64
    smallest: int = 1

    def __post_init__(self) -> None:
        for what in ("leaves", "smallest"):
            value: Any = getattr(self, what)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UnsupportedError(f"Tree({what}={value!r}): give a whole number from 1.")

    def to_json(self) -> dict[str, Any]:
        """What was asked for."""
        return {"kind": "tree", "leaves": self.leaves, "smallest": self.smallest}


def shares(weights: Sequence[Rows], wanted: Sequence[float]) -> list[Rows]:
    """Row weights of each teacher, scaled so that their sums stand as `wanted`.

    The first teacher's rows keep their weights, so that with one teacher nothing changes.
    """
    first = float(weights[0].sum()) / wanted[0]
    return [
        rows if at == 0 else rows * (first * share / float(rows.sum()))
        for at, (rows, share) in enumerate(zip(weights, wanted, strict=True))
    ]
