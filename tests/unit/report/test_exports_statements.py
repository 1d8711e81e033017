"""Statements about a run: who can check them, and that they say no more than the log."""

import base64
import json
import subprocess
from datetime import UTC, datetime

import pytest
from exported import KEY, SIGNER, WAIVER, changed, copied, dossier
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError

from safegym.audit.afterwards import reopened
from safegym.audit.exports import open_dossier
from safegym.audit.exports.statement import (
    PREDICATES,
    TYPES,
    grade,
    properties,
    signed_statement,
    statement_of,
)
from safegym.audit.log import AuditLog
from safegym.audit.sign import public_pem
from safegym.errors import AuditError

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize("kind", PREDICATES)
def test_the_signing_library_verifies_each_statement_by_the_public_key_alone(run, kind):
    line = signed_statement(dossier(run), kind, SIGNER, at=NOON).line()
    envelope = Envelope.from_dict(json.loads(line))
    assert set(envelope.verify([KEY], 1)) == {KEY.keyid}
    told = json.loads(envelope.payload)
    assert (told["_type"], told["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        TYPES[kind],
    )
    assert told["subject"][0]["digest"] == {"sha256": dossier(run).outcome.policy[7:]}
    changed_one = {**json.loads(line), "payload": base64.b64encode(b"{}").decode()}
    with pytest.raises(VerificationError):
        Envelope.from_dict(changed_one).verify([KEY], 1)


def test_openssl_agrees_with_the_signature(run, tmp_path):
    told = json.loads(signed_statement(dossier(run), "svr", SIGNER, at=NOON).line())
    body = base64.b64decode(told["payload"])
    kind = told["payloadType"].encode()
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body)
    (tmp_path / "signed").write_bytes(signed)
    (tmp_path / "sig").write_bytes(base64.b64decode(told["signatures"][0]["sig"]))
    (tmp_path / "key.pem").write_bytes(public_pem(KEY))
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pem", "-rawin"]
    done = subprocess.run(
        [*words, "-in", "signed", "-sigfile", "sig"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, b"Verified Successfully" in done.stdout) == (0, True)


def test_what_was_observed_only_is_a_warning_and_never_a_passed_test(run):
    told = statement_of(dossier(run), "test-result", at=NOON)["predicate"]
    assert told["result"] == "WARNED"
    assert told["passedTests"] == ["drone.collision", "drone.reach"]
    assert told["warnedTests"] == ["drone.drift", "drone.tilt"]
    assert told["failedTests"] == []
    assert [one["name"] for one in told["configuration"]][:3] == ["scenario", "claims", "plan"]


@pytest.mark.parametrize("status", ["violated", "inconclusive"])
@pytest.mark.parametrize("waiver", [None, WAIVER])
def test_what_is_refuted_or_not_shown_fails_waived_or_not(run, status, waiver):
    one = changed(dossier(run), "drone.reach", status=status, waiver=waiver)
    told = statement_of(one, "test-result", at=NOON)["predicate"]
    assert (told["result"], told["failedTests"]) == ("FAILED", ["drone.reach"])
    assert "SAFEGYM_CLAIM_ESTIMATED:drone.reach" not in properties(one)


def test_a_waived_claim_is_no_property_even_where_its_evidence_is_satisfied(run):
    one = changed(dossier(run), "drone.reach", waiver=WAIVER)
    assert "SAFEGYM_CLAIM_ESTIMATED:drone.reach" not in properties(one)
    assert [grade(s) for s in one.standings if s.claim.id == "drone.reach"] == ["warned"]


def test_properties_name_the_kind_of_evidence_and_need_a_trusted_key(run):
    assert properties(dossier(run)) == [
        "SAFEGYM_LOG_INTACT",
        "SAFEGYM_RUN_CLOSED",
        "SAFEGYM_POLICY_RELEASED",
        "SAFEGYM_CLAIM_ESTIMATED:drone.collision",
        "SAFEGYM_CLAIM_OBSERVED:drone.drift",
        "SAFEGYM_CLAIM_OBSERVED:drone.tilt",
        "SAFEGYM_CLAIM_ESTIMATED:drone.reach",
    ]
    assert properties(dossier(run, trusted=False)) == ["SAFEGYM_RUN_CLOSED"]


def test_our_own_statement_carries_the_leaf_of_every_evidence_record(run):
    told = statement_of(dossier(run), at=NOON)["predicate"]
    leaves = {record.index: record.digest for record in dossier(run).records}
    assert len(told["claims"]) == 4
    for claim in told["claims"]:
        assert claim["evidence"]["leaf"] == leaves[claim["evidence"]["record"]]
    assert told["cautions"] == ["no verdict was derived again from the traces"]


def test_of_an_incomplete_log_nothing_is_a_property_but_what_is_there(run, tmp_path):
    place = copied(run, tmp_path)
    for shard in place.glob("traces/attempt-*.arrow"):
        shard.unlink()
    one = open_dossier(place, keys=[KEY])
    assert properties(one) == ["SAFEGYM_WHAT_IS_THERE_OF_THE_LOG_IS_NOT_BROKEN"]
    told = statement_of(one, "test-result", at=NOON)["predicate"]
    assert (told["result"], told["passedTests"]) == ("WARNED", [])
    assert told["safegym_cautions"][0].startswith("the log is incomplete: ")


def test_a_withdrawn_policy_has_no_claim_among_its_properties(run, tmp_path):
    place = copied(run, tmp_path)
    promotion = dossier(run).first("promotion").reference()
    who = {"policy": dossier(run).outcome.policy, "who": "Ann", "why": "recalled"}
    with reopened(place, signer=SIGNER, reason="a policy is withdrawn") as log:
        log.append("withdrawal", {**who, "instead": None, "rests_on": [promotion]})
    one = open_dossier(place, keys=[KEY])
    assert properties(one) == ["SAFEGYM_LOG_INTACT", "SAFEGYM_RUN_CLOSED"]
    told = statement_of(one, "test-result", at=NOON)["predicate"]
    assert told["result"] == "FAILED"
    assert any("WITHDRAWN" in words for words in told["safegym_cautions"])


def test_of_a_broken_log_nothing_is_exported(run, tmp_path):
    place = copied(run, tmp_path)
    log = place / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"payload":"ey', b'"payload":"fy', 1))
    with pytest.raises(AuditError, match="so nothing is exported: step"):
        open_dossier(place, keys=[KEY])


def test_a_run_without_a_policy_has_nothing_to_be_stated_of(tmp_path):
    with AuditLog.create(tmp_path / "run", signer=SIGNER) as log:
        log.append("scenario_registered", {"name": "toy", "digest": "sha256:" + "a" * 64})
    one = open_dossier(tmp_path / "run", keys=[KEY])
    with pytest.raises(AuditError, match="has judged no policy"):
        statement_of(one)
