import pickle

import numpy as np
import pytest
from loop_cases import FLOW, INTEGRATOR, PENDULUM, PUSH, THETA, V, X

from safegym.check.loop.values import truth, values
from safegym.check.matrix.probes import unprobed
from safegym.errors import FormulaError, UnitError, UnsupportedError
from safegym.formula.choice import Choice, if_
from safegym.formula.derivative import derivative, plain
from safegym.formula.dynamics import Dynamics
from safegym.formula.flow import Flow
from safegym.formula.functions import cos, exp, maximum, quantity, sin
from safegym.formula.nodes import all_of, any_of
from safegym.formula.terms import Apply, Constant, Signal, Term

STRONG = Signal("push", bounds=(-2, 1))


def made(**changed: object) -> Dynamics:
    given: dict[str, object] = {
        "states": [X],
        "actions": [PUSH],
        "next": {"x": X + PUSH},
        "dt": "0.1",
    }
    return Dynamics("one", **{**given, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"next": {"v": X}}, "give one term for each state"),
        ({"next": {"x": X + V}}, "reads v, which is not declared there"),
        ({"states": [X, X]}, "declared twice"),
        ({"disturbances": [V], "next": {"x": X + V}}, "disturbance v has no bounds"),
        ({"dt": "0"}, "dt must be above 0"),
        ({"states": [], "next": {}}, "declare one state or more"),
        ({"states": [Signal("x", shape=(2,))]}, "is a vector"),
        ({"observation": [PUSH + 0]}, "reads push, which is not declared there"),
        ({"next": {"x": Signal("x", "m") + quantity(1, "m")}}, "use one Signal object"),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(
    changed: dict[str, object], message: str
) -> None:
    with pytest.raises(FormulaError, match=message):
        made(**changed)


def test_a_next_state_in_another_unit_than_its_state_is_refused() -> None:
    x, v = Signal("x", "m"), Signal("v", "m/s")
    with pytest.raises(UnitError, match=r"`v` is in m/s, but the state x is in m; give the const"):
        Dynamics("two", states=[x, v], actions=[], next={"x": v, "v": v}, dt="0.1")
    step = quantity(0.1, "s")
    fine = Dynamics("two", states=[x, v], actions=[], next={"x": x + step * v, "v": v}, dt="0.1")
    assert fine.next[0].unit_or_none == x.unit_or_none


def test_a_rate_has_the_states_unit_per_second() -> None:
    x = Signal("x", "m")
    with pytest.raises(UnitError, match="the rate of x is in m/s"):
        Flow("one", states=[x], actions=[], derivative={"x": x}, dt="0.1")
    assert Flow("one", states=[x], actions=[], derivative={"x": Constant(1.0)}, dt="0.1")


def test_the_digest_covers_everything_that_decides_what_the_plant_does() -> None:
    digests = {
        made().digest,
        made(dt="0.2").digest,
        made(actions=[STRONG], next={"x": X + STRONG}).digest,
        made(next={"x": X - PUSH}).digest,
        made(observation=[X + 1]).digest,
        made(next={"x": if_(X > 0, X, PUSH)}).digest,
        made(next={"x": if_(X >= 0, X, PUSH)}).digest,
    }
    assert len(digests) == 7
    assert made().digest == made().digest
    assert PENDULUM.digest != FLOW.digest


def test_dynamics_pickle_and_tell_themselves_as_json() -> None:
    plant = made(next={"x": if_(X > 0, X, PUSH)})
    again = pickle.loads(pickle.dumps(plant))
    assert again == plant
    assert again.to_json()["next"] == ["if(x > 0, x, push)"]
    assert again.to_json()["digest"] == plant.digest


def test_if_stands_in_dynamics_and_never_in_a_formula() -> None:
    chosen = if_(X > 0, X, -X)
    with pytest.raises(FormulaError, match="`if` is for the terms of a Dynamics alone"):
        _ = chosen + 1 <= 2
    with pytest.raises(FormulaError, match="`if` is for the terms of a Dynamics alone"):
        _ = abs(Apply("max", (X, chosen))) > X
    with pytest.raises(FormulaError, match="takes one comparison as its condition"):
        if_(all_of(X > 0, X < 1), X, 0)  # type: ignore[arg-type]
    with pytest.raises(UnitError, match="if needs one unit"):
        if_(X > 0, Signal("d", "m"), Signal("t", "s"))
    assert unprobed() == ()


def test_if_takes_the_side_that_its_comparison_picks_strictness_kept() -> None:
    points = {"x": np.array([-1.0, 0.0, 1.0])}
    nested = if_(X > 0, if_(X >= 1, Constant(7), 3), -X)
    found = values([if_(X > 0, Constant(1), 0), if_(X >= 0, Constant(1), 0), nested], points, 3)
    np.testing.assert_array_equal(found, [[0, 0, 1], [0, 1, 0], [1, 1, 7]])


def test_terms_have_the_values_that_numpy_gives() -> None:
    draw = np.random.default_rng(0)
    x, v = draw.normal(size=(2, 50))
    terms = [X * V - sin(X) / 2, exp(-abs(V)), maximum(X, V, 0.5), Apply("norm", (X, V))]
    expected = [x * v - np.sin(x) / 2, np.exp(-abs(v)), np.maximum(np.maximum(x, v), 0.5)]
    expected.append(np.sqrt(x * x + v * v))
    np.testing.assert_array_equal(values(terms, {"x": x, "v": v}, 50), np.stack(expected, axis=1))
    formula = any_of(all_of(X > 0, V <= 0), ~(X < 1))
    np.testing.assert_array_equal(
        truth(formula, {"x": x, "v": v}, 50), ((x > 0) & (v <= 0)) | (x >= 1)
    )


@pytest.mark.parametrize(
    "term",
    [
        X * X * V,
        sin(X * V) + cos(2 * V),
        exp(X / 3) * (V - X),
        -(X - 2 * V) * sin(X),
        (X + 1) / 4 * exp(-V * V),
    ],
)
def test_derivatives_agree_with_differences(term: Term) -> None:
    draw = np.random.default_rng(1)
    x, v = draw.uniform(-1, 1, (2, 40))
    form = plain(term)
    for name, moved in (("x", (1e-6, 0.0)), ("v", (0.0, 1e-6))):
        ends = [
            values([form], {"x": x + s * moved[0], "v": v + s * moved[1]}, 40)[:, 0]
            for s in (1, -1)
        ]
        exact = values([derivative(form, name)], {"x": x, "v": v}, 40)[:, 0]
        np.testing.assert_allclose(exact, (ends[0] - ends[1]) / 2e-6, atol=1e-7)


def test_a_flow_of_what_has_no_derivative_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"`if` has no derivative; write a model in discr"):
        Flow("one", states=[X], actions=[], derivative={"x": if_(X > 0, X, -X)}, dt="0.1")
    with pytest.raises(UnsupportedError, match=r"`abs\(x\)` has no derivative for a Taylor model"):
        Flow("one", states=[X], actions=[], derivative={"x": abs(X)}, dt="0.1")


def test_the_choices_of_a_plant_are_listed_parts_first() -> None:
    inner = if_(X > 1, X, 1)
    outer = if_(X > 0, inner, X)
    assert made(next={"x": outer}).choices == (inner, outer)
    assert isinstance(inner, Choice)
    assert INTEGRATOR.choices == ()
    assert THETA in PENDULUM.signals
