"""One run of the whole gate over policies of a known failure probability."""

from dataclasses import dataclass
from pathlib import Path

from chain import chain_spec, still

from safegym.check.statistics.ledger import AttemptLedger
from safegym.gate.attempt import Certifier
from safegym.gate.decide import GateKeeper
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.setting import make_setting


@dataclass(frozen=True)
class Epoch:
    """What the gate reads of an epoch report."""

    epoch: int


def released(
    folder: Path, failure: float, lengths: tuple[int, int], seed: int, epochs: int
) -> bool:
    """Whether the gate releases one of `epochs` policies of equal failure probability."""
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
