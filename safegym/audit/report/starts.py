"""Where episodes began: the numbers of each start, and how far apart two starts are.

A start is the drawn parameters of an episode; where a scenario draws none that differ, its scalar
signals at sample 0.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from safegym.audit.report.model import Campaign, Judged
from safegym.trace.model import Trace

MOST = 1_000
"""Starts that are read, the first in index order."""
RANK = {"violated": 2, "inconclusive": 1, "satisfied": 0}


@dataclass(frozen=True, slots=True)
class Start:
    """One episode's start. status: its worst over the claims. at: its place in index order."""

    trace: str
    at: int
    status: str
    numbers: Mapping[str, float]
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Starts:
    """The starts of a campaign. axes: name -> (least, most) drawn, of the numbers that differ.

    from_signals: the numbers are signals at sample 0, for want of parameters that differ.
    """

    found: tuple[Start, ...]
    axes: Mapping[str, tuple[float, float]]
    from_signals: bool
    of: int

    def values(self, start: Start) -> Mapping[str, float]:
        """The numbers of a start that the axes are about."""
        return start.signals if self.from_signals else start.numbers

    def distance(self, one: Start, other: Start) -> float:
        """Euclidean distance of two starts, each axis in multiples of its drawn range."""
        return math.hypot(*(part for _, part in self.apart(one, other)))

    def apart(self, one: Start, other: Start) -> list[tuple[str, float]]:
        """How far apart two starts are on each axis, in multiples of its drawn range."""
        mine, theirs = self.values(one), self.values(other)
        return [
            (name, abs(mine[name] - theirs[name]) / (hi - lo))
            for name, (lo, hi) in self.axes.items()
            if name in mine and name in theirs
        ]


def start_of(trace: Trace, at: int, statuses: Iterable[str]) -> Start:
    """The start of one stored episode."""
    worst = max(statuses, key=lambda status: RANK.get(status, 0), default="satisfied")
    signals = {name: float(values[0]) for name, values in trace.signals.items() if values.ndim == 1}
    return Start(trace.digest, at, worst, dict(trace.parameters), signals)


def starts_of(found: Sequence[Start], of: int) -> Starts:
    """What the starts have in common. of: episodes of the campaign, read or not."""
    drawn = _axes([start.numbers for start in found])
    if drawn:
        return Starts(tuple(found), drawn, False, of)
    return Starts(tuple(found), _axes([start.signals for start in found]), True, of)


def _axes(rows: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """Names that every start has, and whose numbers differ, with their ranges."""
    if not rows:
        return {}
    found: dict[str, tuple[float, float]] = {}
    for name in rows[0]:
        values = [row[name] for row in rows if name in row]
        lo, hi = min(values), max(values)
        if len(values) == len(rows) and hi - lo > 1e-9 * max(abs(lo), abs(hi)):
            found[name] = (lo, hi)
    return found


def judged_of(campaign: Campaign) -> dict[str, list[Judged]]:
    """Trace -> its verdicts, one a claim."""
    found: dict[str, list[Judged]] = {}
    for verdicts in campaign.verdicts.values():
        for item in verdicts:
            found.setdefault(item.trace, []).append(item)
    return found


@dataclass(frozen=True, slots=True)
class Near:
    """A safe run near a counterexample, and how far off it began (`Starts.distance`)."""

    start: Start
    distance: float


def nearest_safe(starts: Starts, campaign: Campaign, claim: str, start: Start) -> Near | None:
    """The run of the campaign that keeps the claim and began nearest to `start`, or None."""
    kept = {item.trace for item in campaign.verdicts.get(claim, []) if item.status == "satisfied"}
    safe = [other for other in starts.found if other.trace in kept]
    if not safe or not starts.axes:
        return None
    best = min(safe, key=lambda other: (starts.distance(start, other), other.at))
    return Near(best, starts.distance(start, best))
