"""Each kind of record has required fields, checked before anything is signed."""

import pytest

from safegym.audit.kinds import KINDS, check_payload, payload_fault
from safegym.errors import AuditError

D = "sha256:" + "1" * 64
VERDICT = {"kind": "verdict", "record": D}
EVIDENCE = {
    "claim_id": "c",
    "claim_digest": D,
    "kind": "estimated",
    "status": "satisfied",
    "threshold": 0.01,
    "bound": "inf",
    "confidence": 0.95,
    "level": 0.05,
    "episodes": 10,
    "violations": 1,
    "undecided": 2,
    "attempt": 0,
    "validity": "anytime",
    "method": "e-process",
    "rests_on": [VERDICT],
}
DECISION = {
    "action": "hold",
    "epoch": 1,
    "policy": D,
    "reasons": ["no screen"],
    "rests_on": [],
}


def test_the_kinds_are_those_of_the_design():
    assert set(KINDS) == {
        "run_resumed", "attempt_started", "attempt_closed", "checkpoint", "falsification",
        "spec_registered", "scenario_registered", "plan_registered", "policy_frozen",
        "trace_shard", "verdict", "measurement", "evidence", "proof", "gate_decision", "penalty",
        "replay", "rollback", "promotion", "waiver", "import", "review_signature", "tombstone",
        "run_closed", "regression", "withdrawal",
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_required_field_is_missed(kind):
    assert payload_fault(kind, {}) is not None
    fault = payload_fault(kind, []) or ""
    assert "is not an object" in fault


@pytest.mark.parametrize("field", EVIDENCE)
def test_evidence_without_one_of_its_fields_is_refused(field):
    assert payload_fault("evidence", EVIDENCE) is None
    short = {name: value for name, value in EVIDENCE.items() if name != field}
    assert f"the field {field!r} is missing" in (payload_fault("evidence", short) or "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "ok"}, "'ok' is not satisfied, violated or inconclusive"),
        ({"episodes": -1}, "-1 is not a whole number from 0"),
        ({"episodes": True}, "True is not a whole number"),
        ({"episodes": 2.0}, "2.0 is not a whole number"),
        ({"episodes": 2}, "3 violated or undecided of 2 episodes"),
        ({"bound": "infinite"}, "'infinite' is not a number"),
        ({"claim_digest": "sha256:1"}, "is not a digest"),
        ({"rests_on": []}, "it holds 0 entries, at least 1 are needed"),
        ({"rests_on": [{"kind": "penalty", "record": D}]}, "is not a reference to verdict or"),
        ({"rests_on": [{**VERDICT, "more": 1}]}, r"unknown fields \['more'\]"),
        ({"kind": "proved"}, "what is proved must rest on a proof record"),
        ({"kind": "observed", "rests_on": [{"kind": "proof", "record": D}]}, "what is observed"),
        ({"attempt": 1}, "must rest on its attempt_started record"),
        ({"subjects": {"policy": "md5:1"}}, "subjects: policy"),
        ({"subjects": {"payload": D}}, "the name 'payload' is taken"),
        ({"versions": {"torch": 2}}, "versions: torch: 2 is not text"),
        ({"note": {"artifact": "../x", "digest": D, "size": 1}}, r"climbs out by '\.\.'"),
        ({"note": [{"kind": "nothing", "record": D}]}, "is not a reference to run_resumed"),
    ],
)
def test_evidence_that_contradicts_itself_is_refused_in_words(change, words):
    with pytest.raises(AuditError, match=words) as caught:
        check_payload("evidence", {**EVIDENCE, **change}, step="payload")
    assert caught.value.step == "payload"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"action": "promote"}, "must rest on at least one evidence record"),
        ({"action": "promote", "rests_on": [VERDICT]}, "at least one evidence record"),
        ({"action": "rollback"}, "a rollback must rest on at least one record"),
        ({"reasons": []}, "at least 1 are needed"),
        ({"reasons": [""]}, "entry 0: '' is not text"),
        ({"action": "pass"}, "'pass' is not promote, hold, rollback or stop"),
    ],
)
def test_decisions_name_what_they_rest_on(change, words):
    assert payload_fault("gate_decision", DECISION) is None
    assert words in (payload_fault("gate_decision", {**DECISION, **change}) or "")


def test_certification_verdicts_name_their_shard_and_screens_need_not():
    verdict = {
        "claim_id": "c",
        "claim_digest": D,
        "stream": "gate",
        "verdicts": [{"trace": D, "status": "violated"}],
        "rests_on": [],
    }
    assert payload_fault("verdict", verdict) is None
    words = payload_fault("verdict", {**verdict, "stream": "certify"})
    assert "must rest on the trace_shard" in (words or "")


def test_an_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(AuditError, match="there is no kind 'verdicts'; the kinds are run_resumed"):
        check_payload("verdicts", {}, step="payload")


def test_a_long_value_is_shortened_in_the_message():
    fault = payload_fault("waiver", {"claim_id": "c", "who": "a", "why": "b", "expiry": "9" * 999})
    assert fault is not None
    assert len(fault) < 250


@pytest.mark.parametrize(
    "path",
    ["/a", "../a", "a/../b", "a//b", "./a", "a/", "", "a\\b", "c:a", "a\x00b", "a\nb", "a.",
     "a ", " a", "cafe\u0301", "x" * 500, "a/" + "y" * 201, "\ud800", 3],
)  # fmt: skip
def test_artifact_paths_are_plain_and_relative(path):
    removed = {"artifact": path, "digest": D, "size": 1}
    payload = {"removed": removed, "who": "a", "why": "b"}
    assert payload_fault("tombstone", payload) is not None
    good = {**payload, "removed": {**removed, "artifact": "traces/e-1 b.arrow"}}
    assert payload_fault("tombstone", good) is None
