"""A `NetworkPolicy` as a graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing.acting import predicted, shaped
from safegym.check.neural.importing.imported import (
    Imported,
    action_limits,
    check_class,
    observation_limits,
)
from safegym.check.neural.importing.surround import Normaliser, clipped, observed, unscaled
from safegym.policy.network import NetworkPolicy, Normalisation
from safegym.policy.network_layers import Layer


@dataclass(frozen=True, slots=True)
class DeployedNetwork:
    """A NetworkPolicy on flat observations (B, n)."""

    policy: NetworkPolicy

    def predict(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Actions (B, m), flattened, or choices (B,)."""
        return predicted(self.policy, observations)

    def values(self, observations: NDArray[Any]) -> NDArray[Any]:
        """What the last layer gives, (B, m)."""
        return self.policy.values(shaped(self.policy, observations))


def network_graph(policy: NetworkPolicy) -> Imported:
    """The policy's graph, with all that surrounds its layers."""
    check_class(policy, NetworkPolicy, policy.name)
    observation = observation_limits(policy.observation_space, policy.name)
    action = action_limits(policy.action_space, policy.name)
    size = observation.low.size
    held, normaliser = policy.normalisation, None
    if held is not None:
        check_class(held, Normalisation, policy.name)
        normaliser = Normaliser(held.mean.reshape(-1), held.scale.reshape(-1), held.clip)
    builder = GraphBuilder(size)
    node = observed(builder, observation, normaliser)
    for layer in policy.layers:
        check_class(layer, Layer, policy.name)
        node = _layer(builder, node, layer)
    space = policy.action_space
    if policy.squash and isinstance(space, spaces.Box):
        node = unscaled(builder, node, space.low.reshape(-1), space.high.reshape(-1))
    elif action is not None:
        node = clipped(builder, node, action)
    deployed = DeployedNetwork(policy)
    return Imported(
        name=policy.name,
        digest=policy.card.digest,
        kind="discrete" if action is None else "box",
        graph=builder.graph(node),
        observation=observation,
        action=action,
        predict=deployed.predict,
        values=deployed.values if action is None else deployed.predict,
        centre=np.zeros(size) if normaliser is None else normaliser.mean,
        spread=np.ones(size) if normaliser is None else normaliser.divisor,
    )


def _layer(builder: GraphBuilder, node: int, layer: Layer) -> int:
    node = builder.linear([(node, layer.weight)], layer.bias, precision="float32")
    if layer.activation == "identity":
        return node
    if layer.activation == "relu":
        return builder.apply("relu", node)
    return builder.apply(layer.activation, node, slope=layer.slope, precision="float32")
