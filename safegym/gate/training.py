"""Train a policy on a scenario under a gate, with an audit trail."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from safegym.audit.log import AuditLog
from safegym.check.statistics.ledger import AttemptLedger
from safegym.gate.events import GateEvent
from safegym.gate.freezing import policy_folder, record_frozen
from safegym.gate.keeping import TrainingGate
from safegym.gate.plan import Gate
from safegym.gate.registration import register
from safegym.gate.screen import Screen, Screener
from safegym.gate.setting import Setting, make_setting
from safegym.gate.specification import refuse_flawed
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec
from safegym.verdict import Evidence

if TYPE_CHECKING:
    from safegym.gate.trainer.events import Event
    from safegym.gate.trainer.loop import Outcome
    from safegym.gate.trainer.settings import TrainSettings

RunListener = Callable[["Event | GateEvent"], None]


def _silent(event: "Event | GateEvent") -> None:
    """Listen to nothing."""


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """How a gated training ended.

    status: "promoted" (certified and released), "finished" (steps used up), "stopped" (by the
    gate) or "interrupted" (Ctrl-C). evidence: of the last certification attempt. baselines:
    observed screens of the scenario's scripted baselines. root: of the audit log. policy: folder
    of the released policy, None if none was.
    """

    folder: Path
    status: str
    epochs: int
    steps: int
    reasons: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    root: str
    records: int
    policy_digest: str = ""
    policy: Path | None = None
    resume: str = ""
    baselines: Mapping[str, Screen] = field(default_factory=dict[str, Screen])


def train(
    scenario: str | ScenarioSpec,
    *,
    algo: str = "ppo",
    steps: int | None = None,
    gate: Gate | None = None,
    out: str | Path,
    seed: int = 0,
    settings: "TrainSettings | None" = None,
    workers: int = 1,
    listener: RunListener = _silent,
) -> TrainingRun:
    """Train with penalty and replay, screen every epoch, certify what passes, promote or go on.

    scenario: name or spec. steps: environment steps; None takes those of `settings`. gate: claims
    and plan; None gates the scenario's claims under the default plan. out: a new run folder.
    settings: hyperparameters; None takes the scenario's own. workers: processes of gate campaigns;
    no result depends on it. listener: hears what happens.
    Raises GateError, RunFolderError, ScenarioError, PolicyError; what was checkpointed stays.
    """
    from safegym.gate.trainer.loop import Trainer

    spec = find(scenario) if isinstance(scenario, str) else scenario
    gate = gate or Gate()
    chosen = settings if settings is not None else _settings_of(spec, seed)
    chosen = replace(chosen, algo=algo, gate_every=gate.plan.gate_every)
    if steps is not None:
        chosen = replace(chosen, steps=steps)
    setting = make_setting(spec, gate, workers=workers)
    findings = refuse_flawed(setting)
    keeper = _gate(setting, Path(out), listener)
    log = AuditLog.create(out)
    with _closing(log):
        register(log, setting, settings=chosen.to_json(), findings=findings)
        baselines = _baselines(setting, log, listener)
        keeper.begin(log)
        trainer = Trainer(
            spec, chosen, out, keeper, claims=setting.claims, listener=_burning(keeper, listener)
        )
        outcome = trainer.run()
        return _ended(keeper, outcome, baselines)


def resume(
    out: str | Path,
    *,
    scenario: ScenarioSpec | None = None,
    workers: int = 1,
    listener: RunListener = _silent,
) -> TrainingRun:
    """Go on with the run in `out` from its last epoch boundary.

    Settings, plan and claims are those of the run. Raises RunFolderError if the folder holds no
    run or is in use, GateError if the run has ended or its scenario has changed.
    """
    from safegym.audit.read import read_log
    from safegym.gate.registered import gate_of, scenario_of
    from safegym.gate.trainer.loop import Trainer

    records = read_log(out)
    spec = scenario if scenario is not None else find(scenario_of(records))
    setting = make_setting(spec, gate_of(records), workers=workers)
    keeper = _gate(setting, Path(out), listener)
    trainer = Trainer.resume(
        spec, out, keeper, claims=setting.claims, listener=_burning(keeper, listener)
    )
    try:
        outcome = trainer.run()
        return _ended(keeper, outcome, {})
    finally:
        if keeper.keeper is not None and not keeper.log.closed:
            keeper.log.release()


@contextmanager
def _closing(log: AuditLog) -> Generator[None]:
    """Let go of the log however the block ends; only `_ended` closes it for good."""
    try:
        yield
    finally:
        if not log.closed:
            log.release()


def _settings_of(spec: ScenarioSpec, seed: int) -> "TrainSettings":
    from safegym.gate.trainer.settings import TrainSettings

    return replace(TrainSettings.of(spec.training), seed=seed)


def _gate(setting: Setting, folder: Path, listener: RunListener) -> TrainingGate:
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
    return TrainingGate(setting, ledger, folder, listener)


def _burning(keeper: TrainingGate, listener: RunListener) -> RunListener:
    """Burn each replayed seed for certification before anybody hears of it."""
    from safegym.gate.trainer.events import Replayed

    def hear(event: "Event | GateEvent") -> None:
        if isinstance(event, Replayed):
            keeper.ledger.burn([event.start.seed])
        listener(event)

    return hear


def _baselines(setting: Setting, log: AuditLog, listener: RunListener) -> dict[str, Screen]:
    """Observe the scenario's scripted baselines: what training has to beat."""
    screener = Screener(setting, log, log.folder / "traces", listener)
    found: dict[str, Screen] = {}
    for name, maker in setting.spec.baselines.items():
        policy = maker()
        record_frozen(log, policy, 0)
        found[name] = screener.screen(policy, 0, to_the_end=True, label=name)
    log.checkpoint()
    return found


def _ended(
    keeper: TrainingGate, outcome: "Outcome", baselines: Mapping[str, Screen]
) -> TrainingRun:
    log = keeper.log
    if outcome.status == "interrupted":
        log.checkpoint()
        log.release()
    else:
        log.close(outcome.status, epoch=outcome.epoch, steps=outcome.steps)
    promoted = outcome.policy_digest
    return TrainingRun(
        folder=log.folder,
        status=outcome.status,
        epochs=outcome.epoch,
        steps=outcome.steps,
        reasons=tuple(outcome.reasons),
        evidence=() if keeper.keeper is None else keeper.keeper.evidence,
        root=log.root,
        records=log.size,
        policy_digest=promoted,
        policy=policy_folder(log.folder, promoted) if promoted else None,
        resume=outcome.resume,
        baselines=dict(baselines),
    )
