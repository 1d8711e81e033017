"""The search space: points, values and reset options; narrowing; corners; shares of a budget."""

from itertools import product

import numpy as np
import pytest
from falsify_models import FAULTS, PARAMETERS, PUSHES, sum_of_pushes, tank
from hypothesis import given
from hypothesis import strategies as st

from safegym.check.falsify.budget import BASELINES, GUIDED, kept_back, shares
from safegym.check.falsify.coordinate import Coordinate
from safegym.check.falsify.corners import corner_points
from safegym.check.falsify.space import SearchSpace
from safegym.errors import ScenarioError

SPEC = tank(sum_of_pushes)
SPACE = SearchSpace.of(SPEC)
finite = st.floats(-1e6, 1e6, allow_nan=False)
unit = st.floats(0.0, 1.0)


def rng():
    return np.random.default_rng(0)


def test_every_declared_input_is_a_coordinate_and_disturbances_have_one_a_piece():
    names = {each.name for each in (*PARAMETERS, *FAULTS)}
    names |= {name for each in PUSHES for name in each.piece_names}
    assert {each.name for each in SPACE.free} == names
    assert SPACE.dimension == 10
    kinds = {each.name: each.kind for each in SPACE.free}
    assert (kinds["start"], kinds["load"], kinds["leak"], kinds["push[2]"]) == (
        "initial",
        "parameter",
        "fault",
        "disturbance",
    )


def test_neutral_is_the_default_of_a_parameter_and_the_neutral_value_of_a_disturbance():
    neutral = dict(zip((each.name for each in SPACE.free), SPACE.neutral, strict=True))
    assert (neutral["load"], neutral["start"], neutral["leak"], neutral["pull[1]"]) == (
        0.5,
        0,
        0,
        0,
    )
    assert SPACE.active(SPACE.neutral) == ()


@given(st.lists(unit, min_size=10, max_size=10))
def test_options_and_values_of_a_point_come_back(point):
    values = SPACE.values(point)
    assert SPACE.values_of(SPACE.options(values)) == values
    assert SPACE.point(values) == pytest.approx(np.array(point), abs=1e-12)


@given(finite, finite, unit)
def test_a_value_never_leaves_its_limits_and_reaches_them_exactly(one, two, position):
    low, high = min(one, two), max(one, two)
    each = Coordinate("x", "x", "parameter", "m", low, high, low)
    assert low <= each.value(position) <= high
    assert (each.value(0.0), each.value(1.0)) == (low, high)


@given(st.lists(unit, min_size=10, max_size=10))
def test_what_reset_is_given_lies_within_what_is_declared(point):
    options = SPACE.options(SPACE.values(point))
    for each in (*PARAMETERS, *FAULTS):
        assert each.low <= options["parameters"][each.name] <= each.high
    for each in PUSHES:
        assert len(options["disturbances"][each.name]) == each.pieces
        assert all(each.low <= v <= each.high for v in options["disturbances"][each.name])


def test_a_number_fixes_a_pair_narrows_and_none_leaves_it_to_the_seed():
    space = SearchSpace.of(
        SPEC, {"load": 1.25, "push": (-0.5, 0.25), "push[3]": 0.0, "pull": None, "stuck": None}
    )
    options = space.options(space.values(np.ones(space.dimension)))
    assert options["parameters"] == {"leak": 1.0, "start": 1.0, "load": 1.25}
    assert options["disturbances"] == {"push": [0.25, 0.25, 0.25, 0.0]}
    assert {each.name for each in space.free} == {"start", "leak", "push[0]", "push[1]", "push[2]"}


def test_without_faults_they_are_at_rest_unless_named():
    space = SearchSpace.of(SPEC, {"leak": (0.0, 0.5)}, faults=False)
    options = space.options(space.values(np.ones(space.dimension)))
    assert options["parameters"]["stuck"] == 0.0
    assert options["parameters"]["leak"] == 0.5


def test_narrowing_away_from_neutral_makes_the_next_limit_neutral():
    space = SearchSpace.of(SPEC, {"load": (1.0, 2.0)})
    assert dict(zip((c.name for c in space.free), space.neutral, strict=True))["load"] == 1.0


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"lode": 1.0}, "names 'lode'.*did you mean load"),
        ({"push[7]": 1.0}, r"names 'push\[7\]'.*did you mean push"),
        ({"load": (0.0, 3.0)}, "not inside the declared"),
        ({"load": (1.0, 0.5)}, "is empty; the lower limit comes first.*(0.5, 1)"),
        ({"load": "heavy"}, "give a number to fix it"),
        ({"load": True}, "give a number to fix it"),
        ({"load": (0.0, float("nan"))}, "give a number to fix it"),
        ({"load": (0.0, 1.0, 2.0)}, "give a number to fix it"),
    ],
)
def test_a_bad_narrowing_is_refused(where, message):
    with pytest.raises(ScenarioError, match=message):
        SearchSpace.of(SPEC, where)


def test_a_point_of_another_space_is_refused():
    with pytest.raises(ScenarioError, match="has 10 numbers, found 3"):
        SPACE.values([0.0, 0.5, 1.0])
    with pytest.raises(ScenarioError, match="do not fill the search space"):
        SPACE.values_of({"parameters": {"load": 1.0}})


def test_all_corners_are_tried_where_the_limit_covers_them():
    space = SearchSpace.of(SPEC, {"push": 0.0, "pull": None})
    found = [tuple(point) for point in corner_points(space, 16, rng())]
    assert sorted(found) == sorted(product((0.0, 1.0), repeat=4))


def test_a_part_of_the_corners_holds_no_corner_twice_and_begins_at_the_ends():
    found = [tuple(point) for point in corner_points(SPACE, 200, rng())]
    assert len(set(found)) == len(found) == 200
    assert found[:2] == [(0.0,) * 10, (1.0,) * 10]


def test_a_part_of_the_corners_holds_disturbances_at_one_limit_throughout_first():
    names = [each.name for each in SPACE.free]
    pushes = [i for i, name in enumerate(names) if name.startswith("push")]
    for point in list(corner_points(SPACE, 100, rng()))[:50]:
        assert len({point[i] for i in pushes}) == 1


def test_a_part_of_the_corners_is_balanced_in_every_coordinate():
    """Of 200 corners of a 10-cube, each side of each coordinate gets near to half."""
    found = np.array(list(corner_points(SPACE, 200, rng())))
    assert np.abs(found.mean(axis=0) - 0.5).max() < 0.1


def test_a_high_cube_has_corners_too():
    space = SearchSpace(
        tuple(Coordinate(f"x{i}", f"x{i}", "parameter", "m", 0, 1, 0) for i in range(64))
    )
    assert len({tuple(point) for point in corner_points(space, 100, rng())}) == 100


@given(st.integers(1, 2000), st.floats(0.0, 0.9), st.sets(st.sampled_from(GUIDED)))
def test_shares_add_up_to_the_budget(budget, shrinking, guided):
    methods = (*BASELINES, *(name for name in GUIDED if name in guided))
    plan = shares(budget, methods, shrinking)
    assert plan.kept_back == kept_back(budget, shrinking)
    assert sum(plan.by_method.values()) + plan.kept_back == budget
    assert all(part >= 0 for part in plan.by_method.values())
    assert plan.kept_back <= max(1, shrinking * budget)
    assert plan.by_method["corners"] >= 1
