"""Who steps the environments of training; no result depends on it."""

import math
from dataclasses import dataclass
from typing import Literal

from safegym.errors import GateError

RolloutEngine = Literal["processes", "ray"]


@dataclass(frozen=True, slots=True)
class RolloutWorkers:
    """How many workers step the environments, and where they live.

    workers: 0 steps all of them in this process. engine: "processes" of this machine, or actors on
    "ray". seconds: what one call of a worker's environments (a step or a reset of each) may take
    before the run ends with an error that names the episode; workers only, since nothing can look
    into a call of its own process. Weights, traces and events are the same for every choice.
    Raises GateError for values out of range.
    """

    workers: int = 0
    engine: RolloutEngine = "processes"
    seconds: float = 120.0

    def __post_init__(self) -> None:
        if isinstance(self.workers, bool) or self.workers != int(self.workers) or self.workers < 0:
            raise GateError(
                f"rollout_workers={self.workers}: give a whole number of workers, or 0 to step the "
                "environments in this process."
            )
        if self.engine not in ("processes", "ray"):
            raise GateError(
                f"Unknown engine {self.engine!r} of rollout workers; use 'processes' or 'ray'."
            )
        if not (self.seconds > 0.0 and math.isfinite(self.seconds)):
            raise GateError(
                f"Rollout workers were given {self.seconds} s for one call of their environments; "
                "give a finite number above 0."
            )

    def blocks(self, slots: int) -> tuple[range, ...]:
        """The slots of each worker, in order. Raises GateError if a worker would have none."""
        if self.workers > slots:
            raise GateError(
                f"{self.workers} rollout workers for {slots} environments: each needs one of its "
                f"own; pass rollout_workers={slots}, or raise n_envs."
            )
        edges = [slots * number // self.workers for number in range(self.workers + 1)]
        return tuple(map(range, edges, edges[1:]))


IN_PROCESS = RolloutWorkers()
