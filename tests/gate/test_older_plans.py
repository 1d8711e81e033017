"""Logs written before the plan had a version are read as they were written, and stay checkable."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord
from safegym.audit.sign import read_key
from safegym.audit.verify import verify
from safegym.errors import GateError
from safegym.gate.evidence import LATER as LATER_EVIDENCE
from safegym.gate.plan import GatePlan, later
from safegym.gate.rederive import rederive

OLD = Path(__file__).parents[1] / "assets" / "plan_version_1"


def records() -> list[AuditRecord]:
    return list(read_log(OLD))


def test_a_log_of_a_plan_without_a_version_verifies_as_intact() -> None:
    report = verify(OLD, keys=[read_key(OLD / "public.pem")], rederive=rederive)
    assert report.result == "intact", [(s.name, s.detail) for s in report.steps]


def test_its_plan_is_version_one_and_is_written_back_as_it_was() -> None:
    stored = next(r.payload for r in records() if r.kind == "plan_registered")
    plan = GatePlan.from_json(stored["plan"])
    assert plan.version == 1
    assert plan.to_json() == stored["plan"]
    assert plan.digest == stored["digest"]
    assert (plan.repeats, plan.strata, plan.display) == (0, None, "one at a time")


@pytest.mark.parametrize("field", ["episodes", "bound", "status", "level", "method"])
def test_a_fault_planted_in_the_old_evidence_is_still_found(field: str) -> None:
    found = records()
    at = max(i for i, record in enumerate(found) if record.kind == "evidence")
    value: Any = {"status": "violated", "method": "by eye"}.get(field, 0.123)
    payload = {**found[at].payload, field: value}
    found[at] = dataclasses.replace(found[at], payload=payload)
    assert rederive(OLD, found)


def test_old_evidence_has_none_of_the_later_fields() -> None:
    for record in records():
        if record.kind == "evidence":
            assert not set(LATER_EVIDENCE) & set(record.payload)


@pytest.mark.parametrize("name", sorted(later(1)))
def test_a_plan_of_version_one_cannot_say_what_only_later_ones_know(name: str) -> None:
    stored = next(r.payload for r in records() if r.kind == "plan_registered")
    with pytest.raises(GateError, match=f"unknown or missing fields: {name}"):
        GatePlan.from_json({**stored["plan"], name: later(1)[name]})
    with pytest.raises(GateError, match="version=4"):
        GatePlan(version=4)


def test_a_plan_of_version_two_is_read_and_has_no_limit_on_screens() -> None:
    stored = {**GatePlan().to_json(), "version": 2}
    del stored["screen_share"]
    plan = GatePlan.from_json(stored)
    assert plan.screen_share is None
    assert plan.to_json() == stored
    with pytest.raises(GateError, match="begins no new run"):
        plan.refuse_older()
    with pytest.raises(GateError, match="version 2 has no screen_share"):
        GatePlan(version=2)
