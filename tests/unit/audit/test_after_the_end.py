"""What people add to a finished log: one rule for waivers, reviews, tombstones, withdrawals."""

from datetime import UTC, datetime, timedelta

import pytest
from peopled import FIRST, POLICY, SCREEN, WEIGHTS, closed_run

from safegym.audit import tombstones, waivers
from safegym.audit.afterwards import reopened, standing
from safegym.audit.kinds import BY_PEOPLE, KINDS
from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.verify import verify
from safegym.errors import AuditError, RunFolderError

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def run(tmp_path, signer):
    return closed_run(tmp_path / "run", signer)


def waive(run, signer, until="2026-12-31", claim="a", now=NOW):
    return waivers.waive(run, claim, why="rig only", until=until, who="Ann", signer=signer, now=now)


def test_each_kind_of_a_persons_word_is_a_kind_of_record():
    assert set(KINDS) >= BY_PEOPLE == {"withdrawal", "waiver", "review_signature", "tombstone"}


def test_a_finished_run_is_closed_again_with_the_same_outcome(run, signer, key):
    before = read_log(run)
    waive(run, signer)
    after = read_log(run)
    assert after[: len(before)] == before
    assert [r.kind for r in after[len(before) :]] == ["run_resumed", "waiver", "run_closed"]
    assert after[-1].payload["outcome"] == before[-1].payload["outcome"] == "certified"
    assert verify(run, keys=[key]).result == "intact"


def test_a_run_that_was_killed_can_still_go_on(tmp_path, signer, key):
    folder = closed_run(tmp_path / "run", signer)
    log = AuditLog.open(folder, signer=signer, resume_from="end")
    log.append("checkpoint", {"epoch": 2, "steps": 10})
    log.release()
    waive(folder, signer)
    assert read_log(folder)[-1].kind == "waiver"
    with AuditLog.open(folder, signer=signer) as again:
        again.append("checkpoint", {"epoch": 3, "steps": 20})
    assert verify(folder, keys=[key]).result == "intact"


def test_a_persons_word_stands_where_a_resumed_run_sets_its_record_aside(run, signer):
    size = len(read_log(run))
    waive(run, signer)
    tombstones.remove(run, SCREEN, why="space", who="Ann", signer=signer)
    with AuditLog.open(run, signer=signer, resume_from=size) as log:
        superseded = log.superseded
    records = read_log(run)
    kept = [r.kind for r in standing(records, superseded) if r.index in superseded]
    assert kept == ["waiver", "tombstone"]
    assert list(waivers.in_force(records, NOW)) == ["a"]


def test_a_set_aside_tombstone_still_says_why_a_file_is_gone(run, signer, key):
    size = len(read_log(run))
    tombstones.remove(run, SCREEN, why="space", who="Ann", signer=signer)
    AuditLog.open(run, signer=signer, resume_from=size).close("certified")
    report = verify(run, keys=[key])
    assert report.result == "incomplete"
    assert any("removed on purpose by Ann: space" in words for words in report.missing)


def test_a_log_at_work_is_left_alone(run, signer):
    with (
        reopened(run, signer=signer, reason="test"),
        pytest.raises(RunFolderError, match="in use by another process"),
    ):
        waive(run, signer)


def test_another_key_adds_nothing(run, signer, tmp_path):
    before = (run / "log.jsonl").read_bytes()
    with pytest.raises(AuditError, match="which you do not trust"):
        waivers.waive(run, "a", why="x", until="2099-01-01")  # the user's own key, freshly made
    assert (run / "log.jsonl").read_bytes() == before


def test_a_waiver_counts_to_the_end_of_its_day_and_not_after(run, signer):
    waive(run, signer, until="2026-06-30")
    records = read_log(run)
    last = datetime(2026, 6, 30, 23, 59, 59, tzinfo=UTC)
    assert waivers.in_force(records, last)["a"].words == "waived until 2026-06-30 by Ann: rig only"
    (late,) = waivers.waivers_of(records, last + timedelta(seconds=1))
    assert late.state == "expired"
    assert late.words.startswith("not waived: the waiver expired on 2026-06-30")


def test_a_later_waiver_of_a_claim_replaces_the_earlier_one_and_can_end_it(run, signer):
    waive(run, signer, until="2026-12-31")
    waive(run, signer, until="now", now=NOW + timedelta(days=1))
    records = read_log(run)
    assert waivers.in_force(records, NOW + timedelta(days=2)) == {}
    states = [w.state for w in waivers.waivers_of(records, NOW + timedelta(days=2))]
    assert states == ["replaced", "expired"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"claim": "c"}, "registers no claim 'c'; its claims are: a, b"),
        ({"until": "2026-05-31"}, "2026-05-31 is past"),
        ({"until": "tomorrow"}, "'tomorrow' is not a date. Write --until 2027-01-31"),
        ({"until": "2026-02-30"}, "is not a date"),
        ({"until": "now"}, "No waiver of this claim is in force"),
    ],
)
def test_a_waiver_that_would_mean_nothing_is_refused_and_nothing_is_written(
    run, signer, changes, words
):
    before = (run / "log.jsonl").read_bytes()
    with pytest.raises(AuditError, match=words):
        waive(run, signer, **changes)
    assert (run / "log.jsonl").read_bytes() == before


def test_a_waiver_until_a_day_that_no_calendar_has_never_counts(run, signer):
    with reopened(run, signer=signer, reason="by hand") as log:
        log.append("waiver", {"claim_id": "a", "who": "Ann", "why": "x", "expiry": "2027-02-30"})
    assert waivers.in_force(read_log(run), NOW) == {}


def test_a_waiver_turns_no_verdict(run, signer, key):
    before = [r.payload for r in read_log(run) if r.kind in ("verdict", "evidence")]
    waive(run, signer)
    assert [r.payload for r in read_log(run) if r.kind in ("verdict", "evidence")] == before


def test_removing_what_nothing_rests_on_is_incomplete_by_tombstone_and_not_broken(run, signer, key):
    done = tombstones.remove(run, SCREEN, why="personal data", who="Ann", signer=signer)
    assert done.cost == ()
    assert not (run / SCREEN).exists()
    report = verify(run, keys=[key])
    assert report.result == "incomplete"
    assert report.missing == (f"{SCREEN} (record 4) was removed on purpose by Ann: personal data",)


def test_certification_traces_are_not_removed_without_saying_what_it_costs(run, signer, key):
    with pytest.raises(AuditError, match=r"1 certification traces: .*claim|cannot be derived") as e:
        tombstones.remove(run, FIRST, why="space", signer=signer)
    assert "evidence for a rests on it" in str(e.value)
    assert "a promotion rests on that evidence" in str(e.value)
    assert (run / FIRST).exists()
    assert read_log(run)[-1].kind == "run_closed"
    done = tombstones.remove(run, FIRST, why="space", who="Ann", at_cost=True, signer=signer)
    assert done.files == (FIRST, FIRST.replace(".arrow", ".index.parquet"))
    stone = next(r for r in read_log(run) if r.kind == "tombstone")
    assert stone.payload["cost"] == list(done.cost)
    assert verify(run, keys=[key]).result == "incomplete"


def test_the_weights_of_a_released_policy_have_a_cost(run):
    (line,) = tombstones.removal_of(run, WEIGHTS).cost
    assert (
        line == f"policy {POLICY[:19]}, which was released, cannot be loaded or its digest "
        "checked again"
    )


def test_a_removal_cut_short_is_finished_by_running_it_again(run, signer, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(tombstones, "_delete", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tombstones.remove(run, SCREEN, why="space", signer=signer)
    size = len(read_log(run))
    assert (run / SCREEN).exists()
    tombstones.remove(run, SCREEN, why="space", signer=signer)
    assert not (run / SCREEN).exists()
    assert len(read_log(run)) == size
    with pytest.raises(AuditError, match="was removed before"):
        tombstones.remove(run, SCREEN, why="space", signer=signer)


@pytest.mark.parametrize("name", ["log.jsonl", "../x", "/etc/passwd", "report.html", ""])
def test_only_artifacts_of_the_log_are_removed(run, signer, name):
    with pytest.raises(AuditError, match="No record in force names an artifact"):
        tombstones.remove(run, name, why="x", signer=signer)


def test_nothing_is_removed_through_a_link(run, signer, tmp_path):
    (run / "traces").rename(tmp_path / "elsewhere")
    (run / "traces").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AuditError, match="goes through a link"):
        tombstones.remove(run, SCREEN, why="x", signer=signer)
    assert (tmp_path / "elsewhere" / "screen-0.arrow").exists()
