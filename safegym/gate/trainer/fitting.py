"""What is refused of a training before its run folder is made."""

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.spaces import Box, Dict, Tuple
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import DummyVecEnv

from safegym.errors import GateError, PolicyError
from safegym.formula.claim import Claim
from safegym.gate.reward.discount import refuse_other_discount
from safegym.gate.reward.staged import penaliser_of
from safegym.gate.trainer.algorithms import algorithm
from safegym.gate.trainer.learner import algorithm_class, make_learner
from safegym.gate.trainer.learning.ring_rows import BUFFER_SIZE, refuse_short_ring
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.warm import refuse_unfit
from safegym.policy.sb3 import generators
from safegym.policy.sb3.policy import SB3Policy, load_policy
from safegym.scenario.spec import ScenarioSpec


def refuse_untrainable(spec: ScenarioSpec, settings: TrainSettings) -> None:
    """Raises GateError unless the algorithm is installed and takes the scenario's actions.

    Raises GateError where its constructor refuses the settings or a replay buffer is shorter than
    an episode, PolicyError for observations that are not arrays.
    """
    card = algorithm(settings.algo)
    algorithm_class(card)
    if card.family == "off":
        size = int(settings.options.get("buffer_size", BUFFER_SIZE))
        refuse_short_ring(size, settings.n_envs, horizon=spec.horizon, rollout=settings.n_steps)
    env: gym.Env[Any, Any] = spec.make_env()
    try:
        card.check_actions(env.action_space)
        if isinstance(env.observation_space, (Dict, Tuple)):
            raise PolicyError(
                f"Scenario {spec.name} has {type(env.observation_space).__name__} observations; "
                "training takes arrays: wrap it in gymnasium.wrappers.FlattenObservation."
            )
        if settings.normalise and not isinstance(env.observation_space, Box):
            raise GateError(
                f"normalise=True keeps running statistics of numbers, and scenario {spec.name} has "
                f"{env.observation_space} observations; train it with normalise=False."
            )
    finally:
        env.close()
    _fresh(spec, settings)


def refuse_unpenalised(
    spec: ScenarioSpec, claims: Sequence[Claim], settings: TrainSettings
) -> None:
    """Raises GateError for a penalty of no such claim, or a discount that the reward forbids."""
    refuse_other_discount(spec, settings.gamma)
    penaliser_of(claims, spec.clock, spec.horizon, settings.penalty, settings.curriculum)


def policy_to_start_from(
    path: str | Path, spec: ScenarioSpec, settings: TrainSettings
) -> SB3Policy:
    """The saved policy or checkpoint at `path`, if a run with these settings can start from it.

    The global generators are left as they were. Raises PolicyError when it does not fit.
    """
    policy = load_policy(path)
    refuse_unfit(_fresh(spec, settings), policy, normalises=settings.normalise)
    return policy


def _fresh(spec: ScenarioSpec, settings: TrainSettings) -> BaseAlgorithm:
    """The algorithm as the run would build it; generators are left as they were.

    Raises GateError where its constructor does not take the settings.
    """
    env = DummyVecEnv([partial(_made, spec)])
    env.num_envs = settings.n_envs  # what is built here is never stepped
    small = {"buffer_size": 2 * settings.n_envs} if algorithm(settings.algo).family == "off" else {}
    try:
        with generators.preserved(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the run itself says them
            built: BaseAlgorithm = make_learner(settings, env, **small)
    except (ValueError, TypeError, AssertionError) as error:
        raise GateError(
            f"{settings.algo} does not take these settings on {spec.name}: "
            f"{str(error).rstrip('.') or type(error).__name__}. Change or leave out what it names."
        ) from error
    finally:
        env.close()
    return built


def _made(spec: ScenarioSpec) -> gym.Env[Any, Any]:
    env: gym.Env[Any, Any] = spec.make_env()
    return env
