"""Classes that a checkpoint may name. Anything else is refused, on saving and on loading."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import stable_baselines3 as sb3
import torch
from stable_baselines3.common import buffers, policies, torch_layers
from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike
from stable_baselines3.dqn import policies as dqn_policies
from stable_baselines3.sac import policies as sac_policies
from stable_baselines3.td3 import policies as td3_policies

from safegym.errors import PolicyError

ALGORITHMS: dict[str, type[Any]] = {
    "ppo": sb3.PPO,
    "a2c": sb3.A2C,
    "sac": sb3.SAC,
    "td3": sb3.TD3,
    "ddpg": sb3.DDPG,
    "dqn": sb3.DQN,
}
_CONTRIB_ALGORITHMS = {
    "trpo": "TRPO",
    "recurrent-ppo": "RecurrentPPO",
    "tqc": "TQC",
    "qr-dqn": "QRDQN",
}
_CONTRIB_POLICIES = (
    ("sb3_contrib.common.recurrent.policies", "RecurrentActorCriticPolicy"),
    ("sb3_contrib.common.recurrent.policies", "RecurrentActorCriticCnnPolicy"),
    ("sb3_contrib.common.recurrent.policies", "RecurrentMultiInputActorCriticPolicy"),
    ("sb3_contrib.tqc.policies", "TQCPolicy"),
    ("sb3_contrib.tqc.policies", "CnnPolicy"),
    ("sb3_contrib.tqc.policies", "MultiInputPolicy"),
    ("sb3_contrib.qrdqn.policies", "QRDQNPolicy"),
    ("sb3_contrib.qrdqn.policies", "CnnPolicy"),
    ("sb3_contrib.qrdqn.policies", "MultiInputPolicy"),
)
_HAS_CONTRIB = find_spec("sb3_contrib") is not None
if _HAS_CONTRIB:
    _contrib = import_module("sb3_contrib")
    ALGORITHMS.update((name, getattr(_contrib, cls)) for name, cls in _CONTRIB_ALGORITHMS.items())
_POLICIES: tuple[type[Any], ...] = (
    policies.ActorCriticPolicy,
    policies.ActorCriticCnnPolicy,
    policies.MultiInputActorCriticPolicy,
    sac_policies.SACPolicy,
    sac_policies.CnnPolicy,
    sac_policies.MultiInputPolicy,
    td3_policies.TD3Policy,
    td3_policies.CnnPolicy,
    td3_policies.MultiInputPolicy,
    dqn_policies.DQNPolicy,
    dqn_policies.CnnPolicy,
    dqn_policies.MultiInputPolicy,
    *(getattr(import_module(module), cls) for module, cls in _CONTRIB_POLICIES if _HAS_CONTRIB),
)
_PARTS: tuple[type[Any], ...] = (
    torch_layers.FlattenExtractor,
    torch_layers.NatureCNN,
    torch_layers.CombinedExtractor,
    buffers.RolloutBuffer,
    buffers.DictRolloutBuffer,
    buffers.ReplayBuffer,
    buffers.DictReplayBuffer,
    buffers.NStepReplayBuffer,
    torch.nn.Tanh,
    torch.nn.ReLU,
    torch.nn.LeakyReLU,
    torch.nn.ELU,
    torch.nn.GELU,
    torch.nn.SiLU,
    torch.nn.Mish,
    torch.nn.Softplus,
    torch.nn.Sigmoid,
    torch.optim.Adam,
    torch.optim.AdamW,
    torch.optim.RMSprop,
    RMSpropTFLike,
    torch.optim.SGD,
    torch.optim.Adamax,
)


def _name(cls: type[Any]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


_BY_NAME: dict[str, type[Any]] = {_name(cls): cls for cls in (*_POLICIES, *_PARTS)}
_POLICY_NAMES = frozenset(_name(cls) for cls in _POLICIES)


def class_name(cls: type[Any]) -> str:
    """Full name of an allow-listed class. Raises PolicyError for any other."""
    name = _name(cls)
    if _BY_NAME.get(name) is not cls:
        raise PolicyError(
            f"Class {name} is not one that a checkpoint may name; use a policy, extractor, "
            "activation or optimiser of stable-baselines3 or torch."
        )
    return name


def class_of(name: Any) -> type[Any]:
    """The allow-listed class of that full name. Raises PolicyError for an unknown name."""
    cls = _BY_NAME.get(name) if isinstance(name, str) else None
    if cls is None and not _HAS_CONTRIB and str(name).startswith("sb3_contrib."):
        raise PolicyError(
            f"The checkpoint is of {name}; install its package with: pip install sb3-contrib"
        )
    if cls is None:
        raise PolicyError(
            f"The checkpoint names the class {name!r}, which is not on the allow-list; "
            "nothing was imported."
        )
    return cls


def policy_class(name: Any) -> type[Any]:
    """The allow-listed policy class of that full name. Raises PolicyError for any other name."""
    cls = class_of(name)
    if name not in _POLICY_NAMES:
        raise PolicyError(f"The checkpoint names {name!r} as its policy, which is no policy class.")
    return cls


def algorithm_name(algorithm: Any) -> str:
    """Short name ("ppo", ...) of an algorithm object. Raises PolicyError for other classes."""
    for name, cls in ALGORITHMS.items():
        if type(algorithm) is cls:
            return name
    raise PolicyError(
        f"Algorithm {type(algorithm).__name__} is not supported; use one of "
        f"{', '.join(ALGORITHMS)} of stable-baselines3 and sb3-contrib."
    )
