"""Episodes that remember, at each new level, where they could be continued with other chance."""

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces

from safegym.check.monitor import Monitor
from safegym.check.rare.subject import Aim, judged
from safegym.errors import ScenarioError, TraceError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.terms import signals_of
from safegym.policy.base import Policy
from safegym.scenario.agreement import recorded_units
from safegym.scenario.fitting import action_check
from safegym.scenario.runner import Runner
from safegym.scenario.snapshot import Snapshot, capture, restore
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """The first instant at which an episode reached a level: all that continuing it takes.

    level: minus the monitor's hi, the largest robustness that the guide can still have.
    observation, state, start: what the policy is given next.
    """

    level: float
    step: int
    snapshot: Snapshot
    observation: Any
    state: Any
    start: bool


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """One whole episode.

    level: the highest it reached, its end included. violated: whether it counts as a failure; an
    undecided episode does, and is marked. points: one for each new level, rising; none at its
    end, where there is nothing left to draw. steps: simulated for this path alone.
    """

    level: float
    violated: bool
    undecided: bool
    points: tuple[Point, ...]
    steps: int
    trace: Trace

    def above(self, level: float) -> Point | None:
        """The first point strictly above a level, None where only the end lies above it."""
        return next((point for point in self.points if point.level > level), None)


@dataclass(slots=True)
class _Now:
    """Where the running episode stands, and what it has come to."""

    observation: Any
    state: Any
    start: bool
    step: int
    level: float
    points: list[Point]
    cuts: tuple[int, ...] = ()


class Rollouts:
    """Runs episodes of one policy in one environment, and continues them from their points.

    The monitor is the online one whose hi is the offline answer on each prefix, so levels never
    fall. Raises PolicyError if policy and scenario do not fit, UnsupportedError for a guide whose
    margins do not compare.
    """

    def __init__(self, spec: ScenarioSpec, policy: Policy, aim: Aim) -> None:
        staging = Staging(spec, aim.tail)
        _rehearse(staging, policy)
        self._spec, self._policy, self._aim = spec, policy, aim
        stage = staging.stage()
        stage.recorder.policy_digest = policy.card.digest
        self._env: Any = stage.env
        self._monitor = _monitor(spec, aim.guide)
        read = {signal.name for signal in signals_of(aim.guide.property)}
        self._signals = [(n, s.name) for n, s in enumerate(spec.signals) if s.name in read]
        space = self._env.observation_space
        width = policy.card.width
        self._rows = np.zeros((width, *(space.shape or ())), space.dtype)
        self._starts = np.ones(width, np.bool_)
        self._check = action_check(policy, self._env.action_space)
        self._discrete = isinstance(self._env.action_space, spaces.Discrete)

    def fresh(self, seed: int, *, keep: bool = True, cuts: tuple[int, ...] = ()) -> Path:
        """One episode from `reset(seed=seed)`.

        keep: whether it gets a point for each new level. cuts: steps at which it gets one besides.
        """
        try:
            observation, _ = self._env.reset(seed=seed)
        except Exception as error:
            raise ScenarioError(
                f"{self._spec.name} cannot begin: reset(seed={seed}) raised "
                f"{type(error).__name__}: {error}"
            ) from error
        self._begin_policy(seed)
        self._monitor.reset()
        now = _Now(observation, None, True, 0, self._level(), [], cuts)
        if keep:
            now.points.append(self._point(now))
        return self._run(now, keep)

    def branch(self, path: Path, level: float, seed: int) -> Path:
        """The path up to its first point above `level`, continued with fresh chance.

        Where only its end lies above the level, that is the path itself, at no cost.
        """
        point = path.above(level)
        return replace(path, steps=0) if point is None else self.resume(point, seed, seed)

    def trim(self, path: Path, level: float) -> Path:
        """The path without its points up to `level`: snapshots are what takes up memory."""
        if not path.points or path.points[0].level > level:
            return path
        return replace(path, points=tuple(p for p in path.points if p.level > level))

    def resume(
        self, point: Point, seed: int | None, policy_seed: int, *, keep: bool = True
    ) -> Path:
        """An episode from a point; with seed None the environment keeps the chance it had."""
        restore(self._env, point.snapshot, seed)
        self._begin_policy(policy_seed)
        state = deepcopy(point.state)  # a policy may write into what it is handed
        now = _Now(point.observation, state, point.start, point.step, point.level, [point])
        return self._run(now, keep)

    @property
    def samples(self) -> bool:
        """Whether the policy draws its actions."""
        return self._policy.card.mode != "deterministic"

    def close(self) -> None:
        """Let go of the environment."""
        self._env.close()

    def _begin_policy(self, seed: int) -> None:
        begin = getattr(self._policy, "begin", None)
        if begin is not None:
            begin(0, seed)

    def _run(self, now: _Now, keep: bool) -> Path:
        begun, failure = now.step, ""
        while not failure:
            try:
                action = self._act(now)
            except Exception as error:
                failure = f"{type(error).__name__} in the policy: {error}"
                break
            now.start, now.step = False, now.step + 1
            if action is None:
                failure = "the policy's action is outside the space"
            elif self._stepped(now, action):
                break
            elif (level := self._level_or_none()) is None:
                failure = "a signal is not finite"
            else:
                higher, now.level = level > now.level, max(level, now.level)
                if (higher and keep) or now.step in now.cuts:
                    now.points.append(self._point(now))
        if failure:
            self._env.interrupt(failure)
        return self._ended(now, now.step - begun)

    def _act(self, now: _Now) -> Any:
        """The action for the environment, None if it is outside the space.

        The row goes in a batch of the policy's own width, as in a campaign.
        """
        self._rows[0] = now.observation
        self._starts[0] = now.start
        found, now.state = self._policy.act(self._rows, now.state, self._starts)
        actions, fits = self._check(found)
        if fits is not None and not fits[0]:
            return None
        return int(actions[0]) if self._discrete else actions[0]

    def _stepped(self, now: _Now, action: Any) -> bool:
        """One step; returns whether the episode is over."""
        try:
            now.observation, _, terminated, truncated, _ = self._env.step(action)
        except Exception:  # the recorder has closed the episode as interrupted
            return True
        return bool(terminated or truncated)

    def _level_or_none(self) -> float | None:
        try:
            return self._level()
        except TraceError:
            return None

    def _level(self) -> float:
        """Minus the largest robustness that the guide can still have."""
        values = self._spec.read_signals(self._env.unwrapped)
        sample = {name: np.asarray(values[n], np.float64)[None] for n, name in self._signals}
        hi = self._monitor.update(sample).episode.hi
        if hi is None:
            raise UnsupportedError(
                f"The margins of {self._aim.guide.property!s:.80} do not compare, so "
                "there are no levels to split at; give each of its signals a scale."
            )
        return -float(hi[0])

    def _point(self, now: _Now) -> Point:
        observation = np.array(now.observation)
        snapshot = capture(self._env, self._monitor)
        state = deepcopy(now.state)
        return Point(now.level, now.step, snapshot, observation, state, now.start)

    def _ended(self, now: _Now, steps: int) -> Path:
        trace: Trace | None = self._env.trace
        if trace is None:
            raise ScenarioError("An episode ended without a trace in its recorder.")
        status, final = judged(self._aim, trace)
        return Path(
            level=max(now.level, final),
            violated=status != "satisfied",
            undecided=status == "inconclusive",
            points=tuple(now.points),
            steps=steps,
            trace=trace,
        )


def _rehearse(staging: Staging, policy: Policy) -> None:
    rehearsal = Runner(staging.stage, policy, copies=1)
    try:
        rehearsal.rehearse()
    finally:
        rehearsal.close()


def _monitor(spec: ScenarioSpec, guide: Claim) -> Monitor:
    """Tells the offline answer at every step, at a fixed cost where that can be had."""
    dt, units = spec.clock.dt, recorded_units(spec)
    monitor = Monitor(guide, dt, horizon=spec.horizon, units=units)
    if monitor.tight:
        return monitor
    return Monitor(guide, dt, horizon=spec.horizon, exact=True, units=units)
