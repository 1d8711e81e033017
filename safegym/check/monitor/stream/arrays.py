"""The numpy interpreter: the same instructions as `machine`, bit for bit, an array operation each.

Pairs (reach, path) say of a run of samples whether an until (or since) is met inside it, and
whether its left side holds all through it. An older pair (r, p) before a newer (s, q) gives, for
until, reach r or (p and s), for since, reach s or (q and r); and path p and q.
"""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.windows import Words, move_delay, move_window

_REST = np.int64(0x7FFFFFFFFFFFFFFF)
Seen = NDArray[np.bool_] | None
"""Where a row counts; None for everywhere."""


def advance(words: Words) -> int:
    """As `machine.advance`."""
    cells = words[words[w.CELLS] :].reshape(words[w.HEIGHT], words[w.STRIDE])
    if words[w.TO] > words[w.FROM]:
        _streams(words, cells, int(words[w.FROM]), int(words[w.TO]))
        return w.DONE
    batch = int(words[w.BATCH])
    with np.errstate(all="ignore"):
        finite = _terms(words, cells)
    if not finite:
        return w.NOT_FINITE
    if words[w.ROOM] == 0 or words[w.OLDEST] + 1 >= words[w.LIMIT]:
        return w.FULL
    words[w.ROOM] -= 1
    words[w.OLDEST] += 1
    cells[words[w.AGE], :batch] += 1
    _streams(words, cells, int(words[w.TERMS]), int(words[w.COUNT]))
    return w.DONE


def _terms(words: Words, cells: Words) -> bool:
    batch = int(words[w.BATCH])
    floats = cells.view(np.float64)[:, :batch]
    finite = True
    for index in range(words[w.TERMS]):
        at = w.HEADER + index * w.RECORD
        code, to, left, right, first, second, checked = words[at : at + 7].tolist()
        if code == w.KEY:
            _key(floats[left], cells[right, :batch], cells[to, :batch], first, second)
        elif code != w.SAMPLE:
            _term(code, floats[left], floats[right], floats[to], first, second)
        if checked:
            finite = finite and bool(np.isfinite(floats[to]).all())
    return finite


def _term(
    code: int,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    out: NDArray[np.float64],
    sign: int,
    other: int,
) -> None:
    if code == w.ADD:
        (np.add if sign > 0 else np.subtract)(x, y, out=out)
    elif code == w.MULTIPLY:
        np.multiply(x, y, out=out)
    elif code == w.DIVIDE:
        np.divide(x, y, out=out)
    elif code == w.ROOT:
        np.sqrt(x, out=out)
    elif sign > 0:
        np.maximum(x, y if other > 0 else np.negative(y), out=out)
    else:
        np.minimum(x, y, out=out)


def _key(x: NDArray[np.float64], bits: Words, out: Words, zero: int, bare: int) -> None:
    keys = bits ^ ((bits >> 63) & _REST)
    keys[x == 0.0] = zero
    out[:] = np.where(keys >= 0, w.TRUE, w.FALSE) if bare else keys


def _streams(words: Words, cells: Words, first: int, last: int) -> None:
    for index in range(first, last):
        at = w.HEADER + index * w.RECORD
        code = int(words[at])
        if code == w.WINDOW:
            move_window(words, at)
        elif code == w.DELAY:
            move_delay(words, at)
        else:
            _stream(code, words[at : at + w.RECORD].tolist(), words, cells)


def _stream(code: int, record: list[int], words: Words, cells: Words) -> None:
    """One instruction, on each of the ring's rows that it reads."""
    batch, age = int(words[w.BATCH]), cells[words[w.AGE], : int(words[w.BATCH])]
    low, high = record[w.LOW] + record[w.LAG], record[w.HIGH] + record[w.LAG]
    row, out, x, x_gap = record[w.START], record[w.OUT], record[w.X], record[w.X_GAP]
    flips = record[w.FLIP_X], record[w.FLIP_Y]
    for _ in range(record[w.REPEAT]):
        seen = None if low < -w.NEVER and high > w.NEVER else (age >= low) & (age <= high)
        newer, older = cells[x, :batch] ^ flips[0], cells[record[w.Y] + row, :batch]
        if code == w.FOLD:
            older = _where(seen, older ^ record[w.FLIP_Y], record[w.FILL])
            np.maximum(newer, older, out=cells[out, :batch])
        elif code == w.PAIR:
            older2 = _where(seen, cells[record[w.Y] + row + record[w.Y_GAP], :batch], w.TRUE)
            newer2 = cells[x + x_gap, :batch] ^ flips[1]
            reach = _reach(
                _where(seen, older, w.FALSE), older2, newer, newer2, until=record[w.AHEAD] < 0
            )
            np.minimum(older2, newer2, out=cells[out + record[w.OUT_GAP], :batch])
            cells[out, :batch] = reach
        else:
            count = np.where(age > 0, cells[out, :batch], 0)
            cells[out, :batch] = count + (cast("NDArray[np.bool_]", seen) & (newer >= 0))
        x, x_gap = out, record[w.OUT_GAP]
        flips = (0, 0 if code == w.PAIR else record[w.FLIP_Y])
        low += record[w.STEP]
        row = row - 1 if row > 0 else record[w.ROWS] - 1


def _where(seen: Seen, values: Words, otherwise: int) -> Words:
    return values if seen is None else np.where(seen, values, np.int64(otherwise))


def _reach(r: Words, p: Words, s: Words, q: Words, *, until: bool) -> Words:
    if until:
        found: Words = np.maximum(r, np.minimum(p, s))
        return found
    since: Words = np.maximum(s, np.minimum(q, r))
    return since
