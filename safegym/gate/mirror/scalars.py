"""From the events of a training to named numbers at environment steps, the same for every mirror.

| name | number |
|---|---|
| training/mean_return, mean_length | of the episodes that ended in the rollout |
| training/violation_rate/CLAIM | share of the epoch's training episodes; no evidence |
| training/worst_margin/CLAIM | lowest margin of a violating training episode, multiples of scale |
| penalty/steps, total, weight/CLAIM | rewards lowered, their sum, what a violation costs |
| reward/TERM, curriculum/stage | what each declared term paid an episode, stage of a curriculum |
| replay/bank, episodes | starts in the bank, episodes replayed in the epoch |
| screen/violation_rate/CLAIM, ..._low, ..._high | of a screen, with its 95 % interval |
| screen/margin_lowest/CLAIM, margin_mean/CLAIM | over the screen's episodes, multiples of scale |
| screen/passed, episodes | 1 or 0, episodes that ran |
| suite/starts, failed; burst/episodes, finds | of the regression suite and a falsification burst |
| certify/attempt, certified, episodes, violations/CLAIM | of a certification attempt |
| certify/bound_upper/CLAIM, bound_lower/CLAIM | the limit that it showed |
| gate/decision | 1 promote, 0 hold, -1 rollback, -2 stop |
| seconds/collect, verify, train, checkpoint, gate | wall time in the epoch |
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from safegym.check.statistics.intervals import interval
from safegym.gate.events import AttemptClosed, BurstDone, GateEvent, ScreenDone, SuiteDone

if TYPE_CHECKING:
    from safegym.gate.trainer.events import EpochEnded, Event

DECISIONS: Mapping[str, float] = {"promote": 1.0, "hold": 0.0, "rollback": -1.0, "stop": -2.0}
"""What stands for each decision of the gate."""
CONFIDENCE = 0.95
"""Of each screen's interval alone; the method holds however early the screen stopped."""

Numbers = dict[str, float]


@dataclass(slots=True)
class Scalars:
    """Keeps the environment steps so far, which the gate's own events do not carry."""

    steps: int = 0
    worst: Numbers = field(default_factory=dict[str, float])

    def of(self, event: "Event | GateEvent") -> Numbers:
        """The numbers that an event tells, to be noted at `steps`; most events tell none."""
        from safegym.gate.trainer import events

        match event:
            case events.RunStarted():
                self.steps = event.steps
            case events.RolloutEnded():
                self.steps = event.steps
                told = {"mean_return": event.mean_return, "mean_length": event.mean_length}
                return {f"training/{name}": v for name, v in told.items() if v is not None}
            case events.ViolationFound() if _finite(event.margin):
                margin = event.margin or 0.0
                self.worst[event.claim_id] = min(self.worst.get(event.claim_id, margin), margin)
            case events.WeightsAdapted():
                return {f"penalty/weight/{claim}": v for claim, v in event.weights.items()}
            case events.EpochEnded():
                return self._epoch(event)
            case events.GateDecided():
                return {
                    "gate/decision": DECISIONS[event.action],
                    "seconds/gate": event.gate_seconds,
                }
            case ScreenDone():
                return screen_numbers(event)
            case SuiteDone():
                return {
                    "suite/starts": float(event.starts),
                    "suite/failed": float(len(event.failed)),
                }
            case BurstDone():
                return {
                    "burst/episodes": float(event.episodes),
                    "burst/finds": float(sum(event.finds.values())),
                }
            case AttemptClosed():
                return attempt_numbers(event)
            case _:
                pass
        return {}

    def _epoch(self, event: "EpochEnded") -> Numbers:
        self.steps = event.steps
        worst, self.worst = self.worst, {}
        episodes = max(1, event.episodes)
        rates = {claim: count / episodes for claim, count in event.violations.items()}
        return {
            **_each("training/violation_rate", rates),
            **_each("training/worst_margin", worst),
            **_each("penalty/weight", event.weights),
            **_each("reward", event.terms),
            **({} if event.stage is None else {"curriculum/stage": float(event.stage)}),
            "penalty/steps": float(event.penalties),
            "penalty/total": event.penalty,
            "replay/bank": float(event.banked),
            "replay/episodes": float(event.replays),
            "seconds/collect": event.collect_seconds,
            "seconds/verify": event.verify_seconds,
            "seconds/train": event.train_seconds,
            "seconds/checkpoint": event.checkpoint_seconds,
        }


def screen_numbers(event: ScreenDone) -> Numbers:
    """A screen's counts with an interval that holds at whatever episode it stopped.

    A baseline's go under its own name.
    """
    root = f"baseline/{event.label}" if event.label else "screen"
    found: Numbers = {f"{root}/episodes": float(event.episodes)}
    if not event.label:
        found[f"{root}/passed"] = float(event.passed)
    for claim, count in event.violations.items():
        low, high = interval(
            count, event.episodes, confidence=CONFIDENCE, method="beta-mixture", side="two"
        )
        found[f"{root}/violation_rate/{claim}"] = count / max(1, event.episodes)
        found[f"{root}/violation_rate_low/{claim}"] = low
        found[f"{root}/violation_rate_high/{claim}"] = high
    for claim, (lowest, mean) in event.margins.items():
        found[f"{root}/margin_lowest/{claim}"] = lowest
        found[f"{root}/margin_mean/{claim}"] = mean
    return found


def attempt_numbers(event: AttemptClosed) -> Numbers:
    """How an attempt ended, and the limits that it showed."""
    found: Numbers = {
        "certify/attempt": float(event.attempt),
        "certify/certified": float(event.outcome == "certified"),
    }
    if event.evidence:
        found["certify/episodes"] = float(max(item.episodes for item in event.evidence))
    for item in event.evidence:
        found[f"certify/violations/{item.claim_id}"] = float(item.violations)
        if item.bound is not None:
            found[f"certify/bound_{item.side or 'upper'}/{item.claim_id}"] = item.bound
    return found


def _each(name: str, values: Mapping[str, float]) -> Numbers:
    return {f"{name}/{claim}": value for claim, value in values.items()}


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
