"""A whole algorithm as (JSON, tensors): hyperparameters, counters, optimisers, normaliser."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import NStepReplayBuffer
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.save_util import recursive_getattr
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from safegym.errors import PolicyError
from safegym.policy.sb3 import optimisers
from safegym.policy.sb3.architecture import describe
from safegym.policy.sb3.codec import decode, encode
from safegym.policy.sb3.names import ALGORITHMS, algorithm_name, policy_class
from safegym.policy.sb3.spaces import decode_space, encode_space, same_space
from safegym.policy.sb3.tensors import check_finite

_NOT_STORED = frozenset(
    [
        "self",
        "policy",
        "env",
        "device",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "rms_prop_eps",
    ]
)
_COUNTERS = (
    "num_timesteps",
    "_total_timesteps",
    "_episode_num",
    "_n_updates",
    "_current_progress_remaining",
    "_n_calls",
    "exploration_rate",
)
_CONSTANTS = ("clip_obs", "clip_reward", "gamma", "epsilon")
_FLAGS = ("norm_obs", "norm_reward", "training")


def capture(algorithm: BaseAlgorithm) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Everything but the random generators and the environments.

    Replay buffers are not included. Raises PolicyError where a value is not finite or cannot be
    stored as data.
    """
    tensors = _policy_tensors(algorithm)
    check_finite(tensors, what="The checkpoint was not written")
    groups, optimiser_tensors = optimisers.capture(algorithm)
    check_finite(optimiser_tensors, what="The checkpoint was not written")
    normalise, normalise_tensors = _capture_normalise(algorithm.get_vec_normalize_env())
    document = {
        "algorithm": algorithm_name(algorithm),
        "policy": describe(algorithm.policy),
        "hyperparameters": _hyperparameters(algorithm),
        "observation_space": encode_space(algorithm.observation_space),
        "action_space": encode_space(algorithm.action_space),
        "counters": {
            name: encode(getattr(algorithm, name)) for name in _COUNTERS if hasattr(algorithm, name)
        },
        "optimisers": groups,
        "normalise": normalise,
    }
    return document, {**tensors, **optimiser_tensors, **normalise_tensors}


def rebuild(document: Mapping[str, Any], env: VecEnv | None) -> BaseAlgorithm:
    """A fresh algorithm with the stored class and hyperparameters, to be filled by `restore`.

    env: None gives an algorithm that can act but not train. The global generators are used.
    """
    try:
        name = document["algorithm"]
        cls: Any = ALGORITHMS[name]
        policy = policy_class(document["policy"]["class"])
        parameters = _constructor(document["hyperparameters"])
    except (KeyError, TypeError, AttributeError) as error:
        raise PolicyError(f"The checkpoint's algorithm is malformed: {error!r}.") from error
    if env is not None:
        trainable: BaseAlgorithm = cls(policy, env, device="cpu", verbose=0, **parameters)
        return trainable
    algorithm: BaseAlgorithm = cls(
        policy, None, device="cpu", verbose=0, _init_setup_model=False, **parameters
    )
    algorithm.observation_space = decode_space(document["observation_space"])
    algorithm.action_space = decode_space(document["action_space"])
    algorithm.n_envs = 1
    algorithm._setup_model()
    return algorithm


def _constructor(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a constructor. An n-step buffer that the algorithm chose it chooses again."""
    parameters = {str(name): decode(value) for name, value in stored.items()}
    if parameters.get("replay_buffer_class") is NStepReplayBuffer:
        own = parameters["replay_buffer_kwargs"].get("n_steps")
        if own == parameters["n_steps"] > 1:
            parameters["replay_buffer_class"] = None
    return parameters


def restore(
    algorithm: BaseAlgorithm, document: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]
) -> None:
    """Put weights, optimisers, counters and normaliser into an algorithm of the same kind."""
    restore_learning(algorithm, document, tensors)
    for name, value in document["counters"].items():
        if name not in _COUNTERS:
            raise PolicyError(f"The checkpoint has an unknown counter {name!r}.")
        setattr(algorithm, name, decode(value))


def restore_learning(
    algorithm: BaseAlgorithm, document: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]
) -> None:
    """Put back what was learned (weights, optimisers, normaliser), not the counters."""
    _check_same_kind(algorithm, document)
    prefix = "policy."
    weights = {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}
    check_finite(weights, what="The checkpoint cannot be used")
    try:
        algorithm.policy.load_state_dict(weights, strict=True)
        optimisers.restore(algorithm, document["optimisers"], tensors)
    except (RuntimeError, KeyError, ValueError, TypeError) as error:
        raise PolicyError(f"The checkpoint does not fit the algorithm: {error}") from error
    if algorithm.get_env() is not None:
        _restore_normalise(algorithm.get_vec_normalize_env(), document["normalise"], tensors)


def _policy_tensors(algorithm: BaseAlgorithm) -> dict[str, torch.Tensor]:
    tensors = {f"policy.{k}": t for k, t in algorithm.policy.state_dict().items()}
    for name in algorithm._get_torch_save_params()[1]:
        tensors[f"variable.{name}"] = recursive_getattr(algorithm, name)
    return tensors


def _hyperparameters(algorithm: BaseAlgorithm) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in inspect.signature(type(algorithm).__init__).parameters:
        if name in _NOT_STORED:
            continue
        if name == "use_rms_prop":  # A2C keeps what came of it: the optimiser of its policy
            found[name] = "optimizer_class" in getattr(algorithm, "policy_kwargs", {})
            continue
        attribute = "_stats_window_size" if name == "stats_window_size" else name
        found[name] = encode(getattr(algorithm, attribute), where=name)
    return found


def _check_same_kind(algorithm: BaseAlgorithm, document: Mapping[str, Any]) -> None:
    if algorithm_name(algorithm) != document.get("algorithm"):
        raise PolicyError(
            f"The checkpoint is of algorithm {document.get('algorithm')!r}, "
            f"the run uses {algorithm_name(algorithm)!r}."
        )
    for name in ("observation_space", "action_space"):
        stored, own = decode_space(document.get(name)), getattr(algorithm, name)
        if not same_space(stored, own):
            raise PolicyError(
                f"The checkpoint's {name.replace('_', ' ')} is {stored}, the environment's is "
                f"{own}; resume with the scenario it was trained on."
            )


def _capture_normalise(
    normalise: VecNormalize | None,
) -> tuple[dict[str, Any] | None, dict[str, torch.Tensor]]:
    if normalise is None:
        return None, {}
    document: dict[str, Any] = {name: float(getattr(normalise, name)) for name in _CONSTANTS}
    document |= {name: bool(getattr(normalise, name)) for name in _FLAGS}
    statistics: dict[str, Any] = {"ret": normalise.ret_rms}
    if normalise.norm_obs:
        statistics["obs"] = normalise.obs_rms
    tensors = {"normalise.returns": torch.from_numpy(np.array(normalise.returns, np.float64))}
    for name, rms in statistics.items():
        if not isinstance(rms, RunningMeanStd):
            raise PolicyError("Normalised Dict observations cannot be stored; flatten them first.")
        document[f"{name}_count"] = float(rms.count).hex()
        for part in ("mean", "var"):
            array = np.array(getattr(rms, part), dtype=np.float64)
            tensors[f"normalise.{name}.{part}"] = torch.from_numpy(array)
    check_finite(tensors, what="The checkpoint was not written")
    return document, tensors


def _restore_normalise(
    normalise: VecNormalize | None,
    document: Mapping[str, Any] | None,
    tensors: Mapping[str, torch.Tensor],
) -> None:
    if (normalise is None) != (document is None):
        raise PolicyError("The checkpoint and the run disagree about normalising observations.")
    if normalise is None or document is None:
        return
    for name in (*_CONSTANTS, *_FLAGS):
        setattr(normalise, name, document[name])
    for name, rms in (("ret", normalise.ret_rms), ("obs", getattr(normalise, "obs_rms", None))):
        if not isinstance(rms, RunningMeanStd):
            continue
        rms.mean = tensors[f"normalise.{name}.mean"].numpy().copy()
        rms.var = tensors[f"normalise.{name}.var"].numpy().copy()
        rms.count = float.fromhex(document[f"{name}_count"])
    returns = tensors["normalise.returns"].numpy().copy()
    if len(returns) == normalise.num_envs:
        normalise.returns = returns
