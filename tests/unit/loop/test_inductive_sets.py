from pathlib import Path

import numpy as np
import pytest
from loop_cases import FLOW, INTEGRATOR, OMEGA, THETA, V, X, damping, linear, network, swinging

from safegym.check.loop.barrier import prove_barrier
from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.lyapunov import prove_lyapunov
from safegym.check.loop.result import LoopProof
from safegym.check.loop.simulate import trajectories
from safegym.check.loop.template import find_inductive
from safegym.check.loop.values import truth
from safegym.check.neural.importing import policy_graph
from safegym.check.neural.search import Progress
from safegym.errors import UnsupportedError
from safegym.formula.choice import if_
from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import sin
from safegym.formula.nodes import any_of
from safegym.formula.terms import Signal

BOX = {"x": (-0.5, 0.5), "v": (-1.0, 1.0)}
VALUE = (5.3 * X + 3.06 * V) * (5.3 * X + 3.06 * V) + 1.64 * V * (1.64 * V)
KEPT = VALUE <= 1
START = {"x": (-0.1, 0.1), "v": (-0.1, 0.1)}


def value_of(states: np.ndarray) -> np.ndarray:
    x, v = states[..., 0], states[..., 1]
    found: np.ndarray = (5.3 * x + 3.06 * v) ** 2 + (1.64 * v) ** 2
    return found


def of(proof: LoopProof) -> dict[str, str]:
    return {each.name: each.result for each in proof.obligations}


def test_an_ellipsoid_is_proved_inductive_under_disturbance() -> None:
    proof = prove_inductive(INTEGRATOR, damping(), START, abs(X) <= 0.5, KEPT, box=BOX)
    assert of(proof) == {"initial": "PROVED", "safe": "PROVED", "step": "PROVED"}
    assert proof.result == "PROVED"
    assert proof.evidence().status == "satisfied"
    assert any("Disturbances stay in their declared bounds" in a for a in proof.assumptions)


def test_a_proved_set_is_never_left_by_ten_thousand_steps() -> None:
    assert prove_inductive(INTEGRATOR, damping(), START, KEPT, KEPT, box=BOX).result == "PROVED"
    draw = np.random.default_rng(0)
    points = draw.uniform([-0.5, -1], [0.5, 1], (40_000, 2))
    inside = points[truth(KEPT, {"x": points[:, 0], "v": points[:, 1]}, len(points))]
    pushed = 0.01 * draw.choice([-1.0, 1.0], (len(inside), 1, 1))
    after = trajectories(INTEGRATOR, damping(), inside, 1, pushed)[0][:, 1]
    assert len(inside) > 4_000
    assert truth(KEPT, {"x": after[:, 0], "v": after[:, 1]}, len(after)).all()


def test_a_set_that_is_left_is_refused_with_a_replayed_step_out_of_it() -> None:
    planted = (abs(X) <= 0.3) & (abs(V) <= 0.4)
    proof = prove_inductive(INTEGRATOR, damping(), START, abs(X) <= 0.5, planted)
    assert of(proof) == {"initial": "PROVED", "safe": "PROVED", "step": "VIOLATED"}
    assert proof.witness is not None
    x, v = proof.witness.signals["x"], proof.witness.signals["v"]
    assert abs(x[0]) <= 0.3
    assert abs(v[0]) <= 0.4
    assert abs(x[1]) > 0.3 or abs(v[1]) > 0.4
    assert proof.verdict is not None
    assert proof.verdict.status == "violated"
    assert proof.evidence().status == "inconclusive", "the loop itself may be safe"
    assert "This inductive set does not do" in str(proof)


def test_a_hole_that_only_a_corner_disturbance_finds_is_found() -> None:
    gust = Signal("gust", bounds=(-0.1, 0.1))
    plant = Dynamics(
        "gusty", states=[X], actions=[Signal("u")], disturbances=[gust],
        next={"x": 0.5 * X + 10 * gust * gust * gust * X + 0 * Signal("u")}, dt="1",
    )  # fmt: skip
    still = policy_graph(network(lambda x: 0 * x[:, 0], inputs=1))
    assert prove_inductive(plant, still, {"x": (0, 0)}, abs(X) <= 1, abs(X) <= 1).result == "PROVED"
    wild = Dynamics(
        "gusty", states=[X], actions=[Signal("u")], disturbances=[gust],
        next={"x": 0.5 * X + 501 * gust * gust * gust * X + 0 * Signal("u")}, dt="1",
    )  # fmt: skip
    proof = prove_inductive(wild, still, {"x": (0, 0)}, abs(X) <= 1, abs(X) <= 1)
    assert proof.result == "VIOLATED"
    assert proof.witness is not None
    assert abs(proof.witness.signals["x"][1]) > 1


def test_initial_states_outside_of_the_set_are_named() -> None:
    proof = prove_inductive(
        INTEGRATOR, damping(), {"x": (0, 0.4), "v": (0, 0)}, X <= 1, KEPT, box=BOX
    )
    assert of(proof)["initial"] == "VIOLATED"
    x, v = proof.obligations[0].point
    assert 0 <= x <= 0.4
    assert value_of(np.array([x, v])) > 1


def test_a_set_that_reaches_out_of_the_safe_one_is_named() -> None:
    proof = prove_inductive(INTEGRATOR, damping(), START, abs(X) <= 0.3, KEPT, box=BOX)
    assert of(proof)["safe"] == "VIOLATED"
    assert abs(proof.obligations[1].point[0]) > 0.3


def test_sets_that_share_faces_are_settled_in_rationals() -> None:
    kept = (abs(X) <= 0.3) & (abs(V) <= 0.7)
    proof = prove_inductive(INTEGRATOR, damping(), kept, kept, kept)
    assert of(proof)["initial"] == of(proof)["safe"] == "PROVED"
    assert {each.method for each in proof.obligations[:2]} == {"exact rationals"}


def test_a_union_may_be_inductive_where_none_of_its_parts_is() -> None:
    swap = Dynamics(
        "swap", states=[X], actions=[Signal("u")],
        next={"x": if_(X > 0, -0.9 * X, -0.9 * X + 0.05) + 0 * Signal("u")}, dt="1",
    )  # fmt: skip
    still = policy_graph(network(lambda x: 0 * x[:, 0], inputs=1))
    left, right = (X >= -2) & (X <= -1), (X >= 0.9) & (X <= 1.9)
    both = any_of(left, right)
    lone = prove_inductive(swap, still, left, X <= 5, left)
    assert lone.result == "VIOLATED"
    proof = prove_inductive(swap, still, left, X <= 5, both)
    assert of(proof) == {"initial": "PROVED", "safe": "PROVED", "step": "VIOLATED"}
    wide = any_of((X >= -2) & (X <= 0), (X >= 0) & (X <= 1.9))
    assert prove_inductive(swap, still, left, X <= 5, wide).result == "PROVED"


def test_the_action_is_clipped_as_deployed() -> None:
    strong = policy_graph(linear([[-50.0, -50.0]]))
    proof = prove_inductive(INTEGRATOR, strong, START, abs(X) <= 0.5, KEPT, box=BOX, timeout=20)
    assert proof.result == "VIOLATED"
    assert proof.witness is not None
    assert abs(proof.witness.actions[0, 0]) <= 1.0


def test_a_time_limit_leaves_obligations_open() -> None:
    proof = prove_inductive(
        INTEGRATOR, damping(), START, abs(X) <= 0.5, KEPT, box=BOX, timeout=1e-6
    )
    assert proof.result == "UNKNOWN"
    assert "time limit" in proof.reason
    assert proof.evidence().status == "inconclusive"


def test_an_unbounded_set_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="is not bounded in every state; add limits"):
        prove_inductive(INTEGRATOR, damping(), START, abs(X) <= 9, abs(X) + 0 * V <= 1)


def test_a_flows_set_is_kept_at_and_between_the_instants() -> None:
    kept = (abs(THETA) <= 0.3) & (abs(OMEGA) <= 1.2) & (abs(2 * THETA + OMEGA) <= 0.9)
    start = {"theta": (-0.05, 0.05), "omega": (-0.1, 0.1)}
    proof = prove_inductive(FLOW, swinging(), start, abs(THETA) <= 0.4, kept, timeout=30)
    assert set(of(proof)) == {"initial", "safe", "step", "between"}
    assert of(proof)["between"] == "PROVED"
    assert of(proof)["step"] == "VIOLATED"
    assert proof.witness is not None


def test_certificates_of_the_searches_are_checked(tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    folder.mkdir()
    proof = prove_inductive(
        INTEGRATOR, damping(), START, abs(X) <= 0.5, KEPT, box=BOX, certificate=folder
    )
    written = [each for o in proof.obligations for each in o.certificates]
    assert written
    assert all(each["complete"] or each["reason"] for each in written)


def test_a_barrier_is_proved_and_a_wrong_one_refused() -> None:
    h = 1 - VALUE
    proof = prove_barrier(INTEGRATOR, damping(), START, abs(X) <= 0.5, h, BOX)
    assert of(proof) == dict.fromkeys(("initial", "safe", "domain", "condition"), "PROVED")
    wrong = prove_barrier(INTEGRATOR, damping(), START, abs(X) <= 0.5, h, BOX, gamma=0.0001)
    assert of(wrong)["condition"] == "VIOLATED"
    assert wrong.witness is not None
    small = prove_barrier(
        INTEGRATOR, damping(), START, abs(X) <= 0.5, h, {"x": (-0.1, 0.1), "v": (-1, 1)}
    )
    assert of(small)["domain"] == "VIOLATED"
    with pytest.raises(UnsupportedError, match="gamma is 0; it must be above 0"):
        prove_barrier(INTEGRATOR, damping(), START, abs(X) <= 1, h, BOX, gamma=0)
    with pytest.raises(UnsupportedError, match="A barrier is proved for plants in discrete time"):
        prove_barrier(FLOW, swinging(), START, abs(X) <= 1, h, BOX)


def test_a_lyapunov_function_says_in_how_many_steps_it_is_small() -> None:
    proof = prove_lyapunov(INTEGRATOR, damping(), VALUE, BOX, level=1.0, inner=0.25, decrease=0.01)
    assert proof.result == "PROVED", proof.reason
    assert "within 75 steps and ever after" in proof.text
    draw = np.random.default_rng(2)
    begin = draw.uniform([-0.3, -0.5], [0.3, 0.5], (300, 2))
    begin = begin[value_of(begin) <= 1]
    pushed = 0.01 * draw.choice([-1.0, 1.0], (len(begin), 80, 1))
    states, _ = trajectories(INTEGRATOR, damping(), begin, 80, pushed)
    value = value_of(states)
    assert (value[:, 75:] <= 0.25).all()
    fast = prove_lyapunov(INTEGRATOR, damping(), VALUE, BOX, level=1.0, inner=0.25, decrease=0.4)
    assert of(fast)["decrease"] == "VIOLATED"
    with pytest.raises(UnsupportedError, match="level must be above inner"):
        prove_lyapunov(INTEGRATOR, damping(), VALUE, BOX, level=1, inner=2, decrease=0.1)


def test_a_set_is_found_grown_and_proved() -> None:
    found = find_inductive(INTEGRATOR, damping(), START, abs(X) <= 0.5, timeout=40)
    assert found.proof.result == "PROVED", found.proof.reason
    lost = find_inductive(INTEGRATOR, damping(), START, abs(X) <= 0.11, timeout=10)
    assert lost.proof.result != "PROVED"


def test_a_loop_that_does_not_contract_has_no_such_set() -> None:
    away = policy_graph(linear([[0.5, 0.5]]))
    with pytest.raises(UnsupportedError, match=r"spectral radius|leave the finite numbers"):
        find_inductive(INTEGRATOR, away, START, abs(X) <= 0.5, timeout=5)


def test_an_empty_set_holds_no_initial_state() -> None:
    nowhere = (X > 1) & (X < 0) & (abs(V) <= 1)
    proof = prove_inductive(INTEGRATOR, damping(), START, abs(X) <= 1, nowhere)
    assert of(proof)["initial"] == "VIOLATED"
    assert of(proof)["step"] == "PROVED"
    assert proof.result == "VIOLATED"


def test_a_safe_set_that_bends_twice_is_not_proved_where_it_does_not_hold() -> None:
    still = Dynamics(
        "still",
        states=[X, V],
        actions=INTEGRATOR.actions,
        next={"x": 1.5 + 0.5 * (X - 1.5), "v": 0.5 * V},
        dt="0.1",
    )
    held = {"x": (1.4, 1.6), "v": (-0.1, 0.1)}
    unsafe = abs(X) - 10 * sin(abs(X)) >= 8  # -8.5 in the middle of the set
    proof = prove_inductive(still, damping(), held, unsafe, held, timeout=10)
    assert of(proof)["safe"] == "VIOLATED"


def test_nothing_is_proved_of_an_empty_initial_set() -> None:
    nowhere = (X >= 1) & (X <= 0) & (abs(V) <= 1)
    with pytest.raises(UnsupportedError, match="The initial set is empty: nothing would"):
        prove_inductive(INTEGRATOR, damping(), nowhere, KEPT, KEPT, box=BOX)
    with pytest.raises(UnsupportedError, match="The initial set is empty: nothing would"):
        prove_barrier(INTEGRATOR, damping(), nowhere, KEPT, 1 - VALUE, BOX)
    with pytest.raises(UnsupportedError, match="The domain is empty: nothing would be claimed"):
        prove_lyapunov(INTEGRATOR, damping(), VALUE, nowhere, level=1.0, inner=0.5, decrease=0.01)


def test_numbers_of_a_statement_are_not_rounded() -> None:
    proof = prove_lyapunov(
        INTEGRATOR, damping(), VALUE, BOX, level=1.0, inner=0.5, decrease=0.01234567, timeout=0.1
    )
    said = " ".join(each.statement for each in proof.obligations)
    assert "V(next) <= V(now) - 0.01234567" in said


def test_a_search_for_a_set_tells_of_its_proofs() -> None:
    heard: list[Progress] = []
    found = find_inductive(
        INTEGRATOR, damping(), START, abs(X) <= 1, timeout=30, listener=heard.append
    )
    assert found.proof.result == "PROVED"
    assert heard
