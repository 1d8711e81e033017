"""What a certification is said to take, against what it then takes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chain import chain_spec, still
from mixed import any_, duty, given, margin, mixed_spec

from safegym.audit.log import AuditLog
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.ledger import AttemptLedger
from safegym.check.statistics.levels import claim_level, spent_level
from safegym.errors import GateError
from safegym.gate.attempt import Certifier
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.planning import plan_attempt
from safegym.gate.registration import register
from safegym.gate.setting import make_setting
from safegym.gate.strata import Strata, Stratum


def test_a_plan_says_the_number_level_and_clean_episodes_of_the_attempt_that_follows(
    tmp_path: Path,
) -> None:
    setting = make_setting(
        mixed_spec(any_(0.1), given(0.2), margin(0.1, 0.1), duty(0.7), low=0.2, good=10),
        Gate(plan=GatePlan(cap=400)),
    )
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path)
    Certifier(setting, ledger).attempt(still("before"))
    planned = plan_attempt(setting, ledger, assumed=(0.01,))
    assert len(ledger.attempts()) == 1
    attempt = Certifier(setting, ledger).attempt(still("after"))
    assert planned.attempt == attempt.number == 2
    for claim, shown in zip(planned.claims, attempt.evidence, strict=True):
        assert claim.level == shown.level
    assert planned.clean <= attempt.episodes
    assert [len(claim.chances) for claim in planned.claims] == [1, 1, 1, 0]


def test_the_plan_of_a_policy_that_was_tried_keeps_its_number(tmp_path: Path) -> None:
    setting = make_setting(chain_spec(0.0), Gate())
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path)
    for name in ("one", "two"):
        Certifier(setting, ledger).attempt(still(name))
    planned = plan_attempt(setting, ledger, policy=still("one"))
    assert planned.attempt == 1
    assert planned.rate is not None
    assert planned.rate > 0
    assert planned.minutes(60 * planned.rate) == pytest.approx(1.0)
    assert len(ledger.attempts()) == 2


def test_the_chance_to_succeed_is_that_of_the_process_itself(tmp_path: Path) -> None:
    """Against plain simulation of the e-process, with limits from the repeat count."""
    setting = make_setting(mixed_spec(any_(0.1)), Gate(plan=GatePlan(cap=120)))
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path)
    (claim,) = plan_attempt(setting, ledger, assumed=(0.03,)).claims
    (chance,) = claim.chances
    draw, repeats, shown, episodes = np.random.default_rng(5), 1500, 0, 0
    for _ in range(repeats):
        process = EProcess(0.1, spent_level(0.05, 1))
        for fails in draw.random(120) < 0.03:
            if process.update(violations=int(fails)) is not None:
                break
        shown += process.decision == "below"
        episodes += process.episodes
    spread = 4 * (chance.shown * (1 - chance.shown) / repeats) ** 0.5
    assert abs(shown / repeats - chance.shown) < spread
    assert abs(episodes / repeats - chance.episodes) < 4


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan"), float("inf")])
def test_an_assumed_probability_outside_of_zero_and_one_is_refused(
    p: float, tmp_path: Path
) -> None:
    setting = make_setting(chain_spec(0.0), Gate())
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path)
    with pytest.raises(GateError, match=r"--assume 0\.002"):
        plan_attempt(setting, ledger, assumed=(p,))


def test_the_plan_is_logged_whole_before_the_first_episode(tmp_path: Path) -> None:
    strata = Strata((Stratum("calm", "3/4"), Stratum("windy", "1/4")), "rounds")
    plan = GatePlan(cap=402, attempts=3, strata=strata, repeats=7, display="holm", seed=11)
    setting = make_setting(mixed_spec(any_(0.1), given(0.2)), Gate(plan=plan))
    with AuditLog.create(tmp_path / "run") as log:
        register(log, setting)
        (record,) = [r for r in log.live_records() if r.kind == "plan_registered"]
        log.close("planned")
    said: dict[str, Any] = json.loads(json.dumps(record.payload))
    assert said["plan"]["strata"] == said["strata"] == strata.to_json()
    assert (said["cap"], said["look"], said["display"]) == (400, 4, "holm")
    assert said["repeats"]["at_most"] == 7
    assert said["seeds"]["root"] == "11"
    assert "6 / (pi^2 j^2)" in said["spending"]
    for item in said["obligations"]:
        assert item["levels"] == [spent_level(claim_level(0.95), j) for j in (1, 2, 3)]
        assert set(item) >= {"threshold", "level", "kind", "below"}
