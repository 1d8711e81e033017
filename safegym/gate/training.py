"""Train a policy on a scenario under a gate, with an audit trail."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safegym.audit.layout import LOG
from safegym.audit.log import AuditLog
from safegym.audit.read import read_checkpoint_file, read_log
from safegym.audit.record import AuditRecord
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import GateError, RunFolderError
from safegym.gate.events import GateEvent
from safegym.gate.freezing import policy_folder, record_frozen
from safegym.gate.keeping import TrainingGate, open_again
from safegym.gate.plan import Gate
from safegym.gate.registered import (
    baselines_of,
    check_scenario,
    gate_of,
    registered_size,
    scenario_of,
    training_of,
)
from safegym.gate.registration import register
from safegym.gate.screen import Screen, Screener
from safegym.gate.setting import Setting, make_setting
from safegym.gate.specification import refuse_flawed, refuse_hopeless
from safegym.scenario.campaign import EngineName
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
    algo: str | None = None,
    steps: int | None = None,
    gate: Gate | None = None,
    out: str | Path,
    seed: int | None = None,
    settings: "TrainSettings | None" = None,
    workers: int = 1,
    engine: EngineName | None = None,
    episode_seconds: float | None = None,
    listener: RunListener = _silent,
) -> TrainingRun:
    """Train with penalty and replay, screen every epoch, certify what passes, promote or go on.

    scenario: name or spec. settings: hyperparameters; None takes the scenario's own. algo, steps,
    seed: replace those of `settings`; the plan's gate_every always does. gate: claims and plan;
    None gates the scenario's claims under the default plan. out: a new run folder. workers,
    engine: who runs the gate's campaigns; no result depends on it. episode_seconds: an episode of
    them that hangs longer counts as undecided. listener: hears what happens.
    Raises GateError, RunFolderError, ScenarioError, PolicyError; what was checkpointed stays.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    gate = gate or Gate()
    gate.plan.refuse_older()
    given = {"algo": algo, "steps": steps, "seed": seed, "gate_every": gate.plan.gate_every}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    chosen = replace(settings if settings is not None else _settings_of(spec), **changes)
    setting = make_setting(
        spec, gate, workers=workers, engine=engine, episode_seconds=episode_seconds
    )
    refuse_hopeless(setting, 1)
    findings = refuse_flawed(setting)
    keeper = _gate(setting, Path(out), listener, chosen.seed)
    log = AuditLog.create(out)
    with _closing(log):
        register(log, setting, settings=chosen.to_json(), findings=findings)
        return _begun(keeper, log, chosen, listener)


def resume(
    out: str | Path,
    *,
    scenario: ScenarioSpec | None = None,
    workers: int = 1,
    engine: EngineName | None = None,
    episode_seconds: float | None = None,
    listener: RunListener = _silent,
) -> TrainingRun:
    """Go on with the run in `out` from its last epoch boundary.

    Settings, plan and claims are those of the run. Raises RunFolderError if the folder holds no
    run or is in use, GateError if the run has ended or its scenario has changed.
    """
    from safegym.gate.trainer.folder import IDENTITY
    from safegym.gate.trainer.loop import Trainer

    folder = Path(out)
    records = _records_to_go_on_with(folder)
    spec = scenario if scenario is not None else find(scenario_of(records))
    check_scenario(records, spec)
    setting = make_setting(
        spec, gate_of(records), workers=workers, engine=engine, episode_seconds=episode_seconds
    )
    root = int(training_of(records, folder).get("seed", 0))
    keeper = _gate(setting, folder, listener, root)
    if not (folder / IDENTITY).is_file():
        return _begun_again(keeper, records, listener)
    trainer = Trainer.resume(
        spec, out, keeper, claims=setting.claims, listener=_burning(keeper, listener)
    )
    try:
        return _ended(keeper, trainer.run())
    finally:
        if keeper.keeper is not None and not keeper.log.closed:
            keeper.log.release()


def _records_to_go_on_with(folder: Path) -> tuple[AuditRecord, ...]:
    """The records of a run that has not ended. Raises RunFolderError or GateError."""
    if not (folder / LOG).is_file():
        raise RunFolderError(
            f"{folder} holds no run; start one with: safegym train NAME --out {folder}"
        )
    records = read_log(folder)
    ended = _ended_with(folder, records)
    if ended:
        raise GateError(
            f"The run in {folder} has ended ({ended}); see it with: safegym report {folder}"
        )
    return records


def ended_with(folder: Path) -> str:
    """How the run in `folder` ended; "" where it can go on, or none has begun."""
    return _ended_with(folder, read_log(folder)) if (folder / LOG).is_file() else ""


def _ended_with(folder: Path, records: tuple[AuditRecord, ...]) -> str:
    sealed = read_checkpoint_file(folder)
    covered = sealed[-1].size if sealed else 0
    if records and records[-1].kind == "run_closed" and covered == len(records):
        return str(records[-1].payload["outcome"])
    return ""


def _begun(
    keeper: TrainingGate, log: AuditLog, settings: "TrainSettings", listener: RunListener
) -> TrainingRun:
    """Observe the baselines, then train."""
    from safegym.gate.trainer.loop import Trainer

    setting = keeper.setting
    keeper.begin(log)
    try:
        _observe_baselines(setting, log, listener)
    except KeyboardInterrupt:
        return _ended(keeper, _broken_off(log.folder))
    trainer = Trainer(
        setting.spec,
        settings,
        log.folder,
        keeper,
        claims=setting.claims,
        listener=_burning(keeper, listener),
    )
    return _ended(keeper, trainer.run())


def _begun_again(
    keeper: TrainingGate, records: tuple[AuditRecord, ...], listener: RunListener
) -> TrainingRun:
    """Go on with a run that was broken off before its training began."""
    from safegym.gate.trainer.settings import TrainSettings

    settings = TrainSettings.from_json(training_of(records, keeper.folder))
    check_scenario(records, keeper.setting.spec)
    log = open_again(keeper.folder, registered_size(records), listener)
    with _closing(log):
        return _begun(keeper, log, settings, listener)


def _broken_off(folder: Path) -> "Outcome":
    """The outcome of a run that was interrupted before its training began."""
    from safegym.gate.trainer.loop import Outcome

    return Outcome(
        status="interrupted",
        epoch=0,
        steps=0,
        checkpoint=folder,
        reasons=("interrupted before training began; the plan is registered",),
        resume=f"safegym train --resume {folder}",
    )


@contextmanager
def _closing(log: AuditLog) -> Generator[None]:
    """Let go of the log however the block ends; only `_ended` closes it for good."""
    try:
        yield
    finally:
        if not log.closed:
            log.release()


def _settings_of(spec: ScenarioSpec) -> "TrainSettings":
    from safegym.gate.trainer.settings import TrainSettings

    return TrainSettings.of(spec.training)


def _gate(setting: Setting, folder: Path, listener: RunListener, root: int) -> TrainingGate:
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
    return TrainingGate(setting, ledger, folder, listener, root=root)


def _burning(keeper: TrainingGate, listener: RunListener) -> RunListener:
    """Burn each replayed seed for certification before anybody hears of it."""
    from safegym.gate.trainer.events import Replayed

    def hear(event: "Event | GateEvent") -> None:
        if isinstance(event, Replayed):
            keeper.ledger.burn([event.start.seed])
        listener(event)

    return hear


def _observe_baselines(setting: Setting, log: AuditLog, listener: RunListener) -> None:
    """Observe the scenario's scripted baselines: what training has to beat."""
    screener = Screener(setting, log, log.folder / "traces", listener)
    for name, maker in setting.spec.baselines.items():
        policy = maker()
        record_frozen(log, policy, 0)
        screener.screen(policy, 0, to_the_end=True, label=name)
    log.checkpoint()


def _ended(keeper: TrainingGate, outcome: "Outcome") -> TrainingRun:
    if keeper.keeper is None:  # interrupted before the log was opened: nothing was written
        raise KeyboardInterrupt
    log = keeper.log
    baselines = baselines_of(log.live_records(), keeper.setting.plan)
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
        evidence=keeper.keeper.evidence,
        root=log.root,
        records=log.size,
        policy_digest=promoted,
        policy=policy_folder(log.folder, promoted) if promoted else None,
        resume=outcome.resume,
        baselines=baselines,
    )
