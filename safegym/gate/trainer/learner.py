"""The plain algorithm of a run, built from its settings, and the check of its weights."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.noise import (
    ActionNoise,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
)
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

from safegym.errors import GateError
from safegym.gate.trainer.algorithms import Algorithm, algorithm
from safegym.gate.trainer.settings import Linear, Schedule, TrainSettings

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {
    "tanh": torch.nn.Tanh,
    "relu": torch.nn.ReLU,
    "elu": torch.nn.ELU,
}
_SCHEDULES = ("learning_rate", "clip_range")
_OF_ITS_OWN = ("noise", "noise_sigma", "return_steps", "failing_share", "failing_steps")
"""Options that are no arguments of the constructor by that name."""


def algorithm_class(card: Algorithm) -> type[Any]:
    """The class of an algorithm. Raises GateError with the install line where it is missing."""
    try:
        found: type[Any] = getattr(import_module(card.package), card.class_name)
    except ModuleNotFoundError as error:
        package = card.package.replace("_", "-")
        raise GateError(
            f"algo={card.name!r} is {card.class_name} of {package}, which is not installed; "
            f"install it with: pip install {package}"
        ) from error
    return found


def make_learner(settings: TrainSettings, env: VecEnv, **replaced: Any) -> Any:
    """The plain algorithm with these settings, on the CPU. Seeds the global generators.

    replaced: arguments of its constructor that take the place of those of the settings.
    Raises GateError when the algorithm does not take the environment's actions.
    """
    card = algorithm(settings.algo)
    card.check_actions(env.action_space)
    policy = "MlpLstmPolicy" if card.recurrent else "MlpPolicy"
    arguments = {**_arguments(card, settings, env), **replaced}
    built: BaseAlgorithm = algorithm_class(card)(policy, env, **arguments)
    return built


def _arguments(card: Algorithm, settings: TrainSettings, env: VecEnv) -> dict[str, Any]:
    given = settings.options
    found: dict[str, Any] = {
        "gamma": settings.gamma,
        "policy_kwargs": _policy_arguments(card, settings),
        "seed": settings.seed % (1 << 32),
        "device": "cpu",
        "verbose": 0,
    }
    for name in ("learning_rate", *card.fields):
        if name != "log_std_init":
            value = getattr(settings, name)
            found[name] = _schedule(value) if name in _SCHEDULES else value
    if card.family == "on":
        found["n_steps"] = settings.n_steps
    else:
        found["train_freq"] = (settings.n_steps, "step")
        found["n_steps"] = given.get("return_steps", 1)
    if "noise" in card.options:
        found["action_noise"] = _noise(given, env)
    plain = [name for name in card.options if name in given and name not in _OF_ITS_OWN]
    return {**found, **{name: given[name] for name in plain}}


def _policy_arguments(card: Algorithm, settings: TrainSettings) -> dict[str, Any]:
    given = {name: value for name, value in settings.options.items() if name in card.network}
    widths = list(settings.net_arch)
    found: dict[str, Any] = {
        "net_arch": widths,
        "activation_fn": ACTIVATIONS[settings.activation],
    }
    if "log_std_init" in card.fields:
        found["log_std_init"] = settings.log_std_init
    if "critic_arch" in given:
        actor, critic = ("pi", "vf") if card.family == "on" else ("pi", "qf")
        found["net_arch"] = {actor: widths, critic: list(given.pop("critic_arch"))}
    return {**found, **given}


def _noise(given: Mapping[str, Any], env: VecEnv) -> ActionNoise | None:
    """Exploration noise on actions scaled to [-1, 1], of standard deviation noise_sigma."""
    kind = given.get("noise", "none")
    if kind == "none":
        return None
    mean = np.zeros(env.action_space.shape or (1,))
    sigma = np.full_like(mean, given.get("noise_sigma", 0.1))
    made = NormalActionNoise if kind == "normal" else OrnsteinUhlenbeckActionNoise
    return made(mean, sigma)


def check_weights(learner: BaseAlgorithm, *, kept: str) -> None:
    """Raises GateError when an update left a weight that is not finite. kept: what is safe."""
    weights = [parameter.detach().reshape(-1) for parameter in learner.policy.parameters()]
    if bool(torch.isfinite(torch.cat(weights).sum())):  # off-policy updates are many
        return
    for name, parameter in learner.policy.named_parameters():
        if not bool(torch.isfinite(parameter).all()):
            update = getattr(learner, "_n_updates", 0)
            raise GateError(
                f"Update {update} left weights that are not finite ({name}). {kept} "
                "Lower learning_rate or max_grad_norm, or look for huge rewards."
            )


def _schedule(value: Schedule) -> Any:
    if isinstance(value, Linear):
        return LinearSchedule(value.start, value.end, value.fraction)
    return float(value)
