"""Making room: rings that are filled grow, drop what no episode reads, or get their full length."""

from dataclasses import dataclass

from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.choice import Advance
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.rings import Ring
from safegym.check.monitor.stream.state import State, count_room, resettled
from safegym.check.monitor.stream.windows import Words


@dataclass(frozen=True, slots=True)
class _Held:
    """All rows of a ring. past: of one that is filled, what its halves hold, oldest first."""

    ring: Ring
    rows: Words
    past: tuple[Words, ...] | None


def make_room(program: Program, state: State, advance: Advance) -> State:
    """Returns the state with room for one more sample; nothing that can be read is lost."""
    oldest = int(state.words[w.OLDEST]) + 1
    held = [_held(ring, state, oldest) for ring in program.rings]
    for each in held:
        if each.past is not None:
            each.ring.capacity = _capacity(each.ring, oldest, len(each.past[0]))
    grown = resettled(program, state)
    for each in held:
        first = grown.words[each.ring.at + w.RING]
        if each.past is None:
            grown.cells[first : first + each.ring.rows] = each.rows
        elif each.ring.capacity is not None:
            _refill(each.ring, each.past, each.rows, grown)
        elif each.ring.window:
            _replay(each.ring, each.past, program, grown, advance)
        else:
            end = first + each.ring.width
            grown.cells[end - len(each.past[0]) : end] = each.past[0]
            grown.words[each.ring.at + w.AT] = 0
    count_room(program, grown.words)
    return grown


def _held(ring: Ring, state: State, oldest: int) -> _Held:
    first, length = (int(state.words[ring.at + k]) for k in (w.RING, w.LENGTH))
    rows = state.cells[first : first + ring.rows]
    if ring.capacity is None:
        return _Held(ring, rows, None)
    used = int(state.words[ring.at + w.AT])
    kept = min(used, oldest, ring.width)
    starts = range(used - kept, used - kept + length * ring.double, length)
    return _Held(ring, rows, tuple(rows[start : start + kept] for start in starts))


def _capacity(ring: Ring, oldest: int, kept: int) -> int | None:
    if oldest >= ring.limit:
        return None
    capacity = ring.capacity or 0
    most = 3 * ring.width // 2 + 1
    return capacity if kept <= 3 * capacity // 4 else min(2 * capacity, most)


def _refill(ring: Ring, past: tuple[Words, ...], before: Words, grown: State) -> None:
    """Rows to the front, and the sum so far. before: all rows of the ring as it was."""
    first = int(grown.words[ring.at + w.RING])
    for half, rows in enumerate(past):
        start = first + half * ring.length
        grown.cells[start : start + len(rows)] = rows
    grown.words[ring.at + w.AT] = len(past[0])
    if ring.window:
        sums = first + ring.length * ring.double
        grown.cells[sums : sums + ring.double] = before[-ring.double :]


def _replay(
    ring: Ring, past: tuple[Words, ...], program: Program, grown: State, advance: Advance
) -> None:
    """Pushes the past rows through the window once more, at the ages that episodes then had.

    The newest row comes last, which leaves ages and sources as they are.
    """
    words, cells = grown.words, grown.cells
    words[ring.at + w.AT] = words[ring.at + w.PLACE] = 0
    words[ring.at + w.PART] = words[ring.at + w.SIDE] = 0
    now = cells[program.age].copy()
    words[w.FROM], words[w.TO] = ring.index, ring.index + len(ring.records())
    for place in range(len(past[0])):
        cells[program.age] = now - (len(past[0]) - 1 - place)
        for source, rows in zip(ring.sources, past, strict=True):
            cells[source.row] = rows[place] ^ source.flip
        advance(words)
    words[w.FROM] = words[w.TO] = 0
