"""One candidate through the gate, and what is true of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from safegym.check.monitor import judge
from safegym.check.statistics.intervals import interval
from safegym.check.statistics.ledger import AttemptLedger
from safegym.gate.attempt import Certifier
from safegym.gate.decide import GateKeeper
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.setting import Setting, make_setting
from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.spec import ScenarioSpec

FIRST_SEED = 9_000_000
"""First seed of the episodes that show what is true; gates draw theirs by hashing."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What `GateKeeper` reads of an epoch."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Failure:
    """How often a claim failed. threshold: the failure probability that the claim allows."""

    failures: int
    episodes: int
    threshold: float

    @property
    def above(self) -> bool:
        """Whether the observed share is above the threshold."""
        return self.failures / self.episodes > self.threshold

    @property
    def surely(self) -> bool | None:
        """The same by Clopper-Pearson bounds at 95 %; None where they leave it open."""
        low, high = interval(self.failures, self.episodes, confidence=0.95)
        return True if low > self.threshold else False if high < self.threshold else None


def gate_setting(spec: ScenarioSpec, *, cap: int, seed: int = 0) -> Setting:
    """The scenario's own claims, those without a probability at 0.99."""
    return make_setting(spec, Gate(plan=GatePlan(lift=0.99, cap=cap, seed=seed)))


def released(setting: Setting, policy: Policy) -> tuple[bool, tuple[str, ...]]:
    """Whether the gate releases the policy, and its reasons: a screen, then an attempt if passed.

    What is not released after the screen gets the attempt that the end of a training would give.
    """
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
    keeper = GateKeeper(Certifier(setting, ledger))
    decision = keeper.after_epoch(Candidate(1), lambda: policy)
    reasons = decision.reasons
    if decision.action != "promote":
        decision = keeper.at_end(Candidate(1))
        reasons = (*reasons, *decision.reasons)
    return bool(keeper.promoted), reasons


def truth(setting: Setting, policy: Policy, episodes: int) -> Mapping[str, Failure]:
    """Claim id -> how often it failed on episodes that no gate has used."""
    failures = dict.fromkeys((item.claim.id for item in setting.obligations), 0)
    with Campaign(
        setting.spec,
        policy,
        seed_of=lambda index: FIRST_SEED + index,
        tail=setting.tail,
        episodes=episodes,
    ) as campaign:
        for _, trace in campaign:
            for claim in setting.claims:
                failures[claim.id] += judge(claim, trace).status != "satisfied"
    return {
        item.claim.id: Failure(failures[item.claim.id], episodes, float(item.threshold or 0.0))
        for item in setting.obligations
    }
