"""The five questions to an audit trail: each is answered from the verified log alone."""

import dataclasses
import hashlib
import json
import shutil
from datetime import UTC, datetime

import pytest
from answered_run import asked, asked_json, opened, raw
from gated_run import BAD, BETTER, GOOD, HAZARD, PLAN, SAFE, SPEC, begin

from safegym.audit.bundle import export, export_slice
from safegym.audit.log import AuditLog
from safegym.audit.waivers import waive
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import AuditError
from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.gate.answers import changes, derive, released, waived, worst
from safegym.gate.attempt import Certifier
from safegym.gate.decide import GateKeeper
from safegym.gate.plan import Gate
from safegym.gate.registration import register
from safegym.gate.registry import withdraw
from safegym.gate.setting import make_setting
from safegym.scenario.record import record

SELDOM = Claim(id="one.seldom", statement=prob(eventually(HAZARD >= 0.5)) < 0.4, confidence=0.9)
STRICT = Claim(id="one.safe", statement=prob(eventually(HAZARD >= 0.5)) < 0.3, confidence=0.9)
LOWER = Claim(id="one.low", statement=always(HAZARD <= 0.9), hazard="high")


def run_of(folder, policy, *claims):
    """A run of one epoch on the same scenario with other claims."""
    spec = dataclasses.replace(SPEC, claims=claims)
    setting = make_setting(spec, Gate(plan=PLAN))
    log = AuditLog.create(folder)
    register(log, setting)
    ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=folder / "ledger")
    keeper = GateKeeper(Certifier(setting, ledger, log, folder / "traces"))
    log.append("checkpoint", {"epoch": 1, "steps": 1, "policy": policy.card.digest})
    keeper.after_epoch(type("Epoch", (), {"epoch": 1})(), lambda: policy)
    log.close("promoted", epoch=1, steps=1)
    return folder


def below(records, index):
    """Everything under a record, by a plain walk over the raw log."""
    found = set()
    for leaf in records[index][2]:
        found |= {leaf} | below(records, leaf)
    return found


def test_the_released_policy_is_named_with_every_record_under_its_evidence(run, some, capsys):
    records = raw(run)
    promoted = [at for at, (kind, _, _) in enumerate(records) if kind == "promotion"]
    status, told = asked_json(capsys, "released", run)
    assert status == 0
    assert told["policy"]["digest"] == some.card.digest
    assert told["policy"]["promoted"]["record"] == promoted[-1]
    [basis] = told["evidence"]
    leaf = basis["found"]["leaf"]
    assert records[leaf][0] == "evidence"
    assert leaf in below(records, promoted[-1])
    assert {each["index"] for each in basis["leaves"]} == below(records, leaf)
    files = [name for each in basis["leaves"] for name in each["files"]]
    assert files
    assert all((run / name).is_file() for name in files)
    lines = (run / "log.jsonl").read_bytes().splitlines()
    hashed = ["sha256:" + hashlib.sha256(b"\0" + line).hexdigest() for line in lines]
    assert basis["found"]["digest"] == hashed[leaf]
    assert all(each["digest"] == hashed[each["index"]] for each in basis["leaves"])
    status, text = asked(capsys, "released", run)
    assert status == 0
    assert f"released {some.card.digest}" in text
    assert hashed[leaf][7:19] in text
    assert "satisfied, estimated: ≤" in text
    assert "intact; every verdict derived again" in text


def test_evidence_is_not_rounded_up_in_the_answer(run, capsys):
    _, told = asked_json(capsys, "released", run, "--fast")
    found = told["evidence"][0]["found"]
    _, text = asked(capsys, "released", run, "--fast")
    said = float(text.split("estimated: ≤ ")[1].split()[0])
    assert found["bound"] <= said < found["threshold"]
    assert "verdicts not derived again" in text


def test_a_withdrawn_policy_counts_no_more_and_the_one_before_does(run, some, capsys):
    withdraw(run, some.card.digest, why="drifts", who="Ada")
    status, text = asked(capsys, "released", run)
    assert status == 0
    assert f"released {GOOD.card.digest}" in text
    assert "was withdrawn by Ada" in text
    withdraw(run, GOOD.card.digest, why="too", who="Ada")
    status, told = asked_json(capsys, "released", run)
    assert (status, told["policy"], len(told["withdrawn"])) == (1, None, 2)


def test_a_waived_claim_is_called_waived_until_its_date_and_its_verdict_stays(run, capsys):
    waive(run, "one.safe", why="rig \x1b[31monly", until="2090-01-31", who="Ann")
    status, text = asked(capsys, "released", run)
    assert (status, "WAIVED until 2090-01-31; satisfied" in text) == (0, True)
    assert "\x1b" not in text
    status, text = asked(capsys, "waivers", run)
    assert status == 0
    for words in ("1 waiver in force of 1 given", "one.safe", "Ann", "2090-01-31", "satisfied"):
        assert words in text
    later = datetime(2090, 2, 1, tzinfo=UTC)
    [given] = waived(opened(run), at=later)
    assert given.waiver.state == "expired"
    assert released(opened(run), at=later).basis[0].waiver is None
    assert asked(capsys, "waivers", run, "--fast")[0] == 0


def test_a_log_without_waivers_says_so(run, capsys):
    assert "no claim was ever waived" in asked(capsys, "waivers", run)[1]


def test_between_two_releases_of_one_log_policy_and_verdicts_differ(run, some, capsys):
    status, told = asked_json(capsys, "changed", run)
    assert status == 0
    assert told["same"] == ["claims", "scenario", "plan", "versions", "waivers"]
    policy, verdict = told["changes"]
    assert (policy["before"], policy["after"]) == (GOOD.card.digest, some.card.digest)
    assert verdict["area"] == "verdicts"
    assert "0 violated of" in verdict["before"]
    withdraw(run, GOOD.card.digest, why="too", who="Ada")
    with pytest.raises(AuditError, match="has 1 standing release, so nothing"):
        changes(opened(run))


def test_another_claim_of_the_same_name_cannot_be_compared(run, capsys, tmp_path):
    later = run_of(tmp_path / "later", GOOD, STRICT)
    status, told = asked_json(capsys, "changed", run, later)
    assert status == 3
    assert not told["comparable"]
    by_area = {change["area"]: change for change in told["changes"]}
    assert by_area["claims"]["note"] == "it is another claim now"
    assert by_area["claims"]["after"].endswith("< 0.3")
    assert by_area["verdicts"]["note"] == "not about the same claim"
    assert by_area["scenario"]["what"] == "digest"


def test_a_claim_that_is_gone_and_a_verdict_that_got_worse_end_with_one(capsys, tmp_path):
    both = run_of(tmp_path / "both", GOOD, SAFE, SELDOM)
    one = run_of(tmp_path / "one", GOOD, SAFE)
    status, text = asked(capsys, "changed", both, one, "--fast")
    assert status == 1
    assert "no longer claimed" in text
    bad = run_of(tmp_path / "bad", BAD, SAFE)
    status, told = asked_json(capsys, "changed", one, bad, "--fast")
    assert (status, told["both_released"], told["worse"]) == (1, False, True)
    assert "no policy was released or tried" in told["after"]


def test_the_worst_episode_is_the_least_margin_of_all_logged_verdicts(run, some, capsys):
    records = raw(run)
    rows = [
        (row["lo"], row["trace"])
        for kind, payload, _ in records
        if kind == "verdict"
        and (payload["policy"], payload["stream"]) == (some.card.digest, "certify")
        for row in payload["verdicts"]
    ]
    least = min(lo for lo, _ in rows)
    assert least < 0
    status, told = asked_json(capsys, "worst", run)
    first = told["episodes"][0]
    assert (status, first["status"], first["lo"]) == (1, "violated", least)
    assert (least, first["trace"]) in rows
    assert told["looked_at"] == len(rows)
    assert first["again"] is True
    shard = records[first["shard"]][1]
    assert shard["traces"][first["index"] - shard["first_index"]] == first["trace"]
    again = record(SPEC, some, int(first["seed"]), options=first["options"])
    assert again.digest == first["trace"]
    assert again.signals["hazard"][first["moment"]["step"]] == first["moment"]["values"]["hazard"]
    status, text = asked(capsys, "worst", run)
    assert (status, f"seed {first['seed']}" in text) == (1, True)


def test_every_stored_episode_can_be_looked_at_and_one_claim_alone(run):
    some = worst(opened(run), claim="one.safe")
    every = worst(opened(run), everywhere=True)
    assert every.looked_at > some.looked_at
    assert every.about.startswith("every stored episode")
    with pytest.raises(AuditError, match=r"registers no claim .none.; its claims are: one\.safe"):
        worst(opened(run), claim="none")


def test_an_episode_whose_trace_is_missing_is_named_and_not_judged_again(run, capsys):
    before = worst(opened(run)).episodes[0]
    (run / before.artifact).unlink()
    status, told = asked_json(capsys, "worst", run)
    first = told["episodes"][0]
    assert (status, first["trace"], first["seed"]) == (1, before.trace, None)
    assert (told["log"]["result"], first["again"]) == ("incomplete", None)
    assert asked(capsys, "worst", run, "--replay")[0] == 2


def test_an_evidence_record_is_derived_again_field_by_field(run, capsys):
    status, told = asked_json(capsys, "rederive", run, "--claim", "one.safe")
    assert (status, told["same"], told["kind"]) == (0, True, "evidence")
    logged = raw(run)[told["leaf"]][1]
    rows = {row["field"]: row for row in told["rows"]}
    assert float(rows["bound"]["again"]) == logged["bound"]
    assert {"status", "episodes", "violations", "level", "trace_root"} <= set(rows)
    assert asked_json(capsys, "rederive", run, "--record", told["leaf"]) == (0, told)
    status, text = asked(capsys, "rederive", run, "--claim", "one.safe", "--attempt", "1")
    assert (status, "it comes out as logged" in text) == (0, True)


def test_one_episode_and_a_whole_verdict_record_are_judged_again(run, capsys):
    first = worst(opened(run)).episodes[0]
    found = derive(opened(run), claim="one.safe", episode=first.index)
    assert {row.field: row.again for row in found.rows}["status"] == "violated"
    assert found.same
    whole = derive(opened(run), leaf=first.verdict)
    assert {row.field: row.logged for row in whole.rows}["violated"] != "0"
    assert whole.same
    with pytest.raises(AuditError, match=r"counts episodes 0 to .*; episode 999 is not among"):
        derive(opened(run), claim="one.safe", episode=999)
    with pytest.raises(AuditError, match="Record 0 is a spec_registered record"):
        derive(opened(run), leaf=0)


def retold(run, to, change):
    """The same log written again with the same key, each payload passed through `change`."""
    shutil.copytree(run, to)
    for name in ("log.jsonl", "checkpoints.txt"):
        (to / name).unlink()
    told = {}
    log = AuditLog.create(to)
    for kind, payload, _ in raw(run)[:-1]:
        old = json.dumps(payload)
        for before, after in told.items():
            old = old.replace(before, after)
        again = log.append(kind, change(kind, json.loads(old)))
        from safegym.audit.values import canonical
        from safegym.digest import digest_bytes

        told[digest_bytes(canonical(payload))] = again.payload_digest
    log.close("promoted", epoch=4, steps=400)
    return to


def test_a_bound_that_the_key_owner_made_up_does_not_come_out_again(run, capsys, tmp_path):
    def better(kind, payload):
        if kind == "evidence" and payload["attempt"] == 2:
            payload["bound"] = payload["bound"] / 2
        return payload

    lie = retold(run, tmp_path / "lie", better)
    status, told = asked_json(capsys, "rederive", lie, "--claim", "one.safe")
    wrong = [row["field"] for row in told["rows"] if not row["same"]]
    assert (status, told["same"], wrong) == (1, False, ["bound"])
    status, text = asked(capsys, "rederive", lie, "--claim", "one.safe")
    assert (status, "it does NOT come out as logged" in text) == (1, True)
    status, text = asked(capsys, "released", lie)
    assert status == 1
    assert "broken at step 8" in text


def test_a_verdict_that_was_turned_is_shown_beside_the_one_that_comes_out(run, capsys, tmp_path):
    def turned(kind, payload):
        for row in payload["verdicts"] if kind == "verdict" else ():
            row["status"] = "satisfied"
        return payload

    lie = retold(run, tmp_path / "lie", turned)
    leaf = worst(opened(run)).episodes[0].verdict
    found = derive(opened(lie), leaf=leaf)
    assert not found.same
    rows = {row.field: (row.logged, row.again) for row in found.rows}
    assert rows["violated"][0] == "0"
    assert ("satisfied", "violated") in rows.values()


def test_a_verdict_whose_traces_are_missing_is_not_derived(run, capsys):
    (run / worst(opened(run)).episodes[0].artifact).unlink()
    status, told = asked_json(capsys, "rederive", run, "--claim", "one.safe")
    assert (status, told["same"], told["rows"]) == (3, False, [])
    assert "missing" in told["missing"]


def test_a_bundle_answers_as_the_run_does(run, capsys, tmp_path):
    bundle = export(run, tmp_path / "a.zip")
    fast = [[question, "--fast"] for question in ("released", "changed", "worst", "waivers")]
    for question in (*fast, ["rederive", "--claim", "one.safe"]):
        place = [question[0], run, *question[1:]]
        packed = [question[0], bundle, *question[1:]]
        (one, told), (two, other) = asked_json(capsys, *place), asked_json(capsys, *packed)
        for answer in (told, other):
            for name in ("log", "logs", "before", "after"):
                answer.pop(name, None)
        assert (question, one, told) == (question, two, other)


def test_a_slice_is_not_asked_what_is_released_and_says_that_it_is_one(run, capsys, tmp_path):
    part = export_slice(run, tmp_path / "s.zip", claim="one.safe")
    for question in ("released", "changed"):
        status, text = asked(capsys, question, part)
        assert (status, "Ask for the whole bundle" in text) == (2, True)
    status, text = asked(capsys, "worst", part)
    assert (status, "a slice does not show whether it is released" in text) == (1, True)
    assert asked(capsys, "rederive", part, "--claim", "one.safe", "--attempt", "2")[0] == 0
    assert "a slice: records that it leaves out" in asked(capsys, "waivers", part)[1]


def test_an_open_run_is_answered_as_incomplete(capsys, tmp_path):
    log, _ = begin(tmp_path / "open")
    log.checkpoint()
    log.release()
    status, text = asked(capsys, "released", tmp_path / "open")
    assert status == 3
    assert "no policy is released" in text
    assert "incomplete" in text
    assert asked(capsys, "waivers", tmp_path / "open")[0] == 3
    assert asked(capsys, "worst", tmp_path / "open")[0] == 2


def test_a_broken_log_answers_nothing_and_ends_with_one(run, capsys):
    data = bytearray((run / "log.jsonl").read_bytes())
    data[len(data) // 2] ^= 1
    (run / "log.jsonl").write_bytes(data)
    for question in (["released"], ["changed"], ["waivers"], ["worst"], ["rederive", "--leaf", 3]):
        status, told = asked_json(capsys, question[0], run, *question[1:])
        assert (status, told["error"]["type"]) == (1, "BrokenLog")
        assert "Nothing that it says counts" in told["error"]["message"]


def test_what_was_asked_badly_says_the_line_that_would_work(run, capsys, tmp_path):
    assert "--claim ID" in asked(capsys, "rederive", run)[1]
    status, text = asked(capsys, "rederive", run, "--leaf", 3, "--claim", "one.safe")
    assert (status, "leave the other options out" in text) == (2, True)
    status, text = asked(capsys, "released", tmp_path / "nowhere")
    assert (status, "There is no run folder or bundle" in text) == (2, True)
    assert BETTER.card.digest not in text
