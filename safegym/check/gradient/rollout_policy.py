"""A policy as a function of torch, so that gradients go from its observations to its actions."""

from collections.abc import Callable
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor

from safegym.errors import UnsupportedError
from safegym.policy.base import Policy
from safegym.policy.sb3.normaliser import Normaliser
from safegym.policy.sb3.policy import SB3Policy
from safegym.scenario.model import DifferentiableModel

Actor = Callable[[Tensor], Tensor]
"""An observation (n,), float64 with float32 values, to an action, a number or (1,)."""


def actor_of(policy: Policy, model: DifferentiableModel, name: str) -> Actor:
    """The policy's actor. A policy over discrete actions has one too, of slope zero.

    name: the scenario's. Raises UnsupportedError for a policy that is neither an SB3Policy nor has
    a twin in the scenario's model, and for one that draws its actions.
    """
    card = policy.card
    if card.mode != "deterministic":
        raise UnsupportedError(
            f"Policy {card.name} draws its actions (mode {card.mode!r}), so its episodes have no "
            "slope in their inputs; use the deterministic policy."
        )
    if isinstance(policy, SB3Policy) and policy.recurrent:
        raise UnsupportedError(
            f"Policy {card.name} is recurrent: its action depends on what it saw before, so it is "
            "no function of one observation; search without gradients."
        )
    if isinstance(policy, SB3Policy):
        return _network(policy)
    twin = model.twins.get(card.name) if card.kind == "scripted" else None
    if twin is None:
        raise UnsupportedError(
            f"Policy {card.name} ({card.kind}) has no differentiable twin in the model of {name}; "
            f"there are {', '.join(sorted(model.twins)) or 'none'}. Use an SB3Policy, declare "
            f'DifferentiableModel(twins={{"{card.name}": ...}}), or search without gradients.'
        )
    return lambda observation: _tensor(twin(torch, *observation.unbind()))


def _network(policy: SB3Policy) -> Actor:
    """What `SB3Policy.act` computes, with the graph kept."""
    network, normaliser = policy._policy, policy._normaliser
    space: Any = policy.action_space
    box = isinstance(space, spaces.Box)

    def act(observation: Tensor) -> Tensor:
        seen = observation.float() if normaliser is None else _normalised(normaliser, observation)
        raw = network._predict(seen[None], deterministic=True).reshape(-1)
        if not box:
            return raw
        low, high = (
            torch.from_numpy(space.low).reshape(-1),
            torch.from_numpy(space.high).reshape(-1),
        )
        if network.squash_output:
            return low + 0.5 * (raw + 1.0) * (high - low)
        return raw.clamp(low, high)

    return act


def _normalised(normaliser: Normaliser, observation: Tensor) -> Tensor:
    mean, var = torch.from_numpy(normaliser.mean.copy()), torch.from_numpy(normaliser.var.copy())
    scaled = (observation - mean) / torch.sqrt(var + normaliser.epsilon)
    return scaled.clamp(-normaliser.clip, normaliser.clip).float()


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else torch.as_tensor(value, dtype=torch.float64)
