"""Penalties as costs: the rewards stay as they are, the advantages are joined before the update."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.vec_env import VecNormalize

from safegym.gate.trainer.cost.advantage import Floats, combined
from safegym.gate.trainer.cost.critic import CostLearner, CostRollout
from safegym.gate.trainer.events import PenaltyApplied
from safegym.gate.trainer.learning.probe import RolloutProbe
from safegym.gate.weighting.weights import Weights


def apply_costs(
    due: Sequence[PenaltyApplied],
    buffer: RolloutBuffer,
    probe: RolloutProbe,
    last_observations: NDArray[Any],
    normalise: VecNormalize | None,
    critic: CostLearner,
    weights: Weights,
) -> list[PenaltyApplied]:
    """Join the cost advantages to the buffer's; returns the penalties with `in_buffer` filled in.

    last_observations: after the rollout's last step. With no cost so far in the run the buffer
    stays untouched.
    """
    costs, applied = _costs(due, buffer, probe, normalise, critic.claims)
    found = critic.advantages(
        CostRollout(
            buffer.observations,
            costs,
            buffer.episode_starts,
            last_observations,
            probe.last_dones,
            probe.timeouts,
        )
    )
    multipliers = [weights.multiplier(claim) for claim in critic.claims]
    buffer.advantages = combined(buffer.advantages, found, multipliers, rescale=critic.rescale)
    return applied


def _costs(
    due: Sequence[PenaltyApplied],
    buffer: RolloutBuffer,
    probe: RolloutProbe,
    normalise: VecNormalize | None,
    claims: Sequence[str],
) -> tuple[Floats, list[PenaltyApplied]]:
    """Costs of a rollout, (steps, envs, claims), at multiplier 1 and in the rewards' scale."""
    costs = np.zeros((*buffer.rewards.shape, len(claims)), dtype=np.float32)
    applied: list[PenaltyApplied] = []
    for penalty in due:
        cost = penalty.cost
        if probe.scales and normalise is not None:
            cost = min(cost / probe.scales[penalty.row], float(normalise.clip_reward))
        costs[penalty.row, penalty.slot, claims.index(penalty.claim_id)] += np.float32(cost)
        applied.append(replace(penalty, in_buffer=0.0, in_costs=cost))
    return costs, applied
