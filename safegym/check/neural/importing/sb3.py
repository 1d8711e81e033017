"""Policies of stable-baselines3: the policy branch of the network, with all that surrounds it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.dqn.policies import DQNPolicy
from stable_baselines3.sac.policies import SACPolicy
from stable_baselines3.td3.policies import TD3Policy
from torch import nn

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing.acting import predicted, shaped
from safegym.check.neural.importing.imported import (
    Imported,
    SpaceLimits,
    action_limits,
    check_class,
    observation_limits,
)
from safegym.check.neural.importing.modules import (
    add_modules,
    check_arithmetic,
)
from safegym.check.neural.importing.surround import (
    Normaliser,
    chosen_by_probability,
    clipped,
    observed,
    unscaled,
)
from safegym.check.neural.policy import Predict
from safegym.errors import PolicyError, UnsupportedError
from safegym.policy.sb3.inference import single_thread
from safegym.policy.sb3.normaliser import Normaliser as Held
from safegym.policy.sb3.policy import SB3Policy, freeze

SUPPORTED = "the MLP policies of PPO, A2C, DQN, SAC, TD3 and DDPG"


@dataclass(frozen=True, slots=True)
class DeployedSB3:
    """An SB3Policy on flat observations (B, n)."""

    policy: SB3Policy

    def predict(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Actions (B, m), flattened, or choices (B,)."""
        return predicted(self.policy, observations)

    def values(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The numbers that argmax is taken of, (B, m): of a discrete policy."""
        inputs = self.policy._network_inputs(shaped(self.policy, observations))
        with torch.no_grad(), single_thread():
            rows = torch.as_tensor(inputs).float().flatten(1)
            for module in _branch(self.policy._policy, self.policy.card.name):
                rows = module(rows)
        return rows.numpy()

    def original(self, source: BaseAlgorithm) -> Predict:
        """What the algorithm that was frozen gives itself, with the same normaliser."""

        def predict(observations: NDArray[Any]) -> NDArray[Any]:
            inputs = self.policy._network_inputs(shaped(self.policy, observations))
            return np.asarray(source.predict(inputs, deterministic=True)[0])

        return predict


def sb3_graph(source: Any) -> Imported:
    """Of an SB3Policy, or of an algorithm as it stands now with its VecNormalize.

    Raises UnsupportedError for what has no graph, saying why and what is supported.
    """
    check_arithmetic()
    policy = source if isinstance(source, SB3Policy) else _frozen(source)
    name = policy.card.name
    check_class(policy, SB3Policy, name)
    if policy.recurrent:
        raise _recurrent(f"Policy {name}")
    if policy._normaliser is not None:
        check_class(policy._normaliser, Held, name)
    observation = observation_limits(policy.observation_space, name)
    action = action_limits(policy.action_space, name)
    network = policy._policy
    branch = _branch(network, name)
    normaliser = _normaliser(policy)
    builder = GraphBuilder(observation.low.size)
    node = observed(builder, observation, normaliser)
    for module in branch:
        node = add_modules(builder, node, module, name)
    node = _acted(builder, node, policy, action)
    deployed = DeployedSB3(policy)
    centre = np.zeros(observation.low.size) if normaliser is None else normaliser.mean
    spread = np.ones(observation.low.size) if normaliser is None else normaliser.divisor
    return Imported(
        name=name,
        digest=policy.card.digest,
        kind="discrete" if action is None else "box",
        graph=builder.graph(node),
        observation=observation,
        action=action,
        predict=deployed.predict,
        values=deployed.values if action is None else deployed.predict,
        centre=centre,
        spread=spread,
        original=deployed.original(source) if isinstance(source, BaseAlgorithm) else None,
    )


def _frozen(source: BaseAlgorithm | BasePolicy) -> SB3Policy:
    kind = type(source).__name__
    whole = source.policy if isinstance(source, BaseAlgorithm) else source
    if "Recurrent" in kind or "Lstm" in type(whole).__name__:
        raise _recurrent(kind)
    if not isinstance(source, BaseAlgorithm):
        raise UnsupportedError(
            f"A bare {kind} does not say with which normaliser it acts; pass the algorithm, or "
            "safegym.freeze(algorithm)."
        )
    _check_parts(source.policy, kind)
    try:
        return freeze(source)
    except PolicyError as error:
        raise UnsupportedError(
            f"{kind} cannot be frozen: {error} Supported are {SUPPORTED}."
        ) from error


def _recurrent(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} is recurrent: its action depends on a hidden state as well as on the "
        f"observation, so no graph of one observation holds it; supported are {SUPPORTED}. "
        "Stack frames (VecFrameStack) and train one of these."
    )


def _check_parts(network: Any, name: str) -> None:
    """Raises UnsupportedError for spaces and noise that are refused, before anything is built."""
    if getattr(network, "use_sde", False) or getattr(
        getattr(network, "actor", None), "use_sde", False
    ):
        raise UnsupportedError(
            f"Policy {name} uses gSDE noise (use_sde=True), whose policies are not imported; "
            "train with use_sde=False."
        )
    observation_limits(network.observation_space, name)
    action_limits(network.action_space, name)


def _normaliser(policy: SB3Policy) -> Normaliser | None:
    held = policy._normaliser
    if held is None:
        return None
    divisor = np.sqrt(held.var + held.epsilon)
    return Normaliser(held.mean.reshape(-1), divisor.reshape(-1), held.clip)


def _branch(network: BasePolicy, name: str) -> list[nn.Module]:
    """From flat features to the last layer. Raises UnsupportedError for other kinds of policy."""
    _check_parts(network, name)
    kind = type(network)
    if isinstance(network, ActorCriticPolicy) and kind is ActorCriticPolicy:
        extractor: nn.Module = network.pi_features_extractor
        parts: list[nn.Module] = [network.mlp_extractor.policy_net, network.action_net]
    elif isinstance(network, SACPolicy) and kind is SACPolicy:
        extractor = network.actor.features_extractor
        parts = [network.actor.latent_pi, network.actor.mu, nn.Tanh()]
    elif isinstance(network, TD3Policy) and kind is TD3Policy:
        extractor, parts = network.actor.features_extractor, [network.actor.mu]
    elif isinstance(network, DQNPolicy) and kind is DQNPolicy:
        extractor, parts = network.q_net.features_extractor, [network.q_net.q_net]
    else:
        raise UnsupportedError(f"Policy {name} is a {kind.__name__}; supported are {SUPPORTED}.")
    if type(extractor) is not FlattenExtractor:
        raise UnsupportedError(
            f"Policy {name} reads its observation through a {type(extractor).__name__}; supported "
            "is FlattenExtractor, of an observation that is a vector."
        )
    return parts


def _acted(builder: GraphBuilder, node: int, policy: SB3Policy, action: SpaceLimits | None) -> int:
    """From the last layer to what the environment is given."""
    network, space = policy._policy, policy.action_space
    if action is None:
        chooses_by_softmax = isinstance(network, ActorCriticPolicy)
        return chosen_by_probability(builder, node) if chooses_by_softmax else node
    if network.squash_output and isinstance(space, spaces.Box):
        return unscaled(builder, node, space.low.reshape(-1), space.high.reshape(-1))
    return clipped(builder, node, action)
