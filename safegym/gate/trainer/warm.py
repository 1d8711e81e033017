"""Training that starts from a saved policy: its weights and its normaliser, nothing else.

The policy is copied into the run folder (`start/`), so that a run that is broken off before its
first checkpoint starts again from the same weights.
"""

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
from safegym.policy.sb3.policy import SB3Policy, load_policy

START = "start"
"""The folder of the starting policy in a run folder."""


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
            f"{_shape(own, odd[0])}; set net_arch to the widths that the policy has."
        )
    if normalises != (policy.normaliser is not None):
        has, other = ("no normaliser", "False") if normalises else ("a normaliser", "True")
        raise PolicyError(
            f"Policy {name} has {has}, and the run has normalise={normalises}; start from it with "
            f"normalise={other}."
        )


def _shape(tensors: dict[str, torch.Tensor], key: str) -> tuple[int, ...] | None:
    return tuple(np.shape(tensors[key])) if key in tensors else None
