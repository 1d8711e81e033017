"""Settled parts of online values, so that an update need not look at the whole episode.

The root is a combination by `and` and `or` of leaves. A leaf is either bounded (no unbounded future
operator below: its value at sample 0 is final after `ahead` samples) or running (an unbounded
eventually, always, until or release over formulas without unbounded future operators: settled
samples fold into `reach`, the value so far, and `path`, whether the left side held so far).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor import operators
from safegym.check.monitor.evaluate import Evaluation
from safegym.check.monitor.frame import Frame, Span, backs_of
from safegym.check.monitor.lattice import Lattice, Values
from safegym.check.monitor.operators import Setting
from safegym.check.monitor.plan import Plan, Slot
from safegym.check.monitor.strip import Strip

Pair = tuple[Values, Values]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What the online monitor keeps for a plan.

    ahead: look-ahead in samples. limit: from this sample index on, an open episode's outline no
    longer changes; None where the whole episode must be kept. skeleton: slots above the leaves and
    the leaves, in order. carried: unbounded past slots.
    """

    plan: Plan
    ahead: int
    backs: tuple[int, ...]
    limit: int | None
    skeleton: tuple[int, ...]
    bounded: frozenset[int]
    running: frozenset[int]
    carried: tuple[int, ...]

    @property
    def window(self) -> int | None:
        """Samples to keep, None for all."""
        return None if self.limit is None else self.limit + 1


@lru_cache(maxsize=1024)
def layout_of(plan: Plan) -> Layout:
    """Returns the layout; whole-episode where an unbounded future operator is nested deeper."""
    skeleton, bounded, running, whole = _leaves(plan)
    backs = backs_of(plan)
    ahead = plan.slots[-1].ahead
    lowest = max([max(backs) + 1, *(plan.slots[i].lo for i in running)])
    return Layout(
        plan=plan,
        ahead=ahead,
        backs=backs,
        limit=None if whole else ahead + lowest,
        skeleton=skeleton,
        bounded=bounded,
        running=running,
        carried=tuple(
            i
            for i, slot in enumerate(plan.slots)
            if slot.kind in ("once", "since") and slot.hi is None and not whole
        ),
    )


def _leaves(plan: Plan) -> tuple[tuple[int, ...], frozenset[int], frozenset[int], bool]:
    endless = _endless(plan)
    skeleton: set[int] = set()
    bounded: set[int] = set()
    running: set[int] = set()
    whole = plan.share is not None and endless[-1]
    stack = [len(plan.slots) - 1]
    while stack:
        index = stack.pop()
        slot = plan.slots[index]
        skeleton.add(index)
        if not endless[index]:
            bounded.add(index)
        elif slot.kind in ("meet", "join"):
            stack.extend(slot.operands)
        elif slot.unbounded_future and not any(endless[i] for i in slot.operands):
            running.add(index)
        else:
            whole = True
    return tuple(sorted(skeleton)), frozenset(bounded), frozenset(running), whole


def _endless(plan: Plan) -> list[bool]:
    """Whether an unbounded future operator is at or below each slot."""
    found: list[bool] = []
    for slot in plan.slots:
        found.append(slot.unbounded_future or any(found[i] for i in slot.operands))
    return found


@dataclass(frozen=True, slots=True)
class Group:
    """Episodes with the same outline. rows: which. last: their last sample, shifted in time where
    it is past the layout's limit. beyond: samples past the horizon, -1 before it.
    """

    rows: Any
    last: int
    beyond: int
    horizon: int | None
    layout: Layout

    @property
    def frame(self) -> Frame:
        """The prefix as an interrupted episode, in shifted time."""
        if self.beyond < 0:
            return Frame(self.last, self.last, None, "unknown", True)
        return Frame(self.last, self.last - self.beyond, None, "unknown", False)

    @property
    def settled(self) -> int:
        """The newest sample at which bounded windows are settled; negative if there is none."""
        return self.last - self.layout.ahead

    @property
    def start(self) -> int | None:
        """Where evaluation starts; None for sample 0."""
        return None if self.layout.limit is None else self.settled

    def starts_after_end(self, slot: Slot) -> bool:
        """Whether the slot's window at sample 0 starts after E."""
        end = self.last
        if self.horizon is not None and self.beyond >= 0:
            end = min(end, self.horizon)
        return slot.lo > end


class Running:
    """Settled values of B episodes in one lattice."""

    def __init__(self, layout: Layout, batch: int, lattice: Lattice) -> None:
        self.layout = layout
        self.lattice = lattice
        self.reach: dict[int, Values] = {}
        self.path: dict[int, Values] = {}
        for index in layout.running:
            oriented = self._oriented(index)
            self.reach[index] = np.full(batch, oriented.bottom, lattice.dtype)
            self.path[index] = np.full(batch, oriented.top, lattice.dtype)
        false = lattice.false
        self.final = {i: np.full(batch, false, lattice.dtype) for i in layout.bounded}
        self.past = {i: np.full(batch, false, lattice.dtype) for i in layout.carried}
        self.count: NDArray[np.int64] = np.zeros(batch, np.int64)

    def _oriented(self, index: int) -> Lattice:
        return self.lattice.dual if self.layout.plan.slots[index].dual else self.lattice

    def reset(self, chosen: NDArray[np.bool_]) -> None:
        """Forgets the chosen episodes."""
        for index in self.layout.running:
            oriented = self._oriented(index)
            self.reach[index][chosen] = oriented.bottom
            self.path[index][chosen] = oriented.top
        self.count[chosen] = 0

    def carry(self, group: Group) -> dict[int, Values]:
        """Running values of unbounded past slots just before what will be evaluated."""
        return {
            index: self.past[index][group.rows]
            for index in self.layout.carried
            if self._origin(group, index) >= 1
        }

    def _origin(self, group: Group, index: int) -> int:
        """First sample that an unbounded past slot's operands are read at; may be negative."""
        return group.settled - self.layout.backs[index] - self.layout.plan.slots[index].lo

    def episode(self, group: Group, found: Evaluation) -> Pair:
        """Lower and upper values of the root at sample 0."""
        slots = self.layout.plan.slots
        if self.layout.limit is None:
            return found.lower[-1].values[..., 0], found.upper[-1].values[..., 0]
        values: dict[int, Pair] = {}
        for index in self.layout.skeleton:
            slot = slots[index]
            if index in self.layout.bounded:
                values[index] = self._bounded(group, found, index)
            elif index in self.layout.running:
                values[index] = self._running(group, found, index)
            else:
                fold = self.lattice.meet if slot.kind == "meet" else self.lattice.join
                pairs = [values[operand] for operand in slot.operands]
                low, high = pairs[0]
                for pair in pairs[1:]:
                    low, high = fold(low, pair[0]), fold(high, pair[1])
                values[index] = low, high
        return values[self.layout.skeleton[-1]]

    def _bounded(self, group: Group, found: Evaluation, index: int) -> Pair:
        if group.settled > 0:
            final = self.final[index][group.rows]
            return final, final
        return found.lower[index].values[..., 0], found.upper[index].values[..., 0]

    def _running(self, group: Group, found: Evaluation, index: int) -> Pair:
        slot = self.layout.plan.slots[index]
        reach, path = self.reach[index][group.rows], self.path[index][group.rows]
        if group.starts_after_end(slot):
            low = np.full(reach.shape, self.lattice.false, self.lattice.dtype)
            return low, np.full(reach.shape, _true(self.lattice), self.lattice.dtype)
        frame, first = group.frame, max(group.settled, 0)
        if first > frame.end:
            return reach, reach
        oriented = self._oriented(index)
        pair: list[Values] = []
        for strips, unknown in (
            (found.lower, self.lattice.false),
            (found.upper, _true(self.lattice)),
        ):
            lo = max(slot.lo - first, 0)
            if lo == slot.lo:
                tail = _at(strips[index], first)
            else:
                setting = Setting(oriented, unknown, lo, None, Span(first, first), frame)
                tail = _tail(slot, strips, setting)[..., 0]
            pair.append(oriented.join(reach, oriented.meet(path, tail)))
        return pair[0], pair[1]

    def delayed(self, group: Group, found: Evaluation) -> Pair | None:
        """Lower and upper values of the root at the newest settled sample, None before one is."""
        if group.settled < 0:
            return None
        low, high = found.lower[-1], found.upper[-1]
        at = group.settled - low.first
        return low.values[..., at], high.values[..., at]

    def shares(
        self, group: Group, found: Evaluation
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many samples of 0..E must and may count for a share."""
        first = 0 if self.layout.limit is None else max(group.settled, 0)
        count = 0 if self.layout.limit is None else self.count[group.rows]
        must = _counted(found.lower[-1], first, group.frame.end)
        return count + must, count + _counted(found.upper[-1], first, group.frame.end)

    def advance(self, group: Group, found: Evaluation) -> None:
        """Folds the newest settled sample in."""
        settled, rows = group.settled, group.rows
        if self.layout.limit is None:
            return
        for index in self.layout.carried:
            if self._origin(group, index) >= 0:
                self.past[index][rows] = found.carry[index]
        if settled == 0:
            for index in self.layout.bounded:
                self.final[index][rows] = found.lower[index].values[..., 0]
        if settled < 0 or settled > group.frame.end:
            return
        for index in self.layout.running:
            self._fold(group, found, index)
        if self.layout.plan.share is not None:
            self.count[rows] += _counted(found.lower[-1], settled, settled)

    def _fold(self, group: Group, found: Evaluation, index: int) -> None:
        slot, rows, oriented = self.layout.plan.slots[index], group.rows, self._oriented(index)
        path = self.path[index][rows]
        if group.settled >= slot.lo:
            right = _at(found.lower[slot.operands[-1]], group.settled)
            self.reach[index][rows] = oriented.join(
                self.reach[index][rows], oriented.meet(path, right)
            )
        if slot.kind == "until":
            left = _at(found.lower[slot.operands[0]], group.settled)
            self.path[index][rows] = oriented.meet(path, left)


def _true(lattice: Lattice) -> bool | float:
    return True if lattice.dtype is np.bool_ else np.inf


def _at(strip: Strip, sample: int) -> Values:
    return strip.values[..., min(sample, strip.last) - strip.first]


def _counted(strip: Strip, first: int, last: int) -> NDArray[np.int64]:
    part = strip.values[..., first - strip.first : last - strip.first + 1]
    return np.count_nonzero(part, axis=-1) if last >= first else np.zeros(part.shape[0], np.int64)


def _tail(slot: Slot, strips: list[Strip], setting: Setting) -> Values:
    """The running leaf from the first unsettled sample on."""
    if slot.kind == "until":
        return operators.until(strips[slot.operands[0]], strips[slot.operands[1]], setting)
    return operators.eventually(strips[slot.operands[0]], setting)
