"""A scenario's environment, recorded, with its horizon applied."""

from collections.abc import Callable, Mapping
from typing import Any, SupportsFloat

import gymnasium as gym

from safegym.errors import ScenarioError, UnsupportedError
from safegym.scenario.agreement import recorded_units
from safegym.scenario.registry import find
from safegym.scenario.reward_wrap import DeclaredReward
from safegym.scenario.spec import Environment, ScenarioSpec, SignalReader
from safegym.trace.model import Trace
from safegym.trace.record import Recorder

Sample = Mapping[str, Any]
LiveUpdate = Callable[[Sample], Mapping[str, Any]]
"""Takes the signals of one sample; returns what stands under info["claims"]."""
Live = Callable[[ScenarioSpec], Callable[[], LiveUpdate]]
"""Given the scenario, returns what is called at each reset to begin a new episode."""


class LiveClaims(gym.Wrapper[Any, Any, Any, Any]):
    """Puts what an online monitor says of the episode so far under info["claims"]."""

    def __init__(self, env: Environment, spec: ScenarioSpec, live: Live) -> None:
        super().__init__(env)
        self._begin = live(spec)
        self._read: SignalReader = spec.read_signals
        self._names = tuple(signal.name for signal in spec.signals)
        self._update: LiveUpdate | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins a new episode and judges sample 0."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._update = self._begin()
        return observation, {**info, "claims": self._update(self._sample())}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps and judges the new sample. Raises ScenarioError before the first reset."""
        if self._update is None:
            raise ScenarioError("Call reset() before step().")
        observation, reward, terminated, truncated, info = self.env.step(action)
        claims = self._update(self._sample())
        return observation, reward, terminated, truncated, {**info, "claims": claims}

    def _sample(self) -> dict[str, Any]:
        return dict(zip(self._names, self._read(self.env.unwrapped), strict=True))


def recorded(
    spec: ScenarioSpec,
    *,
    limit: int | None = None,
    tail: int = 0,
    policy_digest: str = "",
    live: Live | None = None,
    keep_observations: bool = False,
    on_trace: Callable[[Trace], None] | None = None,
) -> Recorder:
    """A fresh environment of the scenario inside a `Recorder`.

    limit: steps after which the recorder truncates, None for horizon + tail. tail: samples past
    the horizon that claims with bounded windows read. Raises UnsupportedError if a tail is asked
    for that the simulator cannot run, ScenarioError if `make_env` brings a time limit.
    """
    if tail < 0 or (limit is not None and limit < 1):
        raise ScenarioError(f"tail must be >= 0 and limit >= 1, found {tail} and {limit}.")
    if tail > 0 and not spec.can_run_tail:
        raise UnsupportedError(
            f"The claims look ahead {tail} samples ({float(tail * spec.clock.dt):g} s) past the "
            f"horizon of {spec.name}, and its simulator cannot run on; shorten their windows, or "
            "judge them on a scenario with can_run_tail=True."
        )
    env = spec.make_env()
    _refuse_time_limit(env, spec)
    if spec.reward is not None:
        env = DeclaredReward(env, spec, spec.reward)
    if live is not None:
        env = LiveClaims(env, spec, live)
    return Recorder(
        env,
        layout=spec.layout,
        read_signals=spec.read_signals,
        clock=spec.clock,
        horizon=spec.horizon,
        limit=spec.horizon + tail if limit is None else limit,
        terminals=spec.terminals,
        scenario_digest=spec.digest,
        policy_digest=policy_digest,
        versions=spec.versions,
        units=recorded_units(spec),
        keep_observations=keep_observations,
        on_trace=on_trace,
    )


def make(scenario: str | ScenarioSpec, *, live: Live | None = None) -> Recorder:
    """A Gymnasium environment of the scenario, cut at its horizon; `.trace` has the last episode.

    live: a monitor that puts each claim's margin under info["claims"]. Raises ScenarioError for
    an unknown name.
    """
    return recorded(find(scenario) if isinstance(scenario, str) else scenario, live=live)


def _refuse_time_limit(env: Environment, spec: ScenarioSpec) -> None:
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, gym.wrappers.TimeLimit):
            raise ScenarioError(
                f"make_env of {spec.name} brings a time limit, which would cut the tail; return "
                "gym.make(...).unwrapped, or pass max_episode_steps=-1."
            )
        layer = layer.env
