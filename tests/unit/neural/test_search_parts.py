"""Rows, contraction, the interior and the frontier of a search."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from search_problems import cube, dense, one

from safegym.check.neural.problem import HalfSpace, Positive, Problem, Region
from safegym.check.neural.search.contraction import contract
from safegym.check.neural.search.frontier import Boxes, Frontier
from safegym.check.neural.search.influence import influence
from safegym.check.neural.search.interior import Interior
from safegym.check.neural.search.leaf import LeafSolver
from safegym.check.neural.search.planes import cut_planes
from safegym.check.neural.search.rows import Rows, combine, least, lightest_mix

Drawn = tuple[Rows, NDArray[np.float64], NDArray[np.float64]]


def _random_rows(seed: int, boxes: int = 40, count: int = 3, size: int = 4) -> Drawn:
    random = np.random.default_rng(seed)
    scale = 10.0 ** random.integers(-6, 6, size=(boxes, 1, 1))
    rows = Rows(
        scale * random.normal(size=(boxes, count, size)), random.normal(size=(boxes, count))
    )
    ends = np.sort(random.normal(size=(2, boxes, size)), axis=0)
    return rows, ends[0], ends[1]


def _exact_least(row: np.ndarray, constant: float, low: np.ndarray, high: np.ndarray) -> Fraction:
    total = Fraction(float(constant))
    for a, bottom, top in zip(row.tolist(), low.tolist(), high.tolist(), strict=True):
        total += min(Fraction(a) * Fraction(bottom), Fraction(a) * Fraction(top))
    return total


def test_the_least_of_a_row_is_never_above_the_exact_one_and_close_to_it() -> None:
    for seed in range(5):
        rows, low, high = _random_rows(seed)
        found = least(rows, low, high)
        for box in range(40):
            for k in range(3):
                exact = _exact_least(
                    rows.coefficients[box, k], rows.constants[box, k], low[box], high[box]
                )
                assert Fraction(found[box, k]) <= exact
                assert float(exact) - found[box, k] <= 1e-12 * (
                    1.0 + np.abs(rows.coefficients[box, k]).sum() * 5
                )


def test_a_combination_is_never_above_the_exact_least_of_its_sum() -> None:
    for seed in range(5):
        rows, low, high = _random_rows(seed + 10)
        weights = lightest_mix(rows, low, high)
        assert (weights >= 0.0).all()
        found = combine(rows, weights, low, high)
        for box in range(40):
            mixed = [
                sum(
                    Fraction(w) * Fraction(a)
                    for w, a in zip(weights[box].tolist(), column, strict=True)
                )
                for column in rows.coefficients[box].T.tolist()
            ]
            exact = sum(
                Fraction(w) * Fraction(c)
                for w, c in zip(weights[box].tolist(), rows.constants[box].tolist(), strict=True)
            )
            for a, bottom, top in zip(mixed, low[box].tolist(), high[box].tolist(), strict=True):
                exact += min(a * Fraction(bottom), a * Fraction(top))
            assert Fraction(found[box]) <= exact


def test_two_rows_of_opposite_slopes_close_a_box_that_neither_closes_alone() -> None:
    rows = Rows(np.array([[[1.0], [-1.0]]]), np.array([[0.1, 0.1]]))
    low, high = np.array([[-1.0]]), np.array([[1.0]])
    assert (least(rows, low, high) < 0.0).all()
    assert combine(rows, lightest_mix(rows, low, high), low, high)[0] > 0.05


def test_contraction_cuts_off_only_points_where_a_row_of_each_open_clause_is_positive() -> None:
    groups = [np.array([0, 1]), np.array([2])]
    for seed in range(10):
        rows, low, high = _random_rows(seed + 20)
        open = np.random.default_rng(seed).random((40, 2)) < 0.8
        done = contract(rows, groups, open, low, high, range(4))
        assert (done.low >= low).all()
        assert (done.high <= high).all()
        assert (done.low < done.high).all()
        points = low[:, None] + (high - low)[:, None] * np.random.default_rng(1).random(
            (40, 300, 4)
        )
        gone = ((points < done.low[:, None]) | (points > done.high[:, None])).any(axis=2)
        values = np.einsum("bkn,bsn->bsk", rows.coefficients, points) + rows.constants[:, None]
        closed = np.stack([values[:, :, group].max(axis=2) > 0.0 for group in groups], axis=2)
        assert np.logical_and.reduce(closed | ~open[:, None], axis=2)[gone].all()


def test_contraction_of_one_dimension_stops_at_the_root_of_its_row() -> None:
    rows = Rows(np.array([[[2.0]]]), np.array([[-1.0]]))  # positive above 0.5
    done = contract(
        rows, [np.array([0])], np.array([[True]]), np.array([[0.0]]), np.array([[1.0]]), [0]
    )
    assert done.high[0, 0] == pytest.approx(0.5, abs=1e-5)
    assert done.high[0, 0] > 0.5
    assert done.left[0] == pytest.approx(0.5, abs=1e-5)


def test_the_interior_gives_points_of_the_exact_region_that_binary32_holds() -> None:
    region = Region(
        (Fraction(1, 10), Fraction(0)),
        (Fraction(3, 10), Fraction(1)),
        (HalfSpace((Fraction(1), Fraction(1)), Fraction(1)),),
    )
    graph = dense((2, 3, 1), 0)
    interior = Interior(Problem(graph, region, ((Positive(0),),), "deployed float32"))
    points = interior.bring(np.random.default_rng(0).uniform(-1.0, 2.0, size=(200, 2)))
    assert (points == points.astype(np.float32)).all()
    assert interior.holds(points).mean() > 0.9
    for point, inside in zip(points, interior.holds(points), strict=True):
        assert inside == region.contains(point.tolist())


def test_an_input_that_no_float_holds_leaves_the_interior_empty() -> None:
    third = Fraction(1, 3)
    interior = Interior(one(dense((1, 3, 1), 0), Region((third,), (third,))))
    assert interior.empty
    assert not interior.holds(np.array([[1.0 / 3.0]])).any()


def test_cut_planes_are_below_the_exact_cut_everywhere_in_the_box() -> None:
    cut = HalfSpace((Fraction(1, 3), Fraction(-2, 7)), Fraction(1, 11))
    plane = cut_planes(cube(2, -3.0, 5.0, (cut,)))
    random = np.random.default_rng(0)
    for point in random.uniform(-3.0, 5.0, size=(200, 2)).tolist():
        exact = (
            sum(c * Fraction(x) for c, x in zip(cut.coefficients, point, strict=True)) - cut.bound
        )
        kept = Fraction(float(plane.constants[0, 0])) + sum(
            Fraction(a) * Fraction(x)
            for a, x in zip(plane.coefficients[0, 0].tolist(), point, strict=True)
        )
        assert kept <= exact
        assert exact - kept < Fraction(1, 10**12)


def test_the_influence_of_an_input_is_at_least_its_gradient_at_every_point() -> None:
    from random_graphs import network

    from safegym.check.neural.bounds import Bounds
    from safegym.check.neural.evaluate import gradient

    for activation in ("relu", "tanh", "leaky_relu"):
        graph = network((3, 8, 8, 2), activation, seed=1)
        low, high = np.full((1, 3), -0.5), np.full((1, 3), 0.5)
        inner = Bounds(graph, "real").linear(low, high).inner
        points = np.random.default_rng(0).uniform(-0.5, 0.5, size=(200, 3))
        for output in range(2):
            weights = np.eye(2)[output][None]
            most = influence(graph, inner, weights)[0]
            _, slopes = gradient(graph, points, weights)
            assert (np.abs(slopes) <= most + 1e-9).all()


def test_a_full_frontier_gives_the_most_split_boxes_only() -> None:
    count = 100
    boxes = Boxes(
        np.zeros((count, 1)),
        np.ones((count, 1)),
        np.ones((count, 1), dtype=np.bool_),
        np.full(count, 1.0 / count),
        np.arange(count, dtype=np.float64),
        np.arange(count, dtype=np.int64),
        np.arange(count, dtype=np.int64),
        np.zeros(count, dtype=np.bool_),
    )
    full, roomy = Frontier(boxes, 50), Frontier(boxes, 1000)
    assert sorted(full.take(10).number) == list(range(90, 100))
    assert sorted(roomy.take(10).number) == [*range(5), *range(95, 100)]
    assert len(full) == len(roomy) == 90
    assert full.share == pytest.approx(0.9)


def test_a_point_beyond_a_cut_by_a_hair_is_not_in_the_interior() -> None:
    cut = HalfSpace((Fraction(1),), Fraction(1, 3))
    interior = Interior(one(dense((1, 3, 1), 0), cube(1, cuts=(cut,))))
    near = 1.0 / 3.0  # below a third, and the next number above it
    points = np.array([[near], [np.nextafter(near, 1.0)]])
    assert interior.holds(points).tolist() == [True, False]


@pytest.mark.parametrize("word", ["unsat", "sat", "unknown"])
def test_a_leaf_is_closed_by_unsat_alone(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from safegym.check.symbolic import cell

    monkeypatch.setattr(cell, "solve_problem", lambda *_, **__: cell.CellAnswer(word))  # type: ignore[arg-type]
    solver = LeafSolver(one(dense((1, 3, 1), 0), cube(1)))
    answer, _ = solver.ask(np.zeros(1), np.ones(1), 1.0)
    assert (answer == "holds") == (word == "unsat")


def test_the_outward_box_holds_the_exact_one_and_is_the_smallest_that_does() -> None:
    for top in range(-40, 41):
        exact = Fraction(top, 7)
        low, high = (float(end[0]) for end in Region((exact,), (exact,)).outward())
        assert Fraction(low) <= exact <= Fraction(high)
        assert high in (low, float(np.nextafter(low, np.inf)))
