"""Building a monitor's instructions: rows, constants, terms, streams, rings.

Equal instructions are built once. Keys are named with a flip, so that negation and the dual
operators cost nothing.
"""

from collections.abc import Callable

from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.records import (
    EVERYWHERE,
    Key,
    Mask,
    Record,
    fold,
    pair,
    record,
    tally,
)
from safegym.check.monitor.stream.rings import FEWEST, Ring, first_capacity


class Program:
    """Rows and instructions, in the order in which they were asked for.

    batch: B. inputs: how many rows take samples; they are the first ones.
    """

    def __init__(self, batch: int, inputs: int) -> None:
        self.batch = batch
        self.rows = inputs
        self.records: list[Record]
        self.rings: list[Ring] = []
        self.numbers: dict[float, int] = {}
        self._made: dict[tuple[object, ...], int] = {}
        self.records = [record(w.SAMPLE, row, row, row, CHECKED=1) for row in range(inputs)]
        self.terms = inputs
        self.age = self.row()
        self.told = self.row(4)
        self.lowest = self.row(2)
        self.false = Key(self.lowest)
        self.true = ~self.false

    def tell(self, side: int, key: Key, mask: Mask = EVERYWHERE) -> None:
        """Puts a key into row `side` of what is told, and the mask's fill outside it.

        Sides: lower and upper of `episode`, lower and upper of `delayed`.
        """
        self.records.append(fold(self.told + side, self.false, key, mask))

    def row(self, count: int = 1) -> int:
        """Returns the first of `count` new rows."""
        self.rows += count
        return self.rows - count

    def number(self, value: float) -> int:
        """Returns the row that holds a constant float64."""
        if value not in self.numbers:
            self.numbers[value] = self.row()
        return self.numbers[value]

    def term(self, code: int, x: int, y: int, **fields: int) -> int:
        """Returns the row of a term, or of an atom's keys. All come before any stream."""

        def build(out: int) -> None:
            self.records.append(record(code, out, x, y, **fields))
            self.terms += 1

        return self._once(("term", code, x, y, *fields.items()), build)

    def join(self, x: Key, y: Key) -> Key:
        """Returns the larger of two."""
        if self.is_constant(x) or (x.row > y.row and not self.is_constant(y)):
            x, y = y, x
        if x == y or y == self.false:
            return x
        return y if y == self.true else self._fold(x, y, EVERYWHERE)

    def meet(self, x: Key, y: Key) -> Key:
        """Returns the smaller of two."""
        return ~self.join(~x, ~y)

    def is_constant(self, x: Key) -> bool:
        """Whether this is true or false everywhere."""
        return x.row == self.lowest

    def gate(self, x: Key, mask: Mask) -> Key:
        """Returns x inside the mask, its fill elsewhere."""
        return self._fold(self.false, x, mask)

    def also(self, x: Key, y: Key, mask: Mask) -> Key:
        """Returns the larger of x and of masked y."""
        return self._fold(x, y, mask)

    def _fold(self, x: Key, y: Key, mask: Mask) -> Key:
        made = self._once(
            ("fold", x, y, mask), lambda out: self.records.append(fold(out, x, y, mask))
        )
        return Key(made)

    def running(self, x: Key, mask: Mask) -> Key:
        """Returns the largest x so far; the mask says where what was before still counts."""
        made = self._once(
            ("running", x, mask), lambda out: self.records.append(fold(out, x, Key(out), mask))
        )
        return Key(made)

    def running_pair(self, right: Key, left: Key, mask: Mask, *, until: bool) -> tuple[Key, Key]:
        """Returns (reach, path) so far; the mask says where what was before still counts."""

        def build(out: int) -> None:
            self.row()
            self.records.append(pair(out, (right, left), out, mask, ahead=-1 if until else 0))

        out = self._once(("running pair", right, left, mask, until), build)
        return Key(out), Key(out + 1)

    def tally(self, x: Key, mask: Mask) -> int:
        """Returns the row that counts how often x was true inside the mask."""
        return self._once(("tally", x, mask), lambda out: self.records.append(tally(out, x, mask)))

    def delay(self, x: Key, count: int, lag: int, mask: Mask = EVERYWHERE) -> Key:
        """Returns x as it was `count` updates ago. lag: by how much x lags itself."""
        if count == 0 or (self.is_constant(x) and mask == EVERYWHERE):
            return x

        def build(out: int) -> None:
            self._ring(out, (x,), count, lag + count, mask, window=False, ahead=0)

        return Key(self._once(("delay", x, count, mask), build))

    def slide(self, x: Key, width: int, lag: int, mask: Mask) -> Key:
        """Returns the largest of the last `width` x that the mask lets count."""
        if self.is_constant(x) and mask == EVERYWHERE:
            return x
        if width == 1:
            return x if mask == EVERYWHERE else self.gate(x, mask)

        def build(out: int) -> None:
            self._ring(out, (x,), width, lag + width - 1, mask, window=True, ahead=0)

        return Key(self._once(("slide", x, width, mask), build))

    def slide_pair(
        self, right: Key, left: Key, width: int, lag: int, mask: Mask, *, until: bool
    ) -> Key:
        """Returns until or since over the last `width` positions that the mask lets count."""

        def build(out: int) -> None:
            self.row()
            ahead = -1 if until else 0
            both = (right, left)
            self._ring(out, both, width, lag + width - 1, mask, window=True, ahead=ahead)

        return Key(self._once(("slide pair", right, left, width, mask, until), build))

    def _ring(
        self,
        out: int,
        sources: tuple[Key, ...],
        width: int,
        limit: int,
        mask: Mask,
        *,
        window: bool,
        ahead: int,
    ) -> None:
        ring = Ring(
            index=len(self.records),
            sources=sources,
            width=width,
            window=window,
            mask=mask,
            ahead=ahead,
            limit=limit,
            result=out,
            steps=self.row(4 * len(sources)),
            middle=self.row(2 * len(sources)),
            lowest=self.lowest,
            capacity=first_capacity(width, len(sources), self.batch, FEWEST),
        )
        self.rings.append(ring)
        self.records.extend(ring.records())

    def _once(self, what: tuple[object, ...], build: Callable[[int], None]) -> int:
        """The row of an instruction, built the first time it is asked for."""
        found = self._made.get(what)
        if found is None:
            found = self.row()
            build(found)
            self._made[what] = found
        return found
