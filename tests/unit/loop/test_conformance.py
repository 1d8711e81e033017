from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loop_cases import FLOW, INTEGRATOR, OMEGA, THETA, V, X, damping, swinging
from safegym_scenarios.models.pendulum import MODEL

from safegym.check.loop.conformance import Model, conformance, observed
from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.simulate import simulate
from safegym.errors import EvidenceError, PolicyError, UnitError, UnsupportedError
from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import quantity, sqrt
from safegym.formula.terms import Signal
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find
from safegym.trace.model import Trace

ROOM = (abs(X) <= 1) & (abs(V) <= 1)
INSIDE = Model(INTEGRATOR, ROOM)
SPEED = (abs(Signal("angle", "rad", scale=1.0)) <= 1) & (
    abs(Signal("angular_speed", "rad/s", scale=1.0)) <= 3
)


def episode(
    seed: int, *, gust: float = 0.0, at: int = 10, steps: int = 30, plant: Dynamics = INTEGRATOR
) -> Trace:
    """One episode under random disturbances in W; at one step they are `gust` times their limit."""
    draw = np.random.default_rng(seed)
    pushed = 0.01 * draw.choice([-1.0, 1.0, 0.3], (steps, 1))
    if gust:
        pushed[at] = 0.01 * gust
    begin = draw.uniform(-0.4, 0.4, 2).tolist()
    return simulate(plant, damping(), begin, steps, disturbances=pushed)


def test_episodes_of_the_model_itself_conform_also_at_the_corners_of_w() -> None:
    found = observed(INSIDE, [episode(seed) for seed in range(20)])
    assert found.result == "undecided", "nothing is claimed of traces that were at hand"
    assert (found.episodes, found.violations, found.undecided) == (20, 0, 0)
    assert found.steps == 600
    assert 0.01 < found.coverage < 0.5
    assert found.upper == 1.0
    assert found.evidence().kind == "observed"
    assert found.evidence().bound is None


@pytest.mark.parametrize(("gust", "outside"), [(0.999, 0), (1.001, 1), (-1.5, 1), (30.0, 1)])
def test_a_step_is_outside_exactly_where_its_residual_is(gust: float, outside: int) -> None:
    fit = INSIDE.fit(episode(1, gust=gust))
    assert fit.outside == outside
    assert fit.outcome == ("violated" if outside else "safe")
    if outside:
        assert fit.worst == 10
        assert abs(fit.residual[1]) == pytest.approx(0.01 * (abs(gust) - 1), abs=1e-9)
        assert fit.residual[0] == pytest.approx(0.0, abs=1e-9)


def test_planted_model_errors_are_counted_at_the_rate_they_were_planted() -> None:
    planted = [seed % 5 == 0 for seed in range(60)]
    traces = [episode(seed, gust=3.0 if bad else 0.0) for seed, bad in enumerate(planted)]
    found = observed(INSIDE, traces, threshold=0.5)
    seen = found.violations + sum(
        INSIDE.fit(t).outcome == "violated" for t in traces[found.episodes :]
    )
    assert seen == sum(planted)
    assert found.result == "assumption violated"
    assert found.violation.startswith("seed 0, step 10: no disturbance in W explains it")


def test_steps_from_outside_of_s_do_not_count() -> None:
    small = Model(INTEGRATOR, (abs(X) <= 1e-6) & (abs(V) <= 1e-6))
    fit = small.fit(episode(1, gust=9.0))
    assert (fit.outcome, fit.steps) == ("safe", 0)


def test_an_error_of_the_whole_model_is_found_at_every_step() -> None:
    heavier = Dynamics(
        "integrator",
        states=INTEGRATOR.states,
        actions=INTEGRATOR.actions,
        disturbances=INTEGRATOR.disturbances,
        next={"x": X + 0.1 * V, "v": V + 0.07 * INTEGRATOR.actions[0] + INTEGRATOR.disturbances[0]},
        dt="0.1",
    )
    fit = Model(heavier, ROOM).fit(episode(2))
    assert fit.outcome == "violated"
    tolerant = Model(heavier, ROOM, tolerance={"v": 0.03})
    assert tolerant.fit(episode(2)).outcome == "safe"


def test_an_episode_that_was_broken_off_is_undecided_unless_it_was_violated() -> None:
    for gust, outcome in ((0.0, "undecided"), (4.0, "violated")):
        whole = episode(3, gust=gust)
        cut = replace(whole, end=replace(whole.end, kind="interrupted", reason="lost"), digest="")
        assert INSIDE.fit(cut).outcome == outcome


def test_a_flow_is_compared_through_its_integration() -> None:
    trace = simulate(FLOW, swinging(), [0.3, 0.0], 20)
    model = Model(FLOW, (abs(THETA) <= 1) & (abs(OMEGA) <= 2))
    assert model.fit(trace).outcome == "safe"
    moved = dict(trace.signals)
    moved["omega"] = moved["omega"] + np.where(np.arange(21) == 7, 1e-3, 0.0)
    broken = Trace.from_arrays(moved, dt="0.05", horizon=20, actions=trace.actions)
    assert model.fit(broken).outcome == "violated"


def test_states_may_be_terms_over_other_signals_in_other_units() -> None:
    trace = episode(4)
    shown = Trace.from_arrays(
        {"position": 100 * trace.signals["x"], "v": trace.signals["v"]},
        dt="0.1",
        horizon=30,
        actions=trace.actions,
    )
    model = Model(INTEGRATOR, ROOM, states={"x": Signal("position") / 100})
    assert model.fit(shown).outcome == "safe"
    with pytest.raises(UnitError, match="the state x is in 1"):
        Model(INTEGRATOR, ROOM, states={"x": quantity(1, "m") * Signal("position")})


def test_what_does_not_fit_the_model_is_refused() -> None:
    trace = episode(5)
    slow = Trace.from_arrays(dict(trace.signals), dt="0.2", horizon=30, actions=trace.actions)
    with pytest.raises(UnsupportedError, match=r"dt = 1/5 s, integrator has 1/10 s"):
        INSIDE.fit(slow)
    idle = Trace.from_arrays(dict(trace.signals), dt="0.1", horizon=30)
    with pytest.raises(UnsupportedError, match="Pass actions=, a function"):
        INSIDE.fit(idle)
    with pytest.raises(UnsupportedError, match="y is no state of integrator"):
        Model(INTEGRATOR, ROOM, tolerance={"y": 1.0})
    with pytest.raises(EvidenceError, match="at least one trace"):
        observed(INSIDE, [])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path))
    return tmp_path


def test_a_simulator_conforms_on_fresh_episodes_of_the_certification_stream(home: Path) -> None:
    assert home.exists()
    model = Model(MODEL.dynamics, SPEED)
    found = conformance(model, MODEL.scenario, MODEL.policy(), threshold=0.05, budget=200)
    assert found.result == "conforms"
    assert found.violations == 0
    assert found.decided == "below"
    assert found.upper < 0.05
    assert found.attempt == 1
    assert found.evidence().kind == "estimated"
    assert found.evidence().status == "satisfied"
    again = conformance(model, MODEL.scenario, MODEL.policy(), threshold=0.05, budget=200)
    assert again == found, "the same statement has the same seeds, and is not a new attempt"
    wider = conformance(
        Model(MODEL.dynamics, SPEED, tolerance={"angle": 1e-3}),
        MODEL.scenario,
        MODEL.policy(),
        threshold=0.05,
        budget=200,
    )
    assert wider.attempt == 2, "another W is another attempt, at a smaller level"
    assert wider.level < found.level
    assert wider.trace_root != found.trace_root, "and it gets other seeds"


def test_a_wrong_model_of_a_simulator_violates_the_proofs_assumption(home: Path) -> None:
    assert home.exists()
    plant = MODEL.dynamics
    light = Dynamics(
        plant.name,
        states=plant.states,
        actions=plant.actions,
        disturbances=plant.disturbances,
        next={
            "angle": plant.next[0],
            "angular_speed": plant.next[1] + quantity(0.1, "rad/s"),
        },
        dt=plant.dt,
        observation=plant.observation,
    )
    found = conformance(
        Model(light, SPEED), MODEL.scenario, MODEL.policy(), threshold=0.05, budget=200
    )
    assert found.result == "assumption violated"
    assert found.evidence().status == "violated"
    assert found.decided == "above"
    small = {"angle": (-0.01, 0.01), "angular_speed": (-0.01, 0.01)}
    with pytest.raises(UnsupportedError, match="the conformance about pendulum"):
        prove_inductive(plant, MODEL.policy(), small, SPEED, SPEED, timeout=1).resting_on(found)
    proof = prove_inductive(light, MODEL.policy(), small, SPEED, SPEED, timeout=5)
    resting = proof.resting_on(found)
    assert resting.assumption_violated
    assert resting.status == "inconclusive"
    assert "assumption violated" in resting.evidence().method
    assert resting.to_json()["conformance"]["result"] == "assumption violated"


def test_the_evidence_says_what_is_proved_and_what_is_estimated(home: Path) -> None:
    assert home.exists()
    model = Model(MODEL.dynamics, SPEED)
    found = conformance(model, MODEL.scenario, MODEL.policy(), threshold=0.1, budget=100)
    small = {"angle": (-0.01, 0.01), "angular_speed": (-0.01, 0.01)}
    proof = prove_inductive(MODEL.dynamics, MODEL.policy(), small, SPEED, small, timeout=5)
    said = proof.resting_on(found).standing
    assert "for model pendulum; conformance estimated:" in said
    assert f"{found.episodes} episodes" in said
    assert "upper limit" in said
    assert f"coverage: {found.visited} of {found.cells} cells of S visited" in said
    with pytest.raises(UnsupportedError, match=r"This proof is about pendulum .*, the conformance"):
        proof.resting_on(replace(found, plant="other", plant_digest="sha256:1"))
    with pytest.raises(UnsupportedError, match=r"about policy .*; run conformance with the model"):
        proof.resting_on(replace(found, policy_digest="sha256:1"))
    assert "from states in (abs(angle) <= 1)" in proof.resting_on(found).evidence().assumptions[-1]


def test_what_is_known_of_a_wider_model_is_not_taken_for_a_proof_of_a_narrower_one() -> None:
    gust = Signal("wind", bounds=(-1.0, 1.0))
    wide = Dynamics(
        INTEGRATOR.name,
        states=INTEGRATOR.states,
        actions=INTEGRATOR.actions,
        disturbances=[gust],
        next={"x": X + 0.1 * V, "v": V + 0.1 * INTEGRATOR.actions[0] + gust},
        dt="0.1",
    )
    small = {"x": (-0.01, 0.01), "v": (-0.01, 0.01)}
    proof = prove_inductive(INTEGRATOR, damping(), small, ROOM, ROOM, timeout=1)
    found = observed(Model(wide, ROOM), [episode(1, gust=9.0)])
    assert found.violations == 0
    with pytest.raises(UnsupportedError, match="This proof is about integrator"):
        proof.resting_on(found)


def test_a_step_of_which_the_model_has_no_value_is_no_step_of_the_model() -> None:
    root = Dynamics(
        "root",
        states=[X, V],
        actions=INTEGRATOR.actions,
        next={"x": X + 0.1 * sqrt(V - 100.0), "v": V},
        dt="0.1",
    )
    fit = Model(root, ROOM).fit(episode(1))
    assert fit.outcome == "violated"
    assert fit.outside == fit.steps > 0
    pushed = Dynamics(
        "root in wind",
        states=[X, V],
        actions=INTEGRATOR.actions,
        disturbances=INTEGRATOR.disturbances,
        next={"x": X + 0.1 * sqrt(V - 100.0), "v": V + INTEGRATOR.disturbances[0]},
        dt="0.1",
    )
    assert Model(pushed, ROOM).fit(episode(1)).outside == fit.outside


def test_a_tolerance_that_allows_anything_is_refused() -> None:
    for value in (float("inf"), float("nan"), -1.0):
        with pytest.raises(
            UnsupportedError, match=r"The tolerance of x is .*; it must be a finite"
        ):
            Model(INTEGRATOR, ROOM, tolerance={"x": value})


def test_other_seeds_and_another_confidence_are_other_attempts(home: Path) -> None:
    assert home.exists()
    model = Model(MODEL.dynamics, SPEED)

    def attempt(**options: Any) -> int:
        found = conformance(
            model, MODEL.scenario, MODEL.policy(), threshold=0.2, budget=60, **options
        )
        return found.attempt

    assert [attempt(), attempt(seed=1), attempt(confidence=0.9), attempt()] == [1, 2, 3, 1]


def test_limits_in_words_are_never_flattering(home: Path) -> None:
    assert home.exists()
    model = Model(MODEL.dynamics, SPEED)
    found = conformance(model, MODEL.scenario, MODEL.policy(), threshold=0.2, budget=60)
    said = found.words.split("upper limit ")[1].split(",")[0].split(" at confidence ")
    assert float(said[0]) >= found.upper
    assert float(said[1]) <= 1.0 - found.level


def test_conformance_needs_a_policy_whose_digest_is_known(home: Path) -> None:
    assert home.exists()
    act: Callable[[np.ndarray], np.ndarray] = lambda observation: np.zeros(1)  # noqa: E731
    with pytest.raises(PolicyError, match="has no known digest"):
        conformance(Model(MODEL.dynamics, SPEED), MODEL.scenario, act)


def test_recorded_traces_of_a_campaign_can_be_looked_at(home: Path) -> None:
    assert home.exists()
    policy = MODEL.policy()
    with Campaign(
        find(MODEL.scenario), policy, seed_of=lambda index: index, tail=0, episodes=5
    ) as campaign:
        traces = [trace for _, trace in campaign]
    assert observed(Model(MODEL.dynamics, SPEED), traces).violations == 0
