"""Rings of past rows: delays and windows, the records that work them, and how much they hold.

A short ring has its full length from the start. A long one is filled first, with as many rows as
the oldest episode has samples, so that a window longer than memory costs what the samples do; once
an episode is old enough to look past its window, the ring gets its full length (see `room`).
"""

from dataclasses import dataclass

from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.records import Key, Mask, Record, fold, pair, record
from safegym.check.monitor.stream.windows import SMALL, Words, chunking

AT_ONCE = 1 << 17
"""Cells (8 bytes each) of a ring that is made at once."""
FEWEST = 256
"""Rows that a ring to be filled begins with."""


@dataclass(slots=True)
class Ring:
    """A ring and its place among the records.

    index: its record. sources: what is stored, one row or a pair. width: rows it keeps when it is
    whole. window: whether it slides; else it delays. limit: the age from which on an episode needs
    the whole ring. result: the row of what it gives. steps, middle: first of four and of two rows
    (pairs) on the way. capacity: rows while it is filled, None when whole.
    """

    index: int
    sources: tuple[Key, ...]
    width: int
    window: bool
    mask: Mask
    ahead: int
    limit: int
    result: int
    steps: int
    middle: int
    lowest: int
    capacity: int | None

    @property
    def at(self) -> int:
        """The word its record starts at."""
        return w.HEADER + self.index * w.RECORD

    @property
    def double(self) -> int:
        """Rows for each stored element: 1, or 2 for pairs."""
        return len(self.sources)

    @property
    def length(self) -> int:
        """Rows of the ring, of which the last stays free while it is filled."""
        return self.width if self.capacity is None else self.capacity + 1

    @property
    def chunks(self) -> tuple[int, int, int]:
        """CHUNK, CHUNKS and RECENT."""
        return chunking(self.width) if self.capacity is None else (w.NEVER, 0, 0)

    @property
    def rows(self) -> int:
        """Rows it needs: the ring, sums of chunks, scans of two chunks."""
        if not self.window:
            return self.length
        chunk, chunks, _ = self.chunks
        return self.double * (self.length + chunks + 1 + (2 * chunk if chunks else 0))

    def records(self) -> list[Record]:
        """Returns its records; `settle` gives them their rows."""
        if not self.window:
            source = self.sources[0]
            taken = fold(self.result, Key(self.lowest), Key(0), self.mask)
            return [record(w.DELAY, 0, 0, 0), taken, fold(0, Key(self.lowest), source)]
        size = self.double
        first, spare, second, third = (self.steps + k * size for k in range(4))
        small = self.width <= SMALL
        combined = [
            self._combined(0, 0),
            self._combined(first, self.lowest, SPARE=spare),
            self._combined(self.result if small else second, first),
        ]
        if not small:
            combined += [
                self._combined(third, second),
                self._combined(self.result, third),
                self._combined(0, 0),
                self._combined(self.middle, self.lowest, SPARE=self.middle + size),
            ]
        return [record(w.WINDOW, 0, 0, 0), self._stored(), *combined]

    def _stored(self) -> Record:
        """The newest row, alone, into the ring."""
        if self.double == 1:
            return fold(0, Key(self.lowest), self.sources[0])
        return pair(0, (self.sources[0], self.sources[1]), self.lowest, ahead=self.ahead)

    def _combined(self, out: int, x: int, **fields: int) -> Record:
        """One step of a window: out = x with rows of the ring, of sums or of scans."""
        if self.double == 1:
            return fold(out, Key(x), Key(0), self.mask, **fields)
        both = Key(x), Key(x + 1)
        return pair(out, both, 0, self.mask, ahead=self.ahead, **fields)

    def settle(self, words: Words, first: int) -> None:
        """Writes where the ring's rows are, from row `first` on; a new ring starts empty."""
        at = self.at
        words[at + w.RING], words[at + w.LENGTH] = first, self.length
        if not self.window:
            words[at + w.RECORD + w.REPEAT] = self.capacity is None
            return
        chunk, chunks, recent = self.chunks
        parts = first + self.double * self.length
        scans = parts + self.double * (chunks + 1)
        words[at + w.CHUNK], words[at + w.CHUNKS], words[at + w.RECENT] = chunk, chunks, recent
        words[at + w.PARTS], words[at + w.SCANS], words[at + w.LOWEST] = parts, scans, self.lowest
        words[at + w.RECORD + w.OUT_GAP] = self.length
        self._settle_combined(words, at + 2 * w.RECORD, parts)

    def _settle_combined(self, words: Words, at: int, parts: int) -> None:
        """Prefix, recent rows, result with the prefix, middle and suffix; scan; sum of chunks."""
        chunk, chunks, recent = self.chunks
        ring, length = parts - self.double * self.length, self.length
        prefix, recents, result, *more = (at + k * w.RECORD for k in range(7))
        words[prefix + w.OUT_GAP] = words[prefix + w.Y_GAP] = chunks + 1
        words[prefix + w.X_GAP] = length
        _write(words, recents, Y=ring, ROWS=length, Y_GAP=length, REPEAT=recent, STEP=1)
        words[result + w.X] = self.steps if recent else self.lowest
        words[result + w.LOW], words[result + w.Y_GAP] = recent, chunks + 1
        if self.width <= SMALL:
            return
        middle, suffix, scan, total = more
        words[middle + w.Y], words[suffix + w.Y] = self.middle, parts
        words[middle + w.LOW] = words[suffix + w.LOW] = w.MISSING
        words[scan + w.REPEAT] = chunks > 0
        words[suffix + w.Y_GAP] = words[scan + w.OUT_GAP] = 2 * chunk if chunks else 0
        _write(words, scan, Y=ring, ROWS=length, Y_GAP=length)
        words[total + w.REPEAT] = 0
        _write(words, total, Y=parts, ROWS=chunks + 1, Y_GAP=chunks + 1, LOW=recent, STEP=chunk)


def _write(words: Words, at: int, **fields: int) -> None:
    for name, value in fields.items():
        words[at + getattr(w, name)] = value


def first_capacity(width: int, double: int, batch: int, begun: int) -> int | None:
    """Returns how many rows a new ring is made with; None for all of them."""
    if width <= SMALL or width * double * batch <= AT_ONCE or width <= begun:
        return None
    return begun
