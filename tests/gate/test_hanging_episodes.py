"""An environment that hangs inside a step: the episode counts as undecided, with its reason."""

import dataclasses
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chain import Chain, chain_spec, read

from safegym.check.statistics.ledger import AttemptLedger
from safegym.gate.attempt import Certifier
from safegym.gate.burst import BurstCheck
from safegym.gate.burst_settings import BurstSettings
from safegym.gate.events import BurstDone
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.setting import make_setting
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec


def nothing(observations: Any) -> Any:
    return np.zeros((len(observations), 1), np.float32)


class Hanging(Chain):
    """Hangs where its seed says so: in about one episode of twenty."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.np_random.random() < 0.05:
            time.sleep(600)
        return super().step(action)


def hanging_spec() -> ScenarioSpec:
    return dataclasses.replace(
        chain_spec(0.0, (1, 1)),
        name="test/hanging-v0",
        make_env=partial(Hanging, 0.0, (1, 1)),
        read_signals=read,
    )


@pytest.mark.slow
def test_an_episode_that_hangs_counts_against_the_claim(tmp_path: Path) -> None:
    spec = hanging_spec()
    plan = GatePlan(cap=380, copies=8)
    setting = make_setting(spec, Gate(plan=plan), episode_seconds=2.0)
    ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=tmp_path)
    attempt = Certifier(setting, ledger).attempt(ScriptedPolicy("still", nothing))
    (evidence,) = attempt.evidence
    assert attempt.outcome == "futile"
    assert (evidence.status, evidence.violations) == ("inconclusive", 0)
    assert evidence.undecided >= 1


@pytest.mark.slow
def test_a_burst_comes_to_its_end_where_an_episode_hangs(tmp_path: Path) -> None:
    heard: list[Any] = []
    setting = make_setting(hanging_spec(), Gate(), episode_seconds=1.0)
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path)
    certifier = Certifier(setting, ledger, listener=heard.append)
    burst = BurstCheck(certifier, BurstSettings(budget=24))
    found = burst.check(ScriptedPolicy("still", nothing), 1)
    (done,) = [event for event in heard if isinstance(event, BurstDone)]
    assert (found.passed, done.episodes, sum(done.finds.values())) == (True, 24, 0)
