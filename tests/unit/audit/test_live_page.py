"""What a live page says, and what it must not say."""

import re
from pathlib import Path

import pytest

from safegym.audit.kinds import KINDS
from safegym.audit.live.follow import Follower
from safegym.audit.live.page import content_policy, run_page
from safegym.audit.log import AuditLog
from safegym.audit.sign import KeyRing
from safegym.digest import digest_text

TRACE, POLICY, TEXT = "sha256:" + "7" * 64, "sha256:" + "b" * 64, "always (x > 0)"


@pytest.fixture
def log(tmp_path, signer):
    log = AuditLog.create(tmp_path / "run", signer=signer)
    claim = {"id": "stays", "text": TEXT, "digest": digest_text(TEXT)}
    log.append("spec_registered", {"claims": [claim], "digest": digest_text(TEXT)})
    yield log
    log.release()


def page(log, key, *, trusted=True):
    seen = Follower(Path(log.folder), KeyRing([key])).refresh(1)
    return run_page(seen, name="a run", trusted=trusted, home="", version="1").decode()


def attempt(log):
    (log.folder / "a.arrow").write_bytes(b"traces")
    started = {"attempt": 1, "policy": POLICY, "scenario": TRACE, "claims": digest_text(TEXT)}
    log.append("attempt_started", {**started, "levels": {"stays": 0.05}})
    subject = {"stream": "certify", "policy": POLICY, "scenario": TRACE}
    shard = {"shard": log.artifact("a.arrow"), "traces": [TRACE], "first_index": 0, **subject}
    basis = log.append("trace_shard", shard).reference()
    rows = [{"trace": TRACE, "status": "satisfied"}]
    named = {"claim_id": "stays", "claim_digest": digest_text(TEXT), **subject}
    log.append("verdict", {**named, "verdicts": rows, "rests_on": [basis]})


def test_an_attempt_under_way_is_counted_and_claims_nothing(log, key):
    attempt(log)
    shown = page(log, key)
    assert "OPEN: attempt 1 is under way, nothing is released" in shown
    assert "attempt 1 so far: 1 episode judged, 0 violated; nothing is claimed" in shown
    for word in ("CERTIFIED", "estimated", "proved"):
        assert f">{word}" not in shown


def test_a_closed_run_without_a_release_is_not_certified(log, key):
    log.close("done")
    shown = page(log, key)
    assert "NOT CERTIFIED" in shown
    assert "released" not in shown.partition('<section class="state')[2].partition(">")[0]


def test_a_broken_log_says_so_first_and_how_far_it_holds(log, key):
    log.append("checkpoint", {"epoch": 1, "steps": 10})
    path = log.folder / "log.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"sig":"', b'"sig":"AAAA', 2))
    shown = page(log, key)
    assert shown.index("BROKEN: do not rely on this log") < shown.index("What was checked")
    assert "The 0 records before it hold." in shown


def test_a_page_without_a_trusted_key_says_so(log, key):
    words = "Nobody&#39;s key was trusted"
    assert words in page(log, key, trusted=False) or "Nobody's key" in page(log, key, trusted=False)
    assert "Nobody" not in page(log, key)


def test_a_waiver_is_shown_beside_its_claim_and_turns_nothing(log, key):
    waiver = {
        "claim_id": "stays",
        "who": "A. Reviewer",
        "why": "bench only",
        "expiry": "2100-01-01",
    }
    log.append("waiver", waiver)
    shown = page(log, key)
    assert "waived until 2100-01-01 by A. Reviewer: bench only" in shown
    assert "not tried" in shown


def test_pages_may_run_and_load_nothing_but_their_own(log, key):
    policy, shown = content_policy(), page(log, key)
    assert policy.startswith("default-src 'none'; ")
    assert policy.count("'sha256-") == 2
    assert "unsafe" not in policy
    assert shown.count("<script") == 1
    assert " style=" not in shown
    assert not re.search(r"<[^>]*\son[a-z]+=", shown)


def test_a_kind_that_only_a_later_version_knows_is_said_and_not_broken(log, key, monkeypatch):
    told = {"who": "A. Reviewer", "why": "bench only", "expiry": "2100-01-01"}
    log.append("waiver", {"claim_id": "stays", **told})
    monkeypatch.delitem(KINDS, "waiver")
    shown = page(log, key)
    assert "OPEN: nothing is released so far" in shown
    assert "A later version of safegym wrote this log" in shown
    assert "records of kind waiver" in shown


def test_a_later_form_of_records_is_not_read_and_not_called_broken(log, key, monkeypatch):
    monkeypatch.setattr("safegym.audit.record.PREDICATE_TYPE", "urn:safegym:audit-record:2")
    log.append("checkpoint", {"epoch": 1, "steps": 10})
    monkeypatch.undo()
    shown = page(log, key)
    assert "NOT READ: a later version of safegym wrote this log" in shown
    assert "BROKEN" not in shown
