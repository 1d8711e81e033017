"""Whether a seed decides an episode: the ground on which evidence can be checked again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.lost import is_lost
from safegym.scenario.runner import Runner, Task
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace

Sampled = tuple[int, int, Mapping[str, Any], Trace]
"""An episode to run again: its index, seed, reset options, and the trace it gave."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs of one seed part: the first differing sample, and what differs there.

    first, second: the two numbers, in the unit of what differs. index: the episode's index in its
    campaign, None where it has none.
    """

    seed: int
    step: int
    what: str
    first: float
    second: float
    index: int | None = None

    def __str__(self) -> str:
        where = f"seed {self.seed}"
        if self.index is not None:
            where = f"episode {self.index} ({where})"
        return (
            f"{where} differs from step {self.step} on: {self.what} {self.first} and {self.second}"
        )


def check_determinism(
    spec: ScenarioSpec, policy: Policy, *, seeds: Sequence[int] = (0, 1, 2), tail: int = 0
) -> tuple[Difference, ...]:
    """Runs each seed in a fresh environment and in one that has run all the others; empty if equal.

    The second run meets whatever the earlier episodes left behind, with other episodes beside it:
    a reset that forgets a piece of state shows here.
    """
    staging = Staging(spec, tail)
    tasks = [Task(seed, seed) for seed in seeds]
    fresh = [_alone(staging, policy, task) for task in tasks]
    used = Runner(staging.stage, policy, copies=min(3, max(1, len(seeds))))
    try:
        again: dict[int, Trace] = {}
        for _ in range(2):  # the first round only leaves its traces in the environments
            again = _all(used, tasks)
    finally:
        used.close()
    pairs = zip(fresh, (again[seed] for seed in seeds), strict=True)
    found = (first_difference(one, other) for one, other in pairs)
    return tuple(difference for difference in found if difference is not None)


def recheck(
    spec: ScenarioSpec, policy: Policy, sample: Sequence[Sampled], *, tail: int = 0
) -> tuple[Difference, ...]:
    """Runs recorded episodes again and says where they part from their traces; empty if nowhere.

    sample: (index, seed, options, trace) of each. tail: as in the campaign that recorded them.
    They run in reverse order and in other company than before, in environments of their own, so
    that what an earlier episode or a neighbour left behind shows as well. One difference an
    episode, by index. Episodes of which nothing was seen (`lost.is_lost`: a worker that died or
    hung) are passed over: running them again could end this process.

    Raises ScenarioError for a trace of another scenario, policy or seed: it would differ anyway.
    """
    kept = [entry for entry in sorted(sample, key=_index, reverse=True) if not is_lost(entry[3])]
    for index, seed, _, trace in kept:
        _refuse_stranger(spec, policy, index, seed, trace)
    if not kept:
        return ()
    watched = any(trace.observations is not None for *_, trace in kept)
    staging = Staging(spec, tail, watched)
    runner = Runner(staging.stage, policy, copies=min(3, len(kept)))
    try:
        again = _all(runner, [Task(place, entry[1], entry[2]) for place, entry in enumerate(kept)])
    finally:
        runner.close()
    found: list[Difference] = []
    for place, (index, _, _, trace) in enumerate(kept):
        difference = first_difference(trace, _as_kept(again[place], trace))
        if difference is not None:
            found.append(replace(difference, index=index))
    return tuple(reversed(found))


def first_difference(one: Trace, two: Trace) -> Difference | None:
    """The earliest sample at which two traces of one seed differ, None if they do not.

    Where all numbers agree, `what` says what else differs: how the episodes ended, their events,
    their parameters, or what made them.
    """
    if one.digest == two.digest:
        return None
    rows = [(name, 0, one.signals[name], two.signals[name]) for name in _shared(one, two)]
    rows += [("reward", 1, one.rewards, two.rewards), ("action", 0, one.actions, two.actions)]
    if one.observations is not None and two.observations is not None:
        rows.append(("observation", 0, one.observations, two.observations))
    found = [
        Difference(one.seed, at[0] + offset, name, *at[1:])
        for name, offset, left, right in rows
        if (at := _first(left, right)) is not None
    ]
    if found:
        return min(found, key=_step)
    step = min(one.steps, two.steps)
    return Difference(one.seed, step, _remainder(one, two), float(one.steps), float(two.steps))


def _remainder(one: Trace, two: Trace) -> str:
    """What differs between traces whose shared numbers agree."""
    if one.steps != two.steps or one.end != two.end:
        ends = [f"{trace.end.kind}: {trace.end.reason}" for trace in (one, two)]
        return f"length or end ({ends[0]}; {ends[1]}), steps"
    for what in ("events", "parameters", "disturbance_seed", "versions", "unseen"):
        if getattr(one, what) != getattr(two, what):
            return f"{what}, after steps"
    return "what recorded it (scenario, policy, or kind of number), after steps"


def _refuse_stranger(
    spec: ScenarioSpec, policy: Policy, index: int, seed: int, trace: Trace
) -> None:
    for what, asked, found in (
        ("scenario", spec.digest, trace.scenario_digest),
        ("policy", policy.card.digest, trace.policy_digest),
        ("seed", seed, trace.seed),
    ):
        if asked != found:
            raise ScenarioError(
                f"Episode {index} was recorded with {what} {found}, and is to be run again with "
                f"{asked}; give the {what} that recorded it."
            )


def _as_kept(again: Trace, trace: Trace) -> Trace:
    """The new trace with what the old one kept: observations only if it has some."""
    if again.observations is None or trace.observations is not None:
        return again
    return replace(again, observations=None, digest="")


def _shared(one: Trace, two: Trace) -> list[str]:
    return [name for name in one.signals if name in two.signals]


def _step(difference: Difference) -> int:
    return difference.step


def _index(entry: Sampled) -> int:
    return entry[0]


def _first(left: NDArray[Any], right: NDArray[Any]) -> tuple[int, float, float] | None:
    """Row of the first differing number, and the two numbers; signed zeros differ."""
    shared = min(len(left), len(right))
    if left.shape[1:] != right.shape[1:] or shared == 0:
        return None
    flat = [np.asarray(array[:shared]).reshape(shared, -1) for array in (left, right)]
    differing = np.argwhere((flat[0] != flat[1]) | (np.signbit(flat[0]) != np.signbit(flat[1])))
    if not len(differing):
        return None
    step, column = (int(number) for number in differing[0])
    return step, float(flat[0][step, column]), float(flat[1][step, column])


def _alone(staging: Staging, policy: Policy, task: Task) -> Trace:
    runner = Runner(staging.stage, policy, copies=1)
    try:
        return _all(runner, (task,))[task.index]
    finally:
        runner.close()


def _all(runner: Runner, tasks: Sequence[Task]) -> dict[int, Trace]:
    """The traces by index. An episode that cannot begin gives a trace that says so."""
    waiting = list(tasks)
    traces: dict[int, Trace] = {}
    while waiting or runner.running:
        if waiting and runner.room:
            started, waiting = waiting[: runner.room], waiting[runner.room :]
            runner.submit(started)
        traces.update(runner.collect())
    return traces
