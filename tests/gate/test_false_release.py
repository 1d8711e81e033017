"""The whole gate on policies that are really unsafe: how often does it release one?"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from chain import chain_spec, still

from safegym.check.statistics.ledger import AttemptLedger
from safegym.gate.attempt import Certifier
from safegym.gate.decide import GateKeeper
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.setting import make_setting


@dataclass(frozen=True)
class Epoch:
    epoch: int


def released(
    folder: Path, failure: float, lengths: tuple[int, int], seed: int, epochs: int
) -> bool:
    """One run of the gate over `epochs` policies of equal failure probability."""
    plan = GatePlan(screen_episodes=100, cap=1_000, attempts=3, seed=seed)
    setting = make_setting(chain_spec(failure, lengths), Gate(plan=plan))
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=folder)
    keeper = GateKeeper(Certifier(setting, ledger))
    for epoch in range(1, epochs + 1):
        policy = still(f"run {seed} epoch {epoch}")
        decision = keeper.after_epoch(Epoch(epoch), lambda policy=policy: policy)
        if decision.action in ("promote", "stop"):
            return decision.action == "promote"
    return keeper.at_end(Epoch(epochs)).action == "promote"


@pytest.mark.slow
@pytest.mark.parametrize("lengths", [(1, 30), (30, 1)], ids=["failing-long", "failing-short"])
def test_policies_above_the_threshold_are_released_in_at_most_five_percent_of_runs(
    tmp_path: Path, lengths: tuple[int, int]
) -> None:
    runs = 150
    count = sum(
        released(tmp_path / str(seed), 0.012, lengths, seed, epochs=6) for seed in range(runs)
    )
    assert count <= 0.05 * runs


def test_a_clean_policy_is_released(tmp_path: Path) -> None:
    assert released(tmp_path, 0.0, (1, 2), seed=0, epochs=1)


def test_a_hopeless_policy_is_not_released(tmp_path: Path) -> None:
    assert not released(tmp_path, 0.2, (1, 2), seed=0, epochs=3)
