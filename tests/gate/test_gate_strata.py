"""Declared mixes: drawn fairly, part of plan and digest, and checked again from the traces."""

import copy
import dataclasses
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from chain import still
from mixed import any_, duty, given, mixed_spec

from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.ledger import AttemptLedger
from safegym.check.statistics.levels import spent_level
from safegym.errors import GateError
from safegym.gate.attempt import Attempt, Certifier
from safegym.gate.certify import log_decision
from safegym.gate.freezing import record_frozen
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import register
from safegym.gate.setting import make_setting
from safegym.gate.strata import Mode, Strata, Stratum
from safegym.scenario.record import record
from safegym.scenario.spec import ScenarioSpec

CALM = Stratum("calm", "7/10", parameters={"wind": [0.0, 4.0]})
WINDY = Stratum("windy", "3/10", parameters={"wind": [6.0, 10.0]})


def mix(mode: Mode = "random") -> Strata:
    return Strata((CALM, WINDY), mode)


def attempted(folder: Path, spec: ScenarioSpec, plan: GatePlan, name: str = "one") -> Attempt:
    setting = make_setting(spec, Gate(plan=plan))
    ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=folder / "home")
    with AuditLog.create(folder / "run") as log:
        register(log, setting)
        record_frozen(log, still(name), 0)
        attempt = Certifier(setting, ledger, log, folder / "run" / "traces").attempt(still(name))
        log_decision(log, attempt)
        log.close(attempt.outcome)
    return attempt


@pytest.mark.parametrize(
    ("strata", "words"),
    [
        (lambda: Strata((CALM, Stratum("windy", "2/10"))), r'7/10 \+ 2/10 = 9/10; .* "3/10" for w'),
        (lambda: Strata((CALM, CALM)), "distinct names"),
        (lambda: Strata(()), "distinct names"),
        (lambda: Strata((CALM, WINDY), "pooled"), "mode='random' or 'rounds'"),  # type: ignore[arg-type]
        (lambda: Stratum("x", 0.7), "write it as text, which is exact"),  # type: ignore[arg-type]
        (lambda: Stratum("x", "7/0"), "write it as text"),
        (lambda: Stratum("x", "0"), "leave out a stratum that never occurs"),
        (lambda: Stratum("x", "3/2"), r"not in \(0, 1\]"),
        (lambda: Stratum("x", "1", {"wind": [2.0, 2.0]}), r"empty range .* faults="),
        (lambda: Stratum("x", "1", {"wind": [3.0]}), r"write parameters={\"wind\""),
        (lambda: Stratum("x", "1", {"wind": [0.0, math.inf]}), "no finite number"),
        (lambda: Stratum("x", "1", {}, {"stuck": [0, 1]}), r"finite number: .* faults={\"stuck\""),  # type: ignore[dict-item]
        (lambda: Stratum("x", "1", {"wind": [0, 1]}, {"wind": 1.0}), "both as a range and as a"),
        (lambda: Strata((Stratum("x", "1/1000003"), Stratum("y", "1000002/1000003"))), "7/10 and"),
    ],
)
def test_bad_strata_are_refused_with_the_line_that_works(strata: Any, words: str) -> None:
    with pytest.raises(GateError, match=words):
        strata()


@pytest.mark.parametrize(
    ("stratum", "words"),
    [
        (Stratum("x", "1", {"wnd": [0, 1]}), r"does not declare; it has stuck, wind"),
        (Stratum("x", "1", {"wind": [0, 11]}), r"outside the declared \[0, 10\]"),
        (Stratum("x", "1", faults={"stuck": 2.0}), r"outside the declared \[0, 1\]"),
    ],
)
def test_what_the_scenario_does_not_declare_is_refused(stratum: Stratum, words: str) -> None:
    with pytest.raises(GateError, match=words):
        make_setting(mixed_spec(any_(0.1)), Gate(plan=GatePlan(strata=Strata((stratum,)))))


def test_a_round_longer_than_the_cap_is_refused() -> None:
    long_ = Strata((Stratum("a", "1/997"), Stratum("b", "996/997")), "rounds")
    with pytest.raises(GateError, match="GatePlan\\(cap=997\\)"):
        GatePlan(cap=500, strata=long_)


def test_a_mean_cannot_be_looked_at_between_rounds_only() -> None:
    with pytest.raises(GateError, match=r'Strata\(\.\.\., mode="random"\)'):
        make_setting(mixed_spec(duty(0.5)), Gate(plan=GatePlan(strata=mix("rounds"))))


def test_random_strata_have_their_shares_and_draw_inside_their_ranges() -> None:
    strata, number = mix(), 20_000
    found = Counter(strata.of(index, 1000 + index).name for index in range(number))
    spread = 4 * math.sqrt(number * 0.7 * 0.3)
    assert abs(found["calm"] - 0.7 * number) < spread
    drawn = [CALM.options(seed)["parameters"]["wind"] for seed in range(5_000)]
    assert min(drawn) >= 0.0
    assert max(drawn) <= 4.0
    assert abs(sum(drawn) / len(drawn) - 2.0) < 4 * (4.0 / math.sqrt(12 * len(drawn)))


def test_the_stratum_of_a_seed_does_not_depend_on_the_index_and_never_changes() -> None:
    assert len({mix().of(index, 77).name for index in range(10)}) == 1
    assert [mix().of(0, seed).name[0] for seed in range(12)] == list("cwwccwcwwwcw")
    assert CALM.options(5) == {"parameters": {"wind": pytest.approx(0.3222890936461984, abs=0)}}


def test_every_complete_round_has_each_stratum_at_its_exact_share() -> None:
    strata = mix("rounds")
    assert (strata.round, strata.look) == (10, 10)
    for start in range(0, 100, 10):
        names = Counter(strata.of(index, 0).name for index in range(start, start + 10))
        assert names == {"calm": 7, "windy": 3}


def test_a_decimal_weight_is_exact() -> None:
    assert Stratum("x", "0.1").share == Fraction(1, 10)
    Strata((Stratum("x", "0.1"), Stratum("y", "0.9")))


@pytest.mark.parametrize("mode", ["random", "rounds"])
def test_a_mix_is_certified_with_its_counts_by_stratum_and_derives_again(
    mode: Mode, tmp_path: Path
) -> None:
    spec = mixed_spec(any_(0.1), windy=0.05)
    attempt = attempted(tmp_path, spec, GatePlan(cap=1000, strata=mix(mode)))
    (evidence,) = attempt.evidence
    assert attempt.outcome == "certified"
    assert [row["name"] for row in evidence.strata] == ["calm", "windy"]
    assert sum(row["episodes"] for row in evidence.strata) == evidence.episodes
    assert evidence.strata[0]["violations"] == 0
    assert any("strata" in item and "wind in [6, 10]" in item for item in evidence.assumptions)
    if mode == "rounds":
        assert evidence.episodes % 10 == 0
        assert [row["episodes"] * 10 for row in evidence.strata] == [
            7 * evidence.episodes,
            3 * evidence.episodes,
        ]
        assert "complete rounds" in evidence.method
    report = verify(tmp_path / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact", [(s.name, s.detail) for s in report.steps]


def test_rounds_decide_at_the_first_round_end_at_which_the_process_has_crossed(
    tmp_path: Path,
) -> None:
    spec = mixed_spec(any_(0.03))
    attempt = attempted(tmp_path, spec, GatePlan(cap=1000, strata=mix("rounds")))
    clean = EProcess(0.03, spent_level(0.05, 1)).first_clean
    assert attempt.episodes == -(-clean // 10) * 10


def test_a_conditional_claim_in_rounds_skips_whole_strata_soundly(tmp_path: Path) -> None:
    spec = mixed_spec(given(0.1), calm=1.0)
    attempt = attempted(tmp_path, spec, GatePlan(cap=1000, strata=mix("rounds")))
    (evidence,) = attempt.evidence
    assert attempt.outcome == "certified"
    assert evidence.skipped * 3 == evidence.episodes * 7
    report = verify(tmp_path / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact"


def test_a_declared_fault_reaches_every_episode_of_its_stratum(tmp_path: Path) -> None:
    broken = Strata((Stratum("whole", "9/10"), Stratum("stuck", "1/10", faults={"stuck": 1.0})))
    attempt = attempted(tmp_path, mixed_spec(any_(0.2)), GatePlan(cap=400, strata=broken))
    rows = {row["name"]: row for row in attempt.evidence[0].strata}
    assert rows["whole"]["violations"] == 0
    assert rows["stuck"]["violations"] == rows["stuck"]["episodes"] > 0


def test_another_mix_is_another_attempt_on_the_same_ledger(tmp_path: Path) -> None:
    numbers = []
    for strata in (None, mix(), mix("rounds"), mix()):
        setting = make_setting(mixed_spec(any_(0.1)), Gate(plan=GatePlan(strata=strata)))
        ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path)
        numbers.append(Certifier(setting, ledger).attempt(still("one")).number)
    assert numbers == [1, 2, 3, 2]


def test_a_failing_episode_of_a_stratum_carries_its_options_and_can_be_run_again(
    tmp_path: Path,
) -> None:
    spec = mixed_spec(any_(0.5), windy=0.6)
    attempt = attempted(tmp_path, spec, GatePlan(cap=300, strata=mix()))
    assert attempt.failing
    failed = attempt.failing[0]
    again = record(spec, still("one"), failed.trace.seed, options=failed.options)
    assert again.digest == failed.trace.digest


def planted(run: Path, plant: Any) -> bool:
    records = list(read_log(run))
    for at, item in enumerate(records):
        payload = plant(item.kind, copy.deepcopy(item.payload))
        if payload is not None:
            records[at] = dataclasses.replace(item, payload=payload)
            break
    else:
        raise AssertionError("nothing was planted")
    return bool(rederive(run, records))


def other_weights(kind: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    if kind != "plan_registered":
        return None
    for item, weight in zip(payload["plan"]["strata"]["strata"], ("1/2", "1/2"), strict=True):
        item["weight"] = weight
    payload["digest"] = GatePlan.from_json(payload["plan"]).digest
    return payload


def other_counts(kind: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    if kind != "evidence":
        return None
    payload["strata"][0]["episodes"] += 1
    return payload


def no_strata(kind: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    if kind != "evidence":
        return None
    payload["strata"] = []
    return payload


@pytest.mark.parametrize("plant", [other_weights, other_counts, no_strata])
def test_a_fault_planted_in_the_strata_of_a_log_is_found(plant: Any, tmp_path: Path) -> None:
    attempted(tmp_path, mixed_spec(any_(0.2)), GatePlan(cap=200, strata=mix()))
    assert rederive(tmp_path / "run", list(read_log(tmp_path / "run"))) == []
    assert planted(tmp_path / "run", plant)


def test_episodes_that_ran_outside_of_their_stratum_are_found(tmp_path: Path) -> None:
    """The log of a run without strata, with the plan of a mix put in its place."""
    plain = attempted(tmp_path, mixed_spec(any_(0.2)), GatePlan(cap=200))
    assert plain.outcome == "certified"
    mixed = GatePlan(cap=200, strata=mix())

    def claim_a_mix(kind: str, payload: dict[str, Any]) -> dict[str, Any] | None:
        if kind != "plan_registered":
            return None
        return {**payload, "plan": mixed.to_json(), "digest": mixed.digest}

    run = tmp_path / "run"
    records = list(read_log(run))
    at = next(i for i, item in enumerate(records) if item.kind == "plan_registered")
    payload = claim_a_mix("plan_registered", dict(records[at].payload))
    records[at] = dataclasses.replace(records[at], payload=payload)
    found = [item.detail for item in rederive(run, records)]
    assert any("belongs to stratum" in detail and "wind =" in detail for detail in found)
