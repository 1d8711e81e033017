"""Evaluating a plan: every slot's lower and upper values over its span, in one lattice.

The lower pass takes an unknown value for the worst, the upper pass for the best. Up to the sample
where something unknown can first reach a slot both are the same, and worked out once.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, cast

import numpy as np

from safegym.check.monitor import atoms, operators
from safegym.check.monitor.folding import Folded
from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.holders import Holders
from safegym.check.monitor.lattice import Lattice, Values
from safegym.check.monitor.opening import opens_of
from safegym.check.monitor.operators import Setting
from safegym.check.monitor.past import past, shift_past
from safegym.check.monitor.plan import PAST, Plan, Slot
from safegym.check.monitor.samples import Samples
from safegym.check.monitor.strip import GONE, Strip, constant, take
from safegym.formula.nodes import Atom, Boolean

__all__ = ["Carry", "Evaluation", "Samples", "evaluate"]

Carry = Mapping[int, Values]
"""Slot -> settled running value just before its operands' first sample (online)."""


class Stretch(NamedTuple):
    """One of the parts that an episode's samples are worked through in.

    edges: unbounded slot -> the lower and the upper running value that its neighbour left. wanted:
    unbounded slot -> the sample whose running value a neighbour asks for. only: the slots that are
    evaluated, None for all.
    """

    edges: "Edges"
    wanted: Mapping[int, int]
    only: frozenset[int] | None = None


Edges = Mapping[int, tuple[Values, Values]]
"""Unbounded slot -> a lower and an upper running value."""
WORTH_REUSING = 4096
"""Arrays of fewer values are not worth the bookkeeping of writing over them."""
WORTH_COPYING = 64
"""Samples that both sides share and that are copied rather than worked out twice."""


class Evaluation(NamedTuple):
    """Strips of every slot. `carry`: running values one sample further on, for online use.

    edges: the running values that the stretch was asked for.
    """

    lower: list[Strip]
    upper: list[Strip]
    carry: dict[int, Values]
    edges: Edges = MappingProxyType({})


def evaluate(
    plan: Plan,
    frame: Frame,
    samples: Samples,
    spans: tuple[Span, ...],
    lattice: Lattice,
    carry: Carry | None = None,
    *,
    keep: bool = True,
    stretch: Stretch | None = None,
) -> Evaluation:
    """Returns the slots' strips. Raises TraceError where a term has no finite value.

    keep: whether all slots' are wanted. If not, only the root's are there at the end, and arrays
    are given up after their last reader, or written over by it. stretch: None if this is not one
    of several.
    """
    work = _Work(plan, frame, samples, lattice, carry or {}, keep, stretch)
    if lattice.dtype is np.bool_:
        return work.run(spans)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return work.run(spans)


class _Work:
    """Strips so far; and, of conjunctions and disjunctions, what their operands so far give."""

    __slots__ = (
        "carry", "done", "edges", "folded", "frame", "holders", "keep", "lattice", "opens", "plan",
        "samples", "stretch",
    )  # fmt: skip

    def __init__(
        self,
        plan: Plan,
        frame: Frame,
        samples: Samples,
        lattice: Lattice,
        carry: Carry,
        keep: bool,
        stretch: Stretch | None,
    ) -> None:
        self.plan, self.frame, self.samples = plan, frame, samples
        self.lattice, self.carry = lattice, carry
        self.stretch = stretch
        self.edges: dict[int, tuple[Values, Values]] = {}
        self.done = Evaluation([], [], {}, self.edges)
        self.folded: dict[int, Folded] = {}
        ends = samples.ends
        first = frame if ends is None else ends.first_of(frame)
        self.opens = opens_of(plan, first, samples.gaps)
        size = (samples.last - samples.first + 1) * (samples.rows[0] if samples.rows else 1)
        self.keep = keep
        self.holders = None if keep or size < WORTH_REUSING else Holders()

    def run(self, spans: tuple[Span, ...]) -> Evaluation:
        """All slots in order."""
        plan, done = self.plan, self.done
        only = self.stretch and self.stretch.only
        for index, span in enumerate(spans):
            skipped = only is not None and index not in only
            low, high = (GONE, GONE) if skipped else self.slot(index, span)
            done.lower.append(low)
            done.upper.append(high)
            if self.holders is not None:
                self.holders.add(*_arrays(low, high))
            for reader in plan.folds[index]:
                if only is None or reader in only:
                    self.fold(reader, index, spans[reader])
            if not self.keep:
                low = high = GONE  # no name may hold on to what is given up
                self.drop(plan.drops[index])
        return done

    def drop(self, indices: tuple[int, ...]) -> None:
        """Gives up strips that nothing reads any more."""
        for index in indices:
            low, high = self.done.lower[index], self.done.upper[index]
            self.done.lower[index] = self.done.upper[index] = GONE
            if self.holders is not None:
                self.holders.remove(*_arrays(low, high))

    def slot(self, index: int, span: Span) -> tuple[Strip, Strip]:
        """The lower and the upper strip of a slot."""
        slot, lattice, samples = self.plan.slots[index], self.lattice, self.samples
        if slot.kind == "atom":
            atom = cast(Atom, slot.formula)
            return atoms.strips(self.plan, atom, self.frame, samples, span, lattice)
        if slot.kind == "constant":
            value = lattice.true if cast(Boolean, slot.formula).value else lattice.false
            count = span.last - span.first + 1
            strip = Strip(constant(samples.rows, count, value, lattice.dtype), span.first)
            return strip, strip
        if slot.kind in ("meet", "join"):
            found = self.folded.pop(index)
            low = Strip(found.low, span.first)
            return low, low if found.high is found.low else Strip(found.high, span.first)
        return self._temporal(index, slot, span)

    def _temporal(self, index: int, slot: Slot, span: Span) -> tuple[Strip, Strip]:
        done = self.done
        lower = [done.lower[operand] for operand in slot.operands]
        one = self.opens[index] > span.last
        out = None
        if one or lower[-1] is not done.upper[slot.operands[-1]]:
            out = self._room(index, slot, lower[-1], span)
        low, run = self._apply(index, lower, span, 0, out)
        if run is not None and slot.kind in PAST:
            done.carry[index] = run.values[..., 0].copy()
        edge = self._edge(index, run)
        strip = Strip(low, span.first)
        if one:
            self._keep(index, edge, edge)
            return strip, strip
        del lower
        self._drop_lower(index)
        upper = [done.upper[operand] for operand in slot.operands]
        known = self._known(index, span)
        out = self._room(index, slot, upper[-1], span)
        if out is None and known:
            out = np.empty_like(low)
        rest = Span(span.first + known, span.last)
        late, run = self._apply(index, upper, rest, 1, None if out is None else out[..., known:])
        self._keep(index, edge, self._edge(index, run))
        if not known or out is None:
            return strip, Strip(late, span.first)
        out[..., :known] = low[..., :known]
        out[..., known:] = late
        return strip, Strip(out, span.first)

    def _known(self, index: int, span: Span) -> int:
        """How many of the upper values are copied from the lower ones, as they are the same."""
        known = self.opens[index] - span.first
        endless = self.plan.slots[index].hi is None
        return 0 if endless or known < WORTH_COPYING else known

    def _edge(self, index: int, running: Strip | None) -> Values | None:
        """The running value that a neighbouring stretch asks for."""
        place = self.stretch and self.stretch.wanted.get(index)
        if running is None or place is None or not running.first <= place <= running.last:
            return None
        found: Values = running.values[..., place - running.first].copy()
        return found

    def _keep(self, index: int, low: Values | None, high: Values | None) -> None:
        if low is not None and high is not None:
            self.edges[index] = low, high

    def _drop_lower(self, index: int) -> None:
        """Gives up lower strips that only the lower pass reads."""
        if self.holders is None:
            return
        for operand in {*self.plan.slots[index].operands} & {*self.plan.drops[index]}:
            low, high = self.done.lower[operand], self.done.upper[operand]
            if low is not high:
                self.done.lower[operand] = GONE
                self.holders.remove(low.values)
                self.holders.add(GONE.values)

    def _room(self, index: int, slot: Slot, strip: Strip, span: Span) -> Values | None:
        """The right operand's memory, if nothing but this slot, now, reads it."""
        operand = slot.operands[-1]
        if self.holders is None or operand not in self.plan.drops[index]:
            return None
        start = span.first + (-slot.lo if slot.kind in PAST else slot.lo) - strip.first
        stop = start + span.last - span.first + 1
        if start < 0 or stop > strip.values.shape[-1] or slot.operands.count(operand) > 1:
            return None
        return strip.values[..., start:stop] if self.holders.alone(strip.values) else None

    def _apply(
        self, index: int, operands: list[Strip], span: Span, side: int, out: Values | None
    ) -> tuple[Values, Strip | None]:
        slot, lattice = self.plan.slots[index], self.lattice
        edges = self.stretch and self.stretch.edges.get(index)
        setting = Setting(
            lattice.dual if slot.dual else lattice,
            lattice.true if side else lattice.false,
            slot.lo,
            slot.hi,
            span,
            self.frame,
            edges[side] if edges else self.carry.get(index),
            self.samples.ends,
            out,
        )
        left = operands[0] if len(operands) == 2 else None
        if slot.unbounded_future:
            return operators.onward(left, operands[-1], setting)
        if slot.kind == "eventually":
            return operators.eventually(operands[0], setting), None
        if slot.kind == "until":
            return operators.until(operands[0], operands[1], setting), None
        if slot.kind in ("once", "since"):
            found, run = past(left, operands[-1], setting)
            return found, run if slot.hi is None else None
        if slot.kind == "next":
            return operators.shift_future(operands[0], setting), None
        return shift_past(operands[0], setting), None

    def fold(self, reader: int, index: int, span: Span) -> None:
        """Takes a slot into a conjunction or disjunction that reads it."""
        low, high = self.done.lower[index], self.done.upper[index]
        values = take(low, span.first, span.last)
        best = values if high is low else take(high, span.first, span.last)
        own = self._gives_up(index, low, high)
        found, holders = self.folded.get(reader), self.holders
        if found is None:
            self.folded[reader] = Folded(values, best, own)
            if holders is not None and not own:
                holders.add(values, best)
            return
        if holders is not None and not found.own:
            holders.remove(found.low, found.high)
        join = self.plan.slots[reader].kind == "join"
        found.take(self.lattice.join if join else self.lattice.meet, values, best, own=own)

    def _gives_up(self, index: int, low: Strip, high: Strip) -> bool:
        """Whether the one that takes a slot in is the last to read its memory."""
        if self.holders is None or index not in self.plan.drops[index]:
            return False
        alone = self.holders.alone(low.values) and self.holders.alone(high.values)
        return alone and len(self.plan.folds[index]) == 1


def _arrays(low: Strip, high: Strip) -> tuple[Values, ...]:
    return (low.values,) if low is high else (low.values, high.values)
