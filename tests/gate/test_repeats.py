"""Before anything is certified, a sample of its episodes is run again and must not differ."""

import dataclasses
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from chain import Chain, chain_spec, read, still

from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import EvidenceError, GateError
from safegym.gate.attempt import Attempt, Certifier
from safegym.gate.certify import certify, log_decision
from safegym.gate.freezing import record_frozen
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import register
from safegym.gate.repeats import chosen
from safegym.gate.setting import make_setting
from safegym.scenario.spec import ScenarioSpec


class Drifting(Chain):
    """Its hazard has a part that no seed decides."""

    def __init__(self) -> None:
        super().__init__(0.0, (5, 5))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        found = super().step(action)
        if self.left == 2:
            self.hazard = random.random() / 4
        return found


def drifting_spec() -> ScenarioSpec:
    return dataclasses.replace(
        chain_spec(0.0, (5, 5)), name="test/drifting-v0", make_env=Drifting, read_signals=read
    )


def attempted(folder: Path, spec: ScenarioSpec) -> Attempt:
    setting = make_setting(spec, Gate(plan=GatePlan(cap=600)))
    ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=folder / "home")
    with AuditLog.create(folder / "run") as log:
        register(log, setting)
        record_frozen(log, still("p"), 0)
        attempt = Certifier(setting, ledger, log, folder / "run" / "traces").attempt(still("p"))
        log_decision(log, attempt)
        log.close(attempt.outcome)
    return attempt


def test_episodes_that_do_not_repeat_certify_nothing_and_say_where_they_part(
    tmp_path: Path,
) -> None:
    attempt = attempted(tmp_path, drifting_spec())
    assert attempt.outcome == "unrepeatable"
    assert "episode 0 (seed " in attempt.reasons[0]
    assert "from step 3 on, hazard" in attempt.reasons[0]
    (evidence,) = attempt.evidence
    assert (evidence.status, evidence.bound, evidence.side) == ("inconclusive", None, None)
    assert "came out otherwise when run again" in evidence.method
    kinds = [record.kind for record in read_log(tmp_path / "run")]
    assert "promotion" not in kinds
    report = verify(tmp_path / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact", [(s.name, s.detail) for s in report.steps]


def test_an_unrepeatable_attempt_is_no_second_draw_when_it_is_tried_again(tmp_path: Path) -> None:
    setting = make_setting(drifting_spec(), Gate(plan=GatePlan(cap=600)))
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path)
    certifier = Certifier(setting, ledger)
    assert certifier.attempt(still("p")).outcome == "unrepeatable"
    with pytest.raises(EvidenceError, match=r"now come out otherwise.*nothing is certified"):
        certifier.attempt(still("p"))
    assert [item.number for item in ledger.attempts()] == [1]


def test_a_certified_attempt_logs_which_episodes_were_run_again(tmp_path: Path) -> None:
    attempt = attempted(tmp_path, chain_spec(0.0, (2, 2)))
    assert attempt.outcome == "certified"
    (closed,) = [r.payload for r in read_log(tmp_path / "run") if r.kind == "attempt_closed"]
    indices = closed["repeated"]["indices"]
    assert closed["repeated"]["differences"] == []
    assert len(indices) == 4  # 377 episodes: one in a hundred, rounded up
    assert (indices[0], indices[-1]) == (0, attempt.episodes - 1)


@pytest.mark.parametrize(
    ("episodes", "most", "number"),
    [(0, 20, 0), (1, 20, 1), (2, 20, 2), (3, 20, 3), (299, 20, 3), (377, 20, 4), (9999, 20, 20)],
)
def test_one_in_a_hundred_at_least_three_and_at_most_the_plan_says(
    episodes: int, most: int, number: int
) -> None:
    found = chosen(lambda index: 7 * index + 1, episodes, most)
    assert len(found) == len(set(found)) == number
    assert found == tuple(sorted(found))
    if episodes:
        assert (found[0], found[-1]) == (0, episodes - 1)


def test_which_ones_are_run_again_follows_from_the_seeds() -> None:
    found = {chosen(partial(int.__add__, shift), 1000, 20) for shift in range(0, 50_000, 1000)}
    assert len(found) == 50


def other_sample(closed: dict[str, Any]) -> None:
    closed["repeated"]["indices"][1] += 1


def no_sample(closed: dict[str, Any]) -> None:
    closed["repeated"] = {"indices": [], "differences": []}


def left_out(closed: dict[str, Any]) -> None:
    del closed["repeated"]


def a_difference(closed: dict[str, Any]) -> None:
    closed["repeated"]["differences"] = [
        {"index": 0, "seed": "1", "step": 0, "what": "x", "first": 0.0, "second": 1.0}
    ]


@pytest.mark.parametrize("plant", [other_sample, no_sample, left_out, a_difference])
def test_a_false_word_on_what_was_run_again_is_found(plant: Any, tmp_path: Path) -> None:
    attempted(tmp_path, chain_spec(0.0, (2, 2)))
    run = tmp_path / "run"
    records = list(read_log(run))
    at = next(i for i, item in enumerate(records) if item.kind == "attempt_closed")
    payload = {**records[at].payload, "repeated": {**records[at].payload["repeated"]}}
    payload["repeated"]["indices"] = list(payload["repeated"]["indices"])
    plant(payload)
    records[at] = dataclasses.replace(records[at], payload=payload)
    assert rederive(run, records)


def test_hiding_the_difference_of_an_unrepeatable_attempt_is_found(tmp_path: Path) -> None:
    attempted(tmp_path, drifting_spec())
    run = tmp_path / "run"
    records = list(read_log(run))
    at = next(i for i, item in enumerate(records) if item.kind == "attempt_closed")
    kept = records[at].payload["repeated"]["indices"]
    fields = {"outcome": "certified", "reasons": []}
    payload = {**records[at].payload, **fields, "repeated": {"indices": kept, "differences": []}}
    records[at] = dataclasses.replace(records[at], payload=payload)
    assert any("repeat" in item.detail for item in rederive(run, records))


class Endless(Chain):
    """Never terminates and never truncates."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._observation, 0.0, False, False, {}


def test_an_environment_that_never_ends_is_cut_at_its_horizon_and_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path))
    spec = dataclasses.replace(
        chain_spec(0.0, (3, 3)), name="test/endless-v0", make_env=partial(Endless, 0.0, (3, 3))
    )
    setting = make_setting(spec, Gate())
    seeds = setting.seeds("x", "gate", 0)
    with setting.campaign(still("p"), seeds, episodes=1) as campaign:
        (_, trace) = next(iter(campaign))
    assert (trace.end.kind, len(trace.rewards)) == ("horizon", spec.horizon)
    evidence = certify(spec, still("p"), budget=400)
    assert [item.status for item in evidence] == ["satisfied"]


def test_fewer_than_three_repeats_are_refused() -> None:
    with pytest.raises(GateError, match="at least 3 episodes"):
        GatePlan(repeats=2)
