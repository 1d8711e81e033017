"""A plain torch network (nested Sequentials) as a policy: its outputs are the action."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import nn

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing.imported import (
    Imported,
    SpaceLimits,
    action_limits,
    observation_limits,
    unlimited,
)
from safegym.check.neural.importing.modules import add_modules, check_arithmetic, float_type
from safegym.check.neural.importing.surround import clipped
from safegym.digest import digest_json
from safegym.errors import UnsupportedError
from safegym.policy.sb3.inference import single_thread
from safegym.policy.sb3.tensors import digest_tensors


@dataclass(frozen=True, slots=True)
class DeployedModule:
    """A torch network on flat observations (B, n); a Box action is clipped to its limits."""

    network: nn.Module
    float_type: torch.dtype
    limits: tuple[NDArray[Any], NDArray[Any]] | None
    discrete: bool

    def values(self, observations: NDArray[Any]) -> NDArray[Any]:
        """What the network gives, (B, m)."""
        with torch.no_grad(), single_thread():
            rows = torch.tensor(np.asarray(observations), dtype=self.float_type)  # a copy
            values: torch.Tensor = self.network(rows)
        found: NDArray[Any] = values.numpy()
        return found

    def predict(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Actions (B, m), or choices (B,): the first greatest."""
        values = self.values(observations)
        if self.discrete:
            return np.asarray(values.argmax(axis=1))
        if self.limits is None:
            return values
        low, high = self.limits
        inside: NDArray[Any] = np.minimum(np.maximum(values, low), high)
        return inside


def sequential_graph(
    network: nn.Module,
    observation_space: spaces.Space[Any] | None,
    action_space: spaces.Space[Any] | None,
    name: str,
) -> Imported:
    """A network in evaluation mode. Without spaces, observations and actions have no limits.

    Raises UnsupportedError for a layer without a node, naming it, and for spaces that do not fit.
    """
    check_arithmetic()
    precision = float_type(network, name)
    size = _inputs(network, name)
    observation = unlimited(size, precision)
    if observation_space is not None:
        observation = observation_limits(observation_space, name)
    builder = GraphBuilder(observation.low.size)
    node = builder.input()
    if precision == "float32":
        node = builder.apply("cast", node, precision="float32")
    node = add_modules(builder, node, network, name)
    outputs = builder.nodes[node].size
    action: SpaceLimits | None = unlimited(outputs, precision)
    if action_space is not None:
        action = action_limits(action_space, name)
        _check_outputs(outputs, action_space, name)
    limits = None
    if isinstance(action_space, spaces.Box) and action is not None:
        node = clipped(builder, node, action)
        limits = action_space.low.reshape(-1), action_space.high.reshape(-1)
    kind = torch.float32 if precision == "float32" else torch.float64
    deployed = DeployedModule(copy.deepcopy(network), kind, limits, discrete=action is None)
    size = observation.low.size
    return Imported(
        name=name,
        digest=_digest(network, observation_space, action_space),
        kind="discrete" if action is None else "box",
        graph=builder.graph(node),
        observation=observation,
        action=action,
        predict=deployed.predict,
        values=deployed.values if action is None else deployed.predict,
        centre=np.zeros(size),
        spread=np.ones(size),
    )


def _inputs(network: nn.Module, name: str) -> int:
    for module in network.modules():
        if isinstance(module, nn.Linear):
            return int(module.in_features)
        if isinstance(module, nn.BatchNorm1d):
            return int(module.num_features)
    raise UnsupportedError(
        f"{name} has no Linear layer, so its size is not known; pass a Sequential with one."
    )


def _check_outputs(outputs: int, space: spaces.Space[Any], name: str) -> None:
    wanted = int(space.n) if isinstance(space, spaces.Discrete) else int(np.prod(space.shape or ()))
    if outputs != wanted:
        raise UnsupportedError(
            f"{name} gives {outputs} numbers, the action space {space} needs {wanted}."
        )


def _digest(network: nn.Module, *around: object) -> str:
    weights = digest_tensors(network.state_dict())
    return digest_json({"weights": weights, "layers": str(network), "spaces": str(around)})
