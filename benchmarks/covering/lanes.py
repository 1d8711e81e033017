"""Outcomes of many chains, recorded and judged for real, a campaign at a time.

One episode carries several independent lanes, each with its own claim: a campaign then serves as
many repeats as it has lanes. Every episode goes through the recorder and the campaign; the monitor
judges each lane's claim on batches of traces (and one by one on a few, which must agree).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from safegym_scenarios.chain_lanes import lanes

from safegym.check.monitor import judge, satisfaction
from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.batch import TraceBatch
from safegym.trace.model import Trace

CHUNK = 2_048
CHECKED = 8
"""Traces of each chunk that are judged one by one as well."""
Violated = NDArray[np.bool_]
"""Whether each lane failed in each episode, shape (episodes, lanes), in index order."""


@dataclass(frozen=True, slots=True)
class Order:
    """How long episodes last: steps of (safe, failing) ones, and copies stepped together."""

    lengths: tuple[int, int]
    copies: int

    def __str__(self) -> str:
        which = "long" if self.lengths[1] > self.lengths[0] else "short"
        return f"failing {which}, {self.copies} copies"


ORDERS = tuple(Order(lengths, copies) for lengths in ((1, 30), (30, 1)) for copies in (8, 64))


class Lanes:
    """One campaign of lanes with the given failure probabilities; `more` runs further episodes."""

    def __init__(self, failures: tuple[str, ...], order: Order, seed: int) -> None:
        self.spec: ScenarioSpec = lanes("benchmark/lanes-v0", failures, order.lengths, 0.01)
        policy: Policy = self.spec.good()  # type: ignore[misc]  # lanes have one
        self._campaign = Campaign(
            self.spec,
            policy,
            seed_of=lambda index: (seed << 32) + index,
            tail=0,
            copies=order.copies,
        )
        self._traces: Iterator[tuple[int, Trace]] = iter(self._campaign)
        self._due = 0

    def __enter__(self) -> "Lanes":
        return self

    def __exit__(self, *_: object) -> None:
        self._campaign.close()

    def more(self, episodes: int) -> Violated:
        """The next episodes in index order, judged."""
        parts: list[Violated] = []
        while episodes > 0:
            found = list(islice(self._traces, min(CHUNK, episodes)))
            for index, _ in found:
                if index != self._due:
                    raise AssertionError(f"episode {index} was admitted when {self._due} was due")
                self._due += 1
            parts.append(judged(self.spec, [trace for _, trace in found]))
            episodes -= len(found)
        return np.concatenate(parts)


def judged(spec: ScenarioSpec, traces: list[Trace]) -> Violated:
    """Whether each claim is violated on each trace, shape (traces, claims); none is undecided.

    Episodes of one length are judged as one batch, which the monitor then takes without copying.
    """
    found = np.empty((len(traces), len(spec.claims)), np.bool_)
    steps = np.array([trace.steps for trace in traces])
    for length in np.unique(steps):
        rows = np.flatnonzero(steps == length)
        batch = TraceBatch.of([traces[row] for row in rows])
        for at, claim in enumerate(spec.claims):
            must, may = satisfaction(claim, batch)
            if (must[:, 0] != may[:, 0]).any():
                raise AssertionError(f"{claim.id} is undecided on a whole episode")
            found[rows, at] = ~must[:, 0]
    for row, trace in enumerate(traces[:CHECKED]):
        at = row % len(spec.claims)
        if (judge(spec.claims[at], trace).status == "violated") != found[row, at]:
            raise AssertionError("the batch and the single judgement differ")
    return found
