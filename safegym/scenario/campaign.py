"""Campaigns: from seeds to traces, admitted in index order whatever finishes first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from math import inf
from operator import index as whole
from typing import Any, Literal, Protocol, Self

from safegym.errors import ScenarioError
from safegym.policy.base import WIDTH, Policy
from safegym.scenario.inputs import checked_options
from safegym.scenario.lost import is_lost
from safegym.scenario.runner import Finished, Runner, Task
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace

LOOK_AHEAD = 256
"""Episodes that may be started past the one that is due, unless the copies need more."""
LOST_AT_FIRST = 8
"""A campaign whose first episodes, as many as this, are all lost has a fault of its own."""
EngineName = Literal["processes", "ray", "rollout"]


class Engine(Protocol):
    """What runs episodes: this process, or workers."""

    @property
    def room(self) -> int:
        """How many episodes can be started now."""
        ...

    @property
    def running(self) -> int:
        """How many episodes are under way."""
        ...

    def submit(self, tasks: Sequence[Task]) -> None:
        """Start episodes, at most `room` of them."""
        ...

    def collect(self) -> list[Finished]:
        """Go on until something happens; returns the episodes that ended."""
        ...

    def close(self) -> None:
        """Drop what is running and let go of everything."""
        ...


class Campaign:
    """Runs episodes of a policy on a scenario; iterating yields (index, trace) in index order.

    with Campaign(spec, policy, seed_of=seed, tail=0) as campaign:
        for index, trace in campaign:
            if decided(trace):
                campaign.stop()
        more = campaign.surplus

    seed_of: index -> the seed that the episode is reset with. options_of: index -> what reset is
    given besides (parameters, disturbances), None for nothing. tail: samples past the horizon.
    copies: environments stepped together, at most the policy's width. workers: processes; the
    traces are the same with any number. first_index: index of the first episode. episodes: how
    many to run at most, None for no limit. first: how many to start at first, for each worker;
    as many run after that as have come back, so that whoever stops early has started few in vain.
    None starts as many as the engine takes. engine: "processes" for worker processes even where
    workers is 1, "ray" for the nodes of a Ray cluster (`[ray]` extra), "rollout" for
    `mujoco.rollout` in this process where the scenario declares one (workers are then threads of
    the physics), None for what workers says.
    episode_seconds: what an episode may take of its environment's reset and steps in all; needs
    worker processes, which it brings. Wall-clock time: choose it many times larger than an episode
    takes, since a machine that is busy can be slow.

    An episode in which the environment or the policy raises, or the policy acts outside the
    action space, ends as `interrupted` with the reason; the campaign goes on. So does one that
    cannot be reset, takes longer than `episode_seconds`, or ends its worker process again and
    again: nothing was seen of it (`lost.lost_trace`), and it counts as undecided. Raises
    ScenarioError if the first eight are all lost, and for options that the scenario does not
    declare (`inputs.checked_options`), before their episode. Raises, before any episode,
    PolicyError if policy and scenario do not fit and UnsupportedError if the simulator cannot run
    the tail.
    """

    def __init__(
        self,
        spec: ScenarioSpec,
        policy: Policy,
        *,
        seed_of: Callable[[int], int],
        options_of: Callable[[int], Mapping[str, Any]] | None = None,
        tail: int,
        copies: int = WIDTH,
        workers: int = 1,
        first_index: int = 0,
        episodes: int | None = None,
        first: int | None = None,
        keep_observations: bool = False,
        engine: EngineName | None = None,
        episode_seconds: float | None = None,
    ) -> None:
        if workers < 1 or copies < 1 or first_index < 0 or (episodes is not None and episodes < 0):
            raise ScenarioError(
                "A campaign needs workers >= 1, copies >= 1, first_index >= 0 and episodes >= 0, "
                f"found {workers}, {copies}, {first_index} and {episodes}."
            )
        if engine not in (None, "processes", "ray", "rollout"):
            raise ScenarioError(
                f'engine is {engine!r}; write "processes", "ray", "rollout", or nothing.'
            )
        if episode_seconds is not None and not 0.0 < episode_seconds < inf:
            raise ScenarioError(
                f"episode_seconds is {episode_seconds}; give seconds above 0, or None for no limit."
            )
        self._engine_name, self._seconds = engine, episode_seconds
        self._staging = Staging(spec, tail, keep_observations)
        self._policy, self._seed_of, self._options_of = policy, seed_of, options_of
        self._copies, self._workers = copies, workers
        self._due = self._next = self._first_index = first_index
        self._first = first
        self._end = None if episodes is None else first_index + episodes
        self._done: dict[int, Trace] = {}
        self._engine: Engine | None = None
        self._state: str = "new"
        self._dropped = False
        self._lost: int | None = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Finished]:
        """Yields in index order. Raises ScenarioError on a second pass."""
        if self._state != "new":
            raise ScenarioError("A campaign is iterated once; make a new one with first_index=.")
        self._state = "running"
        return self._run()

    def stop(self) -> None:
        """Start no further episode; those started are finished and stand in `surplus`."""
        self._state = "stopped"

    @property
    def surplus(self) -> tuple[Finished, ...]:
        """Episodes started beyond the last one that was yielded, by index, finished first.

        Raises ScenarioError while the campaign still runs, or once it was closed with some open.
        """
        if self._state in ("new", "running"):
            raise ScenarioError("The campaign is still running; call stop() before surplus.")
        self._drain()
        if self._dropped:
            raise ScenarioError(
                "The campaign was closed or cut off with episodes under way, so its surplus is not "
                "whole, and those that are there are the quick ones. Call stop() and read surplus "
                "before close()."
            )
        return tuple(sorted(self._done.items()))

    def close(self) -> None:
        """Drop the episodes that are still running."""
        engine, self._engine = self._engine, None
        if engine is not None:
            self._dropped = self._dropped or engine.running > 0
            engine.close()

    def _cut_off(self) -> None:
        """After an error or Ctrl-C amid a step, what is under way is out of line: it is dropped."""
        self._state, self._dropped = "cut off", True
        self.close()

    def _run(self) -> Iterator[Finished]:
        try:
            yield from self._admitted()
        except GeneratorExit:
            raise
        except BaseException:
            self._cut_off()
            raise

    def _admitted(self) -> Iterator[Finished]:
        engine = self._open()
        while self._state == "running":
            self._fill(engine)
            if not engine.running and self._due not in self._done:
                if self._next > self._due:
                    raise ScenarioError(f"Episode {self._due} was started and never came back.")
                self._state = "over"
                return
            if engine.running:
                self._done.update(engine.collect())
            while self._state == "running" and self._due in self._done:
                index, self._due = self._due, self._due + 1
                trace = self._done.pop(index)
                self._refuse_a_lost_start(trace)
                yield index, trace
        self._drain()

    def _refuse_a_lost_start(self, trace: Trace) -> None:
        self._lost = self._lost + 1 if self._lost is not None and is_lost(trace) else None
        if self._lost == LOST_AT_FIRST:
            self._state = "over"
            self.close()
            raise ScenarioError(
                f"None of the first {LOST_AT_FIRST} episodes gave a sample; of the last one: "
                f"{trace.end.reason}. Run safegym.record(scenario, policy, seed={trace.seed}) to "
                "see it alone."
            )

    def _open(self) -> Engine:
        if self._engine_name is None and self._workers == 1 and self._seconds is None:
            self._engine = runner = Runner(self._staging.stage, self._policy, copies=self._copies)
            runner.rehearse()
            return runner
        if self._seconds is None:
            self._rehearse()
        self._engine = self._remote()
        return self._engine

    def _rehearse(self) -> None:
        """One reset and one action here, before anything is started elsewhere."""
        runner = Runner(self._staging.stage, self._policy, copies=self._copies)
        try:
            runner.rehearse()
        finally:
            runner.close()

    def _remote(self) -> Engine:
        where = (self._staging, self._policy, self._copies, self._workers)
        if self._engine_name == "ray":
            from safegym.scenario.ray_engine import RayEngine

            return RayEngine(*where, episode_seconds=self._seconds)
        if self._engine_name == "rollout":
            from safegym.scenario.rollouts.engine import RolloutEngine

            return RolloutEngine(*where, episode_seconds=self._seconds)
        from safegym.scenario.workers import Pool

        return Pool(*where, episode_seconds=self._seconds)

    def _fill(self, engine: Engine) -> None:
        ahead = max(LOOK_AHEAD, 2 * self._copies * self._workers)
        if self._first is not None:
            ahead = min(ahead, max(self._first * self._workers, self._due - self._first_index))
        last = self._due + ahead if self._end is None else min(self._due + ahead, self._end)
        upto = min(last, self._next + engine.room)
        if upto > self._next:
            engine.submit([self._task(index) for index in range(self._next, upto)])
            self._next = upto

    def _task(self, index: int) -> Task:
        options = self._options(index)
        return Task(index, whole(self._seed_of(index)), deepcopy(dict(options)) if options else {})

    def _options(self, index: int) -> Mapping[str, Any]:
        if self._options_of is None:
            return {}
        try:
            return checked_options(self._staging.spec, self._options_of(index))
        except ScenarioError as error:
            raise ScenarioError(f"Episode {index} is not begun: {error}") from error

    def _drain(self) -> None:
        engine = self._engine
        try:
            while engine is not None and engine.running:
                self._done.update(engine.collect())
        except BaseException:
            self._cut_off()
            raise
        self.close()
