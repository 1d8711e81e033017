"""The compiled interpreter: one call an update, a loop over episodes inside each instruction.

Few long functions, because what a compiled function calls is optimised again in its caller. A row
that is read where it is written has a loop of its own, so that the compiler can use wide registers.
Importing this imports numba and compiles, or loads what was compiled before; `choice` decides
when. `arrays` does the same with numpy, bit for bit.
"""

from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from safegym.check.monitor.stream import windows
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.windows import Words

_numba: Any = import_module("numba")
_EXPONENT = 0x7FF0000000000000
_REST = 0x7FFFFFFFFFFFFFFF


def _part(function: Any) -> Any:
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _numba.njit(error_model="numpy", **options)(function)


_move_delay = _part(windows.move_delay)
_move_window = _part(windows.move_window)


@_part
def _terms(words: Words, cells: Words, n: int) -> int:  # noqa: C901  # see above
    """Computes terms and the keys of atoms; how many checked numbers are not finite."""
    floats = cells.view(np.float64)
    unusual = 0
    for index in range(words[w.TERMS]):
        at = w.HEADER + index * w.RECORD
        code, to, x, y = words[at + w.CODE], words[at + w.OUT], words[at + w.X], words[at + w.Y]
        sign, other = float(words[at + w.SIGN]), float(words[at + w.OTHER])
        if code == w.ADD:
            for i in range(n):
                floats[to, i] = floats[x, i] + sign * floats[y, i]
        elif code == w.MULTIPLY:
            for i in range(n):
                floats[to, i] = floats[x, i] * floats[y, i]
        elif code == w.DIVIDE:
            for i in range(n):
                floats[to, i] = floats[x, i] / floats[y, i]
        elif code == w.MOST:
            for i in range(n):
                a, b = sign * floats[x, i], other * floats[y, i]
                floats[to, i] = sign * (a if a > b else b)
        elif code == w.ROOT:
            for i in range(n):
                floats[to, i] = np.sqrt(floats[x, i])
        elif code == w.KEY:
            zero, bare = words[at + w.ZERO], words[at + w.BARE]
            for i in range(n):
                bits = cells[y, i]
                key = bits ^ ((bits >> 63) & _REST)
                key = zero if floats[x, i] == 0.0 else key
                plain = w.TRUE if key >= 0 else w.FALSE
                cells[to, i] = key ^ ((key ^ plain) & bare)
        if words[at + w.CHECKED] == 1:
            for i in range(n):
                unusual += 1 if cells[to, i] & _EXPONENT == _EXPONENT else 0
    return unusual


def _compiled(stamp: int) -> Any:  # noqa: C901  # see above
    """The interpreter. Its cache entry depends on the stamp, which stands for other files."""

    def advance(words: Words) -> int:  # noqa: C901
        cells = words[words[w.CELLS] :].reshape((words[w.HEIGHT], words[w.STRIDE]))
        n, age, first, last = words[w.BATCH], words[w.AGE], words[w.FROM], words[w.TO]
        whole = last <= first
        if whole:
            if _terms(words, cells, n) > 0:
                return w.NOT_FINITE
            if words[w.ROOM] == 0 or words[w.OLDEST] + 1 >= words[w.LIMIT]:
                return w.FULL
            words[w.ROOM] -= 1
            words[w.OLDEST] += 1
            for i in range(n):
                cells[age, i] += 1
            first, last = words[w.TERMS], words[w.COUNT]
        for index in range(first, last):
            at = w.HEADER + index * w.RECORD
            record = words[at : at + w.RECORD]
            code = record[w.CODE]
            if code == w.WINDOW:
                _move_window(words, at)
                continue
            if code == w.DELAY:
                _move_delay(words, at)
                continue
            to, x, y, fill = record[w.OUT], record[w.X], record[w.Y], record[w.FILL]
            flip_x, flip_y, ahead = record[w.FLIP_X], record[w.FLIP_Y], record[w.AHEAD]
            low, high = (
                record[w.LOW] + record[w.LAG],
                record[w.HIGH] + record[w.LAG],
            )
            row, rows, step = record[w.START], record[w.ROWS], record[w.STEP]
            repeat, spare = record[w.REPEAT], record[w.SPARE]
            if repeat & 1 == 0:
                to, spare = spare, to
            gap, x2 = record[w.OUT_GAP], x + record[w.X_GAP]
            for _ in range(repeat):
                here = y + row
                here2, to2 = here + record[w.Y_GAP], to + gap
                if code == w.FOLD and here == to:
                    for i in range(n):
                        seen = (cells[age, i] >= low) & (cells[age, i] <= high)
                        a, b = cells[x, i] ^ flip_x, cells[to, i]
                        b = b if seen else fill
                        cells[to, i] = a if a > b else b
                elif code == w.FOLD:
                    for i in range(n):
                        seen = (cells[age, i] >= low) & (cells[age, i] <= high)
                        a, b = cells[x, i] ^ flip_x, cells[here, i] ^ flip_y
                        b = b if seen else fill
                        cells[to, i] = a if a > b else b
                elif code == w.PAIR and here == to:
                    for i in range(n):
                        seen = (cells[age, i] >= low) & (cells[age, i] <= high)
                        r, p = cells[to, i], cells[to2, i]
                        r, p = r if seen else w.FALSE, p if seen else w.TRUE
                        s, q = cells[x, i] ^ flip_x, cells[x2, i] ^ flip_y
                        swap, turn = (r ^ s) & ahead, (p ^ q) & ahead
                        a, b, path = s ^ swap, r ^ swap, q ^ turn
                        b = path if path < b else b
                        cells[to, i] = a if a > b else b
                        cells[to2, i] = q if q < p else p
                elif code == w.PAIR:
                    for i in range(n):
                        seen = (cells[age, i] >= low) & (cells[age, i] <= high)
                        r, p = cells[here, i], cells[here2, i]
                        r, p = r if seen else w.FALSE, p if seen else w.TRUE
                        s, q = cells[x, i] ^ flip_x, cells[x2, i] ^ flip_y
                        swap, turn = (r ^ s) & ahead, (p ^ q) & ahead
                        a, b, path = s ^ swap, r ^ swap, q ^ turn
                        b = path if path < b else b
                        cells[to, i] = a if a > b else b
                        cells[to2, i] = q if q < p else p
                else:
                    for i in range(n):
                        seen = (cells[age, i] >= low) & (cells[age, i] <= high)
                        before = cells[to, i]
                        before = before if cells[age, i] > 0 else 0
                        cells[to, i] = before + (seen & (cells[x, i] ^ flip_x >= 0))
                x, x2, to, spare = to, to2, spare, to
                flip_x = 0
                flip_y = 0 if code == w.PAIR else flip_y
                low += step
                row = row - 1 if row > 0 else rows - 1
        return w.DONE + 0 * stamp

    return _numba.njit(error_model="numpy", cache=True)(advance)


def _stamp() -> int:
    """A number for the source text that is compiled in from other files."""
    texts = (Path(str(module.__file__)).read_bytes() for module in (w, windows))
    return crc32(b"".join(texts))


advance: Any = _compiled(_stamp())
"""Takes the sample in the input rows; what it tells is in the program's rows `told`.

Returns DONE; or NOT_FINITE or FULL, with nothing changed that lasts. With TO > FROM in the header
it only runs those records.
"""
