"""The gate of a training run: a gate keeper whose log survives kills together with the trainer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from safegym.audit.log import AuditLog
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import GateError
from safegym.gate.attempt import Certifier
from safegym.gate.burst import BurstCheck
from safegym.gate.burst_settings import BurstSettings
from safegym.gate.checks import BeforeAttempt
from safegym.gate.decide import Decision, GateKeeper
from safegym.gate.events import Listener, LogResumed, ignore
from safegym.gate.replay import ReplayBank
from safegym.gate.setting import Setting
from safegym.gate.suite import RegressionSuite
from safegym.gate.suite_check import SuiteCheck
from safegym.policy.base import Policy
from safegym.scenario.seeds import episode_seed

LOG_SIZE = "log_size"


class EpochReport(Protocol):
    """What is logged of an epoch; violations of training episodes are no evidence."""

    @property
    def epoch(self) -> int:
        """From 1."""
        ...

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        ...

    @property
    def episodes(self) -> int:
        """Training episodes that ended in this epoch."""
        ...

    @property
    def mean_return(self) -> float | None:
        """Mean return of those episodes."""
        ...

    @property
    def violations(self) -> dict[str, int]:
        """Claim id -> training episodes that violated it."""
        ...

    @property
    def penalties(self) -> int:
        """Rewards that were lowered."""
        ...

    @property
    def penalty(self) -> float:
        """Sum of the penalties, in units of reward."""
        ...

    @property
    def replays(self) -> int:
        """Episodes that began from a banked start."""
        ...

    @property
    def terms(self) -> dict[str, float]:
        """Term of a declared reward -> what it paid an episode on average."""
        ...

    @property
    def stage(self) -> int | None:
        """Stage of the curriculum, None without one."""
        ...

    @property
    def weights(self) -> dict[str, float]:
        """Claim id -> what a violation costs now, in units of reward."""
        ...

    @property
    def rates(self) -> dict[str, float]:
        """Claim id -> estimated violation rate of training episodes; no evidence."""
        ...

    @property
    def inexact(self) -> Sequence[str]:
        """Why the run does not equal one that was never interrupted, in the epoch of a resume."""
        ...

    @property
    def policy_digest(self) -> str:
        """The policy that the epoch's checkpoint holds."""
        ...

    @property
    def starts(self) -> Sequence[int]:
        """Episodes that each training slot has begun since the run began."""
        ...


def open_again(
    folder: Path, resume_from: int | Literal["checkpoint"], listener: Listener
) -> AuditLog:
    """The log of a run that goes on after its first `resume_from` records."""
    log = AuditLog.open(folder, resume_from=resume_from, reason="run resumed")
    found = log.recovered
    listener(LogResumed("" if found is None else found.message(), len(log.superseded)))
    return log


@dataclass(slots=True)
class TrainingGate:
    """A `GateKeeper` as the trainer sees it. Each decision is sealed before it is returned.

    The trainer's checkpoints carry the size of the log, so that a resumed run sets aside exactly
    the records of what it does again. root: of the training seeds. suite: most starts of the
    regression suite, 0 for none; bank: gives the replay bank that holds it, as it stands. burst:
    how a policy that passed its screen is searched for counterexamples before an attempt.
    """

    setting: Setting
    ledger: AttemptLedger
    folder: Path
    listener: Listener = ignore
    keeper: GateKeeper | None = None
    root: int = 0
    trained: set[int] = field(default_factory=set[int])
    begun: dict[int, int] = field(default_factory=dict[int, int])
    suite: int = 0
    bank: Callable[[], ReplayBank] | None = None
    burst: BurstSettings = field(default_factory=lambda: BurstSettings(budget=0))

    def begin(self, log: AuditLog) -> None:
        """Start with a new log."""
        folder = self.folder / "traces"
        certifier = Certifier(self.setting, self.ledger, log, folder, self.listener, self.trained)
        self.keeper = GateKeeper(certifier, self._checks(certifier))

    @property
    def log(self) -> AuditLog:
        """The run's log. Raises GateError before `begin` or `restore`."""
        log = None if self.keeper is None else self.keeper.certifier.log
        if log is None:
            raise GateError("The run's log is not open; start the run, or resume it.")
        return log

    def after_epoch(self, report: EpochReport, freeze: Callable[[], Policy]) -> Decision:
        """Log the epoch, decide, and seal."""
        self._epoch(report)
        self._remember(report.starts)
        decision = self._keeper().after_epoch(report, freeze)
        self.log.checkpoint()
        return decision

    def at_end(self, report: EpochReport) -> Decision:
        """Decide once more when the steps are used up, and seal."""
        decision = self._keeper().at_end(report)
        self.log.checkpoint()
        return decision

    def keeps(self) -> tuple[str, ...]:
        """Digests of the policies whose checkpoints must stay, best first."""
        return self._keeper().keeps()

    def state(self) -> dict[str, Any]:
        """The gate's state and the size of the log."""
        return {**self._keeper().state(), LOG_SIZE: self.log.size}

    def restore(self, state: Mapping[str, Any], load: Callable[[str], Policy]) -> None:
        """Open the log again where `state` left it, and put the state back.

        Raises GateError when the state is malformed.
        """
        try:
            size: int | Literal["checkpoint"] = int(state[LOG_SIZE]) if state else "checkpoint"
        except (LookupError, TypeError, ValueError) as error:
            raise GateError(
                f"The stored state of the gate is malformed: {error!r}. Put the run folder back as "
                "the run wrote it, or start a new run."
            ) from error
        log = open_again(self.folder, size, self.listener)
        if not state and any(record.kind == "gate_decision" for record in log.live_records()):
            log.release()
            raise GateError(
                "The log holds decisions of this gate, and the run folder no state of it, so that "
                "spent attempts would be forgotten. Put decision.json and the checkpoint back as "
                "the run wrote them, or start a new run."
            )
        self.begin(log)
        self._keeper().restore(state, load)

    def _checks(self, certifier: Certifier) -> tuple[BeforeAttempt, ...]:
        """The suite first: it is the cheaper one, and it may hold the gate."""
        checks: list[BeforeAttempt] = []
        if self.suite:
            checks.append(SuiteCheck(certifier, self._suite))
        if self.burst.budget:
            checks.append(BurstCheck(certifier, self.burst))
        return tuple(checks)

    def _suite(self) -> RegressionSuite:
        if self.bank is None:  # an empty suite would be passed in silence
            raise GateError(
                f"The gate has a regression suite of up to {self.suite} starts, and no bank that "
                "holds it; set gate.bank = lambda: trainer.bank."
            )
        return self.bank().suite

    def _remember(self, starts: Sequence[int]) -> None:
        """Take in the seeds of the training episodes begun since the last epoch."""
        scenario, claims = self.setting.spec.digest, self.setting.claims_digest
        for slot, upto in enumerate(starts):
            for number in range(self.begun.get(slot, 0), upto):
                seed = episode_seed(self.root, "", scenario, claims, "train", slot, number)
                self.trained.add(seed)
            self.begun[slot] = max(upto, self.begun.get(slot, 0))

    def _keeper(self) -> GateKeeper:
        if self.keeper is None:
            raise GateError("The gate has not begun; start the run, or resume it.")
        return self.keeper

    def _epoch(self, report: EpochReport) -> None:
        log, violations = self.log, report.violations
        log.append(
            "checkpoint",
            {
                "epoch": report.epoch,
                "steps": report.steps,
                "policy": report.policy_digest,
                "episodes": report.episodes,
                "mean_return": report.mean_return,
                "training_violations": dict(violations),
                "training_rates": dict(report.rates),
                "penalty_weights": dict(report.weights),
                **({"inexact": list(report.inexact)} if report.inexact else {}),
                **({"reward_terms": dict(report.terms)} if report.terms else {}),
                **({} if report.stage is None else {"curriculum_stage": report.stage}),
            },
        )
        if report.penalties:
            log.append(
                "penalty",
                {
                    "epoch": report.epoch,
                    "episodes": sum(violations.values()),
                    "steps": report.penalties,
                    "total": report.penalty,
                },
            )
        if report.replays:
            log.append("replay", {"epoch": report.epoch, "episodes": report.replays})
