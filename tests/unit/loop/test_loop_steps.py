from fractions import Fraction

import numpy as np
import pytest
from loop_cases import (
    FLOW,
    INTEGRATOR,
    OMEGA,
    PUSH,
    THETA,
    V,
    X,
    damping,
    linear,
    network,
    swinging,
)
from scipy.integrate import solve_ivp

from safegym.check.loop.compact import compacted
from safegym.check.loop.graph import step_graph, step_modes
from safegym.check.loop.modes import modes
from safegym.check.loop.plant import actions_of, as_policy_graph
from safegym.check.loop.simulate import advance, observe, simulate, trajectories
from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.importing import policy_graph
from safegym.errors import UnsupportedError
from safegym.formula.choice import if_
from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import cos, sin
from safegym.formula.terms import Signal

SWITCHED = Dynamics(
    "switched",
    states=[X, V],
    actions=[PUSH],
    next={
        "x": if_(X > 0, X - 0.1 * V, X + 0.1 * V),
        "v": if_(V * X >= 0.5, V - PUSH, if_(X <= 1, V + PUSH, V)),
    },
    dt="0.1",
)


def test_a_simulation_is_the_loop_worked_out_by_hand() -> None:
    trace = simulate(INTEGRATOR, damping(), {"x": 0.3, "v": -0.2}, 5)
    x, v = 0.3, -0.2
    for step in range(5):
        assert trace.signals["x"][step] == x
        assert trace.signals["v"][step] == v
        seen = np.array([[x, v]], dtype=np.float32)
        push = float(np.clip(damping().predict(seen)[0, 0], -1, 1))
        assert trace.actions[step, 0] == push
        x, v = x + 0.1 * v, v + 0.1 * push + 0.0
    assert trace.steps == 5
    assert trace.clock.dt == Fraction(1, 10)
    assert trace.policy_digest == damping().digest


def test_an_action_is_clipped_to_the_plants_bounds() -> None:
    trace = simulate(INTEGRATOR, damping(), [5.0, 5.0], 1)
    assert trace.actions[0, 0] == -1.0


def test_a_flow_is_integrated_as_scipy_does() -> None:
    graph = swinging()
    start = np.array([1.1, 0.1])
    states, actions = trajectories(FLOW, graph, start[None], 10)
    at = start
    for step in range(10):
        torque = actions[0, step, 0]

        def rate(_: float, y: np.ndarray, torque: float = torque) -> list[float]:
            return [y[1], 2 * np.sin(y[0]) + 8 * torque]

        at = solve_ivp(rate, (0, 0.05), at, rtol=1e-12, atol=1e-12).y[:, -1]
        np.testing.assert_allclose(states[0, step + 1], at, atol=1e-10)


@pytest.mark.parametrize(
    ("start", "message"),
    [({"x": 1.0}, "the states are"), ([1.0], "A start of 1 numbers")],
)
def test_a_start_that_does_not_fit_is_refused(start: object, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        simulate(INTEGRATOR, damping(), start, 3)  # type: ignore[arg-type]


def test_a_policy_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="takes 3 observations, integrator gives 2"):
        as_policy_graph(linear([[1.0, 1.0, 1.0]]), INTEGRATOR)
    with pytest.raises(UnsupportedError, match=r"gives 2 action\(s\), integrator takes 1"):
        as_policy_graph(linear([[1.0, 1.0], [1.0, 0.0]]), INTEGRATOR)


def test_the_graph_of_a_step_is_the_simulation_of_a_step() -> None:
    seeing = Dynamics(
        "seeing",
        states=[THETA, OMEGA],
        actions=[Signal("torque", bounds=(-0.4, 0.4))],
        disturbances=[Signal("gust", bounds=(-0.1, 0.1))],
        observation=[THETA + OMEGA, sin(THETA)],
        next={
            "theta": THETA + 0.05 * OMEGA * cos(THETA),
            "omega": OMEGA
            + 0.4 * Signal("torque", bounds=(-0.4, 0.4))
            + Signal("gust", bounds=(-0.1, 0.1)),
        },
        dt="0.05",
    )
    draw = np.random.default_rng(2)
    points = draw.uniform(-1, 1, (300, 3)) * [1.0, 1.0, 0.1]
    graph = swinging()
    acted = actions_of(graph, seeing, observe(seeing, points[:, :2]))
    expected = advance(seeing, points[:, :2], acted, points[:, 2:])
    np.testing.assert_allclose(evaluate(step_graph(seeing, graph), points), expected, atol=1e-5)
    free = np.concatenate([points, acted], axis=1)
    np.testing.assert_allclose(evaluate(step_graph(seeing, None), free), expected, atol=1e-14)
    assert np.ptp(acted) == 0.8, "the clip was reached on both sides"


def test_in_every_state_one_case_holds_and_moves_as_the_simulation_does() -> None:
    draw = np.random.default_rng(3)
    points = np.round(draw.uniform(-2, 2, (400, 2)), 1)
    graph = swinging()
    acted = actions_of(graph, SWITCHED, observe(SWITCHED, points))
    expected = advance(SWITCHED, points, acted, np.zeros((400, 0)))
    held = np.zeros(400, dtype=np.int64)
    for mode, step in step_modes(SWITCHED, graph):
        found = evaluate(step, points)
        guards = found[:, 2:]
        strict = [guard.comparison in ("<=", ">=") for guard in mode.guards]
        inside = np.where(strict, guards <= 0, guards < 0).all(axis=1)
        held += inside
        np.testing.assert_allclose(found[inside, :2], expected[inside], atol=1e-5)
    assert (held == 1).all()
    with pytest.raises(UnsupportedError, match="use step_modes"):
        step_graph(SWITCHED, graph)


def test_a_discrete_policys_first_greatest_choice_is_the_case_that_holds() -> None:
    chosen = network(
        lambda x: np.stack([x[:, 0], -x[:, 0], 0.3 + 0 * x[:, 1]], axis=1),
        outputs=3,
        discrete=True,
    )
    graph = policy_graph(chosen)
    free = Signal("choice")
    plant = Dynamics(
        "choosing", states=[X, V], actions=[free], next={"x": X + free, "v": V}, dt="0.1"
    )
    points = np.random.default_rng(4).uniform(-1, 1, (300, 2))
    acted = actions_of(graph, plant, points)
    assert {0.0, 1.0, 2.0} == set(acted[:, 0])
    for mode, step in step_modes(plant, graph):
        found = evaluate(step, points)
        inside = (found[:, 2:] < 0).all(axis=1)
        np.testing.assert_array_equal(inside, acted[:, 0] == mode.choice)
        np.testing.assert_allclose(found[inside, 0], points[inside, 0] + acted[inside, 0])


def test_too_many_cases_are_refused_with_what_needs_none() -> None:
    term = X
    for at in range(9):
        term = if_(X > at, term + 1, term)
    plant = Dynamics("stairs", states=[X], actions=[], next={"x": term}, dt="0.1")
    with pytest.raises(UnsupportedError, match=r"has 512 cases.*minimum, maximum or abs"):
        modes(plant, None)


def test_a_compacted_graph_is_the_same_function_exactly() -> None:
    draw = np.random.default_rng(5)
    for _ in range(30):
        graph = _random_graph(draw)
        small = compacted(graph)
        assert len(small.nodes) <= len(graph.nodes)
        for point in draw.normal(size=(5, 3)):
            assert evaluate_exact(small, list(point)) == evaluate_exact(graph, list(point))


def test_matrices_whose_product_would_be_rounded_are_left_apart() -> None:
    builder = GraphBuilder(1)
    node = builder.linear([(builder.input(), [[0.1]])])
    node = builder.linear([(node, [[0.1]])])
    assert len(compacted(builder.graph(node)).nodes) == 3
    node = builder.linear([(node, [[2.0]])])
    assert len(compacted(builder.graph(node)).nodes) == 3


def _random_graph(draw: np.random.Generator) -> Graph:
    builder = GraphBuilder(3)
    nodes = [builder.input(0, 1), builder.input(1, 1), builder.input(2, 1)]
    for _ in range(14):
        one, two = draw.choice(nodes, 2)
        kind = draw.integers(0, 5)
        if kind < 3:
            weights = draw.choice([1.0, -1.0, 0.5, 0.1, 3.0], 2)
            parts = [(int(one), [[weights[0]]]), (int(two), [[weights[1]]])]
            nodes.append(builder.linear(parts, [draw.choice([0.0, 1.0, 0.3])]))
        elif kind == 3:
            nodes.append(builder.pair("product", int(one), int(two)))
        else:
            nodes.append(builder.apply("relu", int(one)))
    return builder.graph(builder.stack(nodes[-3:]))
