"""A run folder by the real gate, on policies whose failure probability is chosen."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from safegym.audit.log import AuditLog
from safegym.check.statistics.ledger import AttemptLedger
from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.attempt import Certifier
from safegym.gate.decide import GateKeeper
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.registration import register
from safegym.gate.setting import make_setting
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

HAZARD = Signal("hazard", "1", bounds=(0.0, 1.0), hold="max")
SAFE = Claim(id="one.safe", statement=prob(eventually(HAZARD >= 0.5)) < 0.2, confidence=0.9)


class OneStep(gym.Env[Any, Any]):
    """Fails with the probability that the action names."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.hazard = 0.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.draw, self.hazard = self.np_random.random(), 0.0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.hazard = float(self.draw < float(action[0]))
        return np.zeros(1, np.float32), 0.0, True, False, {"terminal": "done"}


SPEC = ScenarioSpec(
    name="test/one-step-v0",
    summary="an episode that fails with the probability of its action",
    make_env=OneStep,
    read_signals=lambda env: (env.hazard,),
    signals=(HAZARD,),
    clock=Clock(Fraction(1, 10)),
    horizon=2,
    claims=(SAFE,),
    terminals={"done": "absorbed"},
    physics=("gymnasium",),
)
PLAN = GatePlan(screen_episodes=10, cap=80, attempts=5, patience=3, repeats=3)


@dataclass(frozen=True)
class Epoch:
    epoch: int


def failing(name: str, probability: float) -> ScriptedPolicy:
    return ScriptedPolicy(name, lambda seen: np.full((len(seen), 1), probability, np.float32))


GOOD, BETTER, BAD = failing("good", 0.0), failing("better", 0.0), failing("bad", 1.0)


def begin(folder: Path) -> tuple[AuditLog, GateKeeper]:
    log = AuditLog.create(folder)
    register(log, make_setting(SPEC, Gate(plan=PLAN)))
    return log, keeper_of(log)


def keeper_of(log: AuditLog) -> GateKeeper:
    """The gate of the run that the log tells of."""
    setting, folder = make_setting(SPEC, Gate(plan=PLAN)), log.folder
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=folder / "ledger")
    return GateKeeper(Certifier(setting, ledger, log, folder / "traces"))


def epochs(log: AuditLog, keeper: GateKeeper, *policies: ScriptedPolicy, first: int = 1) -> None:
    """Epochs as a training logs them: a checkpoint record, the decision, a seal."""
    for epoch, policy in enumerate(policies, start=first):
        digest = policy.card.digest
        log.append("checkpoint", {"epoch": epoch, "steps": 100 * epoch, "policy": digest})
        keeper.after_epoch(Epoch(epoch), lambda policy=policy: policy)
        log.checkpoint()


def ended_run(folder: Path, *policies: ScriptedPolicy) -> Path:
    """A run that has ended after an epoch for each policy."""
    log, keeper = begin(folder)
    epochs(log, keeper, *policies)
    log.close("promoted", epoch=len(policies), steps=100 * len(policies))
    return folder
