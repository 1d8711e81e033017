"""A decision tree grown leaf by leaf: each time the exact best split that there is.

Source: Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984): weighted
squared error, which for classes (as rows of 0 and 1) is the Gini index.
"""

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.errors import PolicyError
from safegym.policy.tree import LEAF

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Split:
    """Rows go below where x[feature] <= threshold. gain: how much squared error that takes away."""

    feature: int
    threshold: float
    gain: float


@dataclass(slots=True)
class Grown:
    """A tree's arrays, nodes in the order they were made. value (n, m): mean target of each."""

    feature: list[int] = field(default_factory=list[int])
    threshold: list[float] = field(default_factory=list[float])
    below: list[int] = field(default_factory=list[int])
    above: list[int] = field(default_factory=list[int])
    value: list[Floats] = field(default_factory=list[Floats])

    def arrays(self) -> dict[str, Any]:
        """feature, threshold, below and above, as `TreePolicy` takes them."""
        return {
            "feature": np.array(self.feature, np.int64),
            "threshold": np.array(self.threshold, np.float64),
            "below": np.array(self.below, np.int64),
            "above": np.array(self.above, np.int64),
        }

    def means(self) -> Floats:
        """Mean target (n, m) of each leaf, 0 at inner nodes."""
        means = np.array(self.value)
        means[np.array(self.feature) != LEAF] = 0.0
        return means

    def add(self, mean: Floats) -> int:
        """A new leaf; returns its number."""
        for column, value in ((self.feature, LEAF), (self.below, -1), (self.above, -1)):
            column.append(value)
        self.threshold.append(0.0)
        self.value.append(mean)
        return len(self.feature) - 1


def grow(
    inputs: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    leaves: int,
    smallest: int = 1,
) -> Grown:
    """The tree of at most `leaves` leaves that takes the best split of any leaf first.

    inputs (B, n), targets (B, m), weights (B,) >= 0 (1 by default). smallest: rows in a leaf, at
    least. Of equal splits the first feature's lowest threshold is taken, of equal leaves the
    oldest. Raises PolicyError for arrays that do not fit or are not finite.
    """
    x, y, w = _checked(inputs, targets, weights)
    if not (_is_count(leaves) and _is_count(smallest)):
        raise PolicyError(
            "A tree needs whole numbers leaves >= 1 and smallest >= 1, found "
            f"{leaves!r} and {smallest!r}."
        )
    w, z = _near_one(w), _near_one(y)
    tree = Grown()
    waiting: list[tuple[float, int, Split, NDArray[np.int64]]] = []

    def leaf(rows: NDArray[np.int64]) -> int:
        node = tree.add(np.average(y[rows], axis=0, weights=w[rows]))
        split = best_split(x[rows], z[rows], w[rows], smallest)
        if split is not None:
            heapq.heappush(waiting, (-split.gain, node, split, rows))
        return node

    leaf(np.flatnonzero(w > 0.0))
    for _ in range(leaves - 1):
        if not waiting:
            break
        _, node, split, rows = heapq.heappop(waiting)
        low = x[rows, split.feature] <= split.threshold
        tree.feature[node], tree.threshold[node] = split.feature, split.threshold
        tree.below[node] = leaf(rows[low])
        tree.above[node] = leaf(rows[~low])
    return tree


def best_split(x: Floats, y: Floats, w: Floats, smallest: int = 1) -> Split | None:
    """The split of these rows that takes away the most weighted squared error; None if none does.

    Thresholds lie midway between neighbouring values.
    """
    best: Split | None = None
    y = y - np.average(y, axis=0, weights=w)
    floor = 1e-12 * float((w[:, None] * y**2).sum())
    if floor <= 0.0 or len(x) < 2 * smallest:
        return None
    for feature in range(x.shape[1]):
        order = np.argsort(x[:, feature], kind="stable")
        values = x[order, feature]
        weight = np.cumsum(w[order])
        total = np.cumsum(w[order, None] * y[order], axis=0)
        below, above = weight[:-1], weight[-1] - weight[:-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = (total[:-1] ** 2).sum(axis=1) / below
            gains += ((total[-1] - total[:-1]) ** 2).sum(axis=1) / above
        count = np.arange(1, len(x))
        allowed = (values[:-1] < values[1:]) & (count >= smallest) & (len(x) - count >= smallest)
        gains = np.where(allowed & (below > 0.0) & (above > 0.0), gains, -np.inf)
        at = int(gains.argmax())
        gain = float(gains[at])
        if gain > floor and (best is None or gain > best.gain):
            best = Split(feature, _between(float(values[at]), float(values[at + 1])), gain)
    return best


def _is_count(value: Any) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(value >= 1)


def _near_one(numbers: Floats) -> Floats:
    """The same times a power of 2, the largest near 1: squares neither overflow nor vanish."""
    return np.ldexp(numbers, -int(np.frexp(np.abs(numbers).max(initial=0.0))[1]))


def _between(low: float, high: float) -> float:
    """Low <= the result < high, midway where binary64 has room."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


def _checked(
    inputs: ArrayLike, targets: ArrayLike, weights: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    x, y = np.asarray(inputs, np.float64), np.asarray(targets, np.float64)
    w = np.ones(len(x)) if weights is None else np.asarray(weights, np.float64)
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y) or w.shape != (len(x),):
        raise PolicyError(
            "A tree is grown from inputs (B, n), targets (B, m) and weights (B,); found "
            f"{x.shape}, {y.shape} and {w.shape}."
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all() and np.isfinite(w).all()):
        raise PolicyError("A tree is grown from finite numbers only.")
    if (w < 0.0).any() or not (w > 0.0).any():
        raise PolicyError("A tree's weights are >= 0, and some above 0.")
    return x, y, w
