from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from loop_cases import INTEGRATOR, V, X

from safegym.check.loop.affine import Row
from safegym.check.loop.exactly import holds_at
from safegym.check.loop.polytope import Polytope
from safegym.check.loop.reach.cells import touching
from safegym.check.loop.sets import as_formula, cases_of, pieces_of, polytope
from safegym.check.loop.unfolding import unfolded
from safegym.check.loop.values import truth
from safegym.errors import UnsupportedError
from safegym.formula.functions import maximum, minimum, sin
from safegym.formula.nodes import Formula, any_of
from safegym.formula.terms import Signal

SETS: list[Formula] = [
    abs(X) + abs(V) <= 1,
    abs(X) + abs(V) > 1,
    maximum(X, V, 0.25) <= 0.5,
    minimum(abs(X), 2 * V) < 0.3,
    2 * abs(X - V) - minimum(X, V) / 3 <= 1,
    (abs(X) <= 1) & ((V > 0) | (X >= 0.5)),
    any_of(abs(X) >= 1, maximum(V, -0.5) >= abs(X)),
    -abs(V) >= -0.4,
    abs(abs(X) - 0.5) <= 0.2,
]


@pytest.mark.parametrize("formula", SETS, ids=str)
def test_unfolded_sets_hold_the_same_points(formula: Formula) -> None:
    grid = np.linspace(-1.5, 1.5, 49)
    x, v = (each.reshape(-1) for each in np.meshgrid(grid, grid))
    given = {"x": x, "v": v}
    np.testing.assert_array_equal(
        truth(unfolded(formula), given, x.size), truth(formula, given, x.size)
    )


@pytest.mark.parametrize("formula", SETS, ids=str)
def test_the_cases_of_a_set_cover_exactly_its_points(formula: Formula) -> None:
    cases = cases_of(formula, INTEGRATOR, "S")
    draw = np.random.default_rng(0)
    for x, v in np.round(draw.uniform(-1.5, 1.5, (200, 2)) * 64) / 64:
        held = any(case.piece.contains([x, v]) for case in cases)
        assert holds_at(formula, INTEGRATOR.states, [x, v]) is held


def test_a_comparison_without_signals_left_becomes_its_truth() -> None:
    assert not pieces_of(maximum(X, 0.5) <= 0.25, INTEGRATOR, "S")
    assert any(not piece.rows for piece in pieces_of(minimum(X, 0.5) <= 0.75, INTEGRATOR, "S"))


def test_exact_bounds_of_a_polytope_are_attained_at_its_vertices() -> None:
    draw = np.random.default_rng(1)
    for _ in range(25):
        angles = np.sort(draw.uniform(0, 2 * np.pi, 7))
        if np.diff([*angles, angles[0] + 2 * np.pi]).max() > 0.9 * np.pi:
            continue
        rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        bounds = draw.uniform(0.2, 1.0, 7)
        (piece,) = pieces_of(polytope(INTEGRATOR, rows, bounds), INTEGRATOR, "S")
        vertices = _vertices(rows, bounds)
        for direction in draw.normal(size=(5, 2)):
            found = piece.greatest(tuple(Fraction(each) for each in direction))
            assert found is not None
            most = (vertices @ direction).max()
            assert float(found) == pytest.approx(most, abs=1e-9)
            assert float(found) >= most - 1e-12


def test_a_shared_face_is_found_exactly() -> None:
    rows = [[0.3, 0.7], [-0.9, 0.1], [0.2, -0.8], [-0.3, -0.3]]
    (piece,) = pieces_of(polytope(INTEGRATOR, rows, [0.1, 0.3, 0.7, 0.2]), INTEGRATOR, "S")
    for row, bound in zip(rows, (0.1, 0.3, 0.7, 0.2), strict=True):
        found = piece.greatest(tuple(Fraction(each) for each in row))
        assert found == Fraction(bound)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": (0, 1)}, "S limits y; the states are x, v"),
        ({"x": (1, 0)}, "which is empty"),
        (3.0, "give a formula over the states"),
        (Signal("y") > 0, "S reads y, which is no state of integrator"),
        (Signal("x", "m") > 0, "S reads x, which is no state of integrator as declared"),
    ],
)
def test_what_is_no_set_of_states_is_refused(given: object, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        as_formula(given, INTEGRATOR, "S")


def test_a_formula_over_time_is_no_set() -> None:
    from safegym.formula.build import always, eventually

    assert as_formula(always(X > 0), INTEGRATOR, "S") == (X > 0)
    with pytest.raises(UnsupportedError, match="speaks of other instants"):
        as_formula(eventually(X > 0, within=1), INTEGRATOR, "S")


def test_a_union_of_boxes_is_a_list() -> None:
    both = as_formula([{"x": (0, 1)}, {"x": (2, 3), "v": (0, 1)}], INTEGRATOR, "S")
    assert len(pieces_of(both, INTEGRATOR, "S")) == 2


def _vertices(rows: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    found = []
    for one, two in combinations(range(len(rows)), 2):
        matrix = rows[[one, two]]
        if abs(np.linalg.det(matrix)) > 1e-9:
            point = np.linalg.solve(matrix, bounds[[one, two]])
            if (rows @ point <= bounds + 1e-9).all():
                found.append(point)
    return np.array(found)


@pytest.mark.parametrize(
    "formula",
    [
        abs(X) - 10 * sin(abs(X)) >= 8,
        abs(X) - 10 * sin(abs(X)) <= -5,
        abs(X) - 2 * maximum(abs(X), V) <= -4,
        maximum(X, V) + abs(maximum(X, V)) * X >= 1,
        minimum(X, V) - maximum(minimum(X, V), -V) <= 0,
        abs(X) + maximum(abs(X), V) <= 3,
    ],
)
def test_what_stands_inside_other_functions_too_is_not_taken_apart(formula: Formula) -> None:
    draw = np.random.default_rng(3)
    given = {"x": draw.uniform(-6, 6, 4000), "v": draw.uniform(-6, 6, 4000)}
    np.testing.assert_array_equal(
        truth(unfolded(formula), given, 4000), truth(formula, given, 4000)
    )


def test_a_rows_numbers_of_any_size_drop_no_cell_that_holds_a_point() -> None:
    low, high = np.array([[0.5, 0.0]]), np.array([[1.0, 1.0]])
    tiny, vast = Fraction(1, 10**400), Fraction(10**400)
    for scale in (tiny, Fraction(1), vast):
        row = Row((-scale, scale / 3), -scale / 2)
        assert touching(Polytope((row,), 2), low, high).all()
        assert not touching(Polytope((row,), 2), low - 1.0, high - 1.0).any()
    assert touching(Polytope((Row((tiny, tiny), vast),), 2), low, high).all()


def test_a_polytope_without_a_point_is_known_to_be_empty_also_where_its_box_is_not() -> None:
    apart = ((X + V >= 3) & (X <= 1) & (V <= 1) & (X >= 0) & (V >= 0), True)
    touching_corner = ((X + V >= 2) & (X <= 1) & (V <= 1) & (X >= 0) & (V >= 0), False)
    for formula, empty in (apart, touching_corner):
        assert (not cases_of(formula, INTEGRATOR, "S")) == empty
