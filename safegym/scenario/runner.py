"""Many copies of one environment under one policy, a padded batch of inference a step."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

from safegym.errors import PolicyError, PolicyUnavailableError, ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.fitting import action_check, check_first, check_mode, check_spaces
from safegym.scenario.hands import Hands
from safegym.scenario.lost import lost_trace
from safegym.scenario.memory import Memory
from safegym.scenario.pulse import Pulse
from safegym.scenario.spec import Environment
from safegym.trace.model import Trace
from safegym.trace.reading import check_shape
from safegym.trace.record import FAILURES, Recorder, speakable


@dataclass(frozen=True, slots=True)
class Stage:
    """An environment with its recorder somewhere in the chain."""

    env: Environment
    recorder: Recorder


@dataclass(frozen=True, slots=True)
class Task:
    """One episode to run: its index in the campaign, its seed, and what reset is given besides."""

    index: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


Finished = tuple[int, Trace]


class CannotBeginError(ScenarioError):
    """An episode whose environment cannot be reset. reason: what reset raised."""

    def __init__(self, task: Task, error: BaseException) -> None:
        self.reason = f"reset(seed={task.seed}) raised {type(error).__name__}: {error}"
        super().__init__(f"Episode {task.index} cannot begin: {self.reason}")


class Runner:
    """Runs episodes in `copies` slots; a trace depends on policy and seed, never on the slot.

    make_stage: builds a fresh environment; called again for a slot whose environment raised.
    Inference has the policy's own width; rows without an episode are zero. A policy of width 1
    gets the running rows only, and one row at a time if it has `begin`. pulse: says to another
    process which episode is in a call, and limits how long an episode's calls may take
    (`pulse.Pulse`).
    """

    def __init__(
        self,
        make_stage: Callable[[], Stage],
        policy: Policy,
        *,
        copies: int,
        pulse: Pulse | None = None,
    ) -> None:
        card = policy.card
        self._compact = card.width == 1
        if not 1 <= copies <= (copies if self._compact else card.width):
            raise PolicyError(
                f"Policy {card.name} acts on {card.width} rows at once, so copies must lie in "
                f"1..{card.width}, found {copies}."
            )
        check_mode(policy)
        self._make_stage, self._policy, self.pulse = make_stage, policy, pulse
        self._stages = [make_stage()]
        env = self._stages[0].env
        check_spaces(policy, env.observation_space, env.action_space)
        self._check = action_check(policy, env.action_space)
        self._whole = isinstance(env.action_space, spaces.Discrete)
        told = self._compact and hasattr(policy, "begin")
        self._copies = copies = 1 if told else copies
        width = copies if self._compact else card.width
        shape = env.observation_space.shape or ()
        self._observations = np.zeros((width, *shape), env.observation_space.dtype)
        self._starts = np.ones(width, np.bool_)
        self._started = False
        self._tasks: dict[int, Task] = {}
        self._hands = Hands(self._observations)
        self._broken: set[int] = set()
        self._before: dict[int, Trace | None] = {}
        self._ended: list[Finished] = []
        self._memory = Memory(policy)
        self._notes: Callable[[int], Iterable[tuple[str, str]]] | None
        self._notes = getattr(policy, "notes", None)

    @property
    def room(self) -> int:
        """How many episodes can be started now."""
        return self._copies - len(self._tasks)

    @property
    def running(self) -> int:
        """How many episodes are under way."""
        return len(self._tasks) + len(self._ended)

    def submit(self, tasks: Sequence[Task]) -> None:
        """Start episodes, at most `room` of them.

        One whose environment cannot be reset, even when built afresh, has no sample: it is handed
        out by the next `collect` as a trace of which nothing was seen (`lost.lost_trace`).
        """
        for task in tasks:
            self._begin(task)

    def collect(self, *, steps: int | None = None) -> list[Finished]:
        """Go on until an episode ends, for `steps` steps at most; returns those that ended."""
        ended, self._ended = self._ended, []
        while self._tasks and not ended and steps != 0:
            ended = self.advance()
            steps = None if steps is None else steps - 1
        return ended

    def _begin(self, task: Task) -> None:
        try:
            self.start(task)
        except CannotBeginError as error:
            self._ended.append((task.index, self._lost(task, error.reason)))

    def start(self, task: Task) -> None:
        """Reset a free slot for the episode.

        Raises CannotBeginError if the environment cannot be reset, even when built afresh.
        """
        slot = next(slot for slot in range(self._copies) if slot not in self._tasks)
        if slot == len(self._stages):
            self._stages.append(self._build())
        if slot in self._broken:
            self._rebuild(slot)
        try:
            observation = self._reset(slot, task)
        except FAILURES:
            self._rebuild(slot)
            try:
                observation = self._reset(slot, task)
            except FAILURES as error:
                self._broken.add(slot)
                raise CannotBeginError(task, error) from error
        self._observations[slot] = observation
        self._starts[slot] = self._started = True
        self._tasks[slot] = task
        stage = self._stages[slot]
        self._before[slot] = stage.recorder.trace
        if not self._policy_begins(slot, task):
            return
        if stage.env is stage.recorder and self.pulse is None and self._notes is None:
            self._hands.take(slot, stage.recorder)

    def _policy_begins(self, slot: int, task: Task) -> bool:
        """Tells a policy that draws which seed to draw from; one that raises ends the episode."""
        begin = getattr(self._policy, "begin", None)
        if begin is None:
            return True
        given = getattr(self._policy, "given", None)
        try:
            if given is not None:
                given(slot, task.options)
            begin(slot, task.seed)
        except FAILURES as error:
            self._ended.append(self._close(slot, _in_policy(error)))
            return False
        return True

    def _reset(self, slot: int, task: Task) -> Any:
        """The first observation. An environment may write into its options: they are a copy."""
        stage = self._stages[slot]
        stage.recorder.policy_digest = self._policy.card.digest
        options = deepcopy(dict(task.options)) if task.options else None
        if self.pulse is not None:
            self.pulse.begin(task.index)
        try:
            observation = stage.env.reset(seed=task.seed, options=options)[0]
        finally:
            if self.pulse is not None:
                self.pulse.end(task.index)
        check_first(observation, self._observations.shape[1:])
        return observation

    def rehearse(self) -> None:
        """One reset and one action, dropped again: an unfit policy fails here.

        Raises PolicyError if the policy raises on a first observation or acts outside the space.
        """
        self._start_any(range(3))
        if self._ended:
            _, trace = self._ended.pop()
            raise PolicyError(f"Policy {self._policy.card.name}: {trace.end.reason}")
        try:
            actions, fits = self._act()
        except PolicyError:
            raise
        except FAILURES as error:
            raise PolicyError(
                f"Policy {self._policy.card.name} raised on a first observation: "
                f"{type(error).__name__}: {error}"
            ) from error
        if fits is not None and not fits[0]:
            raise PolicyError(
                f"Policy {self._policy.card.name} acts {actions[0]}, outside the environment's "
                f"action space {self._stages[0].env.action_space}; clip its actions to the bounds."
            )
        self._memory.forget_all()
        self._release(0)

    def _start_any(self, seeds: Sequence[int]) -> None:
        """Starts the first of the seeds that can be reset; a single hard one says nothing yet."""
        refused: list[CannotBeginError] = []
        for seed in seeds:
            try:
                return self.start(Task(0, seed))
            except CannotBeginError as error:
                refused.append(error)
        raise refused[0]

    def advance(self) -> list[Finished]:
        """One step of every running episode; returns those that ended, by slot."""
        try:
            actions, fits = self._act()
        except PolicyUnavailableError:
            raise
        except FAILURES as error:
            return self._isolate(error)
        failed = {} if self._notes is None else self._record_notes(self._notes)
        slots = list(self._tasks)
        rows = list(range(len(slots))) if self._compact else slots
        finished: list[Finished] = []
        if fits is not None:
            for row, slot in zip(rows, slots, strict=True):
                if not fits[row]:
                    reason = f"the policy's action {actions[row]} is outside the space"
                    finished.append(self._close(slot, failed.get(slot, reason)))
        if self._hands.hold(self._tasks):
            if self._compact:
                actions = self._spread(actions, slots)
            for slot, raised in self._hands.step_all(actions, self._whole):
                finished.append(
                    self._finish(slot) if raised is None else self._after_error(slot, raised)
                )
            return finished
        taken: Any = actions.tolist() if self._whole else actions
        for row, slot in zip(rows, slots, strict=True):
            if slot in self._tasks:
                finished.extend(self._step(slot, taken[row]))
        return finished

    def _record_notes(self, notes: Callable[[int], Iterable[tuple[str, str]]]) -> dict[int, str]:
        """Puts what the policy reports into the traces; returns why it has no action, by slot."""
        failed: dict[int, str] = {}
        for slot in self._tasks:
            for kind, detail in notes(slot):
                self._stages[slot].recorder.note(kind, speakable(detail))
                if kind == "policy.failed":
                    failed[slot] = f"the policy did not act: {detail}"
        return failed

    def _spread(self, actions: Any, slots: list[int]) -> Any:
        """Actions of the running rows, each at its slot."""
        spread = np.zeros((self._copies, *actions.shape[1:]), actions.dtype)
        spread[slots] = actions
        return spread

    def _step(self, slot: int, action: Any) -> list[Finished]:
        """One step by the environment's own `step`, its recorder somewhere inside."""
        task, pulse = self._tasks[slot], self.pulse
        if pulse is not None:
            pulse.begin(task.index)
        try:
            observation, _, terminated, truncated, _ = self._stages[slot].env.step(action)
            if not (terminated or truncated):
                check_shape(observation, self._observations.shape[1:])
        except FAILURES as error:
            return [self._after_error(slot, error)]
        finally:
            late = pulse is not None and pulse.end(task.index)
        if late and pulse is not None:
            self._release(slot)
            self._broken.add(slot)
            return [(task.index, self._lost(task, pulse.reason))]
        if terminated or truncated:
            return [self._finish(slot)]
        self._observations[slot] = observation
        return []

    def _ask(self) -> tuple[Any, int]:
        """The policy's actions and how many there must be. It sees copies, and may write there."""
        if self.pulse is not None:
            self.pulse.begin_policy()
        try:
            return self._memory.ask(self._observations, self._starts, list(self._tasks))
        finally:
            if self.pulse is not None:
                self.pulse.end_policy()

    def _act(self) -> tuple[Any, Any]:
        found, expected = self._ask()
        if len(found) != expected:
            raise PolicyError(
                f"Policy {self._policy.card.name} returned {len(found)} actions for {expected} "
                "observations; return one action per row."
            )
        checked = self._check(found)
        if self._started:
            self._starts[list(self._tasks)] = self._started = False
        return checked

    def _isolate(self, error: BaseException) -> list[Finished]:
        """The policy raised on a batch: run its episodes one by one, so that the one it fails on
        is closed as interrupted and its neighbours are not.
        """
        tasks = list(self._tasks.items())
        self._memory.forget_all()
        if len(tasks) == 1:
            slot = tasks[0][0]
            return [self._close(slot, _in_policy(error))]
        finished: list[Finished] = []
        for slot, _ in tasks:
            self._release(slot)
        for _, task in tasks:
            self._begin(task)
            while self.running:
                finished.extend(self.collect())
        return finished

    def _after_error(self, slot: int, error: BaseException) -> Finished:
        """The environment raised: its recorder closed the episode. It is built anew when needed.

        An episode that its recorder could not make a trace of is lost, and says why.
        """
        task, trace = self._tasks[slot], self._new_trace(slot)
        self._release(slot)
        self._broken.add(slot)
        if trace is None:
            trace = self._lost(task, f"cannot be recorded: {type(error).__name__}: {error}")
        return task.index, trace

    def _lost(self, task: Task, reason: str) -> Trace:
        imprint = self._stages[0].recorder.imprint
        return lost_trace(imprint, self._policy.card.digest, task.seed, task.options, reason)

    def _new_trace(self, slot: int) -> Trace | None:
        """The trace of the episode in this slot, None if its recorder has not made one."""
        trace = self._stages[slot].recorder.trace
        return None if trace is self._before[slot] else trace

    def _close(self, slot: int, reason: str) -> Finished:
        """Ends an episode as interrupted; it is lost if no trace can be made of it."""
        self._hands.let_go(slot)
        try:
            self._stages[slot].recorder.interrupt(reason)
        except Exception as error:
            return self._after_error(slot, error)
        return self._finish(slot)

    def _finish(self, slot: int) -> Finished:
        task, trace = self._tasks[slot], self._new_trace(slot)
        if trace is None:
            raise ScenarioError(f"Episode {task.index} ended without a trace in its recorder.")
        self._release(slot)
        return task.index, trace

    def _release(self, slot: int) -> None:
        task = self._tasks.pop(slot)
        if self.pulse is not None:
            self.pulse.forget(task.index)
        self._hands.let_go(slot)
        self._memory.forget(slot)
        self._observations[slot] = 0
        self._starts[slot] = True

    def _rebuild(self, slot: int) -> None:
        self._broken.discard(slot)
        self._stages[slot] = self._build(self._stages[slot])

    def _build(self, old: Stage | None = None) -> Stage:
        """A fresh environment, after the old one was closed."""
        if self.pulse is not None:
            self.pulse.begin_building()
        try:
            if old is not None:
                _close_quietly(old)
            return self._make_stage()
        finally:
            if self.pulse is not None:
                self.pulse.end_policy()

    def close(self) -> None:
        """Close every environment; open episodes are dropped."""
        self._tasks.clear()
        for slot, stage in enumerate(self._stages):
            self._hands.let_go(slot)
            _close_quietly(stage)


def _in_policy(error: BaseException) -> str:
    return f"{type(error).__name__} in the policy: {error}"


def _close_quietly(stage: Stage) -> None:
    """An environment that has failed may fail again while closing; it is gone either way."""
    try:
        stage.env.close()
    except FAILURES:
        return
