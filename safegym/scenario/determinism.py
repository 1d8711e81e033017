"""Whether a seed decides an episode: the ground on which evidence can be checked again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import Policy
from safegym.scenario.runner import Runner, Task
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs of one seed part: the first differing sample, and what differs there."""

    seed: int
    step: int
    what: str
    first: float
    second: float


def check_determinism(
    spec: ScenarioSpec, policy: Policy, *, seeds: Sequence[int] = (0, 1, 2), tail: int = 0
) -> tuple[Difference, ...]:
    """Runs each seed in a fresh environment and in one that has run all the others; empty if equal.

    The second run meets whatever the earlier episodes left behind, with other episodes beside it:
    a reset that forgets a piece of state shows here.
    """
    staging = Staging(spec, tail)
    fresh = {seed: _fresh(staging, policy, seed) for seed in seeds}
    used = Runner(staging.stage, policy, copies=min(3, max(1, len(seeds))))
    try:
        again: dict[int, Trace] = {}
        for _ in range(2):  # the first round only leaves its traces in the environments
            again = _all(used, seeds)
    finally:
        used.close()
    found = (first_difference(fresh[seed], again[seed]) for seed in seeds)
    return tuple(difference for difference in found if difference is not None)


def first_difference(one: Trace, two: Trace) -> Difference | None:
    """The earliest sample at which two traces of one seed differ, None if they do not."""
    if one.digest == two.digest:
        return None
    rows = [(name, 0, one.signals[name], two.signals[name]) for name in one.signals]
    rows += [("reward", 1, one.rewards, two.rewards), ("action", 0, one.actions, two.actions)]
    found = [
        Difference(one.seed, at[0] + offset, name, *at[1:])
        for name, offset, left, right in rows
        if (at := _first(left, right)) is not None
    ]
    if found:
        return min(found, key=_step)
    step = min(one.steps, two.steps)
    return Difference(one.seed, step, "length or end", float(one.steps), float(two.steps))


def _step(difference: Difference) -> int:
    return difference.step


def _first(
    left: NDArray[np.float64], right: NDArray[np.float64]
) -> tuple[int, float, float] | None:
    """Row of the first differing number, and the two numbers."""
    shared = min(len(left), len(right))
    if left.shape[1:] != right.shape[1:] or shared == 0:
        return None
    flat = [np.asarray(array[:shared]).reshape(shared, -1) for array in (left, right)]
    differing = np.argwhere(flat[0] != flat[1])
    if not len(differing):
        return None
    step, column = (int(number) for number in differing[0])
    return step, float(flat[0][step, column]), float(flat[1][step, column])


def _fresh(staging: Staging, policy: Policy, seed: int) -> Trace:
    runner = Runner(staging.stage, policy, copies=1)
    try:
        return _all(runner, (seed,))[seed]
    finally:
        runner.close()


def _all(runner: Runner, seeds: Sequence[int]) -> dict[int, Trace]:
    waiting = [Task(index, seed) for index, seed in enumerate(seeds)]
    traces: dict[int, Trace] = {}
    while waiting or runner.running:
        while waiting and runner.room:
            runner.start(waiting.pop(0))
        traces.update((trace.seed, trace) for _, trace in runner.advance())
    return traces
