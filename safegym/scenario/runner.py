"""Many copies of one environment under one policy, a padded batch of inference a step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

from safegym.errors import PolicyError, ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.fitting import action_check, check_spaces
from safegym.scenario.spec import Environment
from safegym.trace.model import Trace
from safegym.trace.record import Recorder


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


class Runner:
    """Runs episodes in `copies` slots; a trace depends on policy and seed, never on the slot.

    make_stage: builds a fresh environment; called again for a slot whose environment raised.
    Inference has the policy's own width; rows without an episode are zero. A policy of width 1
    gets the running rows only.
    """

    def __init__(self, make_stage: Callable[[], Stage], policy: Policy, *, copies: int) -> None:
        card = policy.card
        self._compact = card.width == 1
        if not 1 <= copies <= (copies if self._compact else card.width):
            raise PolicyError(
                f"Policy {card.name} acts on {card.width} rows at once, so copies must lie in "
                f"1..{card.width}, found {copies}."
            )
        _check_mode(policy)
        self._make_stage, self._policy = make_stage, policy
        self._stages = [make_stage()]
        env = self._stages[0].env
        check_spaces(policy, env.observation_space, env.action_space)
        self._check = action_check(policy, env.action_space)
        self._whole = isinstance(env.action_space, spaces.Discrete)
        self._copies = copies
        width = copies if self._compact else card.width
        shape = env.observation_space.shape or ()
        self._observations = np.zeros((width, *shape), env.observation_space.dtype)
        self._starts = np.ones(width, np.bool_)
        self._tasks: dict[int, Task] = {}
        self._broken: set[int] = set()
        self._before: dict[int, Trace | None] = {}
        self._state: Any = None

    @property
    def room(self) -> int:
        """How many episodes can be started now."""
        return self._copies - len(self._tasks)

    @property
    def running(self) -> int:
        """How many episodes are under way."""
        return len(self._tasks)

    def submit(self, tasks: Sequence[Task]) -> None:
        """Start episodes, at most `room` of them."""
        for task in tasks:
            self.start(task)

    def collect(self) -> list[Finished]:
        """One step of every running episode; returns those that ended."""
        return self.advance()

    def start(self, task: Task) -> None:
        """Reset a free slot for the episode.

        Raises ScenarioError if the environment cannot be reset, even when built afresh: such an
        episode has no sample, so nothing could be said of it.
        """
        slot = next(slot for slot in range(self._copies) if slot not in self._tasks)
        if slot == len(self._stages):
            self._stages.append(self._make_stage())
        stage = self._rebuild(slot) if slot in self._broken else self._stages[slot]
        stage.recorder.policy_digest = self._policy.card.digest
        try:
            observation, _ = stage.env.reset(seed=task.seed, options=dict(task.options) or None)
        except Exception:
            observation = self._reset_afresh(slot, task)
        self._observations[slot] = observation
        self._starts[slot] = True
        begin = getattr(self._policy, "begin", None)
        if begin is not None:
            begin(slot, task.seed)
        self._tasks[slot] = task
        self._before[slot] = self._stages[slot].recorder.trace

    def _reset_afresh(self, slot: int, task: Task) -> Any:
        stage = self._rebuild(slot)
        stage.recorder.policy_digest = self._policy.card.digest
        try:
            return stage.env.reset(seed=task.seed, options=dict(task.options) or None)[0]
        except Exception as error:
            raise ScenarioError(
                f"Episode {task.index} cannot begin: reset(seed={task.seed}) raised "
                f"{type(error).__name__}: {error}"
            ) from error

    def rehearse(self) -> None:
        """One reset and one action, dropped again: an unfit policy fails here.

        Raises PolicyError if the policy raises on a first observation or acts outside the space.
        """
        self.start(Task(0, 0))
        try:
            actions, fits = self._act()
        except PolicyError:
            raise
        except Exception as error:
            raise PolicyError(
                f"Policy {self._policy.card.name} raised on a first observation: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not fits[0]:
            raise PolicyError(
                f"Policy {self._policy.card.name} acts {actions[0]}, outside the environment's "
                f"action space {self._stages[0].env.action_space}; clip its actions to the bounds."
            )
        self._state = None
        self._release(0)

    def advance(self) -> list[Finished]:
        """One step of every running episode; returns those that ended, by slot."""
        try:
            actions, fits = self._act()
        except Exception as error:
            return self._isolate(error)
        finished: list[Finished] = []
        observations, stages = self._observations, self._stages
        rows: Any = actions.tolist() if self._whole else actions
        all_fit = bool(fits.all())
        for row, slot in enumerate(list(self._tasks)):
            at = row if self._compact else slot
            if not all_fit and not fits[at]:
                self._close(slot, f"the policy's action {actions[at]} is outside the space")
                finished.append(self._finish(slot))
                continue
            try:
                observation, _, terminated, truncated, _ = stages[slot].env.step(rows[at])
            except Exception as error:
                finished.append(self._after_error(slot, error))
                continue
            if terminated or truncated:
                finished.append(self._finish(slot))
            else:
                observations[slot] = observation
        return finished

    def _act(self) -> tuple[Any, Any]:
        if self._compact:
            rows = list(self._tasks)
            found, self._state = self._policy.act(
                self._observations[rows], self._state, self._starts[rows]
            )
            expected = len(rows)
        else:
            found, self._state = self._policy.act(self._observations, self._state, self._starts)
            expected = len(self._observations)
        if len(found) != expected:
            raise PolicyError(
                f"Policy {self._policy.card.name} returned {len(found)} actions for {expected} "
                "observations; return one action per row."
            )
        checked = self._check(found)
        self._starts[list(self._tasks)] = False
        return checked

    def _isolate(self, error: Exception) -> list[Finished]:
        """The policy raised on a batch: run its episodes one by one, so that the one it fails on
        is closed as interrupted and its neighbours are not.
        """
        tasks, self._state = list(self._tasks.items()), None
        if len(tasks) == 1:
            slot = tasks[0][0]
            self._close(slot, f"{type(error).__name__} in the policy: {error}")
            return [self._finish(slot)]
        finished: list[Finished] = []
        for slot, _ in tasks:
            self._release(slot)
        for _, task in tasks:
            self.start(task)
            while self._tasks:
                finished.extend(self.advance())
        return finished

    def _after_error(self, slot: int, error: Exception) -> Finished:
        """The environment raised: its recorder closed the episode. It is built anew when needed."""
        task, trace = self._tasks[slot], self._new_trace(slot)
        if trace is None:
            raise ScenarioError(
                f"Episode {task.index} (seed {task.seed}) cannot be recorded: "
                f"{type(error).__name__}: {error}"
            ) from error
        self._release(slot)
        self._broken.add(slot)
        return task.index, trace

    def _new_trace(self, slot: int) -> Trace | None:
        """The trace of the episode in this slot, None if its recorder has not made one."""
        trace = self._stages[slot].recorder.trace
        return None if trace is self._before[slot] else trace

    def _close(self, slot: int, reason: str) -> None:
        self._stages[slot].recorder.interrupt(reason)

    def _finish(self, slot: int) -> Finished:
        task, trace = self._tasks[slot], self._new_trace(slot)
        if trace is None:
            raise ScenarioError(f"Episode {task.index} ended without a trace in its recorder.")
        self._release(slot)
        return task.index, trace

    def _release(self, slot: int) -> None:
        del self._tasks[slot]
        self._observations[slot] = 0
        self._starts[slot] = True

    def _rebuild(self, slot: int) -> Stage:
        _close_quietly(self._stages[slot])
        self._broken.discard(slot)
        self._stages[slot] = self._make_stage()
        return self._stages[slot]

    def close(self) -> None:
        """Close every environment; open episodes are dropped."""
        self._tasks.clear()
        for stage in self._stages:
            _close_quietly(stage)


def _close_quietly(stage: Stage) -> None:
    """An environment that has failed may fail again while closing; it is gone either way."""
    try:
        stage.env.close()
    except Exception:
        return


def _check_mode(policy: Policy) -> None:
    card = policy.card
    if card.mode != "deterministic" and not hasattr(policy, "begin"):
        raise PolicyError(
            f"Policy {card.name} draws its actions ({card.mode} mode), but not from the episode's "
            "seed, so its episodes could not be repeated; use deterministic mode, or give it a "
            "method begin(row, seed) that seeds one generator per row."
        )
