"""What `prove` says: proved only where nothing fails, violated only after its replays."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_policies import linear, network, policy_of

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import HalfSpace, Region
from safegym.check.neural.proof import (
    monotone,
    never_chooses,
    never_saturates,
    prove,
    robust,
)
from safegym.check.neural.proof.judging import judged
from safegym.check.neural.proof.rounding import rounded, sampled, without_number
from safegym.check.neural.proof.witness import Replay, Witness
from safegym.errors import SafegymError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.text import parse

IDENTITY = policy_of(linear([[1.0, 0.0]], [0.0]))
SMALL = policy_of(network(2, 6, 2, 3))
CHOICE = policy_of(network(2, 6, 3, 5), "discrete")


def test_a_property_with_room_is_proved() -> None:
    proof = prove(IDENTITY, "abs(action[0]) <= 1.5")
    assert (proof.result, proof.status) == ("PROVED", "satisfied")
    assert proof.shares.proved == 1.0
    assert proof.witness is None


def test_a_violated_one_names_an_observation_that_the_policy_fails_on() -> None:
    proof = prove(IDENTITY, "action[0] <= 0.5", region={"obs[1]": (0, 0)})
    assert proof.result == "VIOLATED"
    assert proof.witness is not None
    observation = proof.witness.observation
    assert proof.witness.inside
    assert observation[1] == 0.0
    assert 0.5 < observation[0] <= 1.0
    assert proof.witness.action == (observation[0],)
    assert all(each.violates for each in proof.witness.replays)


@pytest.mark.parametrize("text", ["action[0] > obs[0]", "action[0] < obs[0]", "action[0] > -1"])
def test_a_margin_of_exactly_zero_is_no_proof_of_a_strict_comparison(text: str) -> None:
    assert prove(IDENTITY, text, semantics="real", timeout=5).result == "VIOLATED"


def test_a_margin_of_exactly_zero_is_no_violation_of_one_that_is_not_strict() -> None:
    for text in ("action[0] >= -1", "action[0] >= obs[0]", "action[0] <= 1"):
        assert prove(IDENTITY, text, semantics="real", timeout=1).result in ("PROVED", "UNKNOWN")


@pytest.mark.parametrize("semantics", ["real", "deployed float32"])
def test_ties_of_a_choice_go_to_the_first(semantics: Any) -> None:
    tie = policy_of(linear([[1.0, 0.0], [1.0, 0.0]], [0.0, 0.0], precision="exact"), "discrete")
    assert prove(tie, never_chooses(0), semantics=semantics, timeout=1).result == "VIOLATED"
    assert prove(tie, never_chooses(1), semantics=semantics, timeout=1).result != "VIOLATED"


def test_nothing_is_violated_that_only_the_graph_violates() -> None:
    graph = linear([[1.0, 0.0]], [0.0])
    other = policy_of(graph, predict=lambda rows: np.zeros((len(rows), 1)))
    proof = prove(other, "action[0] < 0.5", timeout=1)
    assert proof.result == "VIOLATED_WITHIN_TOLERANCE"
    assert proof.status == "inconclusive"
    assert "The property fails in float32 graph and exact, not in predict." in proof.reason


def test_a_proof_of_a_graph_that_is_not_the_policy_is_taken_back() -> None:
    other = policy_of(linear([[1.0, 0.0]], [0.0]), predict=lambda rows: rows[:, :1] + 5)
    proof = prove(other, "action[0] < 2")
    assert proof.result == "VIOLATED"
    assert proof.witness is not None
    assert not proof.witness.violates("exact")
    assert proof.shares.proved == 0.0


def test_a_proof_in_exact_arithmetic_says_where_rounding_breaks_it() -> None:
    other = policy_of(
        linear([[1.0, 0.0]], [0.0]), predict=lambda rows: np.nextafter(rows[:, :1], np.float32(9))
    )
    text = "action[0] - obs[0] <= 0.000000001"
    proof = prove(other, text, semantics="real", region={0: (0.5, 0.75)})
    assert proof.result == "PROVED"
    assert any("Rounding alone breaks it at" in note for note in proof.notes)
    assert prove(other, text, region={0: (0.5, 0.75)}, timeout=1).result == "VIOLATED"


def test_in_exact_semantics_the_exact_replay_must_fail_too() -> None:
    replays = tuple(
        Replay(name, ((0.0,),), violates)
        for name, violates in (("float32 graph", True), ("exact", False), ("predict", True))
    )
    witness = Witness(((0.0, 0.0),), True, replays)
    assert judged(witness, "deployed float32") == "VIOLATED"
    assert judged(witness, "real") == "VIOLATED_WITHIN_TOLERANCE"
    outside = Witness(witness.observations, False, replays)
    assert judged(outside, "deployed float32") == "VIOLATED_WITHIN_TOLERANCE"
    kept = tuple(Replay(each.name, each.actions, None) for each in replays)
    assert judged(Witness(witness.observations, True, kept), "real") == "UNKNOWN"


def test_a_region_between_two_binary32_numbers_has_no_witness() -> None:
    region = {"obs[0]": "0.1", "obs[1]": (0, 0)}
    assert prove(IDENTITY, "action[0] < 0.2", region=region).result == "PROVED"
    proof = prove(IDENTITY, "action[0] < 0.05", region=region)
    assert proof.result == "VIOLATED_WITHIN_TOLERANCE"
    assert "the observation lies outside the region" in proof.reason
    assert "no binary32 number" in proof.words


@settings(max_examples=200, deadline=None)
@given(
    low=st.fractions(-3, 3, max_denominator=10**6),
    width=st.fractions(0, Fraction(1, 1000), max_denominator=10**9),
    at=st.floats(0, 1),
)
def test_rounded_witnesses_are_binary32_numbers_inside_the_region(
    low: Fraction, width: Fraction, at: float
) -> None:
    region = Region((low, Fraction(0)), (low + width, Fraction(1)))
    point = np.array([float(low) + at * float(width), at])
    found = list(rounded(point, region))
    assert bool(found) == (not without_number(region))
    assert bool(found) == bool(sampled(region, 5))
    for each in (*found, *sampled(region, 5)):
        assert region.contains([float(x) for x in each])
        assert (each == each.astype(np.float32)).all()


def test_rounded_witnesses_keep_to_linear_constraints() -> None:
    cut = HalfSpace((Fraction(1), Fraction(1)), Fraction(1, 10))
    region = Region((Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)), (cut,))
    found = list(rounded(np.array([0.03, 0.07]), region))
    assert found
    assert all(sum(Fraction(float(x)) for x in each) <= Fraction(1, 10) for each in found)


def test_a_union_that_runs_out_of_time_is_unknown() -> None:
    parts = [{"obs[0]": (-1, 0)}, {"obs[0]": (0, 0.25)}, {"obs[0]": (0.25, 1)}]
    proof = prove(IDENTITY, "action[0] <= 5", region=parts, timeout=1e-6)
    assert (proof.result, proof.shares.proved) == ("UNKNOWN", 0.0)


def test_a_time_limit_never_turns_into_proved() -> None:
    for seed in range(5):
        proof = prove(policy_of(network(4, 40, 1, seed)), "action[0] < 500", timeout=1e-6)
        assert (proof.result, proof.shares.proved) == ("UNKNOWN", 0.0)
        assert "The time limit of 1e-06 s was reached" in proof.reason
    proof = prove(policy_of(network(6, 64, 1, 0)), "abs(action[0]) < 9", boxes=1, timeout=5)
    assert proof.result != "PROVED" or proof.boxes <= 1


def test_a_policy_that_draws_its_actions_is_refused() -> None:
    class Sampled:
        class card:  # stands for a PolicyCard
            mode = "sampled"
            name = "dice"

    with pytest.raises(UnsupportedError, match=r"in sampled mode.*deterministic"):
        prove(Sampled(), "action[0] < 1")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"timeout": 0}, "timeout is seconds > 0"),
        ({"timeout": float("nan")}, "timeout is seconds > 0"),
        ({"timeout": "60"}, "timeout is seconds > 0, found '60'"),
        ({"workers": 0}, "at least 1"),
        ({"workers": 1.5}, "whole numbers of at least 1"),
        ({"boxes": 2.5}, "whole numbers of at least 1"),
        ({"fields": ["speed"]}, "fields is a mapping"),
        ({"semantics": "bf16"}, '"deployed float32" or "real", found .bf16'),
        ({"claim": 3}, "takes a Claim, a formula, text"),
        ({"claim": "action[0] <"}, "expected"),
        ({"region": {"obs[0]": (2, 3)}}, "outside the observation space"),
    ],
)
def test_bad_input_is_refused_before_any_search(options: dict[str, Any], says: str) -> None:
    given_options = {"claim": "action[0] < 1", **options}
    with pytest.raises(SafegymError, match=says):
        prove(IDENTITY, **given_options)


def test_a_union_is_proved_only_as_a_whole() -> None:
    parts = [{"obs[0]": (-1, 0)}, {"obs[0]": (0, 0.25)}]
    assert prove(IDENTITY, "action[0] <= 0.5", region=parts).result == "PROVED"
    proof = prove(IDENTITY, "action[0] <= 0.125", region=parts)
    assert proof.result == "VIOLATED"
    assert 0.8 <= proof.shares.proved < 1.0
    assert proof.witness is not None
    assert proof.witness.observation[0] > 0.125
    assert len(proof.regions) == 2


def test_linear_constraints_cut_the_region() -> None:
    region = {"where": "obs[0] + obs[1] <= -1"}
    total = policy_of(linear([[1.0, 1.0]], [0.0]))
    assert prove(total, "action[0] <= -0.999", region=region).result == "PROVED"
    proof = prove(total, "action[0] <= -1.5", region=region)
    assert proof.result == "VIOLATED"
    assert proof.witness is not None
    assert sum(proof.witness.observation) <= -1.0


def test_robustness_and_monotony_of_a_linear_policy_are_what_arithmetic_says() -> None:
    steep = policy_of(linear([[2.0, 0.0]], [0.25]))
    assert prove(steep, robust([0.0, 0.0], "0.1", 0.2001)).result == "PROVED"
    assert prove(steep, robust([0.0, 0.0], "0.1", 0.19)).result == "VIOLATED"
    assert prove(steep, monotone(0, tolerance=0.001), timeout=20).result == "PROVED"
    falling = prove(steep, monotone(0, tolerance=0.001, increasing=False), timeout=20)
    assert falling.result == "VIOLATED"
    assert falling.witness is not None
    lower, upper = falling.witness.observations
    assert upper[0] > lower[0]
    assert upper[1] == lower[1]


def test_saturation_is_reaching_a_limit() -> None:
    builder = GraphBuilder(1)
    builder.clip(builder.linear([(builder.input(), [[2.0]])], precision="float32"), -1.0, 1.0)
    clipped = policy_of(builder.graph(), limit=1.0)
    assert prove(clipped, never_saturates(), region={0: (-0.25, 0.25)}).result == "PROVED"
    assert prove(clipped, never_saturates(0.6), region={0: (-0.25, 0.25)}).result == "VIOLATED"
    assert prove(clipped, never_saturates(), region={0: (0, 0.75)}).result == "VIOLATED"


def test_named_fields_stand_for_entries_of_both_sides() -> None:
    fields = {"speed": "obs[0]", "brake": "action[0]"}
    text = "always(speed > 0.5 implies brake > 0.4)"
    proof = prove(IDENTITY, Claim("brake.late", parse(text)), fields=fields)
    assert proof.result == "PROVED"
    assert proof.claim_id == "brake.late"
    assert "speed in [-1, 1]" in proof.regions[0]


# What is told


def test_evidence_of_a_proof_lists_what_it_rests_on() -> None:
    claim = Claim("a.b", parse("always(abs(action[0]) <= 1.5)"))
    evidence = prove(IDENTITY, claim).evidence()
    assert (evidence.kind, evidence.status, evidence.claim_id) == ("proved", "satisfied", "a.b")
    assert evidence.claim_digest == claim.digest
    told = " ".join(evidence.assumptions)
    for words in ("deployed float32", "1000 observations", "deterministic mode", "open loop"):
        assert words in told
    assert str(evidence).startswith("a.b: satisfied, proved; branch and bound")
    assert "violated, refuted" in str(prove(IDENTITY, "action[0] <= 0.5").evidence())
    open_one = prove(policy_of(network(4, 40, 1, 0)), "action[0] < 500", timeout=1e-6)
    assert "inconclusive, not proved" in str(open_one.evidence())


def test_a_proof_is_one_json_value_and_no_condition() -> None:
    proof = prove(IDENTITY, "action[0] <= 0.5")
    found = json.loads(json.dumps(proof.to_json(), allow_nan=False))
    assert set(found) == {
        *("result", "standing", "certified", "semantics", "claim", "policy", "region", "shares"),
        *("boxes", "seconds", "reason", "limits", "equivalence", "witness", "certificates"),
        *("second_opinions", "assumptions", "notes"),
    }
    assert found["result"] == "VIOLATED"
    assert found["certified"] is False
    assert set(found["witness"]["replays"]) == {"float32 graph", "exact", "predict"}
    with pytest.raises(TypeError, match=r'proof\.result == "PROVED"'):
        bool(proof)
    assert str(proof) == proof.words


def test_a_picture_shows_what_holds_and_what_does_not() -> None:
    failed = prove(IDENTITY, "action[0] <= 0.5").svg()
    assert failed.startswith("<svg")
    for words in ("VIOLATED", "proved", "violated", "counterexample", "obs[1]"):
        assert words in failed
    proved = prove(IDENTITY, "action[0] <= 1.5", keep_tree=True).svg("obs[1]", None)
    assert "boxes of the search" in proved
    assert "obs[0] = 0" in proved
    with pytest.raises(UnsupportedError, match="keep_tree=True"):
        prove(IDENTITY, "action[0] <= 1.5").svg()
    with pytest.raises(UnsupportedError, match=r"no input of this proof; its inputs: obs\[0\]"):
        prove(IDENTITY, "action[0] <= 0.5").svg("height")


def clipped(low: float, high: float) -> PolicyGraph:
    """obs[0] + obs[1] in binary32, clipped, as a Box's action is."""
    builder = GraphBuilder(2)
    total = builder.linear([(builder.input(), [[1.0, 1.0]])], precision="float32")
    builder.clip(total, low, high)
    return policy_of(builder.graph(), limit=high)


@pytest.mark.parametrize("semantics", ["deployed float32", "real"])
@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("action[0] <= 0.75", "PROVED"),
        ("abs(action[0]) <= 0.75", "PROVED"),
        ("0.5 * action[0] >= -0.375", "PROVED"),
        ("obs[0] >= 0 implies action[0] <= 0.75", "PROVED"),
        ("action[0] < 0.75", "VIOLATED"),
        ("action[0] <= 0.7499999999999999", "VIOLATED"),
        ("not (action[0] >= 0.75)", "VIOLATED"),
    ],
)
def test_a_clipped_action_does_not_pass_its_limits_and_may_reach_them(
    text: str, result: str, semantics: Any
) -> None:
    proof = prove(clipped(-0.75, 0.75), text.replace("-0.375", "0 - 0.375"), semantics=semantics)
    assert (proof.result, proof.boxes <= 4) == (result, True)


def test_an_action_that_nothing_clips_has_no_such_limits() -> None:
    """IDENTITY's action reaches 1 only where obs[0] does, and rounding is not bounded by a clip."""
    assert prove(IDENTITY, "action[0] <= 0.9999999", boxes=200).result == "VIOLATED"


def test_the_greatest_binary32_number_is_an_end_like_another() -> None:
    greatest = float(np.finfo(np.float32).max)
    wide = policy_of(linear([[1.0, 0.0]], [0.0]), space=([-np.inf] * 2, [np.inf] * 2))
    proof = prove(wide, "action[0] <= 1", region={0: (0, greatest), 1: 0}, boxes=20)
    assert proof.result == "VIOLATED"


def test_a_picture_of_one_observation_counts_it_whole() -> None:
    drawn = prove(IDENTITY, "action[0] <= 0.25", region={0: 0.5, 1: 0}).svg()
    assert "0 % proved, 100 % violated, 0 % open" in drawn
