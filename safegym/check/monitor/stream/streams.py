"""Settled values: each bounded subformula as a stream that lags by its look-ahead.

The value of slot s at position p of an episode is settled once sample p + delay is there, and
arrives then. Future windows so become trailing ones, whose rows all lie in the episode; past
windows are cut where it begins. Universal operators are existential ones on complements.
"""

from typing import NamedTuple, cast

from safegym.check.monitor.plan import Plan, Slot
from safegym.check.monitor.stream.order import build
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.records import Key, Mask
from safegym.formula.nodes import Boolean


class Stream(NamedTuple):
    """Keys whose newest settled value is that of position age - delay."""

    key: Key
    delay: int

    def __invert__(self) -> "Stream":
        return Stream(~self.key, self.delay)


class Streams:
    """Streams of a plan's slots, built when asked for. atoms: the key of each atom's slot."""

    def __init__(self, plan: Plan, program: Program, atoms: dict[int, Key]) -> None:
        self._plan = plan
        self._program = program
        self._known = {index: Stream(key, 0) for index, key in atoms.items()}

    def of(self, index: int) -> Stream:
        """Returns a slot's stream. The slot has no unbounded future operator below it."""
        slots = self._plan.slots
        return build(
            index, self._known, lambda i: slots[i].operands, lambda i: self._build(slots[i])
        )

    def at(self, stream: Stream, delay: int) -> Key:
        """Returns the stream's keys delayed to a longer delay."""
        return self._program.delay(stream.key, delay - stream.delay, stream.delay)

    def together(self, *streams: Stream) -> tuple[list[Key], int]:
        """Returns keys of one common delay, and that delay."""
        delay = max(stream.delay for stream in streams)
        return [self.at(stream, delay) for stream in streams], delay

    def join(self, streams: list[Stream]) -> Stream:
        """Returns the larger of all."""
        keys, delay = self.together(*streams)
        found = keys[0]
        for key in keys[1:]:
            found = self._program.join(found, key)
        return Stream(found, delay)

    def _build(self, slot: Slot) -> Stream:
        if slot.kind == "constant":
            program = self._program
            return Stream(program.true if cast(Boolean, slot.formula).value else program.false, 0)
        operands = [self._known[i] for i in slot.operands]
        if slot.kind in ("meet", "join"):
            turn = slot.kind == "meet"
            found = self.join([~each for each in operands] if turn else operands)
            return ~found if turn else found
        if slot.dual:
            return ~self._operator(slot, [~each for each in operands])
        return self._operator(slot, operands)

    def _operator(self, slot: Slot, operands: list[Stream]) -> Stream:
        """The existential operator of this kind."""
        last = operands[-1]
        if slot.kind == "next":
            return Stream(last.key, last.delay + 1)
        if slot.kind == "previous":
            mask = Mask(last.delay, 1)
            return Stream(self._program.delay(last.key, 1, last.delay, mask), last.delay)
        if slot.kind == "eventually":
            return self.eventually(last, slot.lo, cast(int, slot.hi))
        if slot.kind == "until":
            return self.until(operands[0], last, slot.lo, cast(int, slot.hi))
        if slot.kind == "once":
            return self.once(last, slot.lo, slot.hi)
        return self._since(operands[0], last, slot.lo, slot.hi)

    def eventually(self, of: Stream, lo: int, hi: int) -> Stream:
        """Somewhere in [p + lo, p + hi]."""
        key = self._program.slide(of.key, hi - lo + 1, of.delay, Mask())
        return Stream(key, of.delay + hi)

    def until(self, left: Stream, right: Stream, lo: int, hi: int) -> Stream:
        """Right somewhere in [p + lo, p + hi], left from p to just before it."""
        (path, reach), delay = self.together(left, right)
        width = hi - lo + 1
        key = reach
        if width > 1:
            key = self._program.slide_pair(reach, path, width, delay, Mask(), until=True)
        met = Stream(key, delay + hi)
        if lo == 0:
            return met
        held = ~self.eventually(~left, 0, lo - 1)
        return ~self.join([~met, ~held])

    def once(self, of: Stream, lo: int, hi: int | None) -> Stream:
        """Somewhere in [p - hi, p - lo], cut at position 0."""
        mask = Mask(of.delay + lo)
        key = self._program.delay(of.key, lo, of.delay)
        if hi is not None:
            return Stream(self._program.slide(key, hi - lo + 1, mask.lag, mask), of.delay)
        found = self._program.running(key, mask._replace(first=1))
        return Stream(self._begun(found, mask) if lo else found, of.delay)

    def _since(self, left: Stream, right: Stream, lo: int, hi: int | None) -> Stream:
        """Right somewhere in [p - hi, p - lo], left from just after it to p."""
        (path, reach), delay = self.together(left, right)
        mask = Mask(delay)
        if hi is None:
            again = mask._replace(first=1)
            key = self._program.running_pair(reach, path, again, until=False)[0]
        elif hi > lo:
            key = self._program.slide_pair(reach, path, hi - lo + 1, delay, mask, until=False)
        else:
            key = reach
        if lo == 0:
            return Stream(key, delay)
        key = self._program.delay(key, lo, delay)
        held = ~self._program.slide(~path, lo, delay, Mask())
        return Stream(self._begun(self._program.meet(key, held), Mask(delay + lo)), delay)

    def _begun(self, key: Key, mask: Mask) -> Key:
        """False where nothing was there yet."""
        return self._program.gate(key, mask)
