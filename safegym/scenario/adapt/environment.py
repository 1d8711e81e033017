"""Somebody else's environment with declared signals, as a scenario needs it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from safegym.errors import ScenarioError
from safegym.formula.terms import Signal
from safegym.scenario.adapt.engine_of import can_hook, mujoco_of
from safegym.scenario.adapt.sources import FromMujoco, Source
from safegym.scenario.inputs import Inputs

Terminal = Callable[[Any, Mapping[str, Any]], str]
"""(inner environment, info) -> why it terminated."""


class AdaptedEnv(gym.Env[Any, Any]):
    """The environment that `make()` builds, unchanged, with its `signals` read at each sample.

    reads: (signal, source) pairs, in the order of the scenario's signals. terminal(env, info) names
    the reason once it terminates, "terminated" without one. inputs: what reset takes, for adapters
    that heed parameters. Readings of MuJoCo keep the worst over the physics sub-steps for
    environments of Gymnasium's kind, as each signal's `hold` says, and are as of the sample for
    others. Time limits inside are taken off. Raises ScenarioError for an unknown option, or if a
    reading needs MuJoCo and there is none.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        reads: Sequence[tuple[Signal, Source]],
        terminal: Terminal | None = None,
        inputs: Inputs | None = None,
    ) -> None:
        self.inner: Any = bare(make())
        self.observation_space = self.inner.observation_space
        self.action_space = self.inner.action_space
        self.metadata = getattr(self.inner, "metadata", {})
        self.render_mode = getattr(self.inner, "render_mode", None)
        self.signals: tuple[Any, ...] = ()
        self._reads, self._terminal = tuple(reads), terminal
        self._inputs = inputs or Inputs(1)
        self._shadow: Any = None
        readers = [(s, source.reader) for s, source in reads if isinstance(source, FromMujoco)]
        self._stepper: Any = None
        if readers and mujoco_of(self.inner) is None and not _late(self.inner):
            raise ScenarioError(
                f"{type(self.inner.unwrapped).__name__} has no MuJoCo model that could be found; "
                "read its signals by from_info, from_observation or from_env."
            )
        if readers and can_hook(self.inner):
            from safegym.scenario.signals.gymnasium import hook_substeps

            self._stepper = hook_substeps(self.inner, readers)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the inner environment, with the seed modulo 2**32: many take no larger one.

        Raises ScenarioError for options that it does not take.
        """
        self._inputs.asked(options)
        observation, info = self.inner.reset(seed=None if seed is None else seed % 2**32)
        self._note(observation, info)
        return observation, dict(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The inner step; an end that is a time limit's is not passed on."""
        observation, reward, terminated, truncated, info = self.inner.step(action)
        self._note(observation, info)
        if terminated and self._terminal is not None:
            info = {**info, "terminal": self._terminal(self.inner.unwrapped, info)}
        return observation, float(reward), bool(terminated), bool(truncated), info

    def _note(self, observation: Any, info: Mapping[str, Any]) -> None:
        inner = self.inner.unwrapped
        mujoco = iter(self._stepper.values if self._stepper is not None else self._readings())
        self.signals = tuple(
            next(mujoco)
            if isinstance(source, FromMujoco)
            else source.read(observation, info, inner)
            for _, source in self._reads
        )

    def _readings(self) -> tuple[Any, ...]:
        """MuJoCo readings as of now, made on a copy of the state that has gone through
        `mj_forward`: where an environment leaves its own data after a step differs, and forces may
        not be worked out there yet. The environment's data stay as they are.
        """
        readers = [(s, each.reader) for s, each in self._reads if isinstance(each, FromMujoco)]
        if not readers:
            return ()
        found = mujoco_of(self.inner)
        if found is None:
            raise ScenarioError(f"{type(self.inner.unwrapped).__name__} has no MuJoCo model.")
        model, data = found
        if self._shadow is None or self._shadow.model is not model:
            from safegym.scenario.signals.gymnasium import ShadowStepper

            self._shadow = ShadowStepper(model, readers, 1)
        self._shadow.reset(data)
        values: tuple[Any, ...] = self._shadow.values
        return values

    def render(self) -> Any:
        """The inner environment's picture."""
        self.inner.unwrapped.render_mode = self.render_mode
        return self.inner.render()

    def close(self) -> None:
        """Close the inner environment."""
        self.inner.close()


def bare(env: Any) -> Any:
    """The environment without the time limit of `gym.make`, whatever it is wrapped in besides."""
    layers: list[Any] = []
    while isinstance(env, gym.Wrapper) and not isinstance(env, gym.wrappers.TimeLimit):
        layers.append(env)
        env = env.env
    if not isinstance(env, gym.wrappers.TimeLimit):
        return layers[0] if layers else env
    inner: Any = env.env
    if layers:
        layers[-1].env = inner
        return layers[0]
    return inner


def _late(env: Any) -> bool:
    """Whether its simulation is only built by the first reset."""
    return hasattr(env.unwrapped, "hard_reset") or hasattr(env.unwrapped, "sim")


def read_adapted(env: Any) -> tuple[Any, ...]:
    """Values of the declared signals, in order."""
    signals: tuple[Any, ...] = env.signals
    return signals
