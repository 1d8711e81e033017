"""A stable-baselines3 policy as data: its class, its spaces, its constructor's parameters."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.utils import ConstantSchedule

from safegym.errors import PolicyError
from safegym.policy.sb3.codec import decode, encode
from safegym.policy.sb3.names import class_name, policy_class

_NOT_IN_SB3S_LIST = ("share_features_extractor",)
"""Constructor parameters that some policies keep out of `_get_constructor_parameters`."""
_OF_AN_LSTM: Mapping[str, Callable[[Any], Any]] = {
    "lstm_hidden_size": lambda policy: policy.lstm_output_dim,
    "n_lstm_layers": lambda policy: policy.lstm_actor.num_layers,
    "shared_lstm": lambda policy: policy.shared_lstm,
    "enable_critic_lstm": lambda policy: policy.enable_critic_lstm,
    "lstm_kwargs": lambda policy: policy.lstm_kwargs,
}
"""Constructor parameters of a recurrent policy, none of which sb3-contrib lists."""
_NEVER_STORED = frozenset(["lr_schedule", "features_extractor"])
MAX_WIDTH = 1 << 16
"""Widest layer that is built from a stored description."""
_MOST = {
    "lstm_hidden_size": MAX_WIDTH,
    "n_lstm_layers": 64,
    "n_critics": 64,
    "n_quantiles": MAX_WIDTH,
}


def describe(policy: BasePolicy) -> dict[str, Any]:
    """Class name and constructor parameters as JSON. Raises PolicyError where that cannot be."""
    parameters = dict(policy._get_constructor_parameters())
    accepted = inspect.signature(type(policy).__init__).parameters
    for name in _NOT_IN_SB3S_LIST:
        if name in accepted and name not in parameters and hasattr(policy, name):
            parameters[name] = getattr(policy, name)
    if hasattr(policy, "lstm_actor"):
        parameters |= {name: read(policy) for name, read in _OF_AN_LSTM.items()}
    stored = {name: value for name, value in parameters.items() if name not in _NEVER_STORED}
    return {
        "class": class_name(type(policy)),
        "parameters": {name: encode(value, where=name) for name, value in stored.items()},
    }


def build(document: Any, weights: Mapping[str, torch.Tensor]) -> BasePolicy:
    """The policy of that description with those weights, in evaluation mode, on the CPU.

    The global random generators are left as they were. Raises PolicyError when the description or
    the weights do not fit.
    """
    if not isinstance(document, Mapping) or not isinstance(document.get("parameters"), Mapping):
        raise PolicyError("The stored architecture is not a JSON object with parameters.")
    cls = policy_class(document.get("class"))
    parameters = {str(name): decode(value) for name, value in document["parameters"].items()}
    _check_widths(parameters.get("net_arch"))
    for name, most in _MOST.items():
        value = parameters.get(name, 1)
        if not isinstance(value, int) or not 0 < value <= most:
            raise PolicyError(f"The stored {name} is {value!r}; 1 to {most} are built.")
    if "lr_schedule" in inspect.signature(cls.__init__).parameters:
        parameters["lr_schedule"] = ConstantSchedule(0.0)
    try:
        with torch.random.fork_rng(devices=[]):
            policy: BasePolicy = cls(**parameters)
        policy.load_state_dict(dict(weights), strict=True)
    except (TypeError, ValueError, RuntimeError, AssertionError, AttributeError, KeyError) as error:
        raise PolicyError(
            f"The stored weights do not fit the stored architecture: {error}"
        ) from error
    policy.set_training_mode(False)
    return policy


def _check_widths(net_arch: Any) -> None:
    if isinstance(net_arch, Mapping):
        for part in net_arch.values():
            _check_widths(part)
    elif isinstance(net_arch, (list, tuple)):
        for width in net_arch:
            if not isinstance(width, int) or not 0 < width <= MAX_WIDTH:
                raise PolicyError(
                    f"A stored layer has width {width!r}; 1 to {MAX_WIDTH} are built."
                )
    elif net_arch is not None:
        raise PolicyError(f"The stored net_arch is {net_arch!r}; a list of widths was expected.")
