"""Trees grown by exact best splits, against trying every split there is."""

import itertools
from typing import Any

import numpy as np
import pytest

from safegym.errors import PolicyError
from safegym.gate.distill.cart import Floats, Split, best_split, grow


def error(y: Floats, w: Floats) -> float:
    """Weighted squared error about the weighted mean."""
    if not w.sum() > 0.0:
        return 0.0
    mean = (w[:, None] * y).sum(axis=0) / w.sum()
    return float((w[:, None] * (y - mean) ** 2).sum())


def every_split(x: Floats, y: Floats, w: Floats, smallest: int) -> float:
    """The most error that any split of these rows takes away."""
    best = 0.0
    for feature in range(x.shape[1]):
        for low, high in itertools.pairwise(np.unique(x[:, feature])):
            below = x[:, feature] <= (low + high) / 2
            if min(below.sum(), (~below).sum()) >= smallest:
                left = error(y[below], w[below]) + error(y[~below], w[~below])
                best = max(best, error(y, w) - left)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_the_best_split_takes_away_as_much_as_any(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, smallest = int(rng.integers(2, 30)), int(rng.integers(1, 4))
    x = rng.integers(0, 6, (count, 3)).astype(np.float64)
    y = rng.normal(size=(count, 2)) if seed % 2 else np.eye(3)[rng.integers(0, 3, count)]
    w = rng.uniform(0.1, 3.0, count)
    found = best_split(x, y, w, smallest)
    most = every_split(x, y, w, smallest)
    if found is None:
        assert most == pytest.approx(0.0, abs=1e-9)
        return
    below = x[:, found.feature] <= found.threshold
    left = error(y[below], w[below]) + error(y[~below], w[~below])
    assert error(y, w) - left == pytest.approx(most)
    assert found.gain == pytest.approx(most)
    assert min(below.sum(), (~below).sum()) >= smallest


def test_leaves_hold_the_weighted_mean_of_their_rows() -> None:
    rng = np.random.default_rng(1)
    x, y, w = rng.normal(size=(200, 2)), rng.normal(size=(200, 1)), rng.uniform(0, 1, 200)
    tree = grow(x, y, w, leaves=12)
    feature = np.array(tree.feature)
    at = np.zeros(200, np.int64)
    for _ in range(12):
        inner = feature[at] >= 0
        low = x[np.arange(200), np.maximum(feature[at], 0)] <= np.array(tree.threshold)[at]
        at = np.where(inner, np.where(low, np.array(tree.below)[at], np.array(tree.above)[at]), at)
    assert (feature == -1).sum() == 12
    for leaf in np.flatnonzero(feature == -1):
        rows = at == leaf
        assert tree.value[leaf] == pytest.approx(np.average(y[rows], axis=0, weights=w[rows]))


def test_the_leaf_that_gains_most_is_split_first() -> None:
    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([[0.0], [0.1], [5.0], [9.0]])
    tree = grow(x, y, leaves=3)
    assert tree.threshold[0] == 1.5
    assert tree.feature[tree.below[0]] == -1
    assert tree.threshold[tree.above[0]] == 2.5


def test_a_tree_of_all_the_leaves_it_needs_repeats_its_rows() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(50, 2)), rng.integers(0, 4, 50).astype(np.float64)[:, None]
    tree = grow(x, y, leaves=50)
    means = [m for m, f in zip(tree.value, tree.feature, strict=True) if f == -1]
    assert sorted({float(m[0]) for m in means}) == sorted(set(y[:, 0].tolist()))


def test_a_threshold_between_neighbouring_numbers_still_parts_them() -> None:
    low = 1.0
    high = float(np.nextafter(low, 2.0))
    split = best_split(np.array([[low], [high]]), np.array([[0.0], [1.0]]), np.ones(2))
    half: Any = pytest.approx(0.5)
    assert split == Split(0, low, half)


def test_rows_of_weight_zero_count_for_nothing() -> None:
    x = np.array([[0.0], [1.0], [2.0]])
    y = np.array([[1.0], [1.0], [100.0]])
    assert grow(x, y, [1.0, 1.0, 0.0], leaves=4).value[0] == pytest.approx([1.0])


def test_equal_targets_are_not_split() -> None:
    assert len(grow(np.arange(9.0)[:, None], np.full((9, 1), 0.1), leaves=4).feature) == 1


@pytest.mark.parametrize(
    ("weights", "leaves", "words"),
    [
        ([1.0, -1.0], 2, "weights are >= 0"),
        ([0.0, 0.0], 2, "some above 0"),
        ([1.0], 2, "inputs"),
        ([1.0, np.nan], 2, "finite"),
        ([1.0, 1.0], 0, "leaves >= 1"),
    ],
)
def test_what_no_tree_can_be_grown_from_is_refused(
    weights: list[float], leaves: int, words: str
) -> None:
    with pytest.raises(PolicyError, match=words):
        grow(np.zeros((2, 1)), np.zeros((2, 1)), weights, leaves=leaves)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e300])
def test_the_tree_does_not_depend_on_the_size_of_weights_or_targets(size: float) -> None:
    x, y = np.arange(4.0)[:, None], np.array([[0.0], [0.25], [1.0], [4.0]])
    plain = grow(x, y, leaves=3)
    assert (np.array(plain.feature) == -1).sum() == 3
    for tree in (grow(x, y, np.full(4, size), leaves=3), grow(x, y * max(size, 1e-200), leaves=3)):
        assert (tree.feature, tree.threshold) == (plain.feature, plain.threshold)


def test_a_split_is_found_among_rows_that_begin_with_weight_zero() -> None:
    x, y, w = (
        np.array([[0.0], [1.0], [2.0]]),
        np.array([[5.0], [0.0], [1.0]]),
        np.array([0.0, 1, 1]),
    )
    half: Any = pytest.approx(0.5)
    assert best_split(x, y, w) == Split(0, 1.5, half)


def test_leaves_that_are_no_whole_number_are_refused() -> None:
    with pytest.raises(PolicyError, match=r"whole numbers leaves >= 1.*found 2\.5 and 1"):
        grow(np.zeros((3, 1)), np.zeros((3, 1)), leaves=2.5)  # type: ignore[arg-type]
