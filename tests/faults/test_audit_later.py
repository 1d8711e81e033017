"""Logs of a later version: what can be checked is, nothing is called broken, nor intact."""

from pathlib import Path

import pytest
from audit_forge import forged, good_run, payload_of, signer, statements, write_bundle
from test_audit_attacks import SINGLE

from safegym.audit.remarks import PLAN_VERSION
from safegym.audit.sign import public_key, public_pem
from safegym.audit.verify import verify
from safegym.gate.plan import VERSION
from safegym.gate.rederive import rederive

KEY = public_key(signer())


def looked_at(place: Path, **options):
    report = verify(place, keys=[KEY], **options)
    return report, SINGLE.verify_single(place, [public_pem(KEY)])[0]


def test_records_of_a_later_format_are_checked_for_signature_and_tree_only(tmp_path):
    changed = statements(good_run())
    changed[4]["predicateType"] = "urn:safegym:audit-record:2"
    changed[4]["predicate"]["news"] = [1, 2]
    files = forged(good_run(), changed)
    report, single = looked_at(write_bundle(tmp_path / "a.zip", files))
    assert (report.result, single) == ("incomplete", "incomplete")
    assert "Verify the log with the version that wrote it" in report.missing[0]
    done = {step.name: step.result for step in report.steps}
    assert (done["signatures"], done["tree"], done["references"]) == ("ok", "ok", "skipped")

    files["log.jsonl"] = files["log.jsonl"].replace(b'"sig":"', b'"sig":"AAAA', 1)
    report, single = looked_at(write_bundle(tmp_path / "b.zip", files))
    assert (report.result, single) == ("broken", "broken")


def test_a_later_log_against_an_older_checkpoint_is_broken(tmp_path):
    changed = statements(good_run())
    changed[4]["predicateType"] = "urn:safegym:audit-record:2"
    files = forged(good_run(), changed, checkpoints=())
    report, single = looked_at(write_bundle(tmp_path / "a.zip", files))
    assert report.broken is not None
    assert (report.broken.name, single) == ("tree", "broken")


def test_an_unknown_kind_is_named_and_the_rest_is_checked(tmp_path):
    changed = statements(good_run())
    changed[3]["predicate"]["kind"] = "policy_carved"
    report, _ = looked_at(write_bundle(tmp_path / "a.zip", forged(good_run(), changed)))
    assert report.result == "incomplete"
    assert "does not know records of kind policy_carved" in report.missing[0]
    done = {step.name: step.result for step in report.steps}
    assert (done["sequence"], done["tree"], done["references"]) == ("ok", "ok", "ok")


def test_other_fields_are_a_fault_unless_the_log_shows_that_it_is_a_later_one(tmp_path):
    changed = statements(good_run())
    payload_of(changed[4])["attempt"] = "first"
    report, _ = looked_at(write_bundle(tmp_path / "a.zip", forged(good_run(), changed)))
    assert report.broken is not None
    assert report.broken.name == "format"

    changed[3]["predicate"]["kind"] = "policy_carved"
    report, _ = looked_at(write_bundle(tmp_path / "b.zip", forged(good_run(), changed)))
    assert report.result == "incomplete"
    assert "1 payloads have other fields" in report.missing[0]


@pytest.mark.parametrize("kind", ["run_closed", "trace_shard"])
def test_a_later_log_may_not_change_what_every_step_is_read_by(kind, tmp_path):
    """The end of the run, and how files are named, are of format 1 for good."""
    changed = statements(good_run())
    changed[3]["predicate"]["kind"] = "policy_carved"
    payload = payload_of(changed[-1 if kind == "run_closed" else 5])
    if kind == "run_closed":
        payload["records"] = "many"
    else:
        payload["shard"]["size"] = "large"
    report, _ = looked_at(write_bundle(tmp_path / "a.zip", forged(good_run(), changed)))
    assert report.broken is not None
    assert report.broken.name == "format"


def test_a_plan_of_a_later_version_is_not_derived_again_and_not_called_broken(tmp_path):
    changed = statements(good_run())
    payload_of(changed[2])["plan"]["version"] = VERSION + 1
    other = {"kind": "checkpoint", "payload": {"epoch": 1, "steps": 1}}
    changed[0]["predicate"].update(other)  # its claims were no real ones to derive from
    place = write_bundle(tmp_path / "a.zip", forged(good_run(), changed))
    report, _ = looked_at(place, rederive=rederive)
    assert report.result == "incomplete"
    assert f"this safegym reads 1 to {VERSION}" in report.missing[0]


def test_a_plan_of_an_earlier_version_is_remarked_upon(tmp_path):
    """Nobody can tell an old log from one that is signed in the old form today."""
    assert PLAN_VERSION == VERSION
    report, _ = looked_at(write_bundle(tmp_path / "a.zip", good_run()))
    assert any("plan is of version 1, earlier than" in warning for warning in report.warnings)
