"""Every kind of claim through recorder, monitor, gate and log: shown, refuted, open, refused."""

from pathlib import Path

import pytest
from chain import still
from mixed import any_, duty, given, margin, mixed_spec

from safegym.audit.log import AuditLog
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.ledger import AttemptLedger
from safegym.check.statistics.levels import spent_level
from safegym.check.statistics.mean import MeanEProcess
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.gate.attempt import Attempt, Certifier
from safegym.gate.certify import log_decision
from safegym.gate.freezing import record_frozen
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import register
from safegym.gate.setting import make_setting
from safegym.scenario.spec import ScenarioSpec


def attempted(folder: Path, spec: ScenarioSpec, plan: GatePlan | None = None) -> Attempt:
    """One attempt with its whole audit trail, which must verify as intact."""
    setting = make_setting(spec, Gate(plan=plan or GatePlan(cap=1200)))
    ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=folder / "home")
    policy = still("candidate")
    with AuditLog.create(folder / "run") as log:
        register(log, setting)
        record_frozen(log, policy, 0)
        attempt = Certifier(setting, ledger, log, folder / "run" / "traces").attempt(policy)
        log_decision(log, attempt)
        log.close(attempt.outcome)
    report = verify(folder / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact", [(s.name, s.detail) for s in report.steps]
    return attempt


def test_a_conditional_claim_is_certified_on_the_episodes_whose_condition_held(
    tmp_path: Path,
) -> None:
    attempt = attempted(tmp_path, mixed_spec(given(0.05), calm=0.9))
    (evidence,) = attempt.evidence
    assert (attempt.outcome, evidence.status) == ("certified", "satisfied")
    needed = EProcess(evidence.threshold or 0, spent_level(0.05, 1)).first_clean
    assert (evidence.episodes, evidence.violations) == (needed, 0)
    assert evidence.skipped + evidence.episodes == attempt.episodes
    assert 0.3 * attempt.episodes < evidence.skipped < 0.7 * attempt.episodes


def test_a_conditional_claim_is_refuted_by_what_happens_under_its_condition(tmp_path: Path) -> None:
    attempt = attempted(tmp_path, mixed_spec(given(0.05), windy=0.5))
    (evidence,) = attempt.evidence
    assert (attempt.outcome, evidence.status, evidence.side) == ("refuted", "violated", "lower")
    assert evidence.bound is not None
    assert evidence.bound > 0.05
    assert "under the condition" in attempt.reasons[0]


def test_a_condition_that_never_holds_is_never_satisfied(tmp_path: Path) -> None:
    from safegym.gate.strata import Strata, Stratum

    calm = Strata((Stratum("calm", "1", parameters={"wind": [0.0, 4.0]}),))
    attempt = attempted(tmp_path, mixed_spec(given(0.05)), GatePlan(cap=200, strata=calm))
    (evidence,) = attempt.evidence
    assert (attempt.outcome, evidence.status) == ("futile", "inconclusive")
    assert (evidence.episodes, evidence.bound) == (0, 1.0)
    assert evidence.skipped == attempt.episodes
    assert "the condition can hold in" in attempt.reasons[0]


def test_a_quantile_of_the_margin_is_certified_or_refuted_on_the_tightened_property(
    tmp_path: Path,
) -> None:
    shown = attempted(tmp_path / "shown", mixed_spec(margin(0.1, 0.2), low=0.25))
    (evidence,) = shown.evidence
    assert (shown.outcome, evidence.threshold, evidence.side) == ("certified", 0.1, "upper")
    assert evidence.bound is not None
    assert evidence.bound < 0.1
    refuted = attempted(tmp_path / "refuted", mixed_spec(margin(0.1, 0.2), low=-1.0))
    assert (refuted.outcome, refuted.evidence[0].status) == ("refuted", "violated")
    assert "missing the margin" in refuted.reasons[0]


def test_a_mean_is_certified_where_its_betting_process_crosses(tmp_path: Path) -> None:
    attempt = attempted(tmp_path, mixed_spec(duty(0.8), good=9))
    (evidence,) = attempt.evidence
    assert (attempt.outcome, evidence.status, evidence.side) == ("certified", "satisfied", "lower")
    assert evidence.average is not None
    low, high = evidence.average
    assert 0.8 < low <= high
    assert abs(low - 0.95) < 0.02
    assert evidence.bound is not None
    assert 0.8 < evidence.bound < low
    assert (evidence.violations, evidence.undecided) == (0, 0)


def test_a_mean_is_refuted_with_a_limit_on_the_other_side(tmp_path: Path) -> None:
    attempt = attempted(tmp_path, mixed_spec(duty(0.8), good=0))
    (evidence,) = attempt.evidence
    assert (attempt.outcome, evidence.status, evidence.side) == ("refuted", "violated", "upper")
    assert evidence.bound == 0.8  # the refuting process has shown that, and no more
    assert "mean shown to be below 0.8" in attempt.reasons[0]


def test_a_mean_too_near_its_threshold_ends_futile_with_the_reason(tmp_path: Path) -> None:
    attempt = attempted(tmp_path, mixed_spec(duty(0.945), good=9), GatePlan(cap=300))
    assert attempt.outcome == "futile"
    assert "the best share in all the rest up to 300 would not show it" in attempt.reasons[0]
    assert attempt.evidence[0].status == "inconclusive"


def test_a_mean_that_the_futility_stop_gave_up_could_not_have_been_shown(tmp_path: Path) -> None:
    """Whatever had come: the best share in every episode up to the cap does not cross."""
    setting = make_setting(mixed_spec(duty(0.945), good=9), Gate(plan=GatePlan(cap=300)))
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path)
    attempt = Certifier(setting, ledger).attempt(still("near"))
    assert attempt.outcome == "futile"
    seeds = setting.seeds(attempt.policy_digest, "certify", 1)
    process = MeanEProcess(0.945, spent_level(0.05, 1), claim="above")
    with setting.campaign(still("near"), seeds, episodes=attempt.episodes) as campaign:
        for index, trace in campaign:
            share = setting.judged(index, trace).readings[0].share
            assert share is not None
            process.update(*share)
    for _ in range(300 - attempt.episodes):
        process.update(1.0)
    assert process.decision is None


def test_all_kinds_together_are_released_jointly_and_invariants_stay_observed(
    tmp_path: Path,
) -> None:
    from mixed import WIND

    never = Claim("m.never", always(WIND <= 10.0))
    claims = (any_(0.1), given(0.1), margin(0.1, 0.2), duty(0.8), never)
    attempt = attempted(tmp_path, mixed_spec(*claims, low=0.3))
    assert attempt.outcome == "certified"
    kinds = {item.claim_id: (item.kind, item.status) for item in attempt.evidence}
    assert kinds.pop("m.never") == ("observed", "satisfied")
    assert set(kinds.values()) == {("estimated", "satisfied")}
    assert all("all 4 claims jointly" in e.joint for e in attempt.evidence if e.level is not None)


def test_claims_that_cross_alone_without_a_release_stand_one_at_a_time(tmp_path: Path) -> None:
    attempt = attempted(tmp_path, mixed_spec(any_(0.02), duty(0.7), windy=0.4, calm=0.4))
    assert attempt.outcome == "refuted"
    for item in attempt.evidence:
        assert item.joint.startswith("nothing is released: one at a time, jointly >= 93.9")


def test_under_holm_a_claim_that_only_just_crossed_is_not_called_shown(tmp_path: Path) -> None:
    spec = mixed_spec(any_(0.08), duty(0.75), given(0.01), windy=0.06, calm=0.0)
    alone = attempted(tmp_path / "alone", spec, GatePlan(cap=400))
    family = attempted(tmp_path / "holm", spec, GatePlan(cap=400, display="holm"))
    assert alone.outcome == family.outcome != "certified"
    assert "(Holm)" in family.evidence[0].joint
    for one, other in zip(alone.evidence, family.evidence, strict=True):
        if other.status == "satisfied":
            assert one.status == "satisfied"
        elif one.status == "satisfied":
            assert "Holm" in other.method
            assert other.bound is None


@pytest.mark.parametrize(("good", "status"), [(9, "satisfied"), (0, "violated")])
def test_a_bound_on_a_mean_from_above_is_counted_the_other_way_round(
    tmp_path: Path, good: int, status: str
) -> None:
    from mixed import DUTY

    from safegym.formula.build import fraction, mean

    idle = Claim("m.idle", mean(fraction(DUTY < 0.5)) < 0.2, confidence=0.95)
    attempt = attempted(tmp_path, mixed_spec(idle, good=good))
    assert attempt.evidence[0].status == status
