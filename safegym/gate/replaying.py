"""Which starts an epoch replays: a plan fixed at its boundary, and the desk that hands them out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.gate.counterexample import Counterexample


@dataclass(frozen=True, slots=True, eq=False)
class ReplayPlan:
    """Starts and drawing probabilities, fixed for one epoch. Draws touch no global generator."""

    starts: tuple[Counterexample, ...]
    probabilities: NDArray[np.float64]
    share: float
    root: int
    epoch: int

    def draw(self, number: int) -> Counterexample:
        """The start of the epoch's replay `number`, from 0: the same whenever it is asked."""
        sequence = np.random.SeedSequence(
            entropy=self.root, spawn_key=(0x5245504C, self.epoch, number)
        )
        generator = np.random.Generator(np.random.PCG64(sequence))
        return self.starts[int(generator.choice(len(self.starts), p=self.probabilities))]


@dataclass(slots=True)
class ReplayDesk:
    """Hands starts to the environments at their resets, never more than the plan's share.

    started, replayed: episodes since the epoch began. stage: of the run's curriculum, in which the
    next episodes begin; None for the scenario as it stands.
    """

    plan: ReplayPlan | None = None
    started: int = 0
    replayed: int = 0
    stage: int | None = None

    def open(self, plan: ReplayPlan) -> None:
        """Begin an epoch."""
        self.plan, self.started, self.replayed = plan, 0, 0

    def next(self) -> Counterexample | None:
        """The start of the next episode; None for a fresh one."""
        self.started += 1
        plan = self.plan
        if plan is None or not plan.starts or self.replayed + 1 > plan.share * self.started:
            return None
        self.replayed += 1
        return plan.draw(self.replayed - 1)
