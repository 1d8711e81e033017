"""One run: a task, a method, a seed; its row, and how to go on with it after a break."""

import json
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safegym.check.monitor import judge
from safegym.check.statistics.ledger import AttemptLedger
from safegym.formula.claim import Claim
from safegym.gate import training
from safegym.gate.attempt import Certifier
from safegym.gate.plan import Gate
from safegym.gate.trainer.events import EpochEnded, ViolationFound
from safegym.gate.trainer.folder import CHECKPOINTS, DECISION, IDENTITY, LAST
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.settings import TrainSettings
from safegym.policy.base import Policy
from safegym.policy.sb3 import load_policy
from safegym.scenario.spec import ScenarioSpec
from training.gating import gate_setting
from training.measuring import measure
from training.methods import GATED, METHODS, base, plan
from training.tasks import TASKS, Task

CAP = 1_000
"""Most episodes of the attempt that a finished run gets."""
ROW, EPOCHS = "row.json", "epochs.json"


@dataclass(slots=True)
class Diary:
    """What the epochs said, by number, so that one that is done again counts once.

    Violations are of the task's own claim, also where a curriculum penalises a stricter one.
    """

    path: Path
    claim: Claim
    epochs: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    violations: int = 0

    def hear(self, event: object) -> None:
        """Listen to a training run."""
        if isinstance(event, ViolationFound):
            self.violations += judge(self.claim, event.trace).status == "violated"
        if isinstance(event, EpochEnded):
            self.epochs[str(event.epoch)] = {
                "steps": event.steps,
                "episodes": event.episodes,
                "violations": self.violations,
                "mean_return": event.mean_return,
            }
            self.violations = 0
            self.path.write_text(json.dumps(self.epochs))

    def read(self) -> None:
        """What was heard before a break."""
        if self.path.is_file():
            self.epochs = json.loads(self.path.read_text())


def run(
    task_name: str, method: str, seed: int, steps: int, folder: Path, *, episodes: int, cap: int
) -> dict[str, Any]:
    """The row of one run; read where it is there, gone on with where it was broken off."""
    if (folder / ROW).is_file():
        row: dict[str, Any] = json.loads((folder / ROW).read_text())
        return row
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["SAFEGYM_HOME"] = str(folder / "home")
    task, begun = TASKS[task_name], time.perf_counter()
    spec = task.spec()
    diary = Diary(folder / EPOCHS, spec.claims[0])
    diary.read()
    settings = METHODS[method](task, base(task, steps, seed))
    policies = _trained(task, spec, method, settings, folder / "run", diary)
    row = {"task": task.name, "method": method, "seed": seed, "steps": steps}
    row["training_seconds"] = time.perf_counter() - begun
    row["training_episodes"] = sum(epoch["episodes"] for epoch in diary.epochs.values())
    row["training_violations"] = sum(epoch["violations"] for epoch in diary.epochs.values())
    for name, policy in policies.items():
        row[name] = asdict(measure(spec, policy, episodes=episodes))
    row["certified"], row["attempt"] = _certified(spec, policies["final"], row["final"], cap)
    row["epochs"] = diary.epochs
    (folder / ROW).write_text(json.dumps(row))
    return row


def _trained(
    task: Task,
    spec: ScenarioSpec,
    method: str,
    settings: TrainSettings,
    out: Path,
    diary: Diary,
) -> dict[str, Policy]:
    """What the method hands over ("final"), and the weights after the last update ("last")."""
    if method not in GATED:
        again = (out / IDENTITY).is_file()
        make = Trainer.resume if again else Trainer
        given = (spec, out) if again else (spec, settings, out)
        outcome = make(*given, NoGate(), claims=spec.claims, listener=diary.hear).run()
        return {"final": load_policy(outcome.checkpoint)}
    if (out / IDENTITY).is_file():
        done = training.resume(out, scenario=spec, listener=diary.hear)
    else:
        done = training.train(
            spec, settings=settings, gate=Gate(plan=plan(settings)), out=out, listener=diary.hear
        )
    return _handed_over(done.folder, done.policy)


def _handed_over(folder: Path, promoted: Path | None) -> dict[str, Policy]:
    """The released policy; without one the best-screened checkpoint, else the last."""
    last = json.loads((folder / LAST).read_text())
    epochs = {digest: int(epoch) for epoch, digest in last["policies"].items()}
    newest = load_policy(folder / CHECKPOINTS / f"epoch-{int(last['epoch']):05d}")
    if promoted is not None:
        return {"final": load_policy(promoted), "last": newest}
    kept = json.loads((folder / DECISION).read_text())["gate"]["kept"]
    if not kept:
        return {"final": newest, "last": newest}
    best = folder / CHECKPOINTS / f"epoch-{epochs[kept[0]['policy_digest']]:05d}"
    return {"final": load_policy(best), "last": newest}


def _certified(
    spec: ScenarioSpec, policy: Policy, found: dict[str, Any], cap: int
) -> tuple[bool, str]:
    """Whether an attempt of its own certifies the policy at p < 0.01, and how it ended."""
    if not cap:
        return False, "not tried"
    if found["violated"] > 0.02 * found["episodes"]:
        return False, "not tried: more than 2 % violated"
    setting = gate_setting(spec, cap=cap, seed=1)
    ledger = AttemptLedger(spec.digest, setting.claims_digest)
    outcome = Certifier(setting, ledger).attempt(policy).outcome
    return outcome == "certified", outcome
