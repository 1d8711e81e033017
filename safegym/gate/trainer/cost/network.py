"""The value network of costs: one output a claim, 0 everywhere until something was learned."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from gymnasium import spaces
from stable_baselines3.common.preprocessing import get_flattened_obs_dim, preprocess_obs

HIDDEN_GAIN = 2.0**0.5


class CostNetwork(torch.nn.Module):
    """Expected discounted costs of an observation, shape (batch, claims), in units of cost.

    The output layer starts at 0: where no cost ever occurs the network says exactly 0 for ever, and
    training is what it would be without it. Initialising draws no global random number.
    """

    def __init__(
        self, space: spaces.Space[Any], claims: int, net_arch: Sequence[int], seed: int
    ) -> None:
        super().__init__()
        self.space = space
        widths = (get_flattened_obs_dim(space), *net_arch)
        layers: list[torch.nn.Module] = []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for inside, outside in pairwise(widths):
                layer = torch.nn.Linear(inside, outside)
                torch.nn.init.orthogonal_(layer.weight, HIDDEN_GAIN)
                torch.nn.init.zeros_(layer.bias)
                layers += [layer, torch.nn.Tanh()]
            output = torch.nn.Linear(widths[-1], claims)
        torch.nn.init.zeros_(output.weight)
        torch.nn.init.zeros_(output.bias)
        self._layers = torch.nn.Sequential(*layers, output)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """observations: (batch, ...) as the rollout buffer holds them."""
        prepared: Any = preprocess_obs(observations, self.space)
        found: torch.Tensor = self._layers(torch.flatten(prepared, start_dim=1))
        return found
