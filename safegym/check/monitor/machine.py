"""Compiled kernels. Importing this imports numba; `compiled` decides when.

Arrays are (rows, n), C-contiguous, float64 margins or uint8 truth values. `up` says whether the
join is the larger value. Sources: van Herk 1992, Gil and Werman 1993 for extremes; the same block
scheme over the pairs of bounded until, which compose associatively, gives until in O(n).
"""

from importlib import import_module
from typing import Any

import numpy as np

from safegym.check.monitor.lattice import Values

_numba: Any = import_module("numba")


def _compile(function: Any) -> Any:
    return _numba.njit(cache=True, nogil=True)(function)


@_compile
def _slide_row(x: Values, width: int, out: Values) -> None:
    """Larger value over runs of `width`: block suffixes go to `out`, then meet the prefixes."""
    count = x.shape[0] - width + 1
    start = 0
    while start < count:
        stop = min(width, count - start)
        best = x[start + width - 1]
        for i in range(width - 1, stop - 1, -1):
            value = x[start + i]
            if value > best:
                best = value
        for i in range(stop - 1, -1, -1):
            value = x[start + i]
            if value > best:
                best = value
            out[start + i] = best
        if stop > 1:
            best = x[start + width]
            for i in range(1, stop):
                value = x[start + width - 1 + i]
                if value > best:
                    best = value
                if best > out[start + i]:
                    out[start + i] = best
        start += width


@_compile
def _slide_row_down(x: Values, width: int, out: Values) -> None:
    """Smaller value over runs of `width`: block suffixes go to `out`, then meet the prefixes."""
    count = x.shape[0] - width + 1
    start = 0
    while start < count:
        stop = min(width, count - start)
        best = x[start + width - 1]
        for i in range(width - 1, stop - 1, -1):
            value = x[start + i]
            if value < best:
                best = value
        for i in range(stop - 1, -1, -1):
            value = x[start + i]
            if value < best:
                best = value
            out[start + i] = best
        if stop > 1:
            best = x[start + width]
            for i in range(1, stop):
                value = x[start + width - 1 + i]
                if value < best:
                    best = value
                if best < out[start + i]:
                    out[start + i] = best
        start += width


@_compile
def slide(x: Values, width: int, up: bool) -> Values:
    """Join over runs of `width`, each row."""
    out = np.empty((x.shape[0], x.shape[1] - width + 1), x.dtype)
    for row in range(x.shape[0]):
        if up:
            _slide_row(x[row], width, out[row])
        else:
            _slide_row_down(x[row], width, out[row])
    return out


@_compile
def _until_row(u: Values, v: Values, width: int, reach: Values, path: Values, out: Values) -> None:
    """Bounded until over runs of `width`: pairs of a block's suffix with the next one's prefix."""
    count = v.shape[0] - width + 1
    start = 0
    while start < count:
        last = start + width - 1
        r = v[last]
        p = u[last]
        reach[width - 1] = r
        path[width - 1] = p
        for i in range(width - 2, -1, -1):
            a = u[start + i]
            b = v[start + i]
            r = min(a, r)
            r = max(b, r)
            p = min(a, p)
            reach[i] = r
            path[i] = p
        out[start] = reach[0]
        stop = min(width, count - start)
        if stop > 1:
            r = v[last + 1]
            p = u[last + 1]
            out[start + 1] = max(reach[1], min(path[1], r))
            for i in range(2, stop):
                b = v[last + i]
                r = max(r, min(p, b))
                p = min(p, u[last + i])
                out[start + i] = max(reach[i], min(path[i], r))
        start += width


@_compile
def _release_row(
    u: Values, v: Values, width: int, reach: Values, path: Values, out: Values
) -> None:
    """Bounded release: `_until_row` upside down."""
    count = v.shape[0] - width + 1
    start = 0
    while start < count:
        last = start + width - 1
        r = v[last]
        p = u[last]
        reach[width - 1] = r
        path[width - 1] = p
        for i in range(width - 2, -1, -1):
            a = u[start + i]
            b = v[start + i]
            r = max(a, r)
            r = min(b, r)
            p = max(a, p)
            reach[i] = r
            path[i] = p
        out[start] = reach[0]
        stop = min(width, count - start)
        if stop > 1:
            r = v[last + 1]
            p = u[last + 1]
            out[start + 1] = min(reach[1], max(path[1], r))
            for i in range(2, stop):
                b = v[last + i]
                r = min(r, max(p, b))
                p = max(p, u[last + i])
                out[start + i] = min(reach[i], max(path[i], r))
        start += width


@_compile
def until_slide(u: Values, v: Values, width: int, up: bool) -> Values:
    """Bounded until (`up`) or release over runs of `width`, each row."""
    out = np.empty((v.shape[0], v.shape[1] - width + 1), v.dtype)
    reach = np.empty(width, v.dtype)
    path = np.empty(width, v.dtype)
    for row in range(v.shape[0]):
        if up:
            _until_row(u[row], v[row], width, reach, path, out[row])
        else:
            _release_row(u[row], v[row], width, reach, path, out[row])
    return out


@_compile
def until_remaining(u: Values, v: Values, seeds: Values, up: bool) -> Values:
    """Unbounded until (`up`) or release, each row, from its seed after the last sample."""
    out = np.empty_like(v)
    for row in range(v.shape[0]):
        r = seeds[row]
        for k in range(v.shape[1] - 1, -1, -1):
            r = max(v[row, k], min(u[row, k], r)) if up else min(v[row, k], max(u[row, k], r))
            out[row, k] = r
    return out
