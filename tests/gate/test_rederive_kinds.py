"""Faults planted in what the newer kinds of claim add to a log, each found again."""

import copy
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chain import still
from mixed import duty, given, mixed_spec

from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord
from safegym.check.statistics.ledger import AttemptLedger
from safegym.gate.attempt import Certifier
from safegym.gate.certify import log_decision
from safegym.gate.freezing import record_frozen
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import register
from safegym.gate.screen import Screener
from safegym.gate.setting import make_setting

Records = list[AuditRecord]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    spec = mixed_spec(given(0.2), duty(0.7), calm=0.5)
    setting = make_setting(spec, Gate(plan=GatePlan(cap=300, screen_episodes=20)))
    ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=folder / "home")
    with AuditLog.create(folder / "run") as log:
        register(log, setting)
        record_frozen(log, still("p"), 1)
        Screener(setting, log, folder / "run" / "traces").screen(
            still("p"), 1, watch_degradation=True
        )
        attempt = Certifier(setting, ledger, log, folder / "run" / "traces").attempt(still("p"))
        log_decision(log, attempt)
        log.close(attempt.outcome)
    assert attempt.outcome == "certified"
    assert rederive(folder / "run", list(read_log(folder / "run"))) == []
    return folder / "run"


def last(records: Records, kind: str, **wanted: Any) -> dict[str, Any]:
    """The last payload of that kind, made open to change."""
    for at in range(len(records) - 1, -1, -1):
        payload = records[at].payload
        if records[at].kind == kind and all(payload.get(n) == v for n, v in wanted.items()):
            mine = copy.deepcopy(dict(payload))
            records[at] = dataclasses.replace(records[at], payload=mine)
            return mine
    raise AssertionError(kind)


def count_a_skipped_episode(records: Records) -> None:
    verdicts = last(records, "verdict")["verdicts"]
    next(v for v in verdicts if v["condition"] == "violated")["condition"] = "satisfied"


def skip_an_episode_that_counts(records: Records) -> None:
    verdicts = last(records, "verdict")["verdicts"]
    next(v for v in verdicts if v["condition"] == "satisfied")["condition"] = "violated"


def leave_out_the_condition(records: Records) -> None:
    del last(records, "verdict")["verdicts"][0]["condition"]


def raise_a_share(records: Records) -> None:
    last(records, "measurement")["measured"][0]["lo"] = 0.123


def drop_a_measurement(records: Records) -> None:
    last(records, "measurement")["measured"].pop()


def move_skipped_episodes_into_the_count(records: Records) -> None:
    payload = last(records, "evidence", claim_id="m.given")
    payload["episodes"] += payload["skipped"]
    payload["skipped"] = 0


def report_a_better_mean(records: Records) -> None:
    last(records, "evidence", claim_id="m.duty")["average"] = [1.0, 1.0]


def tighten_the_limit_of_the_mean(records: Records) -> None:
    last(records, "evidence", claim_id="m.duty")["bound"] = 0.94


def call_it_jointly_shown(records: Records) -> None:
    last(records, "evidence", claim_id="m.duty")["joint"] = "all claims proved"


def skip_in_the_screen(records: Records) -> None:
    last(records, "evidence", claim_id="m.given", attempt=0)["skipped"] = 0


def better_mean_in_the_screen(records: Records) -> None:
    last(records, "evidence", claim_id="m.duty", attempt=0)["average"] = [1.0, 1.0]


def other_level_in_the_plan(records: Records) -> None:
    last(records, "plan_registered")["obligations"][0]["levels"][1] = 0.05


def other_seed_rule(records: Records) -> None:
    last(records, "plan_registered")["seeds"]["rule"] = "seed + index"


def fewer_repeats_in_the_plan(records: Records) -> None:
    last(records, "plan_registered")["repeats"]["at_most"] = 3


def other_strata_in_the_plan(records: Records) -> None:
    last(records, "plan_registered")["strata"] = {"mode": "random", "strata": []}


PLANTS: list[Callable[[Records], None]] = [
    count_a_skipped_episode,
    skip_an_episode_that_counts,
    leave_out_the_condition,
    raise_a_share,
    drop_a_measurement,
    move_skipped_episodes_into_the_count,
    report_a_better_mean,
    tighten_the_limit_of_the_mean,
    call_it_jointly_shown,
    skip_in_the_screen,
    better_mean_in_the_screen,
    other_level_in_the_plan,
    other_seed_rule,
    fewer_repeats_in_the_plan,
    other_strata_in_the_plan,
]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__.replace("_", " "))
def test_a_fault_in_the_record_of_a_newer_kind_is_found(
    run: Path, plant: Callable[[Records], None]
) -> None:
    records = list(read_log(run))
    plant(records)
    assert rederive(run, records)


def test_a_measurement_in_the_place_of_a_verdict_is_found(run: Path) -> None:
    records = list(read_log(run))
    at = next(i for i, r in enumerate(records) if r.kind == "verdict")
    measured = [
        {"trace": v["trace"], "lo": 1.0, "hi": 1.0} for v in records[at].payload["verdicts"]
    ]
    payload = {k: v for k, v in records[at].payload.items() if k != "verdicts"}
    records[at] = dataclasses.replace(
        records[at], kind="measurement", payload={**payload, "measured": measured}
    )
    assert any("takes verdict records" in item.detail for item in rederive(run, records))
