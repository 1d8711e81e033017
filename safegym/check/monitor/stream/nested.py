"""A window inside always or eventually, where its open positions can be told as they are.

What `always(trigger implies eventually[0,T] answer)` owes at its end, from positions whose window
is still open, is itself a past operator: every open trigger was answered, or is not due. The duty
that holds, `always(trigger implies always[0,T] kept)`, can be told sample by sample: kept, or no
trigger within the last T. So both are tight, and `always(trigger implies eventually answer)`
needs no more than the answer to "was each trigger answered?" at the horizon. All parts must be of
the present or the past; below, they are existential (complements, under `always`), as everywhere.
"""

from dataclasses import dataclass

from safegym.check.monitor.plan import Plan, Slot
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.blank import Blank
from safegym.check.monitor.stream.bounds import SINCE_BEGUN, Bounds, Range, before, inside
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.records import Key, Mask
from safegym.check.monitor.stream.scope import Parted, parted
from safegym.check.monitor.stream.streams import Stream, Streams


@dataclass(frozen=True, slots=True)
class Nested:
    """Bounds of the largest value of `now and window` over a range of positions."""

    plan: Plan
    program: Program
    streams: Streams
    blanks: list[Blank]
    endless: list[bool]

    def bounds(self, index: int, dual: bool, where: Range) -> Bounds | None:
        """Returns the bounds, None where slot `index` is not of that shape."""
        parts = parted(self.plan, self.endless, index, dual)
        if parts is None or where.over:
            return None
        window = self.plan.slots[parts.window]
        if window.hi is None:
            return self._unbounded(parts, dual, where) if where.open else None
        if window.dual == dual:
            return self._held(parts, window, dual, where)
        return None if where.endless else self._answered(parts, window, dual, where)

    def _key(self, index: int, dual: bool) -> Key:
        key = self.streams.of(index).key
        return ~key if dual else key

    def _now(self, parts: Parted, dual: bool) -> Key:
        now = self.program.true
        for index in parts.now:
            now = self.program.meet(now, self._key(index, dual))
        return now

    def _tight(self, parts: Parted, dual: bool, where: Range) -> bool:
        if not all(self.blanks[parts.operand]):
            return False
        turned = [self.blanks[i].turned() if dual else self.blanks[i] for i in parts.now]
        return where.open or all(blank.upper for blank in turned)

    def _unbounded(self, parts: Parted, dual: bool, where: Range) -> Bounds:
        """Now, and from now on to the horizon: told there, by since."""
        program = self.program
        if where.endless:
            return Bounds(program.false, program.true, True)
        kept = self._key(parts.operand, dual)
        begun = inside(program, program.meet(self._now(parts, dual), kept), 0, where)
        found, _ = program.running_pair(begun, kept, SINCE_BEGUN, until=False)
        at_end = program.gate(found, Mask(0, where.last, where.last))
        lower = program.running(at_end, SINCE_BEGUN)
        return Bounds(lower, before(program, lower, program.true, 0, where.last), True)

    def _answered(self, parts: Parted, window: Slot, dual: bool, where: Range) -> Bounds:
        """Now, and all over the window: what is settled, and what is open at the end."""
        program, lo, hi = self.program, window.lo, window.hi or 0
        kept = self._key(parts.operand, dual)
        now = self._now(parts, dual)
        whole = ~self.streams.eventually(Stream(~kept, 0), lo, hi).key
        settled = program.meet(self.streams.at(Stream(now, 0), hi), whole)
        reach = program.running(inside(program, settled, hi, where), SINCE_BEGUN)
        begun = inside(program, program.meet(program.delay(now, lo, 0), kept), lo, where)
        still = program.false
        if hi > lo:
            mask = Mask(0)
            still = program.slide_pair(begun, kept, hi - lo, 0, mask, until=False)
        if lo > 0:
            fresh = inside(program, now, 0, where)
            still = program.join(still, program.slide(fresh, lo, 0, Mask(0)))
        return self._closed(reach, still, hi, where, self._tight(parts, dual, where))

    def _held(self, parts: Parted, window: Slot, dual: bool, where: Range) -> Bounds:
        """Now, and somewhere in the window: told where the window's sample is."""
        program, lo, hi = self.program, window.lo, window.hi or 0
        now = inside(program, self._now(parts, dual), 0, where)
        once = self.streams.once(Stream(now, 0), lo, hi).key
        reach = program.running(program.meet(self._key(parts.operand, dual), once), SINCE_BEGUN)
        tight = self._tight(parts, dual, where)
        if where.endless:
            return Bounds(reach, program.true, tight)
        still = program.slide(now, hi, 0, Mask(0))
        return self._closed(reach, still, hi, where, tight)

    def _closed(self, reach: Key, still: Key, hi: int, where: Range, tight: bool) -> Bounds:
        """Nothing is known above until position `last` is there; then what is still open."""
        more = self.program.gate(still, Mask(0, where.last, w.MISSING, w.TRUE))
        return Bounds(reach, before(self.program, reach, more, 0, where.last + hi), tight)
