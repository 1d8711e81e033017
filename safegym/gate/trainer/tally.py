"""What an epoch adds up: episodes, returns, violations, penalties, seconds."""

import time
from collections import Counter, defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from safegym.gate.trainer.correction import JudgedEpisode
from safegym.gate.trainer.events import EpochReport, PenaltyApplied, RolloutEnded


@dataclass(slots=True)
class EpochTally:
    """Counts since the last epoch boundary."""

    returns: list[float] = field(default_factory=list[float])
    lengths: list[int] = field(default_factory=list[int])
    violations: Counter[str] = field(default_factory=Counter[str])
    penalties: int = 0
    penalty: float = 0.0
    replays: int = 0
    terms: defaultdict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))

    @contextmanager
    def timed(self, what: str) -> Generator[None]:
        """Adds the block's wall time to `what`."""
        before = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[what] += time.perf_counter() - before

    def add(self, judged: Sequence[JudgedEpisode], penalties: Sequence[PenaltyApplied]) -> None:
        """Take in a rollout."""
        for item in judged:
            trace = item.finished.trace
            self.returns.append(float(trace.rewards.sum()))
            self.lengths.append(len(trace.rewards))
            self.violations.update(violation.claim_id for violation in item.violations)
            self.replays += item.finished.start.replay is not None
            for name, paid in item.finished.terms.items():
                self.terms[name] += paid
        self.penalties += len(penalties)
        self.penalty += sum(penalty.size for penalty in penalties)

    def report(
        self,
        *,
        epoch: int,
        steps: int,
        total: int,
        checkpoint: Path,
        policy_digest: str,
        banked: int,
    ) -> EpochReport:
        """The epoch as a whole."""
        return EpochReport(
            epoch=epoch,
            steps=steps,
            total=total,
            checkpoint=checkpoint,
            policy_digest=policy_digest,
            episodes=len(self.returns),
            mean_return=_mean(self.returns),
            mean_length=_mean(self.lengths),
            violations=dict(sorted(self.violations.items())),
            penalties=self.penalties,
            penalty=self.penalty,
            replays=self.replays,
            banked=banked,
            collect_seconds=self.seconds["collect"],
            verify_seconds=self.seconds["verify"],
            train_seconds=self.seconds["train"],
            checkpoint_seconds=self.seconds["checkpoint"],
            terms={name: paid / len(self.returns) for name, paid in self.terms.items()},
        )


def rollout_report(
    epoch: int, steps: int, total: int, judged: Sequence[JudgedEpisode]
) -> RolloutEnded:
    """One rollout, for the progress bar."""
    traces = [item.finished.trace for item in judged]
    return RolloutEnded(
        epoch=epoch,
        steps=steps,
        total=total,
        episodes=len(traces),
        mean_return=_mean([float(trace.rewards.sum()) for trace in traces]),
        mean_length=_mean([len(trace.rewards) for trace in traces]),
        violations=sum(1 for item in judged if item.violations),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
