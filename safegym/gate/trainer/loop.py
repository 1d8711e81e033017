"""The training loop: collect, penalise, train, and at every epoch boundary ask the gate.

The loop is ours and not `learn`'s, since holding, rolling back and stopping must come after an
update, which no callback of stable-baselines3 does.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from safegym.errors import PolicyError
from safegym.formula.claim import Claim
from safegym.gate.replay import ReplayBank
from safegym.gate.reward.discount import refuse_other_discount
from safegym.gate.reward.staged import penaliser_of
from safegym.gate.trainer import banking, correction
from safegym.gate.trainer.boundary import LastBoundary, last_boundary
from safegym.gate.trainer.course import Course
from safegym.gate.trainer.events import (
    Banked,
    CheckpointDeleted,
    CheckpointWritten,
    EpochReport,
    Event,
    GateDecided,
    Listener,
    RolledBack,
    RunEnded,
    RunStarted,
    WeightsAdapted,
    ignore,
)
from safegym.gate.trainer.folder import DECISION, IDENTITY, LAST, RunFolder
from safegym.gate.trainer.given import given_starts
from safegym.gate.trainer.hook import GateDecision, GateHook
from safegym.gate.trainer.identity import RunIdentity, stored_identity
from safegym.gate.trainer.kept import KeptCheckpoints
from safegym.gate.trainer.learner import check_weights
from safegym.gate.trainer.learning.base import Learner
from safegym.gate.trainer.learning.make import learner_for
from safegym.gate.trainer.learning.rollback import roll_back
from safegym.gate.trainer.memory import give_back
from safegym.gate.trainer.outcome import Outcome, ended, interrupted
from safegym.gate.trainer.record import DecisionRecord, checked_action
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.tally import EpochTally, rollout_report
from safegym.gate.trainer.vector import make_envs
from safegym.gate.trainer.warm import warm_up
from safegym.gate.trainer.workers.plan import IN_PROCESS, RolloutWorkers
from safegym.policy.sb3 import generators
from safegym.policy.sb3.checkpoint import (
    Checkpoint,
    read_checkpoint,
    restore_generators,
    save_checkpoint,
    well_formed,
)
from safegym.policy.sb3.inference import single_thread
from safegym.policy.sb3.policy import SB3Policy, load_policy
from safegym.scenario.spec import ScenarioSpec


class Trainer:
    """Trains a policy under a gate, into a run folder.

    `Trainer(spec, settings, out, gate)` starts a run, `Trainer.resume(spec, out, gate)` goes on
    with one. claims: those that are monitored and penalised, None for the scenario's.
    rollout: who steps the environments, which changes no result.
    listener: hears every event. Raises GateError, RunFolderError, PolicyError; whatever was
    checkpointed stays.
    """

    def __init__(
        self,
        spec: ScenarioSpec,
        settings: TrainSettings,
        out: str | Path,
        gate: GateHook,
        *,
        claims: Sequence[Claim] | None = None,
        listener: Listener = ignore,
        rollout: RolloutWorkers = IN_PROCESS,
    ) -> None:
        self._spec, self._settings, self._gate = spec, settings, gate
        self._claims = tuple(spec.claims if claims is None else claims)
        self._listener = listener
        self._rollout_workers, self._closing = rollout, ExitStack()
        self._folder = RunFolder(out)
        self._resuming = False
        refuse_other_discount(spec, settings.gamma)
        self._penaliser = penaliser_of(
            self._claims, spec.clock, spec.horizon, settings.penalty, settings.curriculum
        )
        self._course = Course(settings, spec.horizon)
        self._bank = ReplayBank(spec.digest, settings.replay)
        self._tally = EpochTally()
        self._epoch = 0
        self._kept = KeptCheckpoints(self._folder)
        self._given = 0
        self._inexact: tuple[str, ...] = ()

    @classmethod
    def resume(
        cls,
        spec: ScenarioSpec,
        out: str | Path,
        gate: GateHook,
        *,
        claims: Sequence[Claim] | None = None,
        listener: Listener = ignore,
        rollout: RolloutWorkers = IN_PROCESS,
    ) -> "Trainer":
        """Go on with the run in `out` from its last epoch boundary, with its own settings."""
        settings = stored_identity(out).settings
        trainer = cls(spec, settings, out, gate, claims=claims, listener=listener, rollout=rollout)
        trainer._resuming = True
        return trainer

    @property
    def bank(self) -> ReplayBank:
        """The replay bank; its `burnt` seeds may not certify."""
        return self._bank

    def frozen(self, policy_digest: str) -> SB3Policy:
        """The policy of a kept checkpoint. Raises GateError when none has that digest."""
        return self._kept.frozen(policy_digest)

    def run(self) -> Outcome:
        """Train until the gate ends the run, the steps are used up, or Ctrl-C."""
        self._folder.open(new=not self._resuming)
        try:
            with single_thread():
                return self._announced(self._train())
        except KeyboardInterrupt:
            return self._announced(interrupted(self._folder))
        finally:
            self._closing.close()
            self._folder.close()
            give_back()

    def _train(self) -> Outcome:
        done = self._go_on() if self._resuming else self._begin()
        while done is None:
            self._rollout()
            if self._at_boundary():
                done = self._boundary()
        return done

    def _begin(self) -> Outcome | None:
        identity = RunIdentity.of(self._spec, self._claims, self._settings)
        self._build()
        warm_up(self._learner, self._envs, self._settings, self._folder.path)
        self._folder.write(IDENTITY, identity.to_json())
        given = self._take_given()
        self._envs.desk.open(self._bank.plan(self._settings.seed, 0))
        self._learner.begin()
        self._listener(RunStarted(steps=0, total=self._settings.steps))
        self._emit(given)
        self._checkpoint()
        return None

    def _go_on(self) -> Outcome | None:
        identity = stored_identity(self._folder.path)
        now = RunIdentity.of(self._spec, self._claims, self._settings)
        identity.check_same_run(now)
        last = last_boundary(self._folder)
        if last is None:
            self._gate.restore({}, self.frozen)
            return self._begin()
        self._epoch = last.epoch
        self._kept.restore(last.policies)
        path = last.report.checkpoint
        checkpoint = read_checkpoint(path)
        self._build()
        with well_formed(f"The checkpoint {path}"):
            lost = self._restore(checkpoint)
        if self._learner.num_timesteps != last.report.steps:
            raise PolicyError(
                f"The checkpoint {path} was written after {self._learner.num_timesteps} steps, "
                f"{LAST} says {last.report.steps}: one of them was changed. Put back the run "
                "folder as the run wrote it, or start a new run."
            )
        self._inexact = (*identity.differences(now), *lost)
        given = self._take_given()
        self._listener(
            RunStarted(
                steps=self._learner.num_timesteps,
                total=self._settings.steps,
                resumed_from=path,
                differences=self._inexact,
            )
        )
        self._emit(given)
        return self._decide_again(last, checkpoint)

    def _build(self) -> None:
        self._envs = make_envs(self._spec, self._settings, self._claims, self._rollout_workers)
        self._closing.callback(self._envs.close)
        self._course.attach(self._envs.desk)
        self._learner: Learner = learner_for(
            self._settings,
            self._envs,
            [claim.id for claim in self._penaliser.claims],
            horizon=self._spec.horizon,
        )

    def _restore(self, checkpoint: Checkpoint) -> tuple[str, ...]:
        """Put the checkpoint back; returns what it does not hold."""
        lost = self._learner.go_on(checkpoint)
        self._envs.resume(checkpoint)
        self._bank = ReplayBank.from_json(checkpoint.extra["bank"], self._spec.digest)
        self._given = int(checkpoint.extra.get("given", 0))
        self._penaliser.weights.restore(checkpoint.extra.get("weights", {}))
        self._course.restore(checkpoint.extra["curriculum"])
        restore_generators(checkpoint)
        return lost

    def _take_given(self) -> list[Event]:
        """Bank the starts that were put into the run folder since the last checkpoint."""
        fresh = given_starts(self._folder.path)[self._given :]
        self._given += len(fresh)
        return [Banked(start) for start in fresh if self._bank.add(start)]

    def _decide_again(self, last: LastBoundary, checkpoint: Checkpoint) -> Outcome | None:
        """Carry out the decision of the last boundary; ask for it only if it never came."""
        stored = self._folder.read(DECISION)
        record = None if stored is None else DecisionRecord.from_json(stored)
        if record is not None and record.epoch == self._epoch:
            with generators.preserved():
                self._gate.restore(record.gate, self.frozen)
            return self._carry_out(record, again=True)
        with generators.preserved():
            self._gate.restore(checkpoint.extra["gate"], self.frozen)
        if self._epoch == 0:
            self._envs.desk.open(self._bank.plan(self._settings.seed, 0))
            return None
        return self._judged(last.report, load_policy(last.report.checkpoint))

    def _rollout(self) -> None:
        learner, tally = self._learner, self._tally
        with tally.timed("collect"):
            self._envs.begin_rollout()
            learner.collect()
        with tally.timed("verify"):
            judged = correction.judge_finished(self._penaliser, self._envs.slots)
            applied = learner.correct(judged, self._penaliser)
            happened = banking.take_in(judged, self._penaliser, self._bank)
            adapted = self._weigh(judged)
            epoch, steps = self._epoch + 1, learner.num_timesteps
            moved = self._course.after(judged, self._penaliser, epoch, steps)
        with tally.timed("train"):
            self._update()
        tally.add(judged, applied)
        self._emit([*happened, *applied, *adapted, *moved])
        self._listener(rollout_report(epoch, steps, self._settings.steps, judged))

    def _weigh(self, judged: Sequence[correction.JudgedEpisode]) -> list[Event]:
        """Tell the penalty weights what the rollout says of violation rates."""
        weights, steps = self._penaliser.weights, self._learner.num_timesteps
        weights.tell(correction.told(judged, self._penaliser), steps / self._settings.steps)
        if not weights.adapts:
            return []
        return [WeightsAdapted(self._epoch + 1, steps, weights.values, weights.rates)]

    def _update(self) -> None:
        kept = f"The checkpoint of epoch {self._epoch} is kept."
        try:
            self._learner.update()
        except ValueError:
            check_weights(self._learner.algorithm, kept=kept)
            raise
        check_weights(self._learner.algorithm, kept=kept)

    def _at_boundary(self) -> bool:
        steps = self._learner.num_timesteps
        return steps % self._settings.gate_every == 0 or steps >= self._settings.steps

    def _boundary(self) -> Outcome | None:
        self._epoch += 1
        frozen = self._checkpoint()
        report = self._report(frozen)
        self._tally, self._inexact = EpochTally(), ()
        self._listener(report)
        return self._judged(report, frozen)

    def _checkpoint(self) -> SB3Policy:
        path = self._folder.checkpoint(self._epoch)
        with self._tally.timed("checkpoint"):
            document, tensors = self._envs.capture()
            learned, open_tensors = self._learner.open_state()
            digest, frozen = save_checkpoint(
                self._learner.algorithm,
                path,
                name=f"{self._spec.name} epoch {self._epoch}",
                extra={
                    **document,
                    "learner": learned,
                    "epoch": self._epoch,
                    "bank": self._bank.to_json(),
                    "weights": self._penaliser.weights.state(),
                    "curriculum": self._course.state(),
                    "given": self._given,
                    "gate": dict(self._gate.state()),
                },
                extra_tensors={**tensors, **open_tensors},
            )
        self._kept.add(self._epoch, frozen.card.digest)
        LastBoundary(self._report(frozen), self._kept.policies).write(self._folder)
        self._listener(CheckpointWritten(self._epoch, path, digest, frozen.card.digest))
        return frozen

    def _report(self, frozen: SB3Policy) -> EpochReport:
        report = self._tally.report(
            epoch=self._epoch,
            steps=self._learner.num_timesteps,
            total=self._settings.steps,
            checkpoint=self._folder.checkpoint(self._epoch),
            policy_digest=frozen.card.digest,
            banked=len(self._bank),
        )
        weights = self._penaliser.weights
        return replace(
            report,
            starts=tuple(s.start.episode + 1 for s in self._envs.slots),
            weights=weights.values,
            rates=weights.rates,
            inexact=self._inexact,
            stage=self._course.stage,
        )

    def _judged(self, report: EpochReport, frozen: SB3Policy) -> Outcome | None:
        with generators.preserved():
            with self._tally.timed("gate"):
                answer = self._gate.after_epoch(report, lambda: frozen)
            record = self._recorded(report, answer, at_end=False)
            if report.steps >= self._settings.steps and not self._ends(record):
                with self._tally.timed("gate"):
                    last = self._gate.at_end(report)
                record = self._recorded(report, last, at_end=True, before=record)
        self._folder.write(DECISION, record.to_json())
        return self._carry_out(record, again=False)

    def _recorded(
        self,
        report: EpochReport,
        answer: GateDecision,
        *,
        at_end: bool,
        before: DecisionRecord | None = None,
    ) -> DecisionRecord:
        action, reasons = checked_action(answer.action), tuple(answer.reasons)
        starts = banking.starts_of(answer.failing, self._penaliser, "screen")
        seconds = self._tally.seconds["gate"]
        self._listener(GateDecided(report.epoch, action, reasons, answer.policy_digest, seconds))
        return DecisionRecord.of(answer, report.epoch, starts, self._gate.state(), at_end, before)

    def _carry_out(self, record: DecisionRecord, *, again: bool) -> Outcome | None:
        """Do what was decided; `again` after a resume, when listeners already heard of it."""
        banked = [Banked(start) for start in record.starts if self._bank.add(start)]
        if not again:
            self._emit(banked)
        if record.action == "rollback":
            self._roll_back(record, quiet=again)
        self._forget_checkpoints(record)
        self._envs.desk.open(self._bank.plan(self._settings.seed, self._epoch))
        if not self._ends(record):
            return None
        steps = self._learner.num_timesteps
        return ended(record, self._folder, self._kept, steps)

    def _ends(self, record: DecisionRecord) -> bool:
        if record.action == "promote":
            return self._settings.stop_when_promoted or record.at_end
        return record.action == "stop" or record.at_end

    def _roll_back(self, record: DecisionRecord, *, quiet: bool) -> None:
        epoch = self._kept.epoch_of(record.policy_digest)
        earlier = read_checkpoint(self._folder.checkpoint(epoch))
        restart = self._settings.restart_optimiser
        roll_back(self._learner, self._envs, earlier, restart_optimiser=restart)
        if not quiet:
            self._listener(RolledBack(record.epoch, epoch, record.policy_digest))

    def _forget_checkpoints(self, record: DecisionRecord) -> None:
        wanted = set(self._gate.keeps())
        if record.action in ("promote", "rollback"):
            wanted.add(record.policy_digest)
        for epoch, path in self._kept.forget(wanted, self._epoch):
            self._listener(CheckpointDeleted(epoch, path))

    def _announced(self, outcome: Outcome) -> Outcome:
        self._listener(RunEnded(outcome.status, outcome.epoch, outcome.steps, outcome.reasons))
        return outcome

    def _emit(self, events: Sequence[Event]) -> None:
        for event in events:
            self._listener(event)
