from typing import Any

import numpy as np
import pytest
from loop_cases import (
    FLOW,
    INTEGRATOR,
    OMEGA,
    PENDULUM,
    START,
    THETA,
    V,
    X,
    damping,
    network,
    swinging,
)

from safegym.check.loop.plant import Plant
from safegym.check.loop.reach import reach
from safegym.check.loop.reach import stepper as stepping
from safegym.check.loop.reach.cells import grid, halved
from safegym.check.loop.reach.linearised import Linearised
from safegym.check.loop.reach.rounding import midpoint
from safegym.check.loop.reach.tube import Tube
from safegym.check.loop.reach.zonotopes import Zonotopes
from safegym.check.loop.simulate import advance, trajectories
from safegym.check.neural.importing import policy_graph
from safegym.errors import UnsupportedError
from safegym.formula.choice import if_
from safegym.formula.dynamics import Dynamics
from safegym.formula.flow import Flow
from safegym.formula.terms import Signal

LOW, HIGH = np.array([1.0, 0.0]), np.array([1.2, 0.2])


def starts(count: int, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    inside = draw.uniform(LOW, HIGH, (count - 4, 2))
    return np.concatenate([inside, [[1, 0], [1.2, 0.2], [1, 0.2], [1.2, 0]]])


@pytest.mark.slow
@pytest.mark.parametrize("plant", [PENDULUM, FLOW], ids=["discrete", "continuous"])
def test_a_hundred_thousand_trajectories_stay_in_the_tube_and_nearly_fill_it(plant: Plant) -> None:
    tube = reach(plant, swinging(), START, 20)
    states, _ = trajectories(
        plant, swinging(), starts(100_000 if plant is PENDULUM else 10_000), 20
    )
    least, most = states.min(axis=0), states.max(axis=0)
    assert (tube.low <= least).all()
    assert (most <= tube.high).all()
    assert (least - tube.low).max() < 0.01
    assert (tube.high - most).max() < 0.01


def test_each_trajectory_stays_in_its_own_cell() -> None:
    tube = reach(PENDULUM, swinging(), START, 10, cells=25)
    first = tube.sets[0]
    middles = 0.5 * (first.low + first.high)
    states, _ = trajectories(PENDULUM, swinging(), middles, 10)
    for step, sets in enumerate(tube.sets):
        assert (sets.low <= states[:, step]).all()
        assert (states[:, step] <= sets.high).all()


@pytest.mark.parametrize("dropped", ["radius", "remainder"])
def test_without_its_error_terms_a_tube_loses_trajectories(
    dropped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if dropped == "radius":
        kept = stepping.linearised

        def bare(*given: Any) -> Linearised:
            line = kept(*given)
            wide = np.full_like(line.low, 1e6)
            return type(line)(line.matrix, line.centre, 0 * line.radius, -wide, wide, line.more)

        monkeypatch.setattr(stepping, "linearised", bare)
    else:

        def nothing(*given: Any) -> tuple[np.ndarray, np.ndarray]:
            none = np.zeros_like(given[2][0][:, :2])
            return none, none

        monkeypatch.setattr(stepping, "rest", nothing)
    plant = PENDULUM if dropped == "radius" else FLOW
    tube = reach(plant, swinging(), START, 10, cells=1 if dropped == "radius" else 400)
    states, _ = trajectories(plant, swinging(), starts(2_000), 10)
    outside = (states.min(axis=0) < tube.low) | (states.max(axis=0) > tube.high)
    assert outside.any()


def test_a_linear_loop_is_as_wide_as_its_vertices_and_disturbances_say() -> None:
    start = {"x": (-0.2, 0.1), "v": (0.0, 0.1)}
    tube = reach(INTEGRATOR, damping(), start, 12, cells=1, semantics="real")
    matrix = np.array([[1, 0.1], [-0.2, 0.75]])
    vertices = np.array([[x, v] for x in start["x"] for v in start["v"]])
    spread = np.zeros(2)
    power = np.eye(2)
    for step in range(1, 13):
        spread += np.abs(power @ [0, 0.01])
        power = matrix @ power
        ends = vertices @ power.T
        np.testing.assert_allclose(tube.low[step], ends.min(axis=0) - spread, atol=1e-9)
        np.testing.assert_allclose(tube.high[step], ends.max(axis=0) + spread, atol=1e-9)
        assert (tube.low[step] <= ends.min(axis=0) - spread + 1e-14).all()


def test_the_deployed_tube_holds_the_real_one() -> None:
    real, deployed = (
        reach(PENDULUM, swinging(), START, 8, cells=9, semantics=each)
        for each in ("real", "deployed float32")
    )
    assert (deployed.low <= real.low + 1e-12).all()
    assert (real.high <= deployed.high + 1e-12).all()
    assert (real.low - deployed.low).max() < 1e-4


def test_every_instant_of_a_flow_lies_between() -> None:
    tube = reach(FLOW, swinging(), START, 6, cells=100)
    states, actions = trajectories(FLOW, swinging(), starts(500), 6)
    for step in range(6):
        for share in (0.1, 0.5, 0.9):
            part = Flow(
                "part",
                states=FLOW.states,
                actions=FLOW.actions,
                derivative=dict(zip(("theta", "omega"), FLOW.derivative, strict=True)),
                dt=str(0.05 * share),
            )
            inside = advance(part, states[:, step], actions[:, step], np.zeros((500, 0)))
            assert (tube.low_between[step] <= inside.min(axis=0)).all()
            assert (inside.max(axis=0) <= tube.high_between[step]).all()


def test_where_an_if_is_undecided_both_sides_are_kept() -> None:
    plant = Dynamics(
        "switch",
        states=[X, V],
        actions=[],
        next={"x": if_(X > 0, X - 0.3, X + 0.4), "v": if_(V >= X, 0.5 * V, -V)},
        dt="1",
    )
    graph = policy_graph(network(lambda x: 0 * x[:, 0]))
    free = Dynamics(
        "switch",
        states=[X, V],
        actions=[Signal("push")],
        next={"x": plant.next[0], "v": plant.next[1] + Signal("push")},
        dt="1",
    )
    tube = reach(free, graph, {"x": (-0.2, 0.5), "v": (-1, 1)}, 6, cells=30)
    draw = np.random.default_rng(6)
    states, _ = trajectories(free, graph, draw.uniform([-0.2, -1], [0.5, 1], (4_000, 2)), 6)
    assert (tube.low <= states.min(axis=0)).all()
    assert (states.max(axis=0) <= tube.high).all()
    assert (tube.high - tube.low)[-1].max() < 0.8
    assert (tube.high - states.max(axis=0)).max() < 0.2


def test_a_discrete_policys_tube_holds_its_trajectories() -> None:
    kick = Signal("kick")
    plant = Dynamics(
        "kicked",
        states=[X, V],
        actions=[kick],
        next={"x": X + 0.1 * V, "v": 0.9 * V + 0.2 * (kick - 1)},
        dt="0.1",
    )
    graph = policy_graph(
        network(
            lambda x: np.stack([x[:, 0] + x[:, 1], 0 * x[:, 0] + 0.1, -x[:, 0] - x[:, 1]], axis=1),
            outputs=3,
            discrete=True,
        )
    )
    tube = reach(plant, graph, {"x": (-0.3, 0.3), "v": (-0.1, 0.1)}, 8, cells=100)
    draw = np.random.default_rng(7)
    states, _ = trajectories(plant, graph, draw.uniform([-0.3, -0.1], [0.3, 0.1], (3_000, 2)), 8)
    assert (tube.low <= states.min(axis=0)).all()
    assert (states.max(axis=0) <= tube.high).all()


def test_disturbances_at_their_corners_stay_inside() -> None:
    tube = reach(INTEGRATOR, damping(), {"x": (-0.1, 0.1), "v": (0, 0)}, 60, cells=4)
    draw = np.random.default_rng(8)
    pushed = 0.01 * draw.choice([-1.0, 1.0], (500, 60, 1))
    pushed[0], pushed[1] = 0.01, -0.01
    begin = np.stack([draw.uniform(-0.1, 0.1, 500), np.zeros(500)], axis=1)
    states, _ = trajectories(INTEGRATOR, damping(), begin, 60, pushed)
    assert (tube.low <= states.min(axis=0)).all()
    assert (states.max(axis=0) <= tube.high).all()
    assert tube.sets[-1].shape.generators.shape[2] <= 64


def test_a_zonotope_with_fewer_generators_holds_the_first_one() -> None:
    draw = np.random.default_rng(9)
    full = Zonotopes(draw.normal(size=(20, 3)), draw.normal(size=(20, 3, 50)))
    small = full.reduced(10)
    assert small.generators.shape == (20, 3, 10)
    rows = draw.normal(size=(1, 40, 3))
    inner, outer = (each.along(rows, np.zeros((1, 40))) for each in (full, small))
    assert (outer[0] <= inner[0] + 1e-12).all()
    assert (inner[1] <= outer[1] + 1e-12).all()


def test_cells_tile_their_box() -> None:
    low, high = grid(np.array([0.1, -1.0, 2.0]), np.array([0.3, 1.0, 2.0]), 400)
    assert len(low) == 400
    assert np.prod((high - low)[:, :2], axis=1).sum() == pytest.approx(0.4)
    halves = halved(low, high, np.array([0.2, 2.0, 1.0]))
    assert np.prod((halves[1] - halves[0])[:, :2], axis=1).sum() == pytest.approx(0.4)
    centre, radius = midpoint(low, high)
    assert (centre - radius <= low).all()
    assert (high <= centre + radius).all()


def test_a_polytopes_empty_cells_are_left_out() -> None:
    tube = reach(PENDULUM, swinging(), abs(THETA) + abs(OMEGA) <= 0.2, 1, cells=400)
    assert isinstance(tube, Tube)
    assert 190 < len(tube.sets[0].low) < 260


@pytest.mark.parametrize(
    ("initial", "steps", "message"),
    [
        (THETA > 0, 5, "initial is not bounded in every state"),
        ((THETA > 1) & (THETA < 0) & (abs(OMEGA) < 1), 5, "The initial set is empty"),
        (START, 0, "A tube of 0 steps"),
    ],
)
def test_a_tube_that_cannot_begin_is_refused(initial: object, steps: int, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        reach(PENDULUM, swinging(), initial, steps)  # type: ignore[arg-type]


def test_an_enclosure_that_grows_past_all_use_is_given_up() -> None:
    plant = Dynamics(
        "burst", states=[X, V], actions=[Signal("push")], next={"x": X * X * X, "v": V}, dt="1"
    )
    with pytest.raises(UnsupportedError, match=r"grew past 1e\+09 at step"):
        reach(plant, damping(), {"x": (0, 3), "v": (0, 0)}, 12)


def test_a_flow_that_no_box_holds_for_a_period_is_given_up() -> None:
    plant = Flow(
        "escape",
        states=[X, V],
        actions=[Signal("push")],
        derivative={"x": X * X * X * X, "v": V},
        dt="1",
    )
    with pytest.raises(UnsupportedError, match="No box was found that holds escape"):
        reach(plant, damping(), {"x": (1, 2), "v": (0, 0)}, 2)
