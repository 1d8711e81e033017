"""Training that starts from a saved policy: its weights and its normaliser, nothing else.

The policy is copied into the run folder (`start/`), so that a run that is broken off before its
first checkpoint starts again from the same weights.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecNormalize

from safegym.errors import GateError, PolicyError, RunFolderError
from safegym.gate.trainer.learning.base import Learner
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.vector import TrainingEnvs
from safegym.policy.sb3.architecture import describe
from safegym.policy.sb3.policy import SB3Policy, load_policy

START = "start"
"""The folder of the starting policy in a run folder."""
_OPTIONS = {
    "log_std": "use_sde",
    "lstm_critic": "enable_critic_lstm and shared_lstm",
    "lstm": "lstm_hidden_size and n_lstm_layers",
    "critic": "critic_arch and n_critics",
    "value_net": "critic_arch",
}
"""Part of a weight's name -> the setting that decides its shape; net_arch decides the others."""
_ONLY_AT_THE_START = frozenset(
    [
        "observation_space",
        "action_space",
        "net_arch",
        "ortho_init",
        "log_std_init",
        "optimizer_class",
        "optimizer_kwargs",
    ]
)
"""Parameters of a policy that say nothing of what its weights do, or are compared elsewhere."""


def starting_policy(folder: Path, digest: str) -> SB3Policy:
    """The starting policy of a run. Raises GateError when it is missing or another one."""
    place = folder / START
    try:
        policy = load_policy(place)
    except (PolicyError, RunFolderError) as error:
        raise GateError(
            f"The run starts from policy {digest}, whose folder {place} cannot be read: {error} "
            "Give it with start_from=FOLDER to a new run."
        ) from error
    if policy.card.digest != digest:
        raise GateError(f"The run starts from policy {digest}; {place} holds {policy.card.digest}.")
    return policy


def warm_up(learner: Learner, envs: TrainingEnvs, settings: TrainSettings, folder: Path) -> None:
    """Start a run from the weights of a policy, where its settings name one."""
    if settings.start_policy:
        policy = starting_policy(folder, settings.start_policy)
        start_from(learner.algorithm, policy, envs.normalise, seen=settings.gate_every)


def start_from(
    algorithm: BaseAlgorithm, policy: SB3Policy, normalise: VecNormalize | None, seen: int
) -> None:
    """Put the policy's weights and normaliser into a fresh algorithm; no generator is used.

    Optimisers, counters and exploration stay as they are. seen: observations that the normaliser's
    statistics then count for; a saved policy does not know how many there were.
    Raises PolicyError unless class, spaces, shapes and normalisation are those of the algorithm.
    """
    refuse_unfit(algorithm, policy, normalises=normalise is not None and normalise.norm_obs)
    algorithm.policy.load_state_dict(policy.weights, strict=True)
    held = policy.normaliser
    if normalise is None or held is None:
        return
    statistics: Any = normalise.obs_rms
    if not isinstance(statistics, RunningMeanStd):
        raise PolicyError("Normalised Dict observations cannot be started from.")
    statistics.mean, statistics.var = held.mean.copy(), held.var.copy()
    statistics.count = float(seen)
    normalise.clip_obs, normalise.epsilon = held.clip, held.epsilon


def refuse_unfit(algorithm: BaseAlgorithm, policy: SB3Policy, *, normalises: bool) -> None:
    """Raises PolicyError unless the policy's weights and normaliser fit the algorithm."""
    name = policy.card.name
    policy.check_fit(algorithm.observation_space, algorithm.action_space)
    if policy.policy_class is not type(algorithm.policy):
        kind, wanted = policy.policy_class.__name__, type(algorithm.policy).__name__
        raise PolicyError(
            f"Policy {name} is a {kind} of {policy.card.details['algorithm']}, "
            f"{type(algorithm).__name__} trains a {wanted}; start from a policy of the same kind."
        )
    own, given = algorithm.policy.state_dict(), policy.weights
    odd = sorted(key for key in {*own, *given} if _shape(own, key) != _shape(given, key))
    if odd:
        raise PolicyError(
            f"Policy {name} has {odd[0]} of shape {_shape(given, odd[0])}, the run's network has "
            f"{_shape(own, odd[0])}; set {_option(odd[0])} as the policy has it."
        )
    _refuse_other_function(algorithm, policy)
    if normalises != (policy.normaliser is not None):
        has, other = ("no normaliser", "False") if normalises else ("a normaliser", "True")
        raise PolicyError(
            f"Policy {name} has {has}, and the run has normalise={normalises}; start from it with "
            f"normalise={other}."
        )


def _refuse_other_function(algorithm: BaseAlgorithm, policy: SB3Policy) -> None:
    """Raises PolicyError where the same weights would act otherwise, as with other activations."""
    own = describe(algorithm.policy)["parameters"]
    given: Mapping[str, Any] = policy.architecture["parameters"]
    for name in sorted({*own, *given} - _ONLY_AT_THE_START):
        if own.get(name) != given.get(name):
            option = "activation" if name == "activation_fn" else name
            raise PolicyError(
                f"Policy {policy.card.name} has {name}={_told(given.get(name))}, the run's network "
                f"has {_told(own.get(name))}, in which its weights would act otherwise; set "
                f"{option} as the policy has it."
            )


def _told(value: Any) -> str:
    """A stored value for people: the name of a class, else the value."""
    named = isinstance(value, Mapping) and len(value) == 1
    return str(next(iter(value.values()))) if named else repr(value)


def _option(weight: str) -> str:
    """The setting that decides the shape of a weight."""
    return next((option for part, option in _OPTIONS.items() if part in weight), "net_arch")


def _shape(tensors: dict[str, torch.Tensor], key: str) -> tuple[int, ...] | None:
    return tuple(np.shape(tensors[key])) if key in tensors else None
