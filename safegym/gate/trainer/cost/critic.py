"""The cost critic of a run: what costs are expected, learned beside the policy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import PolicyError
from safegym.gate.trainer.cost.advantage import Floats, cost_advantages
from safegym.gate.trainer.cost.network import CostNetwork
from safegym.gate.weighting.settings import CostCritic as CostSettings

_NET, _ADAM, _RNG = "cost.net.", "cost.adam.", "cost.rng"


@dataclass(frozen=True, slots=True)
class CostRollout:
    """A rollout as a cost critic sees it.

    observations: (steps, envs, ...) as in the rollout buffer. costs: (steps, envs, claims), >= 0.
    starts: (steps, envs). last_observations: (envs, ...). last_dones: (envs,). timeouts: (step,
    env, last observation) of each episode that a time limit ended.
    """

    observations: NDArray[Any]
    costs: Floats
    starts: Floats
    last_observations: NDArray[Any]
    last_dones: NDArray[np.bool_]
    timeouts: Sequence[tuple[int, int, NDArray[Any]]] = ()


class CostLearner:
    """One value network with an output for each claim, its Adam, and its own random numbers.

    Draws no global random number, so the policy learns as it would without it while no cost occurs.
    """

    def __init__(
        self,
        settings: CostSettings,
        space: spaces.Space[Any],
        claims: Sequence[str],
        *,
        gamma: float,
        gae_lambda: float,
        batch_size: int,
        seed: int,
    ) -> None:
        self.claims = tuple(claims)
        self.rescale = settings.rescale
        self._settings, self._gamma, self._batch = settings, gamma, batch_size
        self._lambda = gae_lambda if settings.gae_lambda is None else settings.gae_lambda
        self._net = CostNetwork(space, len(self.claims), settings.net_arch, seed)
        self._adam = torch.optim.Adam(self._net.parameters(), lr=settings.learning_rate)
        self._random = torch.Generator().manual_seed(seed)
        self._targets: tuple[torch.Tensor, torch.Tensor] | None = None

    def advantages(self, rollout: CostRollout) -> Floats:
        """Cost advantages, (steps, envs, claims); `fit` then learns from this rollout."""
        values = self._values(rollout.observations)
        costs = rollout.costs.copy()
        for step, env, last in rollout.timeouts:
            costs[step, env] += self._gamma * self._values(last[None])[0]
        found = cost_advantages(
            costs,
            values,
            self._values(rollout.last_observations),
            rollout.starts,
            rollout.last_dones,
            self._gamma,
            self._lambda,
        )
        flat = rollout.observations.reshape(-1, *rollout.observations.shape[2:])
        returns = (found + values).reshape(-1, len(self.claims))
        self._targets = torch.from_numpy(flat.copy()), torch.from_numpy(returns)
        return found

    def fit(self) -> float | None:
        """Fit the network to the rollout's cost returns; its last loss, None without a rollout."""
        if self._targets is None:
            return None
        observations, returns = self._targets
        self._targets, last = None, 0.0
        for _ in range(self._settings.epochs):
            order = torch.randperm(len(returns), generator=self._random)
            for first in range(0, len(order), self._batch):
                chosen = order[first : first + self._batch]
                loss = torch.nn.functional.mse_loss(
                    self._net(observations[chosen]), returns[chosen]
                )
                self._adam.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch has no types here
                self._adam.step()
                last = loss.item()
        return last

    def state(self) -> dict[str, torch.Tensor]:
        """Weights, Adam's moments and random state, for a checkpoint."""
        tensors = {_NET + name: value.clone() for name, value in self._net.state_dict().items()}
        for index, entries in self._adam.state_dict()["state"].items():
            tensors |= {f"{_ADAM}{index}.{key}": value.clone() for key, value in entries.items()}
        return {**tensors, _RNG: self._random.get_state()}

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Put `state` back. Raises PolicyError when it does not fit."""
        weights = {
            name.removeprefix(_NET): value.clone()
            for name, value in tensors.items()
            if name.startswith(_NET)
        }
        try:
            self._net.load_state_dict(weights)
            self._random.set_state(tensors[_RNG])
        except (KeyError, RuntimeError) as error:
            raise PolicyError(
                f"The checkpoint's cost critic does not fit these claims and settings: {error}"
            ) from error
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith(_ADAM):
                index, _, key = name.removeprefix(_ADAM).partition(".")
                moments.setdefault(int(index), {})[key] = value.clone()
        groups = self._adam.state_dict()["param_groups"]
        self._adam.load_state_dict({"state": moments, "param_groups": groups})
        self._targets = None

    def _values(self, observations: NDArray[Any]) -> Floats:
        """Expected costs: (envs, claims), or (steps, envs, claims) for a whole rollout."""
        space = self._net.space
        lead = observations.shape[: observations.ndim - len(space.shape or ())]
        flat = torch.from_numpy(observations.reshape(-1, *(space.shape or ())).copy())
        with torch.no_grad():
            found: Floats = self._net(flat).numpy()
        return found.reshape(*lead, len(self.claims))
