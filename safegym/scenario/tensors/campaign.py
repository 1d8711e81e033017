"""A fixed number of whole episodes from every copy of a tensor simulator."""

from collections.abc import Callable, Iterator
from typing import Any

from safegym.errors import ScenarioError
from safegym.scenario.tensors.recorder import TensorRecorder
from safegym.trace.model import Trace


class TensorCampaign:
    """Runs `rounds` episodes in each copy; iterating yields (index, trace) in index order.

    index = round * copies + copy. Every copy gives the same number of episodes: taking whichever
    end first would prefer short ones, and a share of failures counted so is wrong.
    policy(observations) -> actions, both on the device. seed: of the whole run. patience: steps
    after which a campaign whose episodes never end raises ScenarioError; by default twice what
    episodes of the horizon would take.

    Episodes of one run share its seed and its simulator; that they are independent is the
    simulator's promise, so evidence from them is at most *estimated*, under that assumption, and
    is not run again by `audit verify`.
    """

    def __init__(
        self,
        recorder: TensorRecorder,
        policy: Callable[[Any], Any],
        *,
        rounds: int = 1,
        seed: int = 0,
        patience: int | None = None,
    ) -> None:
        if rounds < 1:
            raise ScenarioError(f"A campaign needs at least 1 round, found {rounds}.")
        self._recorder, self._policy = recorder, policy
        self._rounds, self._seed = rounds, seed
        self._patience = patience or 2 * rounds * (recorder.horizon + 1)

    def __iter__(self) -> Iterator[tuple[int, Trace]]:
        """Runs the campaign anew from its seed."""
        recorder, copies = self._recorder, self._recorder.copies
        waiting: dict[int, Trace] = {}
        due, total = 0, self._rounds * copies
        observations, _ = recorder.reset(seed=self._seed)
        steps = 0
        while due < total:
            if steps >= self._patience:
                raise ScenarioError(
                    f"After {steps} steps {due} of {total} episodes have ended; the environment "
                    f"must truncate at its horizon of {recorder.horizon} steps, or give patience=."
                )
            observations, *_ = recorder.step(self._policy(observations))
            steps += 1
            if steps % recorder.horizon and steps < self._patience:
                continue
            for copy, number, trace in recorder.finished():
                if number < self._rounds:
                    waiting[number * copies + copy] = trace
            while due in waiting:
                yield due, waiting.pop(due)
                due += 1
