"""Traces of given seeds by a rollout."""

from collections.abc import Iterator, Sequence

from safegym.policy.base import WIDTH, Policy
from safegym.scenario.batch import run_all
from safegym.scenario.rollouts.engine import RolloutEngine
from safegym.scenario.runner import Task
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace


def rollout_traces(
    spec: ScenarioSpec,
    policy: Policy,
    seeds: Sequence[int],
    *,
    tail: int = 0,
    copies: int = WIDTH,
    threads: int = 1,
) -> Iterator[Trace]:
    """Yields the trace of each seed, in the order given: those of a `Campaign`, bit for bit.

    copies: episodes at once, at most the policy's width. threads: of the physics. Raises as
    `RolloutEngine` does, before the first trace.
    """
    copies = min(copies, max(1, len(seeds)))
    engine = RolloutEngine(Staging(spec, tail), policy, copies, threads)
    try:
        engine.rehearse()
        tasks = [Task(index, int(seed)) for index, seed in enumerate(seeds)]
        done: dict[int, Trace] = {}
        due = 0
        for index, trace in run_all(engine, tasks):
            done[index] = trace
            while due in done:
                yield done.pop(due)
                due += 1
    finally:
        engine.close()
