"""Batches whose pass rates follow a Gaussian that moves from easy to hard.

The Nemotron 3 Nano report orders its training prompts so; its sampler is not public. Ours: each
batch has the same share of every agent; within an agent, a batch's rows are apportioned to bins of
pass rate in proportion to the Gaussian's density, by largest remainder, without replacement. Where
a bin has too few rows left, the rest goes to the other bins in the same proportion, and is counted.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from safegym.errors import BlendError
from safegym.nemo.blend.apportion import Deal, largest_remainder, seeded
from safegym.nemo.blend.places import Place, refuse
from safegym.nemo.blend.rates import UnratedRows, rate_of
from safegym.nemo.blend.sorting import external_sort
from safegym.nemo.blend.stored import Tell, silent, stored_rows, writing
from safegym.nemo.rows.forms import agent_of

BINS = 100
"""Bins have a width of 1 / BINS; a pass rate belongs to the nearest multiple."""
_MOST_CELLS = 10_000_000
Named = str | Path | Place
Stock = dict[int, int]
"""Bin -> rows that are left in it."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Batches of `size` rows. Batch b of `batches` aims at a mean pass rate that moves evenly from
    `start` to `end`, with standard deviation `sigma`. Raises BlendError for what cannot be.
    """

    batches: int
    size: int
    start: float = 0.9
    end: float = 0.1
    sigma: float = 0.15

    def __post_init__(self) -> None:
        if self.batches < 1 or self.size < 1:
            raise BlendError(
                f"Batches and their size count from 1, found {self.batches} and {self.size}."
            )
        if not (0 <= self.start <= 1 and 0 <= self.end <= 1 and 0 < self.sigma < math.inf):
            raise BlendError(
                "Means lie in [0, 1] and sigma above 0, found start = "
                f"{self.start}, end = {self.end}, sigma = {self.sigma}."
            )

    def mean(self, batch: int) -> float:
        """The mean that a batch aims at."""
        way = batch / (self.batches - 1) if self.batches > 1 else 0.0
        return self.start + (self.end - self.start) * way


@dataclass(frozen=True, slots=True)
class SampleReport:
    """What was sampled. means: per batch, what it aimed at and what it has. displaced: rows that
    stand in another bin than the Gaussian asked for, as too few were left.
    """

    out: str
    rows: int
    available: int
    displaced: int
    means: Sequence[tuple[float, float]]
    agents: Mapping[str, int]
    digest: str

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "out": self.out,
            "rows": self.rows,
            "available": self.available,
            "displaced": self.displaced,
            "batches": [{"aimed_mean": aim, "mean": mean} for aim, mean in self.means],
            "rows_a_batch_by_agent": dict(self.agents),
            "digest": self.digest,
        }


def sample_gaussian(
    source: Named, out: Named, schedule: Schedule, *, seed: int = 0, tell: Tell = silent
) -> SampleReport:
    """Write batch after batch, each shuffled; no row is used twice.

    Raises BlendError for rows without a pass rate, or too few rows of an agent for its share.
    """
    place, target = Place.of(source), Place.of(out)
    _ = target.kind
    refuse([target], [place])
    stock = _stock(place, tell)
    sizes = _sizes(stock, schedule, place)
    plans, displaced, means = _plans(stock, sizes, schedule)
    deals = {cell: Deal(counts, seeded("gaussian", seed, *cell)) for cell, counts in plans.items()}
    chance = seeded("batches", seed)
    with external_sort() as sort:
        for line, row in stored_rows(place, tell, f"sampling {place.text}"):
            rate = rate_of(row, place, line.number)
            cell = (agent_of(row), _bin(0.0 if rate is None else rate))
            batch = deals[cell].next()
            if batch < schedule.batches:
                sort.add(batch.to_bytes(8) + chance.randbytes(8), line.text)
        with writing(target, tell) as written:
            for _, text in sort.merged():
                written.write(text)
    available = sum(sum(bins.values()) for bins in stock.values())
    return SampleReport(
        target.text, written.rows, available, displaced, means, sizes, written.digest
    )


def _bin(rate: float) -> int:
    return round(rate * BINS)


def _stock(place: Place, tell: Tell) -> dict[str, Stock]:
    """Agent -> bin -> rows."""
    found: dict[str, Counter[int]] = {}
    missing = UnratedRows(place, "cut them out with `safegym blend cut --unrated drop`")
    for line, row in stored_rows(place, tell, f"counting {place.text}"):
        rate = rate_of(row, place, line.number)
        if rate is None:
            missing.see(line.number)
        else:
            found.setdefault(agent_of(row), Counter())[_bin(rate)] += 1
    missing.refuse()
    if not found:
        raise BlendError(f"{place.text} has no rows.")
    return {agent: dict(sorted(found[agent].items())) for agent in sorted(found)}


def _sizes(stock: Mapping[str, Stock], schedule: Schedule, place: Place) -> dict[str, int]:
    """Agent -> rows of each batch. Raises BlendError if an agent has too few for all batches."""
    totals = {agent: sum(bins.values()) for agent, bins in stock.items()}
    counts = largest_remainder(schedule.size, [Fraction(n) for n in totals.values()])
    sizes = dict(zip(totals, counts, strict=True))
    for agent, count in sizes.items():
        if count * schedule.batches > totals[agent]:
            most = min(totals[a] // n for a, n in sizes.items() if n)
            works = f"--batches {most} can" if most else "take a smaller --size"
            raise BlendError(
                f"{place.text}: {schedule.batches} batches of {schedule.size} ask for "
                f"{count * schedule.batches} rows of agent {agent or '(none)'}, and there are "
                f"{totals[agent]}; {works}."
            )
    cells = schedule.batches * sum(len(bins) for bins in stock.values())
    if cells > _MOST_CELLS:
        raise BlendError(
            f"{schedule.batches} batches over {len(stock)} agents are too many to plan at once; "
            "sample in several runs."
        )
    return sizes


def _plans(
    stock: Mapping[str, Stock], sizes: Mapping[str, int], schedule: Schedule
) -> tuple[dict[tuple[str, int], Any], int, list[tuple[float, float]]]:
    """Cell -> rows for each batch and, last, for none; displaced rows; means by batch."""
    plans = {
        (agent, k): np.zeros(schedule.batches + 1, np.int64)
        for agent, bins in stock.items()
        for k in bins
    }
    sums, displaced = [0] * schedule.batches, 0
    for agent, bins in stock.items():
        left = dict(bins)
        for batch in range(schedule.batches):
            counts, moved = _apportioned(sizes[agent], left, schedule.mean(batch), schedule.sigma)
            displaced += moved
            for k, count in counts.items():
                plans[agent, k][batch] = count
                left[k] -= count
                sums[batch] += k * count
        for k, rest in left.items():
            plans[agent, k][-1] = rest
    means = [
        (schedule.mean(b), total / (BINS * sum(sizes.values()))) for b, total in enumerate(sums)
    ]
    return plans, displaced, means


def _apportioned(
    need: int, left: Mapping[int, int], mean: float, sigma: float
) -> tuple[dict[int, int], int]:
    """Rows of each bin, none above what is left, and how many had to move to another bin."""
    wanted = _shared(need, list(left), mean, sigma)
    counts = dict.fromkeys(left, 0)
    rest = need
    while rest:
        free = [k for k in left if counts[k] < left[k]]
        for k, count in _shared(rest, free, mean, sigma).items():
            taken = min(count, left[k] - counts[k])
            counts[k] += taken
            rest -= taken
    return counts, sum(max(0, wanted[k] - counts[k]) for k in left)


def _shared(total: int, bins: Sequence[int], mean: float, sigma: float) -> dict[int, int]:
    """Rows of each bin in proportion to the density there, by largest remainder.

    Densities are relative to the nearest bin's, so that far from the mean not all of them are 0.
    """
    distances = [((k / BINS - mean) / sigma) ** 2 / 2 for k in bins]
    nearest = min(distances)
    weights = [Fraction(math.exp(nearest - distance)) for distance in distances]
    return dict(zip(bins, largest_remainder(total, weights), strict=True))
