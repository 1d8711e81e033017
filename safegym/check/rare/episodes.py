"""Whole episodes with chosen inputs, in batches: how near each came to breaking the property."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safegym.check.rare.subject import Aim, judged
from safegym.policy.base import Policy
from safegym.scenario.batch import run_all
from safegym.scenario.inputs import refuse_unheeded
from safegym.scenario.runner import Runner, Task
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging

COPIES = 16
"""Episodes run side by side. Fixed, though no result depends on it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One episode. level: minus the largest robustness that the guide can have."""

    level: float
    violated: bool
    undecided: bool
    steps: int


class Episodes:
    """Runs batches of episodes of one policy, and judges them.

    Raises PolicyError if policy and scenario do not fit.
    """

    def __init__(self, spec: ScenarioSpec, policy: Policy, aim: Aim) -> None:
        self._aim = aim
        width = policy.card.width
        copies = COPIES if width == 1 else min(COPIES, width)
        self._runner = Runner(Staging(spec, aim.tail).stage, policy, copies=copies)
        self._runner.rehearse()
        self.count = self.steps = 0

    def run(self, starts: Sequence[tuple[int, Mapping[str, Any]]]) -> list[Seen]:
        """What became of the episodes that begin with these seeds and options, in order.

        Raises UnsupportedError where the guide's margins do not compare, ScenarioError where an
        episode says that it had other inputs than it was given.
        """
        tasks = [Task(index, seed, options) for index, (seed, options) in enumerate(starts)]
        found: dict[int, Seen] = {}
        for index, trace in run_all(self._runner, tasks):
            refuse_unheeded(starts[index][1], trace)
            status, level = judged(self._aim, trace)
            undecided = status == "inconclusive"
            found[index] = Seen(level, status != "satisfied", undecided, trace.steps)
        self.count += len(starts)
        self.steps += sum(seen.steps for seen in found.values())
        return [found[index] for index in range(len(starts))]

    def close(self) -> None:
        """Let go of the environments."""
        self._runner.close()
