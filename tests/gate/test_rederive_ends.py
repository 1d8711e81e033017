"""Faults planted in how an attempt ends: what must stand in a log before a release."""

import copy
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mixed import any_, given, mixed_spec
from test_gate_strata import attempted, mix

from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord
from safegym.gate.evidence import NOT_REPEATED
from safegym.gate.plan import GatePlan
from safegym.gate.rederive import rederive

Records = list[AuditRecord]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ends")
    attempt = attempted(
        folder, mixed_spec(any_(0.2), given(0.3)), GatePlan(cap=300, strata=mix("random"))
    )
    assert attempt.outcome == "certified"
    return folder / "run"


def at(records: Records, kind: str) -> int:
    return next(i for i, record in enumerate(records) if record.kind == kind)


def payload_of(records: Records, kind: str) -> dict[str, Any]:
    place = at(records, kind)
    mine = copy.deepcopy(dict(records[place].payload))
    records[place] = dataclasses.replace(records[place], payload=mine)
    return mine


def no_end(records: Records) -> None:
    del records[at(records, "attempt_closed")]


def an_abandoned_end(records: Records) -> None:
    payload_of(records, "attempt_closed")["outcome"] = "abandoned"


def two_ends(records: Records) -> None:
    records.insert(at(records, "attempt_closed"), records[at(records, "attempt_closed")])


def evidence_left_out(records: Records) -> None:
    del records[at(records, "evidence")]


def evidence_told_twice(records: Records) -> None:
    records.insert(at(records, "evidence"), records[at(records, "evidence")])


def evidence_after_the_end(records: Records) -> None:
    moved = records.pop(at(records, "evidence"))
    records.insert(at(records, "attempt_closed") + 1, moved)


def one_claim_withdrawn_alone(records: Records) -> None:
    found = payload_of(records, "evidence")
    found |= {"status": "inconclusive", "bound": None, "side": None}
    found["method"] += NOT_REPEATED


def another_mix_assumed(records: Records) -> None:
    told = payload_of(records, "evidence")
    told["assumptions"] = [line.replace("7/10", "1/10") for line in told["assumptions"]]


def one_more_assumption(records: Records) -> None:
    told = payload_of(records, "evidence")
    told["assumptions"] = [*told["assumptions"], "any weather"]


def another_meaning(records: Records) -> None:
    payload_of(records, "plan_registered")["meaning"] = "the policy is safe"


def another_scenario_judged(records: Records) -> None:
    payload_of(records, "verdict")["scenario"] = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        (no_end, "ended nowhere in this log"),
        (an_abandoned_end, "was abandoned, and has evidence"),
        (two_ends, "ends a second time"),
        (evidence_left_out, "ends without evidence on m.any"),
        (evidence_told_twice, "a second evidence on m.any"),
        (evidence_after_the_end, "after the end of attempt 1"),
        (one_claim_withdrawn_alone, "differ on whether its episodes repeat"),
        (another_mix_assumed, "assumption 1 comes out as"),
        (one_more_assumption, "nothing in the log gives the assumption 'any weather'"),
        (another_meaning, "meaning comes out as"),
        (another_scenario_judged, "scenario comes out as"),
    ],
)
def test_a_planted_fault_is_found(run: Path, plant: Callable[[Records], None], words: str) -> None:
    records = list(read_log(run))
    plant(records)
    found = [mismatch.detail for mismatch in rederive(run, records)]
    assert any(words in detail for detail in found), found


def test_the_log_itself_derives_again(run: Path) -> None:
    assert rederive(run, list(read_log(run))) == []
