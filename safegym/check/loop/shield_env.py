"""A gymnasium environment behind a model-based shield; every intervention goes into the trace."""

from collections.abc import Callable
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np

from safegym.check.live import make
from safegym.check.loop.shield import Decision, ModelShield
from safegym.check.loop.shield_fit import check_actions, check_step, in_space
from safegym.check.loop.shield_state import Reading, from_observation, from_signals, signal_places
from safegym.errors import ScenarioError
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace
from safegym.trace.record import Recorder


class ShieldedEnv(gym.Wrapper[Any, Any, Any, Any]):
    """Steps with the action where it passes the shield, else with the backup's.

    Its trace holds the actions that were executed, and an event "shield" at each sample where the
    backup took over, with the reason and the margin, and where it gave back. info["shield"], after
    each step, tells of that step: whether the backup acted ("active"), the certified margin of the
    action that was asked for ("margin"), why it did not pass ("reason", empty where it did), and
    how many steps of the episode the backup has taken ("steps"). Where the backup's own action does
    not pass either, it acts all the same, and the event says so.

    Actions are cast to the environment's kind of number and brought within the model's bounds
    before they are looked at, so that what passed is what is executed. A backup with a state begins
    anew, with `starts` true, each time it takes over. Made by `ModelShield.make` and
    `ModelShield.wrap`, which raise UnsupportedError for an environment of another time step (where
    it is recorded) or of other actions than the model's.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        shield: ModelShield,
        read: Callable[[gym.Env[Any, Any], Any], Reading],
    ) -> None:
        super().__init__(env)
        self._shield, self._read = shield, read
        self._recorder = _recorder_in(env)
        if self._recorder is not None:
            check_step(shield.model, self._recorder.imprint.clock.dt, "The environment")
        check_actions(shield.model, env.action_space)
        self._observation: Any = None
        self._began = False
        self._forget()

    def _forget(self) -> None:
        self._active, self._steps = False, 0
        self._state: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._forget()
        self._observation, self._began = observation, True
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps with the action or the backup's.

        Raises ScenarioError before the first reset, PolicyError for a backup's choice that is none.
        """
        if not self._began:
            raise ScenarioError("step() was called before reset(); call reset() first.")
        action = self._fitted(action, "The policy")
        state, radius = self._read(self.env, self._observation)
        decision = self._shield.check(state, action, radius)
        if decision.allowed:
            self._give_back()
        else:
            action = self._backup_action()
            sure = self._shield.check(state, action, radius).allowed
            self._take_over(decision, sure)
            self._steps += 1
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._observation = observation
        told = {
            "active": self._active,
            "margin": decision.margin,
            "reason": decision.reason,
            "steps": self._steps,
        }
        return observation, reward, terminated, truncated, {**info, "shield": told}

    @property
    def trace(self) -> Trace | None:
        """The last whole trace, with the actions that were executed; None if none is recorded."""
        return None if self._recorder is None else self._recorder.trace

    def _backup_action(self) -> Any:
        seen = np.asarray(self._observation)[None]
        starts = np.array([not self._active])
        state = self._state if self._active else None
        actions, self._state = self._shield.backup.act(seen, state, starts)
        return self._fitted(np.asarray(actions)[0], "The shield's backup")

    def _fitted(self, action: Any, name: str) -> Any:
        found = in_space(action, self.action_space, name)
        return self._shield.executed(found) if isinstance(found, np.ndarray) else found

    def _take_over(self, decision: Decision, sure: bool) -> None:
        if not (self._active and sure):
            doubt = "" if sure else "; the backup's action is not shown to pass either"
            self._note(f"took over: {decision.reason} (margin {decision.margin:.6g}){doubt}")
        self._active = True

    def _give_back(self) -> None:
        if self._active:
            self._note("gave back")
        self._active = False

    def _note(self, words: str) -> None:
        if self._recorder is not None:
            self._recorder.note("shield", words)


def _recorder_in(env: Any) -> Recorder | None:
    """The recorder in a chain of wrappers, if there is one."""
    layer = env
    while isinstance(layer, gym.Wrapper) and not isinstance(layer, Recorder):
        layer = layer.env
    return layer if isinstance(layer, Recorder) else None


def shielded_scenario(shield: ModelShield, scenario: str | ScenarioSpec) -> ShieldedEnv:
    """The scenario's recorded environment behind the shield.

    The state is read from the signals of the states' names, without rounding, or from the
    observation. Raises ScenarioError for an unknown name, UnsupportedError where the state cannot
    be read.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    places = None if shield.state is not None else signal_places(shield, spec)
    if places is None:
        return shielded_env(shield, make(spec))
    read = from_signals(spec, places)
    return ShieldedEnv(make(spec), shield, lambda env, _: read(env.unwrapped))


def shielded_env(shield: ModelShield, env: gym.Env[Any, Any]) -> ShieldedEnv:
    """Any environment behind the shield, the state read from the observation."""
    return ShieldedEnv(env, shield, lambda _, seen: from_observation(shield, seen))
