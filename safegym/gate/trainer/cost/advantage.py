"""Generalised advantages of several cost streams, and how they join those of the reward."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def cost_advantages(
    costs: Floats,
    values: Floats,
    last_values: Floats,
    starts: Floats,
    last_dones: NDArray[np.bool_],
    gamma: float,
    gae_lambda: float,
) -> Floats:
    """Generalised advantage estimates, shape (steps, envs, claims).

    costs, values: (steps, envs, claims); time-outs have their bootstrap in `costs`. last_values:
    (envs, claims), of the observations after the last step. starts: (steps, envs), 1 where an
    episode begins. last_dones: (envs,), whether the last step ended one.
    Source: Schulman et al. 2016, equation 16; computed as stable-baselines3 does for rewards.
    """
    found = np.zeros_like(costs)
    running = np.zeros_like(last_values)
    going_on = 1.0 - last_dones.astype(np.float32)
    following = last_values
    for step in reversed(range(len(costs))):
        alive = going_on[:, None]
        delta = costs[step] + gamma * following * alive - values[step]
        running = delta + gamma * gae_lambda * alive * running
        found[step] = running
        going_on, following = 1.0 - starts[step], values[step]
    return found


def combined(
    rewards: Floats, costs: Floats, multipliers: Sequence[float], *, rescale: bool
) -> Floats:
    """Advantages that a policy ascends: (A - sum of m_c A_c) / (1 + sum of m_c), shape as A.

    rewards: (steps, envs). costs: (steps, envs, claims). multipliers: m_c >= 0, one a claim.
    rescale: whether to divide, so that a large multiplier does not enlarge the step. Where all cost
    advantages are 0 the rewards' come back untouched.
    Source: Ray, Achiam and Amodei 2019 (PPO-Lagrangian); Stooke et al. 2020, equation 9 (rescaled).
    """
    if not costs.any():
        return rewards
    weights = np.asarray(multipliers, dtype=np.float32)
    lowered = np.asarray(rewards - costs @ weights, dtype=np.float32)
    if rescale:
        lowered /= np.float32(1.0 + weights.sum())
    return lowered
