from typing import Any

import numpy as np
import pytest
from loop_cases import FLOW, INTEGRATOR, OMEGA, PENDULUM, START, THETA, V, X, damping, swinging

from safegym.check.loop.plant import Plant
from safegym.check.loop.reach import prove_reach, reach
from safegym.check.loop.simulate import trajectories
from safegym.check.monitor import judge, satisfaction
from safegym.check.neural.search import Progress
from safegym.check.symbolic.model import check_model
from safegym.errors import UnsupportedError
from safegym.formula.build import always, eventually, prob
from safegym.formula.choice import if_
from safegym.formula.claim import Claim
from safegym.formula.dynamics import Dynamics
from safegym.formula.flow import Flow
from safegym.formula.functions import sqrt
from safegym.formula.nodes import FALSE, TRUE
from safegym.formula.text import parse
from safegym.trace.batch import TraceBatch

TEXTS = {
    "always[0.5,1](theta >= 0 and theta <= 1)": "PROVED",
    "always[0.3,1](theta <= 0.9)": "VIOLATED",
    "eventually[0,1](theta < 0.5)": "PROVED",
    "eventually[0,0.4](theta < 0.5)": "VIOLATED",
    "theta > 0.85 until[0,1] omega < -0.9": "PROVED",
    "always[0,0.5](theta > 1.05 implies eventually[0,0.5](theta < 0.9))": "PROVED",
    "always[0,0.9](omega <= 0.25) and eventually[0,1](omega < -1 or theta < 0.6)": "PROVED",
}


@pytest.mark.parametrize("plant", [PENDULUM, FLOW], ids=["discrete", "continuous"])
@pytest.mark.parametrize("text", TEXTS)
def test_claims_over_time_are_answered_as_a_hundred_trajectories_say(
    plant: Plant, text: str
) -> None:
    proof = prove_reach(plant, swinging(), text, START, cells=100, timeout=30)
    assert proof.result == TEXTS[text], proof.reason
    draw = np.random.default_rng(0)
    begin = draw.uniform([1, 0], [1.2, 0.2], (100, 2))
    states, _ = trajectories(plant, swinging(), begin, 20)
    batch = TraceBatch.from_arrays(
        {"theta": states[:, :, 0], "omega": states[:, :, 1]}, dt="0.05", horizon=20
    )
    must, _ = satisfaction(parse(text), batch)
    assert must[:, 0].all() == (proof.result == "PROVED")


def test_a_violation_comes_with_a_trajectory_that_the_monitor_judges_violated() -> None:
    claim = Claim(id="pendulum.low", statement=parse("always[0.3,1](theta <= 0.9)"))
    proof = prove_reach(FLOW, swinging(), claim, START)
    assert proof.result == "VIOLATED"
    assert proof.witness is not None
    assert judge(claim, proof.witness).status == "violated"
    assert proof.verdict is not None
    assert proof.verdict.status == "violated"
    assert "theta" in proof.verdict.explain(proof.witness).svg
    assert proof.witness.policy_digest == swinging().digest
    assert proof.evidence().status == "violated"
    assert proof.claim_id == "pendulum.low"
    assert proof.obligations[0].point == (
        proof.witness.signals["theta"][0],
        proof.witness.signals["omega"][0],
    )


def test_a_time_limit_never_turns_into_proved() -> None:
    close = "always[0,1](theta <= 1.3)"
    proof = prove_reach(PENDULUM, swinging(), close, START, cells=4, timeout=0.0)
    assert proof.result == "UNKNOWN"
    assert "the time limit of 0 s was reached" in proof.reason
    assert proof.evidence().status == "inconclusive"
    assert prove_reach(PENDULUM, swinging(), close, START, timeout=30).result == "PROVED"


def test_a_claim_past_the_last_step_is_not_proved() -> None:
    proof = prove_reach(
        PENDULUM, swinging(), "always[0,1](theta <= 2)", START, steps=10, cells=1, timeout=2
    )
    assert proof.result == "UNKNOWN"


def test_states_between_the_instants_are_judged_where_asked_for() -> None:
    kept = prove_reach(
        FLOW, swinging(), "always[0.5,1](theta >= 0 and theta <= 1)", START, when="throughout"
    )
    assert kept.result == "PROVED"
    assert "at and between the control instants" in kept.obligations[0].statement
    at_instants = prove_reach(FLOW, swinging(), "always[0,0.05](omega <= 0.21)", START, cells=100)
    assert at_instants.result == "PROVED"
    assert "judged at the control instants, not between" in " ".join(at_instants.assumptions)
    broken = prove_reach(FLOW, swinging(), "always[0.3,1](theta <= 0.9)", START, when="throughout")
    assert broken.result == "VIOLATED"
    with pytest.raises(UnsupportedError, match=r"cannot be judged between the control instants"):
        prove_reach(FLOW, swinging(), "eventually[0,1](theta < 1)", START, when="throughout")
    with pytest.raises(UnsupportedError, match="has an end that is no control instant"):
        prove_reach(FLOW, swinging(), "always[0,1](theta < 9)", START, when="throughout", steps=3)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (
            Claim(id="a.b", statement=prob(eventually(THETA > 2)) < 0.1, confidence=0.9),
            "safegym.ce",
        ),
        (always(X > 0), "The claim reads x as 1, which is no state of pendulum"),
        (3.0, "A claim about a loop is a Claim, a formula or text"),
        (always(THETA > 0), "has no horizon of its own"),
    ],
)
def test_what_is_no_claim_about_trajectories_is_refused(claim: object, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        prove_reach(PENDULUM, swinging(), claim, START)  # type: ignore[arg-type]


def test_discrete_dynamics_have_nothing_between() -> None:
    with pytest.raises(UnsupportedError, match="is in discrete time: it has no states between"):
        prove_reach(PENDULUM, swinging(), "always[0,1](theta > 0)", START, when="throughout")


@pytest.mark.parametrize("limit", [0.14, 0.2])
def test_z3_agrees_on_a_linear_loop(limit: float) -> None:
    start = {"x": (-0.1, 0.1), "v": (0.0, 0.2)}
    claim = always(abs(X) + 0.1 * V <= limit, lasting="0.5")
    ours = prove_reach(INTEGRATOR, damping(), claim, start, timeout=20)
    theirs = check_model(INTEGRATOR, damping(), claim, initial=start, steps=5, timeout=20)
    words = {"PROVED": "PROVED", "VIOLATED": "VIOLATED"}
    assert words[ours.result] == theirs.result


def test_a_proof_tells_all_of_itself() -> None:
    proof = prove_reach(PENDULUM, swinging(), "always[0,0.5](theta <= 1.3)", START, cells=16)
    told = proof.to_json()
    assert told["result"] == "PROVED"
    assert told["model"]["digest"] == PENDULUM.digest
    assert told["policy"]["digest"] == swinging().digest
    assert told["limits"]["steps"] == 10
    assert "mathematical model pendulum" in str(proof)
    assert "conformance not tested" in proof.evidence().method
    assert proof.evidence().kind == "proved"
    with pytest.raises(TypeError, match="A proof has three results"):
        bool(proof)
    assert OMEGA in PENDULUM.states


@pytest.mark.parametrize("steps", [0, -1, 2.5])
def test_steps_that_are_no_number_of_steps_are_refused(steps: Any) -> None:
    with pytest.raises(UnsupportedError, match="must be a whole number of control steps"):
        prove_reach(PENDULUM, swinging(), "always(theta <= 2)", START, steps=steps)


@pytest.mark.parametrize("timeout", [float("nan"), -1.0])
def test_a_time_limit_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(UnsupportedError, match=r"timeout is .*; it must be 0 or above"):
        prove_reach(PENDULUM, swinging(), "always(theta <= 2)", START, steps=2, timeout=timeout)


def test_an_empty_initial_set_is_refused_also_where_only_its_cells_show_it() -> None:
    nowhere = (THETA + OMEGA >= 3) & (THETA <= 1) & (THETA >= 0) & (OMEGA <= 1) & (OMEGA >= 0)
    with pytest.raises(UnsupportedError, match="The initial set is empty: nothing would be"):
        prove_reach(PENDULUM, swinging(), "always(theta <= 2)", nowhere, steps=2)


def test_truth_that_hangs_on_no_signal_is_judged_too() -> None:
    assert prove_reach(PENDULUM, swinging(), always(TRUE), START, steps=2).result == "PROVED"
    assert prove_reach(PENDULUM, swinging(), always(FALSE), START, steps=2).result == "VIOLATED"


def test_a_plant_without_a_value_is_neither_proved_nor_violated() -> None:
    root = Dynamics(
        "root",
        states=[X, V],
        actions=INTEGRATOR.actions,
        next={"x": sqrt(X), "v": 0.5 * V},
        dt="0.1",
    )
    box = {"x": (-1.0, 1.0), "v": (0.0, 0.1)}
    for text in ("always(x <= 2)", "always(x >= 2)", "always(v <= 1)"):
        proof = prove_reach(root, damping(), text, box, steps=2, timeout=0.3)
        assert proof.result in ("UNKNOWN", "VIOLATED" if "x >= 2" in text else "UNKNOWN")


def test_a_listener_hears_of_cells_and_shares_while_cells_are_cut() -> None:
    heard: list[Progress] = []
    proof = prove_reach(
        PENDULUM,
        swinging(),
        "always[0.1,1](theta <= 1.1935)",
        START,
        cells=100,
        timeout=1.5,
        listener=heard.append,
    )
    assert heard
    assert [each.boxes for each in heard] == sorted(each.boxes for each in heard)
    for each in heard:
        shares = each.shares
        assert shares.proved + shares.violated + shares.unknown == pytest.approx(1.0)
    shares = proof.obligations[0].shares
    assert shares is not None
    assert (shares.proved < 1.0) == (proof.result != "PROVED")


def test_an_if_in_what_a_flows_policy_sees_splits_its_sets() -> None:
    seen = [if_(X > 0, X, -2 * X), V]
    flow = Flow(
        "two eyes",
        states=[X, V],
        actions=INTEGRATOR.actions,
        derivative={"x": V, "v": INTEGRATOR.actions[0]},
        dt="0.1",
        observation=seen,
    )
    box = {"x": (-0.2, 0.3), "v": (-0.1, 0.1)}
    tube = reach(flow, damping(), box, 10, cells=36)
    draw = np.random.default_rng(1)
    begin = draw.uniform([-0.2, -0.1], [0.3, 0.1], (2000, 2))
    states, _ = trajectories(flow, damping(), begin, 10)
    assert (states >= tube.low - 1e-9).all()
    assert (states <= tube.high + 1e-9).all()
    assert (tube.high - tube.low).max() < 1.5
