"""Why: walking from the root to the atom and sample that decide.

At each step the operand and sample are taken whose value the operator passed on: the arg-min or
arg-max of margins, ties at exactly 0 broken by truth. Only the windows on that one path are read,
each at most twice, so that a witness costs O(n) for each operator on the path, whatever the window.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from safegym.check.monitor.frame import Frame
from safegym.check.monitor.lattice import Values
from safegym.check.monitor.plan import FUTURE, Slot
from safegym.check.monitor.robustness import Run
from safegym.check.monitor.strip import Strip, take

Side = Literal["lower", "upper"]
TINY = 5e-324
"""A margin of exactly 0 is ranked just above 0 where the atom holds, else just below."""


@dataclass(frozen=True, slots=True)
class Path:
    """Slots from the root down, each with the sample at which it decides.

    samples may lie past the last one (an open duty); ranked: the deciding value.
    """

    slots: tuple[int, ...]
    samples: tuple[int, ...]
    ranked: float

    @property
    def sample(self) -> int:
        """The sample at which the last slot decides."""
        return self.samples[-1]


def deciding(run: Run, side: Side, sample: int = 0, start: int | None = None) -> Path:
    """Returns the path that decides a slot at `sample`, from the must or the may values.

    start: the slot, None for the root.
    """
    walk = _Walk(run, side)
    index, k = len(run.plan.slots) - 1 if start is None else start, sample
    slots, samples = [index], [k]
    while True:
        step = walk.step(index, k)
        if step is None:
            return Path(tuple(slots), tuple(samples), float(walk.ranks(index, k, k)[0]))
        index, k = step
        slots.append(index)
        samples.append(k)


def best_of(run: Run, side: Side, slots: tuple[int, ...], sample: int) -> int:
    """Returns the slot with the largest value at `sample`, the first of equals."""
    walk = _Walk(run, side)
    return max(slots, key=lambda index: float(walk.ranks(index, sample, sample)[0]))


def worst_sample(run: Run, side: Side, *, least: bool) -> int:
    """Returns the sample in 0..E where the root is least (else most) robust."""
    ranks = _Walk(run, side).ranks(len(run.plan.slots) - 1, 0, run.frame.end)
    return int(np.argmin(ranks) if least else np.argmax(ranks))


class _Walk:
    """One step down at a time."""

    def __init__(self, run: Run, side: Side) -> None:
        self.run = run
        self.side = side
        self.frame: Frame = run.frame
        self.truth: list[Strip] = getattr(run.truth, side)
        self.margins: list[Strip] | None = (
            None if run.margins is None else getattr(run.margins, side)
        )

    def ranks(self, index: int, first: int, last: int) -> Values:
        """Margins at samples first..last with ties at 0 split; -1 and 1 where there are none."""
        if self.margins is None:
            return np.where(take(self.truth[index], first, last), 1.0, -1.0)
        margins = take(self.margins[index], first, last)
        zero = margins == 0.0
        if not zero.any():
            return margins
        return np.where(zero, np.where(take(self.truth[index], first, last), TINY, -TINY), margins)

    def step(self, index: int, k: int) -> tuple[int, int] | None:
        """The operand and sample that decide slot `index` at k, None if it decides itself."""
        slot = self.run.plan.slots[index]
        if slot.kind in ("meet", "join"):
            ranks = [float(self.ranks(operand, k, k)[0]) for operand in slot.operands]
            wanted = min(ranks) if slot.kind == "meet" else max(ranks)
            place = ranks.index(wanted)
            if slot.kind == "join" and self.side == "upper":
                # All failed. The last is what an implication asks for, so it is named on a tie.
                place = max(i for i, rank in enumerate(ranks) if rank == wanted)
            return slot.operands[place], k
        if slot.kind == "next":
            last = self.frame.beyond == "absent" and k >= self.frame.last
            return None if last else (slot.operands[0], k + 1)
        if slot.kind == "previous":
            return None if k == 0 else (slot.operands[0], k - 1)
        if slot.kind in ("eventually", "until"):
            return self._future(slot, k)
        if slot.kind in ("once", "since"):
            return self._past(slot, k)
        return None

    def _future(self, slot: Slot, k: int) -> tuple[int, int] | None:
        lo, last = self._window(slot, k)
        first = k + lo
        if last < first:
            return None
        right = slot.operands[-1]
        ranks = self.ranks(right, first, last)
        if slot.kind == "eventually":
            return right, max(first + _place(ranks, least=slot.dual), k + slot.lo)
        left = slot.operands[0]
        held = self.ranks(left, k, last)
        if slot.dual:
            ranks, held = -ranks, -held
        path = _path_of(held, lo, len(ranks))
        terms = np.minimum(ranks, path)
        j = int(np.argmax(terms))
        if self._goes_on(slot) and held.min() > terms[j]:
            return left, k + int(np.argmin(held))
        if ranks[j] <= path[j]:
            return right, max(first + j, k + slot.lo)
        return left, k + int(np.argmin(held[: lo + j]))

    def _goes_on(self, slot: Slot) -> bool:
        """Whether an unseen continuation could still meet this until (break this release)."""
        best = "lower" if slot.dual else "upper"
        return self.frame.open and slot.hi is None and self.side == best

    def _window(self, slot: Slot, k: int) -> tuple[int, int]:
        """Lower offset and last sample worth reading: past the strips nothing changes.

        The offset may be less than the slot's own, where its whole window lies past them.
        """
        frame = self.frame
        if slot.hi is None and k + slot.lo <= frame.end:
            return slot.lo, frame.end
        if frame.beyond == "absent":
            return slot.lo, -1 if slot.hi is None else min(k + slot.hi, frame.last)
        if slot.hi is None and frame.beyond != "held":
            return slot.lo, -1
        fixed = 1 + max(k, *(self.truth[operand].last for operand in slot.operands))
        lo = min(slot.lo, fixed - k)
        return lo, min(k + (slot.lo if slot.hi is None else slot.hi), fixed)

    def _past(self, slot: Slot, k: int) -> tuple[int, int] | None:
        first, last = 0 if slot.hi is None else max(0, k - slot.hi), k - slot.lo
        if last < first:
            return None
        right = slot.operands[-1]
        ranks = self.ranks(right, first, last)[::-1]
        if slot.kind == "once":
            return right, last - _place(ranks, least=slot.dual)
        left = slot.operands[0]
        held = self.ranks(left, first, k)[::-1]
        if slot.dual:
            ranks, held = -ranks, -held
        path = _path_of(held, slot.lo, len(ranks))
        j = int(np.argmax(np.minimum(ranks, path)))
        if ranks[j] <= path[j]:
            return right, last - j
        return left, k - int(np.argmin(held[: slot.lo + j]))


def _place(ranks: Values, *, least: bool) -> int:
    return int(np.argmin(ranks) if least else np.argmax(ranks))


def _path_of(held: Values, lo: int, count: int) -> Values:
    """How long the left side has held before each of `count` places from `lo` on."""
    return np.concatenate([[np.inf], np.minimum.accumulate(held)])[lo:][:count]


def still_open(run: Run) -> Path:
    """Returns the path from the undecided root down to a part that the episode leaves open."""
    index, k = len(run.plan.slots) - 1, 0
    slots, samples = [index], [k]
    while True:
        step = _open_step(run, run.plan.slots[index], k)
        if step is None:
            return Path(tuple(slots), tuple(samples), 0.0)
        index, k = step
        slots.append(index)
        samples.append(k)


def _open_step(run: Run, slot: Slot, k: int) -> tuple[int, int] | None:
    frame = run.frame
    if slot.unbounded_future and (frame.open or k + slot.lo > frame.end):
        return None
    for operand in slot.operands:
        first, last = _reads(run, slot, k)
        if last < first:
            continue
        must = take(run.truth.lower[operand], first, last)
        may = take(run.truth.upper[operand], first, last)
        undecided = may & ~must
        if undecided.any():
            return operand, first + int(np.argmax(undecided))
    return None


def _reads(run: Run, slot: Slot, k: int) -> tuple[int, int]:
    """Samples that the slot reads at k, of any operand."""
    first, last = window_at(run, slot, k)
    if slot.kind == "since":
        return first, k
    if slot.kind in FUTURE and slot.kind != "next":
        fixed = max(k, run.frame.last + slot.settle)
        first = k if slot.kind == "until" else min(first, fixed)
        return first, last if slot.hi is None else min(last, fixed)
    return first, last


def window_at(run: Run, slot: Slot, k: int) -> tuple[int, int]:
    """Returns the first and last sample of the slot's window at k; (k, k) where it has none.

    An unbounded future window ends at E, where that is not before it begins. The last sample may
    lie past the episode's; an empty window has last < first.
    """
    if slot.kind in ("once", "since"):
        return 0 if slot.hi is None else max(0, k - slot.hi), k - slot.lo
    if slot.kind == "previous":
        return k - 1, k - 1
    if slot.kind not in FUTURE:
        return k, k
    if slot.hi is None:
        return k + slot.lo, run.frame.end
    last = k + slot.hi
    return k + slot.lo, min(last, run.frame.last) if run.frame.beyond == "absent" else last
