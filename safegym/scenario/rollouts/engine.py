"""A campaign's engine on `mujoco.rollout`: inference at the policy's width, physics in bulk."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import PolicyError
from safegym.policy.base import Policy
from safegym.policy.sequence import ActionSequence
from safegym.scenario.fitting import action_check, check_mode, check_spaces
from safegym.scenario.memory import Memory
from safegym.scenario.rollouts.declaration import Flight, Rollout
from safegym.scenario.rollouts.fleet import Fleet, advanced
from safegym.scenario.rollouts.refusals import refuse_options, refuse_run, rollout_of
from safegym.scenario.runner import Finished, Runner, Stage, Task
from safegym.scenario.staging import Staging
from safegym.trace.reading import Grip
from safegym.trace.record import FAILURES, Recorder

_STRETCH = 20
"""Control steps of a sequence between two looks at which episodes have ended."""


@dataclass(slots=True)
class _Open:
    """An episode in a slot: its recorder, what adds to it, its first positions and its age."""

    task: Task
    recorder: Recorder
    grip: Grip
    start: NDArray[np.float64]
    age: int = 0


class RolloutEngine:
    """Runs episodes of a scenario that declares a `Rollout`; the traces are a `Runner`'s.

    threads: of the physics; they change no trace. An `ActionSequence` runs whole episodes in one
    call, any other policy one control step of all copies at a time. An episode in which something
    is out of order (the environment, the policy or the physics fails, an action is outside the
    space) is run again by a `Runner`, which knows how to end it.

    Raises ScenarioError for a scenario without a rollout, PolicyError for a policy that draws its
    actions, and from `submit` ScenarioError for options that a rollout does not heed.
    """

    def __init__(
        self,
        staging: Staging,
        policy: Policy,
        copies: int,
        threads: int = 1,
        *,
        episode_seconds: float | None = None,
    ) -> None:
        refuse_run(staging, policy, episode_seconds)
        self._staging, self._policy = staging, policy
        self._rollout: Rollout = rollout_of(staging.spec)
        self._runner: Runner | None = None
        if not 1 <= copies <= max(policy.card.width, copies * (policy.card.width == 1)):
            raise PolicyError(
                f"Policy {policy.card.name} acts on {policy.card.width} rows at once, so copies "
                f"must lie in 1..{policy.card.width}, found {copies}."
            )
        self._stage: Stage = staging.stage()
        self._env: Any = self._stage.env.unwrapped
        space = self._stage.env.observation_space
        self._space = self._stage.env.action_space
        check_mode(policy)
        check_spaces(policy, space, self._space)
        self._check = action_check(policy, self._space)
        self._compact = policy.card.width == 1
        width = copies if self._compact else policy.card.width
        self._observations = np.zeros((width, *(space.shape or ())), space.dtype)
        self._starts = np.ones(width, np.bool_)
        self._copies, self._threads = copies, threads
        self._limit = staging.spec.horizon + staging.tail
        self._memory = Memory(policy)
        self._running: dict[int, _Open] = {}
        self._ended: list[Finished] = []
        self._fleet: Fleet | None = None
        self._clock = np.zeros(copies)
        self._resting: Any = None

    @property
    def room(self) -> int:
        """How many episodes can be started now."""
        return self._copies - len(self._running)

    @property
    def running(self) -> int:
        """How many episodes are under way."""
        return len(self._running) + len(self._ended)

    def rehearse(self) -> None:
        """One reset and one action, as `Runner.rehearse`."""
        self._plain().rehearse()

    def submit(self, tasks: Sequence[Task]) -> None:
        """Start episodes, at most `room` of them."""
        for task in tasks:
            refuse_options(self._staging.spec, self._rollout, task)
        for task in tasks:
            self._begin(task)

    def collect(self) -> list[Finished]:
        """Go on until an episode ends; returns those that ended."""
        ended, self._ended = self._ended, []
        while self._running and not ended:
            ended = self._at_once() if isinstance(self._policy, ActionSequence) else self._advance()
        return ended

    def close(self) -> None:
        """Drop what is running and let go of everything."""
        self._running.clear()
        if self._runner is not None:
            self._runner.close()
        self._stage.env.close()
        if self._fleet is not None:
            self._fleet.close()

    def _begin(self, task: Task) -> None:
        slot = next(slot for slot in range(self._copies) if slot not in self._running)
        recorder = copy(self._stage.recorder)
        recorder.policy_digest = self._policy.card.digest
        try:
            options = dict(task.options) or None
            observation, _ = recorder.reset(seed=task.seed, options=options)
        except FAILURES:
            self._ended.append(self._alone(task))
            return
        grip = recorder.grip()
        model, data = self._rollout.physics(self._env)
        if grip is None:
            self._ended.append(self._alone(task))
            return
        fleet = self._fleet_for(model)
        fleet.place(slot, self._own_model(task, model), data)
        self._clock[slot] = float(data.time)
        self._observations[slot], self._starts[slot] = observation, True
        self._running[slot] = _Open(task, recorder, grip, data.qpos.copy())

    def _own_model(self, task: Task, model: Any) -> Any:
        """The model of this episode: the environment's is changed again by the next reset."""
        if not self._rollout.changes_model:
            return model
        if self._staging.spec.parameters or task.options.get("parameters"):
            return copy(model)
        if self._resting is None:
            self._resting = copy(model)
        return self._resting

    def _fleet_for(self, model: Any) -> Fleet:
        if self._fleet is None:
            n, copies = self._rollout.substeps, self._copies
            self._fleet = fleet = Fleet(model, copies=copies, substeps=n, threads=self._threads)
            self._q = np.zeros((copies, self._limit, n, fleet.nq))
            self._v = np.zeros((copies, self._limit, n, fleet.nv))
            shape, dtype = self._space.shape or (), np.dtype(self._space.dtype)
            kind = np.dtype(np.int64) if isinstance(self._space, spaces.Discrete) else dtype
            self._taken = np.zeros((copies, self._limit, *shape), kind)
        return self._fleet

    def _alone(self, task: Task) -> Finished:
        """The episode by a plain runner."""
        runner = self._plain()
        runner.submit([task])
        while True:
            for finished in runner.collect():
                return finished

    def _plain(self) -> Runner:
        if self._runner is None:
            self._runner = Runner(self._staging.stage, self._policy, copies=1)
        return self._runner

    def _release(self, slot: int) -> _Open:
        self._memory.forget(slot)
        self._observations[slot], self._starts[slot] = 0, True
        return self._running.pop(slot)

    def _advance(self) -> list[Finished]:
        """One control step of every running episode."""
        slots = list(self._running)
        try:
            actions, fits = self._act(slots)
        except FAILURES:
            self._memory.forget_all()
            return [self._alone(self._release(slot).task) for slot in slots]
        ended = [
            self._alone(self._release(slot).task)
            for slot in slots
            if fits is not None and not fits[slot]
        ]
        slots = list(self._running)
        return ended + (self._fly(slots, actions) if slots else [])

    def _act(self, slots: list[int]) -> tuple[Any, Any]:
        """Actions (B, ...) by slot, and which of them fit."""
        found, expected = self._memory.ask(self._observations, self._starts, slots)
        if len(found) != expected:
            raise PolicyError(f"The policy returned {len(found)} actions for {expected} rows.")
        actions, fits = self._check(found)
        self._starts[slots] = False
        if self._compact:
            spread = np.zeros((self._copies, *actions.shape[1:]), actions.dtype)
            spread[slots] = actions
            actions = spread
            if fits is not None:
                every = np.ones(self._copies, np.bool_)
                every[slots] = fits
                fits = every
        return actions, fits

    def _fly(self, slots: list[int], actions: Any) -> list[Finished]:
        fleet = self._fleet
        if fleet is None:
            return []
        fleet.step(slots, self._rollout.control(self._env, actions[: self._copies]))
        ages = [self._running[slot].age for slot in slots]
        states = fleet.states[slots]
        q, v = fleet.split(states)
        self._q[slots, ages], self._v[slots, ages] = q, v
        self._taken[slots, ages] = actions[slots]
        fine = advanced(states, self._clock[slots])
        self._clock[slots] = states[:, -1, 0]
        seen = self._rollout.observe(self._env, q[:, -1], v[:, -1])
        fine &= np.isfinite(seen.reshape(len(seen), -1)).all(axis=1)
        why = self._reasons(q[:, -1], v[:, -1])
        ended: list[Finished] = []
        for row, slot in enumerate(slots):
            going = self._running[slot]
            going.age += 1
            if not fine[row]:
                ended.append(self._alone(self._release(slot).task))
            elif why[row] or going.age >= self._limit:
                ended.append(self._finish(slot, going.age, why[row], seen[row]))
            else:
                self._observations[slot] = seen[row]
        return ended

    def _reasons(self, q: Any, v: Any) -> list[str]:
        """Why each copy terminates, "" where it does not."""
        found = [""] * len(q)
        if self._rollout.ends is not None:
            for reason, rows in self._rollout.ends(self._env, q, v).items():
                for row in np.flatnonzero(rows).tolist():
                    found[row] = found[row] or reason
        return found

    def _at_once(self) -> list[Finished]:
        """Every running episode of a sequence, to its end."""
        policy, slots = self._policy, list(self._running)
        if not isinstance(policy, ActionSequence):
            return []
        try:
            actions, fits = self._check(policy.whole(self._limit))
        except FAILURES:
            actions, fits = policy.actions, np.zeros(1, np.bool_)
        if fits is not None:
            return [self._alone(self._release(slot).task) for slot in slots]
        never_ends = self._rollout.ends is None
        stretch = self._limit if never_ends else min(_STRETCH, self._limit)
        ended: list[Finished] = []
        for begin in range(0, self._limit, stretch):
            if self._running:
                part = actions[begin : begin + stretch]
                ended += self._go_along(list(self._running), begin, part, never_ends)
        return ended

    def _go_along(self, slots: list[int], begin: int, actions: Any, whole: bool) -> list[Finished]:
        """The steps from `begin` on, of the actions (steps, ...); whole: there are no others."""
        fleet, steps = self._fleet, len(actions)
        if fleet is None:
            return []
        controls = self._rollout.control(self._env, actions)
        states = fleet.whole(slots, controls) if whole else fleet.along(slots, controls)
        fine = advanced(states, self._clock[slots])
        self._clock[slots] = states[:, -1, 0]
        shape = (len(slots), steps, fleet.substeps, -1)
        q, v = (part.reshape(shape) for part in fleet.split(states))
        ended: list[Finished] = []
        for row, slot in enumerate(slots):
            last, upto = (q[row, :, -1], v[row, :, -1]), slice(begin, begin + steps)
            seen = self._rollout.observe(self._env, *last)
            if not (fine[row] and np.isfinite(seen).all()):
                ended.append(self._alone(self._release(slot).task))
                continue
            self._q[slot, upto], self._v[slot, upto] = q[row], v[row]
            self._taken[slot, upto] = actions
            reasons = self._reasons(*last)
            at = next((k for k, reason in enumerate(reasons) if reason), steps - 1)
            if reasons[at] or begin + steps == self._limit:
                ended.append(self._finish(slot, begin + at + 1, reasons[at], seen[at]))
        return ended

    def _finish(self, slot: int, steps: int, reason: str, observation: Any) -> Finished:
        """The trace of the episode in this slot, after so many steps."""
        going, fleet = self._release(slot), self._fleet
        taken = self._taken[slot, :steps].copy()
        model = None if fleet is None else fleet.models[slot]
        q, v = self._q[slot, :steps], self._v[slot, :steps]
        flight = Flight(model, going.start, q, v, taken)
        columns = self._rollout.signals(self._env, flight)
        rewards = self._rollout.rewards(self._env, flight)
        plain = [column.tolist() if column.ndim == 1 else list(column) for column in columns]
        for values in zip(*plain, strict=True):
            going.grip.add_row(values)
        for reward in rewards.tolist():
            going.grip.add_reward(float(reward))
        recorder = going.recorder
        recorder.catch_up(steps, taken)
        recorder.conclude(bool(reason), False, observation, {"terminal": reason} if reason else {})
        trace = recorder.trace
        return (going.task.index, trace) if trace is not None else self._alone(going.task)
