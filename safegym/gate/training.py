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
from safegym.gate.burst_settings import BurstSettings
from safegym.gate.events import GateEvent
from safegym.gate.freezing import policy_folder, record_frozen
from safegym.gate.keeping import TrainingGate, open_again
from safegym.gate.mirror.mirrors import open_mirrors
from safegym.gate.plan import Gate
from safegym.gate.registered import (
    baselines_of,
    check_promotion,
    check_scenario,
    check_settings,
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
    from safegym.gate.trainer.outcome import Outcome
    from safegym.gate.trainer.settings import TrainSettings
    from safegym.gate.trainer.workers.plan import RolloutWorkers

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
    changes: Mapping[str, Any] | None = None,
    start_from: str | Path | None = None,
    workers: int = 1,
    engine: EngineName | None = None,
    episode_seconds: float | None = None,
    rollout_workers: int = 0,
    tensorboard: str | Path | None = None,
    mlflow: str | Path | None = None,
    listener: RunListener = _silent,
) -> TrainingRun:
    """Train with penalty and replay, screen every epoch, certify what passes, promote or go on.

    scenario: name or spec. settings: hyperparameters; None takes the scenario's own. algo: a name
    of `safegym.gate.trainer.algorithms.ALGORITHMS`; another than that of the settings takes its own
    defaults, and of the settings only what means the same to every algorithm. changes:
    hyperparameters as plain data ({"tau": 0.01, "penalty": {"weight": 4.0}}). steps, seed: replace
    those of `settings`; the plan's gate_every always does. start_from: folder of a saved policy or
    of a checkpoint, whose weights and normaliser training begins with. gate: claims and plan; None
    gates the scenario's claims under the default plan. out: a new run folder. workers,
    engine: who runs the gate's campaigns; no result depends on it. episode_seconds: an episode of
    them that hangs longer counts as undecided. rollout_workers: processes (or, with engine "ray",
    actors on a cluster) that step the training environments; 0 steps them in this process. The
    weights are the same bits for any number of them. tensorboard: folder for event files. mlflow:
    URI of a tracking store, or the path of an SQLite file. listener: hears what happens.
    Raises GateError, RunFolderError, ScenarioError, PolicyError; what was checkpointed stays.
    """
    from safegym.gate.trainer.choosing import chosen_settings
    from safegym.gate.trainer.fitting import (
        policy_to_start_from,
        refuse_unpenalised,
        refuse_untrainable,
    )
    from safegym.gate.trainer.warm import START
    from safegym.gate.trainer.workers.asked import rollout_plan

    spec = find(scenario) if isinstance(scenario, str) else scenario
    gate = gate or Gate()
    gate.plan.refuse_older()
    given = {"steps": steps, "seed": seed, "gate_every": gate.plan.gate_every}
    named = {name: value for name, value in given.items() if value is not None}
    _refuse_twice(named, changes or {})
    base = spec.training if settings is None else settings
    chosen = chosen_settings(base, algo, {**dict(changes or {}), **named, "start_policy": ""})
    refuse_untrainable(spec, chosen)
    start = None if start_from is None else policy_to_start_from(start_from, spec, chosen)
    if start is not None:
        chosen = replace(chosen, start_policy=start.card.digest)
    setting = make_setting(
        spec, gate, workers=workers, engine=engine, episode_seconds=episode_seconds
    )
    rollout = rollout_plan(
        spec, chosen, setting.claims, rollout_workers, engine=engine, seconds=episode_seconds
    )
    refuse_unpenalised(spec, setting.claims, chosen)
    refuse_hopeless(setting, 1)
    findings = refuse_flawed(setting)
    mirrors = open_mirrors(listener, Path(out), tensorboard=tensorboard, mlflow=mlflow)
    keeper = _gate(setting, Path(out), mirrors.hear, chosen.to_json())
    log = AuditLog.create(out)
    with mirrors, _closing(log):
        if start is not None:
            start.save(log.folder / START)
        register(log, setting, settings=chosen.to_json(), findings=findings)
        mirrors.begin(setting, chosen.to_json(), log.run)
        return mirrors.ended(_begun(keeper, log, chosen, mirrors.hear, rollout))


def resume(
    out: str | Path,
    *,
    scenario: ScenarioSpec | None = None,
    workers: int = 1,
    engine: EngineName | None = None,
    episode_seconds: float | None = None,
    rollout_workers: int = 0,
    tensorboard: str | Path | None = None,
    mlflow: str | Path | None = None,
    listener: RunListener = _silent,
) -> TrainingRun:
    """Go on with the run in `out` from its last epoch boundary.

    Settings, plan and claims are those of the run; workers and engines may be others. Raises
    RunFolderError if the folder holds no run or is in use, GateError if the run has ended or its
    scenario has changed.
    """
    from safegym.gate.trainer.folder import IDENTITY
    from safegym.gate.trainer.identity import stored_identity
    from safegym.gate.trainer.loop import Trainer
    from safegym.gate.trainer.settings import TrainSettings
    from safegym.gate.trainer.workers.asked import rollout_plan

    folder = Path(out)
    records = _records_to_go_on_with(folder)
    spec = scenario if scenario is not None else find(scenario_of(records))
    check_scenario(records, spec)
    setting = make_setting(
        spec, gate_of(records), workers=workers, engine=engine, episode_seconds=episode_seconds
    )
    mirrors = open_mirrors(listener, folder, tensorboard=tensorboard, mlflow=mlflow)
    keeper = _gate(setting, folder, mirrors.hear, training_of(records, folder))
    stored = TrainSettings.from_json(training_of(records, folder))
    rollout = rollout_plan(
        spec, stored, setting.claims, rollout_workers, engine=engine, seconds=episode_seconds
    )
    with mirrors:
        mirrors.begin(setting, training_of(records, folder), records[0].run)
        if not (folder / IDENTITY).is_file():
            return mirrors.ended(_begun_again(keeper, records, mirrors.hear, rollout))
        check_settings(records, folder, stored_identity(folder).settings.to_json())
        trainer = Trainer.resume(
            spec,
            out,
            keeper,
            claims=setting.claims,
            listener=_burning(keeper, mirrors.hear),
            rollout=rollout,
        )
        keeper.bank = lambda: trainer.bank
        try:
            return mirrors.ended(_ended(keeper, trainer.run()))
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
    keeper: TrainingGate,
    log: AuditLog,
    settings: "TrainSettings",
    listener: RunListener,
    rollout: "RolloutWorkers",
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
        rollout=rollout,
    )
    keeper.bank = lambda: trainer.bank
    return _ended(keeper, trainer.run())


def _begun_again(
    keeper: TrainingGate,
    records: tuple[AuditRecord, ...],
    listener: RunListener,
    rollout: "RolloutWorkers",
) -> TrainingRun:
    """Go on with a run that was broken off before its training began."""
    from safegym.gate.trainer.settings import TrainSettings

    settings = TrainSettings.from_json(training_of(records, keeper.folder))
    check_scenario(records, keeper.setting.spec)
    log = open_again(keeper.folder, registered_size(records), listener)
    with _closing(log):
        return _begun(keeper, log, settings, listener, rollout)


def _broken_off(folder: Path) -> "Outcome":
    """The outcome of a run that was interrupted before its training began."""
    from safegym.gate.trainer.outcome import Outcome

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


def _gate(
    setting: Setting, folder: Path, listener: RunListener, training: Mapping[str, Any]
) -> TrainingGate:
    """The gate of a run. training: its settings as registered; what they do not name is off."""
    burst = BurstSettings.from_json(training.get("burst", {"budget": 0}))
    burst.refuse_unknown(claim.id for claim in setting.claims)
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
    return TrainingGate(
        setting,
        ledger,
        folder,
        listener,
        root=int(training.get("seed", 0)),
        suite=int(training.get("replay", {}).get("suite", 0)),
        burst=burst,
    )


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
    live = log.live_records()
    if outcome.policy_digest:
        check_promotion(live, outcome.policy_digest)
    baselines = baselines_of(live, keeper.setting.plan)
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


def _refuse_twice(named: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Raises GateError for a change of what has a place of its own, unless both say the same."""
    own = {"steps": "steps (--steps)", "seed": "seed (--seed)", "gate_every": "the plan (--every)"}
    for name in sorted(set(named) & set(changes)):
        if changes[name] != named[name]:
            raise GateError(
                f"{name} is {named[name]} by {own[name]} and {changes[name]!r} in the changes "
                f"(--set); give it by {own[name]} alone."
            )
