"""The property at position age - look-ahead, where every bounded window is settled.

Where an unbounded future operator leaves it open, the pair of keys encloses it: of `always`, for
example, only the sample at that position is told.
"""

from safegym.check.monitor.plan import Plan, Slot
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.order import build
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.records import EVERYWHERE, Key, Mask
from safegym.check.monitor.stream.streams import Streams

Place = tuple[int, int]
"""A slot and the delay at which it is told."""
Pair = tuple[Key, Key]


class Lagging:
    """Lower and upper keys of the slots above the streams, told late."""

    def __init__(
        self,
        plan: Plan,
        program: Program,
        streams: Streams,
        endless: list[bool],
        horizon: int | None,
    ) -> None:
        self._plan = plan
        self._program = program
        self._streams = streams
        self._endless = endless
        self._horizon = w.NEVER if horizon is None else horizon
        self._known: dict[Place, Pair] = {}

    def tell(self) -> None:
        """Tells the property's keys; unknown before its first settled position."""
        delay = self._plan.slots[-1].ahead
        lower, upper = build(
            (len(self._plan.slots) - 1, delay), self._known, self._needs, self._build
        )
        self._program.tell(2, lower, Mask(delay, fill=w.FALSE) if delay else EVERYWHERE)
        self._program.tell(3, upper, Mask(delay, fill=w.TRUE) if delay else EVERYWHERE)

    def _needs(self, place: Place) -> list[Place]:
        index, delay = place
        slot = self._plan.slots[index]
        if self._endless[index] and slot.kind in ("meet", "join", "next"):
            return [(i, delay - slot.lo) for i in slot.operands]
        return []

    def _build(self, place: Place) -> Pair:
        index, delay = place
        slot = self._plan.slots[index]
        if not self._endless[index]:
            key = self._streams.at(self._streams.of(index), delay)
            return key, key
        if slot.kind in ("meet", "join", "next"):
            return self._combined(slot, [self._known[each] for each in self._needs(place)])
        if any(self._endless[i] for i in slot.operands):
            return self._program.false, self._program.true
        lower, upper = self._unbounded(slot, delay)
        return (~upper, ~lower) if slot.dual else (lower, upper)

    def _combined(self, slot: Slot, parts: list[Pair]) -> Pair:
        fold = self._program.meet if slot.kind == "meet" else self._program.join
        lower, upper = parts[0]
        for part in parts[1:]:
            lower, upper = fold(lower, part[0]), fold(upper, part[1])
        return lower, upper

    def _unbounded(self, slot: Slot, delay: int) -> Pair:
        """The existential operator: its right side now, and what may still come."""
        program, end, lag = self._program, self._horizon, delay - slot.lo
        streams = [self._streams.of(i) for i in slot.operands]
        if slot.dual:
            streams = [~each for each in streams]
        right = self._streams.at(streams[-1], lag)
        left = self._streams.at(streams[0], lag) if slot.kind == "until" else program.true
        lower, upper = right, program.also(right, left, Mask(lag, -w.NEVER, end - 1))
        if slot.kind == "until" and slot.lo > 0:
            held = ~self._streams.at(self._streams.eventually(~streams[0], 0, slot.lo - 1), delay)
            lower, upper = program.meet(lower, held), program.meet(upper, held)
        if end < w.NEVER:
            lower = program.gate(lower, Mask(lag, -w.NEVER, end, w.FALSE))
            upper = program.gate(upper, Mask(lag, -w.NEVER, end, w.TRUE))
        return lower, upper
