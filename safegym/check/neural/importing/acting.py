"""A frozen policy as an importer asks it: on flat observations, for flat actions."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

if TYPE_CHECKING:
    from safegym.policy.network import NetworkPolicy
    from safegym.policy.sb3.policy import SB3Policy


Acting: TypeAlias = "NetworkPolicy | SB3Policy"


def shaped(policy: Acting, observations: NDArray[Any]) -> NDArray[Any]:
    """Flat observations (B, n) in the shape of the policy's space, (B, ...)."""
    shape = policy.observation_space.shape or ()
    return np.asarray(observations).reshape(len(observations), *shape)


def predicted(policy: Acting, observations: NDArray[Any]) -> NDArray[Any]:
    """Actions (B, m), flattened, or choices (B,), of flat observations (B, n)."""
    actions, _ = policy.act(shaped(policy, observations), None, np.zeros(0, np.bool_))
    discrete = isinstance(policy.action_space, spaces.Discrete)
    return actions if discrete else actions.reshape(len(actions), -1)
