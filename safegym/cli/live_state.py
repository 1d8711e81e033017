"""What a live view knows of a training: counts and series, brought up to date by its events."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from safegym.gate.events import (
    AttemptClosed,
    AttemptStarted,
    BurstDone,
    EpisodeJudged,
    GateEvent,
    ScreenDone,
    SuiteDone,
)
from safegym.verdict import Evidence

if TYPE_CHECKING:
    from safegym.gate.trainer.events import EpochEnded, Event

PARTS = ("collect", "verify", "train", "checkpoint", "gate")


@dataclass(slots=True)
class ClaimSeen:
    """One claim: its share of violating training episodes by epoch, and what the gate last found.

    margin: lowest of the last screen, in multiples of the claim's scale.
    """

    rates: list[float] = field(default_factory=list[float])
    screened: tuple[int, int] | None = None
    baseline: tuple[int, int] | None = None
    margin: float | None = None
    weight: float | None = None
    evidence: Evidence | None = None


@dataclass(slots=True)
class Mark:
    """An epoch on the gate's line. screen: "", "passed", "failed" or "degraded"."""

    epoch: int
    screen: str = ""
    action: str = ""
    attempt: str = ""


@dataclass(slots=True)
class LiveState:
    """Everything that is drawn. now: what is at work; told: the last thing that was decided."""

    title: str = ""
    clock: Callable[[], float] = time.monotonic
    began: float | None = None
    first: int = 0
    steps: int = 0
    total: int = 0
    epoch: int = 0
    now: str = "starting"
    stage: EpisodeJudged | None = None
    attempt: AttemptStarted | None = None
    told: str = ""
    returns: list[float] = field(default_factory=list[float])
    claims: dict[str, ClaimSeen] = field(default_factory=dict[str, ClaimSeen])
    marks: list[Mark] = field(default_factory=list[Mark])
    banked: int = 0
    replays: int = 0
    penalties: int = 0
    suite: str = ""
    burst: str = ""
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    ended: str = ""

    def hear(self, event: "Event | GateEvent") -> None:
        """Take in an event."""
        from safegym.gate.trainer import events

        match event:
            case events.RunStarted():
                self.began, self.first = self.clock(), event.steps
                self.steps, self.total, self.now = event.steps, event.total, "training"
            case events.RolloutEnded():
                self.steps, self.epoch, self.now = event.steps, event.epoch, "training"
                if event.mean_return is not None:
                    self.returns.append(event.mean_return)
            case events.EpochEnded():
                self._epoch(event)
            case events.WeightsAdapted():
                for claim, weight in event.weights.items():
                    self._claim(claim).weight = weight
            case events.GateDecided():
                self._mark(event.epoch).action = event.action
                self.seconds["gate"] += event.gate_seconds
                why = f": {event.reasons[0]}" if event.reasons else ""
                self.told = f"epoch {event.epoch}: {event.action}{why}"
                self.stage, self.now = None, "training"
            case events.RunEnded():
                self.ended, self.now = event.status, f"ended: {event.status}"
            case _:
                self._gate(event)

    def _gate(self, event: "Event | GateEvent") -> None:
        match event:
            case EpisodeJudged():
                self.stage, self.now = event, event.stage
            case ScreenDone():
                self._screen(event)
            case AttemptStarted():
                self.attempt, self.now = event, f"attempt {event.attempt}"
                for seen in self.claims.values():  # what was found of another policy
                    seen.evidence = None
            case AttemptClosed():
                self.stage = self.attempt = None
                self._mark(self.epoch).attempt = event.outcome
                for item in event.evidence:
                    self._claim(item.claim_id).evidence = item
            case SuiteDone():
                held = f"{event.starts - len(event.failed)} of {event.starts} starts passed"
                self.suite = held if event.starts else ""
            case BurstDone():
                self.burst = f"{sum(event.finds.values())} found in {event.episodes} episodes"
            case _:
                pass

    @property
    def speed(self) -> float | None:
        """Environment steps a second since training began, gates included."""
        elapsed = self.elapsed
        return (self.steps - self.first) / elapsed if elapsed > 0 else None

    @property
    def elapsed(self) -> float:
        """Seconds since training began."""
        return 0.0 if self.began is None else self.clock() - self.began

    @property
    def left(self) -> float | None:
        """Seconds that the steps to come take at the speed so far."""
        return (self.total - self.steps) / self.speed if self.speed else None

    def _epoch(self, event: "EpochEnded") -> None:
        self.steps, self.epoch, self.now = event.steps, event.epoch, "gate"
        self.banked, self.replays, self.penalties = event.banked, event.replays, event.penalties
        for claim, weight in event.weights.items():
            self._claim(claim).weight = weight
        for claim in {**self.claims, **event.violations}:
            share = event.violations.get(claim, 0) / max(1, event.episodes)
            self._claim(claim).rates.append(share)
        self.seconds["collect"] += event.collect_seconds
        self.seconds["verify"] += event.verify_seconds
        self.seconds["train"] += event.train_seconds
        self.seconds["checkpoint"] += event.checkpoint_seconds
        self._mark(event.epoch)

    def _screen(self, event: ScreenDone) -> None:
        self.stage = None
        for claim, count in event.violations.items():
            seen = self._claim(claim)
            if event.label:
                seen.baseline = (count, event.episodes)
                continue
            seen.screened = (count, event.episodes)
            lowest = event.margins.get(claim, (math.nan, 0.0))[0]
            seen.margin = None if math.isnan(lowest) else lowest
        if not event.label:
            result = "passed" if event.passed else "degraded" if event.degraded else "failed"
            self._mark(event.epoch).screen = result

    def _claim(self, claim: str) -> ClaimSeen:
        return self.claims.setdefault(claim, ClaimSeen())

    def _mark(self, epoch: int) -> Mark:
        if not self.marks or self.marks[-1].epoch != epoch:
            self.marks.append(Mark(epoch))
        return self.marks[-1]
