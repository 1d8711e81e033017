"""Compiled kernels over margins. Importing this imports numba; `compiled` decides when.

`kernel(name, up)` compiles what is asked for, once, and keeps it in numba's cache on disk. Arrays
are float64 (rows, n) with any strides, so that views need no copy and the past is the future read
backwards. `up` says whether the join is the larger value. Unsigned positions spare the compiler
the test for negative ones, and `a if a < b else b` is one machine instruction.
Sources: van Herk 1992, Gil and Werman 1993 for extremes; the same block scheme over the pairs of
bounded until, which compose associatively, gives until in O(n).
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Literal

import numpy as np

from safegym.check.monitor.lattice import Values

_numba: Any = import_module("numba")
Name = Literal["slide", "until_slide", "until_remaining"]
Kernel = Callable[..., None]
_place = np.uint64


def _slide(up: bool) -> Kernel:  # noqa: C901  # compiled as one piece
    """Block suffixes go to `out`, then meet the prefixes of the next block."""

    def slide(x: Values, width: int, out: Values) -> None:
        n, count = x.shape[1], out.shape[1]
        for row in range(x.shape[0]):
            values, kept = x[row], out[row]
            for start in range(0, count, width):
                stop = min(start + width, n)
                seen = min(stop, count)
                best = values[stop - 1]
                for j in range(stop - seen):
                    value = values[_place(stop - 1 - j)]
                    if up:
                        best = value if value > best else best
                    else:
                        best = value if value < best else best
                for j in range(seen - start):
                    place = _place(seen - 1 - j)
                    value = values[place]
                    if up:
                        best = value if value > best else best
                    else:
                        best = value if value < best else best
                    kept[place] = best
                if stop == n:
                    continue
                best = values[stop]
                windows = min(width, count - start) - 1
                complete = min(windows, n - stop)
                for j in range(complete):
                    value = values[_place(stop + j)]
                    place = _place(start + 1 + j)
                    suffix = kept[place]
                    if up:
                        best = value if value > best else best
                        kept[place] = best if best > suffix else suffix
                    else:
                        best = value if value < best else best
                        kept[place] = best if best < suffix else suffix
                for j in range(complete, windows):
                    place = _place(start + 1 + j)
                    suffix = kept[place]
                    if up:
                        kept[place] = best if best > suffix else suffix
                    else:
                        kept[place] = best if best < suffix else suffix

    return slide


def _until_slide(up: bool) -> Kernel:
    """Pairs of a block's suffix with the next one's prefix; `path` keeps the suffixes' left sides.

    Upside down (not `up`) it is release.
    """

    def until_slide(u: Values, v: Values, width: int, path: Values, out: Values) -> None:
        n, count = v.shape[1], out.shape[1]
        for row in range(v.shape[0]):
            left, right, kept = u[row], v[row], out[row]
            for start in range(0, count, width):
                stop = min(start + width, n)
                reach = right[stop - 1]
                whole = left[stop - 1]
                for j in range(stop - start):
                    place = _place(stop - 1 - j)
                    a = left[place]
                    b = right[place]
                    if up:
                        reach = a if a < reach else reach
                        reach = b if b > reach else reach
                        whole = a if a < whole else whole
                    else:
                        reach = a if a > reach else reach
                        reach = b if b < reach else reach
                        whole = a if a > whole else whole
                    path[_place(stop - 1 - j - start)] = whole
                    if stop - 1 - j < count:
                        kept[place] = reach
                if stop == n:
                    continue
                reach = right[stop]
                whole = left[stop]
                windows = min(width, count - start) - 1
                complete = min(windows, n - stop)
                for j in range(complete):
                    a = left[_place(stop + j)]
                    b = right[_place(stop + j)]
                    place = _place(start + 1 + j)
                    before = path[_place(1 + j)]
                    suffix = kept[place]
                    if up:
                        step = whole if whole < b else b
                        reach = step if step > reach else reach
                        whole = a if a < whole else whole
                        step = before if before < reach else reach
                        kept[place] = step if step > suffix else suffix
                    else:
                        step = whole if whole > b else b
                        reach = step if step < reach else reach
                        whole = a if a > whole else whole
                        step = before if before > reach else reach
                        kept[place] = step if step < suffix else suffix
                for j in range(complete, windows):
                    place = _place(start + 1 + j)
                    before = path[_place(1 + j)]
                    suffix = kept[place]
                    if up:
                        step = before if before < reach else reach
                        kept[place] = step if step > suffix else suffix
                    else:
                        step = before if before > reach else reach
                        kept[place] = step if step < suffix else suffix

    return until_slide


def _until_remaining(up: bool) -> Kernel:
    """From each row's seed after the last sample backwards."""

    def until_remaining(u: Values, v: Values, seeds: Values, out: Values) -> None:
        n, count = v.shape[1], out.shape[1]
        for row in range(v.shape[0]):
            left, right, kept = u[row], v[row], out[row]
            reach = seeds[row]
            for j in range(n):
                place = _place(n - 1 - j)
                a = left[place]
                b = right[place]
                if up:
                    reach = a if a < reach else reach
                    reach = b if b > reach else reach
                else:
                    reach = a if a > reach else reach
                    reach = b if b < reach else reach
                if n - 1 - j < count:
                    kept[place] = reach

    return until_remaining


_read = _numba.types.Array(_numba.float64, 2, "A", readonly=True)
_written = _numba.types.Array(_numba.float64, 2, "A")
_line = _numba.types.Array(_numba.float64, 1, "C")
_KERNELS: dict[Name, tuple[Callable[[bool], Kernel], tuple[Any, ...]]] = {
    "slide": (_slide, (_read, _numba.intp, _written)),
    "until_slide": (_until_slide, (_read, _read, _numba.intp, _line, _written)),
    "until_remaining": (_until_remaining, (_read, _read, _line, _written)),
}


@cache
def kernel(name: Name, up: bool) -> Kernel:
    """Returns the compiled kernel: from the cache on disk, or compiled now."""
    make, arguments = _KERNELS[name]
    compiled: Kernel = _numba.njit(_numba.void(*arguments), cache=True, nogil=True)(make(up))
    return compiled
