"""Penalties written into a rollout buffer before the update."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.vec_env import VecNormalize

from safegym.gate.penalty import Penaliser, Violation
from safegym.gate.trainer.events import PenaltyApplied
from safegym.gate.trainer.learning.probe import RolloutProbe
from safegym.gate.trainer.open_episodes import OpenEpisodes
from safegym.gate.trainer.slots import FinishedEpisode, Slot, Start
from safegym.gate.weighting.weights import Told
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class JudgedEpisode:
    """A finished training episode with the claims it violated."""

    finished: FinishedEpisode
    violations: tuple[Violation, ...]


def judge_finished(penaliser: Penaliser, slots: Sequence[Slot]) -> tuple[JudgedEpisode, ...]:
    """Every episode that ended in the rollout, by slot, then in order."""
    return tuple(
        JudgedEpisode(finished, penaliser.at(finished.start.stage).violations(finished.trace))
        for slot in slots
        for finished in slot.finished
    )


def due_penalties(
    judged: Sequence[JudgedEpisode],
    penaliser: Penaliser,
    opened: OpenEpisodes,
    rows: int,
) -> list[PenaltyApplied]:
    """Penalties of the violations that settled in this rollout's `rows` steps.

    A violation settles at one sample, whether it is looked for in the open episode or in the whole
    one; so it is due in exactly one rollout, the one that holds the action before that sample.
    """
    due: list[PenaltyApplied] = []
    for item in judged:
        episode = item.finished
        due += _due(item.violations, episode.trace, episode.slot, episode.start, episode.last_row)
    for slot, prefix, violations in opened.judged(penaliser):
        due += _due(violations, prefix, slot.slot, slot.start, rows - 1)
    return due


def apply(
    due: Sequence[PenaltyApplied],
    buffer: RolloutBuffer,
    probe: RolloutProbe,
    normalise: VecNormalize | None,
) -> list[PenaltyApplied]:
    """Add the penalties to the buffer's rewards and recompute its advantages.

    Returns them with `in_buffer` filled in. An empty list leaves the buffer untouched.
    """
    if not any(penalty.size < 0.0 for penalty in due):
        return []
    applied: list[PenaltyApplied] = []
    for penalty in due:
        amount = penalty.size
        if amount == 0.0:  # its weight has adapted to 0
            continue
        if probe.scales and normalise is not None:
            amount = max(amount / probe.scales[penalty.row], -float(normalise.clip_reward))
        buffer.rewards[penalty.row, penalty.slot] += np.float32(amount)
        applied.append(replace(penalty, in_buffer=amount))
    buffer.compute_returns_and_advantage(probe.last_values, probe.last_dones)
    return applied


def _due(
    violations: Sequence[Violation], trace: Trace, slot: int, start: Start, last_row: int
) -> list[PenaltyApplied]:
    last = len(trace.rewards)
    return [
        PenaltyApplied(
            claim_id=violation.claim_id,
            trace_digest=trace.digest,
            slot=slot,
            episode=start.episode,
            step=violation.step,
            row=last_row - (last - violation.step),
            margin=violation.margin,
            size=violation.size,
            in_buffer=violation.size,
            cost=violation.cost,
        )
        for violation in violations
        if violation.cost > 0.0 and last_row - (last - violation.step) >= 0
    ]


def told(judged: Sequence[JudgedEpisode], penaliser: Penaliser) -> list[Told]:
    """What the finished episodes say of violation rates; replays say nothing."""
    fresh = [item for item in judged if item.finished.start.replay is None]
    return [_told(item, penaliser) for item in fresh]


def _told(item: JudgedEpisode, penaliser: Penaliser) -> Told:
    violated = frozenset(violation.claim_id for violation in item.violations)
    return Told(
        violated=violated,
        weighed=frozenset(found.claim_id for found in item.violations if found.weighed),
        void=penaliser.at(item.finished.start.stage).void(item.finished.trace, violated),
    )
