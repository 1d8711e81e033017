"""The training loop: collect, penalise, train, and at every epoch boundary ask the gate.

The loop is ours and not `learn`'s, since holding, rolling back and stopping must come after an
update, which no callback of stable-baselines3 does.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from safegym.errors import GateError
from safegym.formula.claim import Claim
from safegym.gate.penalty import Penaliser
from safegym.gate.replay import ReplayBank
from safegym.gate.trainer import banking, correction
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
    ignore,
)
from safegym.gate.trainer.folder import DECISION, IDENTITY, LAST, RunFolder
from safegym.gate.trainer.given import given_starts
from safegym.gate.trainer.hook import GateDecision, GateHook
from safegym.gate.trainer.identity import RunIdentity, stored_identity
from safegym.gate.trainer.learner import (
    RolloutProbe,
    begin,
    check_weights,
    go_on,
    make_learner,
    open_state,
)
from safegym.gate.trainer.record import DecisionRecord, checked_action
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.tally import EpochTally, rollout_report
from safegym.gate.trainer.vector import make_envs
from safegym.policy.sb3 import generators
from safegym.policy.sb3.checkpoint import (
    Checkpoint,
    read_checkpoint,
    restore_generators,
    restore_learning,
    save_checkpoint,
)
from safegym.policy.sb3.inference import single_thread
from safegym.policy.sb3.policy import SB3Policy, load_policy
from safegym.scenario.spec import ScenarioSpec


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    status: "promoted" (a policy was released), "finished" (steps used up), "stopped" (by the gate)
    or "interrupted" (Ctrl-C; go on with `resume`). policy_digest: of the promoted policy, else "".
    checkpoint: the promoted checkpoint, else the last one.
    """

    status: str
    epoch: int
    steps: int
    checkpoint: Path
    policy_digest: str = ""
    reasons: tuple[str, ...] = ()
    resume: str = ""


class Trainer:
    """Trains a policy under a gate, into a run folder.

    `Trainer(spec, settings, out, gate)` starts a run, `Trainer.resume(spec, out, gate)` goes on
    with one. claims: those that are monitored and penalised, None for the scenario's.
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
    ) -> None:
        self._spec, self._settings, self._gate = spec, settings, gate
        self._claims = tuple(spec.claims if claims is None else claims)
        self._listener = listener
        self._folder = RunFolder(out)
        self._resuming = False
        self._penaliser = Penaliser(self._claims, spec.clock, spec.horizon, settings.penalty)
        self._bank = ReplayBank(spec.digest, settings.replay)
        self._tally = EpochTally()
        self._epoch = 0
        self._policies: dict[int, str] = {}
        self._given = 0

    @classmethod
    def resume(
        cls,
        spec: ScenarioSpec,
        out: str | Path,
        gate: GateHook,
        *,
        claims: Sequence[Claim] | None = None,
        listener: Listener = ignore,
    ) -> "Trainer":
        """Go on with the run in `out` from its last epoch boundary, with its own settings."""
        settings = stored_identity(out).settings
        trainer = cls(spec, settings, out, gate, claims=claims, listener=listener)
        trainer._resuming = True
        return trainer

    @property
    def bank(self) -> ReplayBank:
        """The replay bank; its `burnt` seeds may not certify."""
        return self._bank

    def frozen(self, policy_digest: str) -> SB3Policy:
        """The policy of a kept checkpoint. Raises GateError when none has that digest."""
        return load_policy(self._folder.checkpoint(self._epoch_of(policy_digest)))

    def run(self) -> Outcome:
        """Train until the gate ends the run, the steps are used up, or Ctrl-C."""
        self._folder.open(new=not self._resuming)
        try:
            with single_thread():
                return self._announced(self._train())
        except KeyboardInterrupt:
            return self._announced(self._interrupted())
        finally:
            self._folder.close()

    def _train(self) -> Outcome:
        done = self._go_on() if self._resuming else self._begin()
        while done is None:
            self._rollout()
            if self._at_boundary():
                done = self._boundary()
        return done

    def _begin(self) -> Outcome | None:
        identity = RunIdentity.of(self._spec, self._claims, self._settings)
        self._folder.write(IDENTITY, identity.to_json())
        self._build()
        given = self._take_given()
        self._envs.desk.open(self._bank.plan(self._settings.seed, 0))
        self._callback = begin(self._learner, self._settings, self._probe)
        self._listener(RunStarted(steps=0, total=self._settings.steps))
        self._emit(given)
        self._checkpoint()
        return None

    def _go_on(self) -> Outcome | None:
        identity = stored_identity(self._folder.path)
        now = RunIdentity.of(self._spec, self._claims, self._settings)
        identity.check_same_run(now)
        last = self._folder.read(LAST)
        if last is None:
            self._gate.restore({}, self.frozen)
            return self._begin()
        self._epoch = int(last["epoch"])
        self._policies = {int(epoch): digest for epoch, digest in last["policies"].items()}
        path = self._folder.checkpoint(self._epoch)
        checkpoint = read_checkpoint(path)
        self._restore(checkpoint)
        given = self._take_given()
        self._listener(
            RunStarted(
                steps=self._learner.num_timesteps,
                total=self._settings.steps,
                resumed_from=path,
                differences=identity.differences(now),
            )
        )
        self._emit(given)
        return self._decide_again(last, checkpoint)

    def _build(self) -> None:
        self._envs = make_envs(self._spec, self._settings, self._claims)
        self._learner = make_learner(self._settings, self._envs.env)
        self._probe = RolloutProbe(self._envs)

    def _restore(self, checkpoint: Checkpoint) -> None:
        self._build()
        self._callback = go_on(self._learner, self._settings, self._probe, checkpoint)
        self._envs.resume(checkpoint)
        self._bank = ReplayBank.from_json(checkpoint.extra["bank"], self._spec.digest)
        self._given = int(checkpoint.extra.get("given", 0))
        restore_generators(checkpoint)

    def _take_given(self) -> list[Event]:
        """Bank the starts that were put into the run folder since the last checkpoint."""
        fresh = given_starts(self._folder.path)[self._given :]
        self._given += len(fresh)
        return [Banked(start) for start in fresh if self._bank.add(start)]

    def _decide_again(self, last: dict[str, Any], checkpoint: Checkpoint) -> Outcome | None:
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
        path = self._folder.checkpoint(self._epoch)
        numbers: dict[str, Any] = last["report"]
        report = EpochReport(checkpoint=path, **numbers)
        return self._judged(report, load_policy(path))

    def _rollout(self) -> None:
        learner, tally = self._learner, self._tally
        with tally.timed("collect"):
            self._envs.begin_rollout()
            learner.collect_rollouts(
                self._envs.env, self._callback, learner.rollout_buffer, self._settings.n_steps
            )
        with tally.timed("verify"):
            slots = self._envs.slots
            judged = correction.judge_finished(self._penaliser, slots)
            rows = self._settings.n_steps
            due = correction.due_penalties(judged, self._penaliser, slots, rows)
            applied = correction.apply(
                due, learner.rollout_buffer, self._probe, self._envs.normalise
            )
            happened = banking.take_in(judged, self._penaliser, self._bank)
        learner._update_current_progress_remaining(learner.num_timesteps, self._settings.steps)
        with tally.timed("train"):
            self._update()
        tally.add(judged, applied)
        self._emit([*happened, *applied])
        steps, total = learner.num_timesteps, self._settings.steps
        self._listener(rollout_report(self._epoch + 1, steps, total, judged))

    def _update(self) -> None:
        kept = f"The checkpoint of epoch {self._epoch} is kept."
        try:
            self._learner.train()
        except ValueError:
            check_weights(self._learner, kept=kept)
            raise
        check_weights(self._learner, kept=kept)

    def _at_boundary(self) -> bool:
        steps = self._learner.num_timesteps
        return steps % self._settings.gate_every == 0 or steps >= self._settings.steps

    def _boundary(self) -> Outcome | None:
        self._epoch += 1
        frozen = self._checkpoint()
        report = self._report(frozen)
        self._tally = EpochTally()
        self._listener(report)
        return self._judged(report, frozen)

    def _checkpoint(self) -> SB3Policy:
        path = self._folder.checkpoint(self._epoch)
        with self._tally.timed("checkpoint"):
            document, tensors = self._envs.capture()
            digest, frozen = save_checkpoint(
                self._learner,
                path,
                name=f"{self._spec.name} epoch {self._epoch}",
                extra={
                    **document,
                    "epoch": self._epoch,
                    "bank": self._bank.to_json(),
                    "given": self._given,
                    "gate": dict(self._gate.state()),
                },
                extra_tensors={**tensors, **open_state(self._learner)},
            )
        self._policies[self._epoch] = frozen.card.digest
        self._write_last(self._report(frozen))
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
        return replace(report, starts=tuple(s.start.episode + 1 for s in self._envs.slots))

    def _write_last(self, report: EpochReport) -> None:
        plain = {name: value for name, value in asdict(report).items() if name != "checkpoint"}
        policies = {str(epoch): digest for epoch, digest in self._policies.items()}
        self._folder.write(LAST, {"epoch": self._epoch, "policies": policies, "report": plain})

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
        self._listener(
            GateDecided(
                report.epoch, action, reasons, answer.policy_digest, self._tally.seconds["gate"]
            )
        )
        return DecisionRecord(
            epoch=report.epoch,
            action=action,
            reasons=reasons,
            policy_digest=answer.policy_digest,
            starts=starts if before is None else before.starts + starts,
            gate=self._gate.state(),
            at_end=at_end,
        )

    def _carry_out(self, record: DecisionRecord, *, again: bool) -> Outcome | None:
        """Do what was decided; `again` after a resume, when listeners already heard of it."""
        banked = [Banked(start) for start in record.starts if self._bank.add(start)]
        if not again:
            self._emit(banked)
        if record.action == "rollback":
            self._roll_back(record, quiet=again)
        self._forget_checkpoints(record)
        self._envs.desk.open(self._bank.plan(self._settings.seed, self._epoch))
        return self._outcome(record) if self._ends(record) else None

    def _ends(self, record: DecisionRecord) -> bool:
        if record.action == "promote":
            return self._settings.stop_when_promoted or record.at_end
        return record.action == "stop" or record.at_end

    def _roll_back(self, record: DecisionRecord, *, quiet: bool) -> None:
        epoch = self._epoch_of(record.policy_digest)
        normalise = self._envs.normalise
        returns = None if normalise is None else normalise.returns.copy()
        restore_learning(self._learner, read_checkpoint(self._folder.checkpoint(epoch)))
        if normalise is not None and returns is not None:
            normalise.returns = returns
            last: Any = normalise.normalize_obs(normalise.old_obs)
            self._learner._last_obs = last
        if not quiet:
            self._listener(RolledBack(record.epoch, epoch, record.policy_digest))

    def _forget_checkpoints(self, record: DecisionRecord) -> None:
        wanted = set(self._gate.keeps())
        if record.action in ("promote", "rollback"):
            wanted.add(record.policy_digest)
        keep = {epoch for epoch, digest in self._policies.items() if digest in wanted}
        keep.add(self._epoch)
        for epoch in self._folder.epochs():
            if epoch not in keep:
                path = self._folder.delete(epoch)
                self._policies.pop(epoch, None)
                self._listener(CheckpointDeleted(epoch, path))

    def _epoch_of(self, policy_digest: str) -> int:
        for epoch in sorted(self._policies, reverse=True):
            if self._policies[epoch] == policy_digest and self._folder.checkpoint(epoch).is_dir():
                return epoch
        raise GateError(
            f"No kept checkpoint has the policy {policy_digest or '(none)'}; kept are "
            f"{', '.join(sorted(self._policies.values())) or 'none'}."
        )

    def _outcome(self, record: DecisionRecord) -> Outcome:
        promoted = bool(record.policy_digest)
        status = "promoted" if promoted else "finished" if record.at_end else "stopped"
        epoch = self._epoch_of(record.policy_digest) if promoted else self._epoch
        return Outcome(
            status=status,
            epoch=self._epoch,
            steps=self._learner.num_timesteps,
            checkpoint=self._folder.checkpoint(epoch),
            policy_digest=record.policy_digest if promoted else "",
            reasons=record.reasons,
        )

    def _interrupted(self) -> Outcome:
        command = f"safegym train --resume {self._folder.path}"
        last = self._folder.read(LAST)
        epoch = 0 if last is None else int(last["epoch"])
        return Outcome(
            status="interrupted",
            epoch=epoch,
            steps=0 if last is None else int(last["report"]["steps"]),
            checkpoint=self._folder.checkpoint(epoch),
            reasons=(f"interrupted; the checkpoint of epoch {epoch} is kept", command),
            resume=command,
        )

    def _announced(self, outcome: Outcome) -> Outcome:
        self._listener(RunEnded(outcome.status, outcome.epoch, outcome.steps, outcome.reasons))
        return outcome

    def _emit(self, events: Sequence[Event]) -> None:
        for event in events:
            self._listener(event)
