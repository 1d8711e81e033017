"""Events of a short training, as the trainer and its gate send them."""

from pathlib import Path

from safegym.gate.events import (
    AttemptClosed,
    AttemptStarted,
    BurstDone,
    EpisodeJudged,
    ScreenDone,
    SuiteDone,
)
from safegym.gate.trainer import events
from safegym.verdict import Evidence

POLICY = "sha256:" + "a" * 64


def epoch_ended(epoch: int, steps: int, **changes) -> events.EpochEnded:
    fields = {
        "epoch": epoch,
        "steps": steps,
        "total": 1000,
        "checkpoint": Path("epoch"),
        "policy_digest": POLICY,
        "episodes": 20,
        "mean_return": 3.0,
        "mean_length": 5.0,
        "violations": {"cart.upright": 5},
        "penalties": 4,
        "penalty": -2.5,
        "replays": 3,
        "banked": 7,
        "collect_seconds": 1.0,
        "verify_seconds": 0.25,
        "train_seconds": 0.5,
        "checkpoint_seconds": 0.125,
        "weights": {"cart.upright": 4.5},
        "terms": {"alive": 1.5},
    }
    return events.EpochEnded(**{**fields, **changes})


def rollout(epoch: int, steps: int, mean: float | None) -> events.RolloutEnded:
    return events.RolloutEnded(epoch, steps, 1000, 4, mean, 5.0, 1)


def screen(epoch: int, violations: int, episodes: int, **changes) -> ScreenDone:
    margins = {"cart.upright": (-0.5 if violations else 0.25, 0.75)}
    fields = {"label": "", "margins": margins, **changes}
    counts = {"cart.upright": violations}
    return ScreenDone(epoch, violations == 0, False, episodes, counts, **fields)


def decided(epoch: int, action: str, why: str = "because") -> events.GateDecided:
    return events.GateDecided(epoch, action, (why,), "", 2.0)


def evidence(**changes) -> Evidence:
    fields = {
        "claim_id": "cart.upright",
        "claim_digest": POLICY,
        "kind": "estimated",
        "status": "satisfied",
        "threshold": 0.1,
        "bound": 0.09,
        "confidence": 0.95,
        "level": 0.05,
        "episodes": 40,
        "violations": 1,
        "undecided": 0,
        "surplus": 0,
        "attempt": 1,
        "validity": "anytime",
        "method": "e-process",
        "side": "upper",
    }
    return Evidence(**{**fields, **changes})


def certified() -> list[object]:
    return [
        SuiteDone(2, POLICY, 5, ()),
        BurstDone(2, POLICY, 30, {"cart.upright": 2}),
        AttemptStarted(1, POLICY, 400, 377),
        EpisodeJudged("certify, attempt 1", 40, 400, 1, 0),
        AttemptClosed(1, "certified", (), (evidence(),)),
    ]


def short_run() -> list[object]:
    """Two epochs: a hold, and a promotion."""
    return [
        events.RunStarted(0, 1000),
        rollout(1, 100, None),
        rollout(1, 200, -4.0),
        epoch_ended(1, 200),
        screen(1, 2, 20),
        decided(1, "hold"),
        rollout(2, 300, 6.0),
        epoch_ended(2, 400, violations={}),
        screen(2, 0, 100),
        *certified(),
        decided(2, "promote"),
        events.RunEnded("promoted", 2, 400, ()),
    ]
