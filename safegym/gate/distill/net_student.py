"""A stable-baselines3 network that is to do what its teachers do."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.utils import ConstantSchedule
from torch import nn

from safegym.errors import PolicyError
from safegym.gate.distill.apprentice import Arrays, Lessons
from safegym.gate.distill.guidance import Guidance
from safegym.gate.distill.imitation import loss_of, targets_of
from safegym.gate.distill.net import Net
from safegym.gate.distill.teacher import Course
from safegym.policy.base import Policy
from safegym.policy.sb3.architecture import describe
from safegym.policy.sb3.inference import single_thread
from safegym.policy.sb3.normaliser import Normaliser
from safegym.policy.sb3.policy import SB3Policy

EPSILON, CLIP = 1e-8, 10.0
"""As VecNormalize has them."""
ACTIVATIONS = {"tanh": nn.Tanh, "relu": nn.ReLU}
_ADAM = ("step", "exp_avg", "exp_avg_sq")


class NetApprentice:
    """Goes on with the same weights and the same Adam from round to round.

    Its value network stays as it was made: distillation teaches acting only.
    """

    def __init__(self, asked: Net, course: Course, *, rounds: int, seed: int, name: str) -> None:
        if isinstance(course.action_space, spaces.Discrete) and course.action_space.start != 0:
            raise PolicyError(
                f"Choices of {course.spec.name} start at {course.action_space.start}; networks of "
                "stable-baselines3 choose from 0. Distil a tree: student=Tree(leaves=64)."
            )
        self._asked, self._space = asked, course.action_space
        self._rounds, self._name = rounds, name
        self._network = _network(asked, course, seed)
        self._parameters = [
            *self._network.mlp_extractor.policy_net.parameters(),
            *self._network.action_net.parameters(),
        ]
        self._adam = torch.optim.Adam(self._parameters, lr=asked.learning_rate)
        self._draws = torch.Generator().manual_seed(seed)
        self._loss = loss_of(course.action_space)
        self._normaliser: Normaliser | None = None

    def learn(self, lessons: Sequence[Lessons], number: int) -> tuple[Policy, float]:
        """See `Apprentice`."""
        wholes = [each.whole for each in lessons]
        if self._asked.normalise and self._normaliser is None:
            self._normaliser = _statistics(wholes)
        inputs = [self._inputs(whole) for whole in wholes]
        targets = [targets_of(whole, self._space) for whole in wholes]
        weights = np.array([each.course.weight for each in lessons])
        parts = list(zip((weights / weights.sum()).tolist(), inputs, targets, strict=True))
        with single_thread():
            self._adam.param_groups[0]["lr"] = self._asked.learning_rate * (
                1.0 - number / self._rounds
            )
            for _ in range(self._asked.updates):
                self._step(parts)
            with torch.no_grad():
                loss = sum(w * float(self._loss(self._given(x), y)) for w, x, y in parts)
        return self._frozen(), float(loss)

    def newest(self, lessons: Sequence[Lessons]) -> Policy:
        """See `Apprentice`."""
        return self._frozen()

    def _step(self, parts: Sequence[tuple[float, torch.Tensor, torch.Tensor]]) -> None:
        share = max(1, self._asked.batch // len(parts))
        losses: list[torch.Tensor] = []
        for weight, inputs, targets in parts:
            rows = torch.randint(len(inputs), (share,), generator=self._draws)
            losses.append(weight * self._loss(self._given(inputs[rows]), targets[rows]))
        self._adam.zero_grad()
        torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]  # torch has no types here
        self._adam.step()

    def _given(self, inputs: torch.Tensor) -> torch.Tensor:
        """The mean action (B, m), or the choices' scores (B, k)."""
        hidden = self._network.mlp_extractor.forward_actor(inputs)
        given: torch.Tensor = self._network.action_net(hidden)
        return given

    def _inputs(self, whole: Guidance) -> torch.Tensor:
        rows = whole.observations
        if self._normaliser is not None:
            rows = self._normaliser(rows)
        return torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32))

    def _frozen(self) -> SB3Policy:
        return SB3Policy(
            describe(self._network),
            self._network.state_dict(),
            name=self._name,
            algorithm="ppo",
            normaliser=self._normaliser,
        )

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Weights, Adam's averages, the generator, the normaliser."""
        arrays: Arrays = {"generator": self._draws.get_state().numpy()}
        for name, tensor in self._network.state_dict().items():
            arrays[f"network.{name}"] = tensor.numpy().copy()
        for at, parameter in enumerate(self._parameters):
            for what in _ADAM:
                arrays[f"adam.{at}.{what}"] = self._adam.state[parameter][what].numpy().copy()
        if self._normaliser is not None:
            arrays |= {
                "normaliser.mean": self._normaliser.mean,
                "normaliser.var": self._normaliser.var,
            }
        return {"normalised": self._normaliser is not None}, arrays

    def restore(self, document: dict[str, Any], arrays: Arrays) -> None:
        """Take up what `state` gave. Raises PolicyError where it does not fit."""
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
        try:
            weights = self._network.state_dict()
            self._network.load_state_dict({name: tensors[f"network.{name}"] for name in weights})
            for at, parameter in enumerate(self._parameters):
                self._adam.state[parameter] = {what: tensors[f"adam.{at}.{what}"] for what in _ADAM}
            self._draws.set_state(tensors["generator"])
            if document["normalised"]:
                self._normaliser = Normaliser(
                    arrays["normaliser.mean"], arrays["normaliser.var"], EPSILON, CLIP
                )
        except (KeyError, RuntimeError, TypeError) as error:
            raise PolicyError(
                f"The stored state of the student does not fit this network: {error}"
            ) from error


def _network(asked: Net, course: Course, seed: int) -> ActorCriticPolicy:
    """PPO's MlpPolicy with fresh weights; the global generators stay as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = ActorCriticPolicy(
            course.observation_space,
            course.action_space,
            ConstantSchedule(asked.learning_rate),
            net_arch={"pi": list(asked.hidden), "vf": list(asked.hidden)},
            activation_fn=ACTIVATIONS[asked.activation],
        )
    network.set_training_mode(False)
    return network


def _statistics(wholes: Sequence[Guidance]) -> Normaliser:
    """Mean and variance of each observation, each teacher counting alike.

    What never changes keeps the variance 1: a division by nearly 0 would make noise of it later.
    """
    rows = [whole.observations.astype(np.float64) for whole in wholes]
    mean = np.mean([each.mean(axis=0) for each in rows], axis=0)
    var = np.mean([((each - mean) ** 2).mean(axis=0) for each in rows], axis=0)
    return Normaliser(mean, np.where(var > 1e-10, var, 1.0), EPSILON, CLIP)
