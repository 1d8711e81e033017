"""Running the episodes of a search: batches in, traces out, in order."""

from collections.abc import Mapping, Sequence
from typing import Any

from safegym.policy.base import Policy
from safegym.scenario.batch import run_all
from safegym.scenario.campaign import Engine
from safegym.scenario.runner import Runner, Task
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace

BATCH = 16
"""Episodes run together. Fixed, so that a search does not depend on the number of workers."""


class Episodes:
    """Runs batches of episodes of one policy on one scenario, in this process or in workers.

    Raises, before any episode, PolicyError if policy and scenario do not fit and UnsupportedError
    if the simulator cannot run the tail. episode_seconds: an episode that hangs longer is lost; it
    takes a process of its own, which then tries the first action.
    """

    def __init__(
        self,
        spec: ScenarioSpec,
        policy: Policy,
        *,
        tail: int,
        workers: int = 1,
        episode_seconds: float | None = None,
    ) -> None:
        self.spec, self.policy, self.tail = spec, policy, tail
        staging = Staging(spec, tail)
        width = policy.card.width
        copies = BATCH if width == 1 else min(BATCH, width)
        self._engine: Engine
        if episode_seconds is None:
            runner = Runner(staging.stage, policy, copies=copies)
            try:
                runner.rehearse()
            except BaseException:
                runner.close()
                raise
            self._engine = runner
            if workers == 1:
                return
            runner.close()
        from safegym.scenario.workers import Pool

        each = max(1, copies // workers)
        self._engine = Pool(staging, policy, each, workers, episode_seconds=episode_seconds)

    def run(self, starts: Sequence[tuple[int, Mapping[str, Any]]]) -> list[Trace]:
        """The traces of episodes that begin with these seeds and options, in order."""
        tasks = [Task(index, *start) for index, start in enumerate(starts)]
        traces = dict(run_all(self._engine, tasks))
        return [traces[index] for index in range(len(starts))]

    def close(self) -> None:
        """Let go of environments and workers."""
        self._engine.close()
