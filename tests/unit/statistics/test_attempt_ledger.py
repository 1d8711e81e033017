"""The ledger: durable, shared, killed, torn and tampered with."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from safegym.check.statistics import AttemptLedger, EProcess
from safegym.check.statistics.journal import Journal
from safegym.errors import EvidenceError
from safegym.home import registry_folder


def opened(folder: Path) -> AttemptLedger:
    return AttemptLedger("sha256:scenario", "sha256:claims", folder=folder)


def test_attempts_count_up_and_abandoned_ones_count(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    assert ledger.next_attempt == 1
    assert ledger.text() == "no attempt yet"
    first = ledger.start("policy-1")
    first.release()
    second = ledger.start("policy-2")
    second.close("inconclusive")
    assert opened(tmp_path).start("policy-3").number == 3
    numbers = [(a.number, a.policy_digest, a.outcome) for a in opened(tmp_path).attempts()]
    assert numbers == [
        (1, "policy-1", None),
        (2, "policy-2", "inconclusive"),
        (3, "policy-3", None),
    ]
    assert "attempt 2: inconclusive, policy policy-2" in ledger.text()


def test_a_policy_keeps_its_number_its_index_and_its_statistics(tmp_path: Path) -> None:
    process = EProcess(0.01, 0.05)
    process.update_each(["safe"] * 10 + ["violated"])
    with opened(tmp_path).start("p", details={"level": 0.05}) as attempt:
        assert not attempt.resumed
        attempt.record(11, process.state())
    opened(tmp_path).start("q").close("abandoned")
    with opened(tmp_path).start("p") as again:
        assert (again.number, again.resumed, again.next_index) == (1, True, 11)
        assert again.state is not None
        assert EProcess.from_state(again.state).state() == process.state()
        with pytest.raises(EvidenceError, match="cannot go back"):
            again.record(10, process.state())
        again.close("inconclusive")
    with opened(tmp_path).start("p") as later:
        assert (later.number, later.next_index) == (1, 11)
    found = opened(tmp_path).find("p")
    assert found is not None
    assert found.starts == 3
    assert found.details == {"level": 0.05}


@pytest.mark.parametrize("outcome", ["certified", "refuted"])
def test_a_final_outcome_is_not_tried_again(tmp_path: Path, outcome: Any) -> None:
    ledger = opened(tmp_path)
    ledger.close(ledger.start("p"), outcome)
    with pytest.raises(EvidenceError, match=f"was {outcome} at attempt 1; that is final"):
        ledger.start("p")
    assert ledger.next_attempt == 2


def test_a_running_attempt_is_held(tmp_path: Path) -> None:
    attempt = opened(tmp_path).start("p")
    with pytest.raises(EvidenceError, match="running in another process"):
        opened(tmp_path).start("p")
    assert opened(tmp_path).start("q").number == 2
    attempt.release()
    with pytest.raises(EvidenceError, match="not running"):
        attempt.record(1, {})
    with pytest.raises(EvidenceError, match="not running"):
        attempt.close("certified")


def test_wrong_words_are_refused(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    attempt = ledger.start("p")
    with pytest.raises(EvidenceError, match="An attempt ends certified, refuted"):
        attempt.close("fine")  # type: ignore[arg-type]  # the refusal under test
    with pytest.raises(EvidenceError, match="cannot be written"):
        attempt.record(1, {"x": float("nan")})
    attempt.record(1, {"x": 1.5})
    with pytest.raises(EvidenceError, match="digest of a frozen policy"):
        ledger.start("")
    with pytest.raises(EvidenceError, match="scenario digest and a claim-set digest"):
        AttemptLedger("", "x", folder=tmp_path)


def test_ledgers_of_other_scenarios_and_claims_are_apart(tmp_path: Path) -> None:
    opened(tmp_path).start("p").release()
    assert AttemptLedger("sha256:scenario", "sha256:other", folder=tmp_path).next_attempt == 1
    assert AttemptLedger("sha256:other", "sha256:claims", folder=tmp_path).next_attempt == 1


def test_the_default_registry_follows_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    assert registry_folder() == tmp_path / "home"
    ledger = AttemptLedger("s", "c")
    assert ledger.path.is_relative_to(tmp_path / "home")
    monkeypatch.delenv("SAFEGYM_HOME")
    assert registry_folder().name == "safegym"


def test_an_unusable_folder_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EvidenceError, match="SAFEGYM_HOME"):
        opened(tmp_path / "file")


def test_burnt_seeds_are_shared_by_claim_sets_and_refused(tmp_path: Path) -> None:
    one = AttemptLedger("s", "c1", folder=tmp_path)
    two = AttemptLedger("s", "c2", folder=tmp_path)
    assert not two.is_burnt(7)
    one.burn([7, 2**127, 7])
    assert two.is_burnt(7)
    assert two.is_burnt(2**127)
    assert not two.is_burnt(8)
    with pytest.raises(EvidenceError, match="Seed 7 was replayed"):
        two.refuse_burnt(7)
    two.refuse_burnt(8)
    assert not AttemptLedger("s2", "c1", folder=tmp_path).is_burnt(7)
    with pytest.raises(EvidenceError, match=">= 0"):
        one.burn([-1])
    seeds = next(tmp_path.glob("attempts/seeds-*.jsonl"))
    before = seeds.read_bytes()
    one.burn([7])
    assert seeds.read_bytes() == before
    assert AttemptLedger("s", "c1", folder=tmp_path).is_burnt(7)


def filled(folder: Path) -> Path:
    ledger = opened(folder)
    first = ledger.start("p1")
    first.record(5, {"episodes": 5})
    first.close("inconclusive")
    ledger.start("p2").release()
    return ledger.path


def test_a_torn_last_line_is_taken_off_and_reported(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"index":5,"kind":"started","payload":{"att')
    ledger = opened(tmp_path)
    assert [a.number for a in ledger.attempts()] == [1, 2]
    assert "a torn last record of 43 bytes was removed" in ledger.recoveries[0]
    assert ledger.start("p3").number == 3
    assert len(opened(tmp_path).recoveries) == 1


def test_a_whole_last_record_without_its_line_feed_is_kept(tmp_path: Path) -> None:
    path = filled(tmp_path)
    head = path.with_name(path.name + ".head").read_bytes()
    opened(tmp_path).start("p3").release()
    path.write_bytes(path.read_bytes()[:-1])
    path.with_name(path.name + ".head").write_bytes(head)
    ledger = opened(tmp_path)
    assert [a.number for a in ledger.attempts()] == [1, 2, 3]
    assert path.read_bytes().endswith(b"\n")
    assert ledger.start("p4").number == 4
    assert len(opened(tmp_path).attempts()) == 4


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_records_taken_out_moved_repeated_or_cut_are_refused(tmp_path: Path) -> None:
    path = filled(tmp_path)
    lines = lines_of(path)
    attacks = {
        "middle out": lines[:2] + lines[3:],
        "first out": lines[1:],
        "last out": lines[:-1],
        "all out": [],
        "swapped": [*lines[:2], lines[3], lines[2], *lines[4:]],
        "repeated": [*lines, lines[-1]],
        "empty line": [*lines, b"\n"],
        "rubbish": [*lines, b"{}\n"],
        "cut inside": [*lines[:-1], lines[-1][:-9]],
    }
    for attack in attacks.values():
        path.write_bytes(b"".join(attack))
        with pytest.raises(EvidenceError, match="cannot be trusted"):
            opened(tmp_path)
    path.unlink()
    with pytest.raises(EvidenceError, match="records were written, 0 are left"):
        opened(tmp_path)


def rewritten(path: Path, change: Any) -> None:
    """Rebuilds the whole chain and head around changed payloads, as a careful forger would."""
    records = [json.loads(line) for line in lines_of(path)]
    change(records)
    path.unlink()
    path.with_name(path.name + ".head").unlink()
    journal = Journal(path)
    for record in records:
        journal.append(record["kind"], record["payload"])


def record(kind: str, **payload: Any) -> dict[str, Any]:
    return {"kind": kind, "payload": payload}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r[4]["payload"].update(attempt=1), "attempt 1 follows attempt 1"),
        (lambda r: r[4]["payload"].update(attempt=3), "attempt 3 follows attempt 1"),
        (lambda r: r[4]["payload"].update(attempt=0), "attempt 0 follows attempt 1"),
        (lambda r: r[4]["payload"].update(attempt=True), "attempt True follows"),
        (lambda r: r[4]["payload"].update(policy="p1"), "two attempts"),
        (lambda r: r[2]["payload"].update(attempt=9), "never started"),
        (lambda r: r[3]["payload"].update(outcome="fine"), "no such kind"),
        (lambda r: r[0]["payload"].update(claims="x"), "another scenario"),
        (lambda r: r[2].update(kind="odd"), "no such kind"),
        (lambda r: r[2]["payload"].pop("state"), "state"),
        (lambda r: r.insert(3, record("progress", attempt=1, next_index=4, state={})), "goes back"),
        (lambda r: r.insert(4, record("resumed", attempt=1, policy="p9")), "another policy"),
    ],
)
def test_a_rebuilt_chain_with_impossible_attempts_is_refused(
    tmp_path: Path, change: Any, message: str
) -> None:
    path = filled(tmp_path)
    rewritten(path, change)
    with pytest.raises(EvidenceError, match=message):
        opened(tmp_path)


def test_a_lost_or_unreadable_head_is_refused(tmp_path: Path) -> None:
    path = filled(tmp_path)
    head = path.with_name(path.name + ".head")
    kept = head.read_bytes()
    for data in (b"", b"{}", b"[1]", b'{"records":5,"digest":"sha256:0"}', b"\xff"):
        head.write_bytes(data)
        with pytest.raises(EvidenceError, match="cannot be trusted"):
            opened(tmp_path)
    head.unlink()
    with pytest.raises(EvidenceError, match="names 0 records"):
        opened(tmp_path)
    head.write_bytes(kept)
    assert len(opened(tmp_path).attempts()) == 2


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    filled(folder)
    return folder


@given(data=st.data())
@settings(
    deadline=None,
    derandomize=True,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_damage_is_refused_or_leaves_every_attempt_in_place(
    sample: Path, tmp_path: Path, data: st.DataObject
) -> None:
    folder = tmp_path / uuid.uuid4().hex
    shutil.copytree(sample, folder)
    path = next(p for p in (folder / "attempts").glob("*.jsonl") if not p.name.startswith("seeds"))
    content = bytearray(path.read_bytes())
    kind = data.draw(st.sampled_from(["flip", "cut", "insert", "append", "delete"]))
    where = data.draw(st.integers(0, len(content) - 1))
    extra = data.draw(st.binary(min_size=1, max_size=30))
    if kind == "flip":
        content[where] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        del content[where:]
    elif kind == "insert":
        content[where:where] = extra
    elif kind == "append":
        content += extra
    else:
        del content[where : where + len(extra)]
    path.write_bytes(bytes(content))
    try:
        ledger = opened(folder)
    except EvidenceError:
        assert kind != "append" or b"\n" in extra
        return
    assert [a.policy_digest for a in ledger.attempts()] == ["p1", "p2"]
    assert ledger.start("p3").number == 3


def many_attempts(folder: str, name: str, times: int) -> None:
    ledger = AttemptLedger("s", "c", folder=folder)
    for i in range(times):
        with ledger.start(f"{name}-{i}") as attempt:
            attempt.record(1, {"i": i})
        ledger.burn([hash(name) % 1000 + i])


def test_two_processes_at_once_never_share_a_number(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=many_attempts, args=(str(tmp_path), name, 15)) for name in "ab"
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    attempts = AttemptLedger("s", "c", folder=tmp_path).attempts()
    assert [a.number for a in attempts] == list(range(1, 31))
    assert {a.policy_digest for a in attempts} == {f"{w}-{i}" for w in "ab" for i in range(15)}
    assert all(a.next_index == 1 for a in attempts)


LOOP = """
import sys
from safegym.check.statistics import AttemptLedger
ledger = AttemptLedger("s", "c", folder=sys.argv[1])
print("ready", flush=True)
for i in range(10**6):
    attempt = ledger.start(f"{sys.argv[2]}-{i}")
    print(attempt.number, flush=True)
    attempt.record(1, {"filler": "x" * 20000})
    attempt.release()
"""


def killed_run(folder: Path, name: str, seconds: float) -> list[int]:
    with subprocess.Popen(
        [sys.executable, "-c", LOOP, str(folder), name], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        time.sleep(seconds)
        os.kill(run.pid, signal.SIGKILL)
        printed = run.stdout.read().splitlines(keepends=True)
    return [int(line) for line in printed if line.endswith("\n")]


def test_kill_nine_loses_no_attempt_that_was_acknowledged(tmp_path: Path) -> None:
    moments = random.Random(5)
    for life in range(4):
        acknowledged = killed_run(tmp_path, f"life{life}", moments.uniform(0.01, 0.3))
        numbers = [a.number for a in AttemptLedger("s", "c", folder=tmp_path).attempts()]
        assert numbers == list(range(1, len(numbers) + 1))
        assert set(acknowledged) <= set(numbers)
    assert AttemptLedger("s", "c", folder=tmp_path).start("after").number == len(numbers) + 1


def test_a_failed_write_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened(tmp_path)
    before = ledger.path.read_bytes()

    def full(file: int, data: bytes) -> int:
        if len(data) > 10:
            return original(file, data[:10])
        raise OSError(28, "No space left on device")

    original = os.write
    with monkeypatch.context() as patch:
        patch.setattr("safegym.check.statistics.journal.os.write", full)
        patch.setattr("safegym.check.statistics.journal.os.fsync", _no_space)
        with pytest.raises(EvidenceError, match="No space left"):
            ledger.start("p")
    assert ledger.path.read_bytes() == before
    assert ledger.start("p").number == 1


def _no_space(file: int) -> None:
    raise OSError(28, "No space left on device")


def test_threads_that_ask_at_once_miss_no_burnt_seed(tmp_path: Path) -> None:
    """A record taken in by two threads must not count twice, or the next one is never read."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        writer, reader = opened(tmp_path), opened(tmp_path)
        with ThreadPoolExecutor(8) as pool:
            for seed in range(60):
                writer.burn([seed])
                asked = list(pool.map(reader.is_burnt, [seed] * 8))
                assert all(asked)
    finally:
        sys.setswitchinterval(before)
