"""A film of one episode: pictures at an even pace, with what was said at each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat

import gymnasium as gym

from safegym.policy.base import Policy
from safegym.scenario.looking.drawing import Picture, picture_of
from safegym.scenario.record import record
from safegym.scenario.spec import Environment
from safegym.trace.model import Trace

Claims = Mapping[str, Mapping[str, Any]]
"""Claim id -> {"status", "lo", "hi"} of the episode so far, as `info["claims"]` has it."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture. time: s. claims: what is known of them at that time, nothing if not watched."""

    picture: Picture
    time: float
    claims: Claims


@dataclass(frozen=True, slots=True)
class Film:
    """An episode's pictures, its trace, and the pace: seconds from one picture to the next."""

    name: str
    shots: tuple[Shot, ...]
    trace: Trace
    pace: float

    def ended(self, claims: Claims) -> "Film":
        """The same with what is known of the claims at the end, on the picture of the last step."""
        last = self.shots[-1]
        if round(last.time / float(self.trace.clock.dt)) != self.trace.steps:
            return self
        return replace(self, shots=(*self.shots[:-1], replace(last, claims=claims)))


class Camera(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps a picture of sample 0, of every `every`-th step, and of the last.

    only: the step besides the first and last that is drawn, None for every `every`-th.
    """

    def __init__(
        self, env: Environment, name: str, dt: float, every: int, only: int | None = None
    ) -> None:
        super().__init__(env)
        self._name, self._dt, self._every, self._only = name, dt, every, only
        self._steps = 0
        self.shots: list[Shot] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins a new film."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.shots, self._steps = [], 0
        self._shoot(info)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps, and takes a picture where one is due."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        due = self._steps % self._every == 0 if self._only is None else self._steps == self._only
        if due or terminated or truncated:
            self._shoot(info)
        return observation, reward, terminated, truncated, info

    def _shoot(self, info: Mapping[str, Any]) -> None:
        picture = picture_of(self.env, self._name)
        self.shots.append(Shot(picture, self._steps * self._dt, info.get("claims", {})))


def film(
    env: Environment,
    name: str,
    dt: float,
    policy: Policy,
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    rate: float = 20.0,
    only_at: float | None = None,
) -> Film:
    """Runs one episode and films it.

    env: a recorded environment of the scenario `name` that draws (`drawing`, then `wrap.make` or
    `check.live.make`). dt: control step in s. rate: pictures a second of the episode, at most.
    only_at: time in s of the one picture that is wanted besides the first and the last.
    Raises ScenarioError if nothing can be drawn.
    """
    every = max(1, round(1.0 / (rate * dt)))
    only = None if only_at is None else round(only_at / dt)
    camera = Camera(env, name, dt, every, only)
    try:
        camera.reset(seed=seed)  # what cannot be drawn is told before anything runs
        trace = record(camera, policy, seed, options=options)
        return Film(name, tuple(camera.shots), trace, every * dt)
    finally:
        camera.close()
