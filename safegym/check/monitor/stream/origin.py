"""The property at position 0: what is known so far, as instructions.

The operators above the streams (see `streams`) are followed from the root at position 0: each
subformula there becomes a pair of keys, a lower and an upper bound, folded sample by sample as its
streams settle. `always` is shared out over conjunctions and `eventually` over disjunctions, so
that each part settles by itself. Semantics: docs/reference/language.md, on the prefix taken as
interrupted; `tight` says whether the bounds are always those.
"""

from typing import cast

from safegym.check.monitor.plan import Plan, Slot
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.blank import Blank, blanks
from safegym.check.monitor.stream.bounds import SINCE_BEGUN, Bounds, Range, before, inside
from safegym.check.monitor.stream.nested import Nested
from safegym.check.monitor.stream.order import build
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.scope import endless
from safegym.check.monitor.stream.streams import Stream, Streams
from safegym.formula.nodes import Boolean

Place = tuple[int, int]
"""A slot and a position."""


class Origin:
    """Bounds of a plan's slots at fixed positions."""

    def __init__(self, plan: Plan, program: Program, streams: Streams, horizon: int | None) -> None:
        self._plan = plan
        self._program = program
        self._streams = streams
        self._horizon = w.NEVER if horizon is None else horizon
        self._blanks = blanks(plan)
        self._nested = Nested(plan, program, streams, self._blanks, endless(plan))
        self._known: dict[Place, Bounds] = {}

    def root(self) -> Bounds:
        """Returns the bounds of the property."""
        return build((len(self._plan.slots) - 1, 0), self._known, self._needs, self._build)

    def _needs(self, place: Place) -> list[Place]:
        """Operands whose bounds at one position are those of the slot, or combine to them."""
        index, at = place
        slot = self._plan.slots[index]
        if slot.kind in ("meet", "join"):
            return [(i, at) for i in slot.operands]
        where = self._range(slot, at)
        if where is None or where.open or where.first != where.last:
            return []
        if slot.kind in ("until", "since") and where.first != at:
            return []
        return [(slot.operands[-1], where.first)]

    def _range(self, slot: Slot, at: int) -> Range | None:
        """Positions at which the last operand counts; None where the slot has no window."""
        if slot.kind in ("constant", "atom", "meet", "join"):
            return None
        if slot.kind in ("next", "eventually", "until"):
            last = self._horizon if slot.hi is None else at + slot.hi
            return Range(at + slot.lo, last, slot.hi is None)
        return Range(0 if slot.hi is None else max(0, at - slot.hi), at - slot.lo)

    def _build(self, place: Place) -> Bounds:
        index, at = place
        slot, program = self._plan.slots[index], self._program
        needs = self._needs(place)
        if slot.kind in ("meet", "join"):
            return self._combined([self._known[each] for each in needs], slot.kind == "join")
        if needs:
            return self._known[needs[0]]
        if slot.kind == "constant":
            key = program.true if cast(Boolean, slot.formula).value else program.false
            return Bounds(key, key, True)
        if slot.kind == "atom":
            return self._folded(self._streams.of(index), Range(at, at), Blank(True, True))
        where = cast(Range, self._range(slot, at))
        found = self._operator(index, slot, at, where)
        return ~found if slot.dual else found

    def _combined(self, parts: list[Bounds], join: bool) -> Bounds:
        fold = self._program.join if join else self._program.meet
        lower, upper = parts[0].lower, parts[0].upper
        for part in parts[1:]:
            lower, upper = fold(lower, part.lower), fold(upper, part.upper)
        return Bounds(lower, upper, all(part.tight for part in parts))

    def _operator(self, index: int, slot: Slot, at: int, where: Range) -> Bounds:
        """The existential operator of this kind, of operands turned around where it is dual."""
        program = self._program
        if where.open and where.first > where.last:
            return Bounds(program.false, program.true, True)
        if where.last < where.first:
            return Bounds(program.false, program.false, True)
        if slot.kind in ("eventually", "once"):
            return self._somewhere(slot, where)
        if slot.kind == "until":
            return self._until(slot, at, where)
        stream = self._streams.of(index)
        once = Range(at, at)
        return self._folded(~stream if slot.dual else stream, once, self._blank(index, slot.dual))

    def _blank(self, index: int, dual: bool) -> Blank:
        found = self._blanks[index]
        return found.turned() if dual else found

    def _somewhere(self, slot: Slot, where: Range) -> Bounds:
        """Shared out over disjunctions, and through eventually and next."""
        found: list[Bounds] = []
        stack, seen = [(slot.operands[-1], where)], set[tuple[int, Range]]()
        while stack:
            index, here = stack.pop()
            if (index, here) in seen:
                continue
            seen.add((index, here))
            part = self._plan.slots[index]
            if part.kind == ("meet" if slot.dual else "join"):
                stack.extend((i, here) for i in reversed(part.operands))
            elif part.kind == "next" or (part.kind == "eventually" and part.dual == slot.dual):
                more = cast(int, part.hi)
                later = Range(here.first + part.lo, here.last + more, here.open, here.over + more)
                stack.append((part.operands[0], later))
            else:
                found.append(self._leaf(index, slot.dual, here))
        return self._combined(found, join=True)

    def _leaf(self, index: int, dual: bool, where: Range) -> Bounds:
        """Somewhere in the range, of one part."""
        nested = self._nested.bounds(index, dual, where)
        if nested is not None:
            return nested
        stream = self._streams.of(index)
        return self._folded(~stream if dual else stream, where, self._blank(index, dual))

    def _folded(self, of: Stream, where: Range, blank: Blank) -> Bounds:
        """The largest value at the positions of the range, as it settles."""
        program = self._program
        if program.is_constant(of.key) and not where.open:
            return Bounds(of.key, of.key, True)
        reach = program.running(inside(program, of.key, of.delay, where), SINCE_BEGUN)
        seen = where.open and of.delay == 0 and where.over == 0
        tight = blank.upper or seen or (where.open and where.endless)
        tight = tight and (blank.lower or seen)
        if where.endless:
            return Bounds(reach, program.true, tight)
        return Bounds(reach, before(program, reach, program.true, of.delay, where.last), tight)

    def _until(self, slot: Slot, at: int, where: Range) -> Bounds:
        """Reach and path so far."""
        program = self._program
        streams = [self._streams.of(i) for i in slot.operands]
        if slot.dual:
            streams = [~each for each in streams]
        (left, right), lag = self._streams.together(*streams)
        if left == program.true:
            return self._somewhere(slot, where)
        right = inside(program, right, lag, where)
        left = inside(program, left, lag, Range(at, w.NEVER), w.TRUE)
        reach, path = program.running_pair(right, left, SINCE_BEGUN, until=True)
        upper = before(program, reach, path, lag, where.last)
        if where.open and where.first > 0:
            upper = before(program, upper, program.true, 0, where.first)
        parts = [self._blank(i, slot.dual) for i in slot.operands]
        same = streams[0].delay == streams[1].delay
        tight = (where.open and lag == 0) or (same and all(all(part) for part in parts))
        return Bounds(reach, upper, tight)
