"""Sliding and running kernels over the last axis, in numpy. None is quadratic.

Every kernel only selects among its inputs, so its result does not depend on the order of work:
the numpy and the compiled paths agree bit for bit (margins never hold -0.0 or NaN). Windows are cut
at the end of what is read: nothing is padded. `out` has shape (..., count), count at most that of
the input, and may lie over the input's first `count` values.
Sources: van Herk 1992 and Gil and Werman 1993 (block prefix and suffix extremes).
"""

from collections.abc import Iterator

import numpy as np

from safegym.check.monitor import compiled
from safegym.check.monitor.lattice import Lattice, Values

CHUNK = 16384
"""Values a doubling kernel works on at a time, so that they stay in the cache."""
TALL = 64
"""Runs made by doubling, of which much longer ones are put together."""

WIDE = 64
"""Windows from which on truth values are searched rather than doubled."""


def slide(x: Values, width: int, lattice: Lattice, out: Values) -> None:
    """Writes the join of x[k .. k + width - 1] to out[k]. O(n log min(width, TALL)), compiled O(n).

    x and out: (..., n) and (..., count).
    """
    count = out.shape[-1]
    x = x[..., : count + width - 1]
    full = x.shape[-1] - width + 1
    if width == 1:
        out[...] = x
    elif full <= 1 and count == 1:
        lattice.join.reduce(x, axis=-1, keepdims=True, out=out)
    elif full <= 1:
        remaining(x, lattice, out)
    elif not compiled.slide(x, width, lattice, out):
        _slide_full(x, width, lattice.join, out[..., :full])
        if full < count:
            remaining(x[..., full:], lattice, out[..., full:])


def remaining(x: Values, lattice: Lattice, out: Values) -> None:
    """Writes the join of x[k] and everything after it to out[k]."""
    if x.dtype == np.bool_:
        _remaining_truth(x, lattice.up, out)
    elif not compiled.slide(x, x.shape[-1], lattice, out):
        count = out.shape[-1]
        edge = lattice.join.reduce(x[..., count - 1 :], axis=-1)
        out[..., :-1] = x[..., : count - 1]
        out[..., -1] = edge
        lattice.join.accumulate(out[..., ::-1], axis=-1, out=out[..., ::-1])


def _remaining_truth(x: Values, up: bool, out: Values) -> None:
    """Up to the last value that decides, all are decided."""
    backwards = x[..., ::-1]
    place = backwards.argmax(axis=-1) if up else backwards.argmin(axis=-1)
    last = x.shape[-1] - 1 - place
    if x.ndim == 1:
        stop = last + 1 if x[last] == up else 0
        out[:stop], out[stop:] = up, not up
        return
    found = x[np.arange(len(x)), last] == up
    stops = np.where(found, last + 1, 0)[:, None]
    (np.less if up else np.greater_equal)(np.arange(out.shape[-1]), stops, out=out)


def _slide_full(x: Values, width: int, join: np.ufunc, out: Values) -> None:
    """All windows that end within x."""
    if width == 1:
        out[...] = x[..., : out.shape[-1]]
        return
    if width < 4 * TALL or x.dtype == np.bool_:
        _slide_doubling(x, width, join, out)
        return
    piece = max(4 * width, CHUNK)
    for row, kept in zip(x, out, strict=True) if x.ndim > 1 else ((x, out),):
        for start in range(0, len(kept), piece):
            part = kept[start : start + piece]
            _slide_tall(row[start : start + len(part) + width - 1], width, join, part)


def _slide_doubling(x: Values, width: int, join: np.ufunc, out: Values) -> None:
    """Runs of length 1, 2, 4, ..., then two overlapping ones; a chunk at a time."""
    shifts, count = _doublings(width), out.shape[-1]
    x, out = x.reshape(-1, x.shape[-1]), out.reshape(-1, count)
    for rows, columns in _chunks(x, count, width):
        runs = x[rows, columns.start : columns.stop + width - 1]
        place = np.empty(runs.shape, x.dtype), np.empty(runs.shape, x.dtype)
        for number, shift in enumerate(shifts, 1):
            size = runs.shape[-1] - shift
            kept = out[rows, columns] if number == len(shifts) else place[number % 2][:, :size]
            join(runs[:, :size], runs[:, shift:], out=kept)
            runs = kept


def _chunks(x: Values, count: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of results that fit the cache with what they read."""
    fitting = CHUNK * (8 // x.itemsize)
    columns = min(count, max(fitting, 2 * width))
    rows = max(fitting // (columns + width), 1)
    for start in range(0, len(x), rows):
        for column in range(0, count, columns):
            stop = min(column + columns, count)
            yield slice(start, start + rows), slice(column, stop)


def _doublings(width: int) -> list[int]:
    """How far apart the two runs are that each step joins."""
    shifts: list[int] = []
    length = 1
    while 2 * length <= width:
        shifts.append(length)
        length *= 2
    if width > length:
        shifts.append(width - length)
    return shifts


def _slide_tall(x: Values, width: int, join: np.ufunc, out: Values) -> None:
    """Runs of TALL samples by doubling; a window is made of such runs at its ends, and of blocks.

    The blocks wholly inside are the same for all windows that begin in one block, so they are
    joined once for each block.
    """
    runs = np.empty(len(x) - TALL + 1, x.dtype)
    _slide_doubling(x, TALL, join, runs)
    inside, blocks = (width - TALL) // TALL, -(-len(out) // TALL)
    core = np.empty(blocks, x.dtype)
    _slide_full(runs[TALL::TALL].copy(), inside, join, core)
    step = CHUNK // TALL * TALL or TALL
    for start in range(0, len(out), step):
        kept = out[start : start + step]
        join(runs[start:][: len(kept)], runs[start + width - TALL :][: len(kept)], out=kept)
        join(kept, runs[start + width - 2 * TALL :][: len(kept)], out=kept)
        whole = len(kept) // TALL
        first = start // TALL
        rows = kept[: whole * TALL].reshape(whole, TALL)
        join(rows, core[first : first + whole, None], out=rows)
        if len(kept) > whole * TALL:
            join(kept[whole * TALL :], core[first + whole], out=kept[whole * TALL :])


def until_remaining(
    left: Values, right: Values, seed: Values | float | bool, lattice: Lattice, out: Values
) -> None:
    """Unbounded until: U_k = right_k or (left_k and U_(k+1)), where U after the last is `seed`."""
    if right.dtype == np.bool_:
        _until_truth(left, right, 0, seed, lattice.up, out)
        return
    if compiled.until_remaining(left, right, seed, lattice, out):
        return
    count = out.shape[-1]
    for stop in range(right.shape[-1], 0, -CHUNK):
        chunk = slice(max(0, stop - CHUNK), stop)
        reach = _until_chunk(left[..., chunk], right[..., chunk], seed, lattice)
        if chunk.start < count:
            out[..., chunk.start : stop] = reach[..., : count - chunk.start]
        seed = reach[..., 0]


def _until_chunk(
    left: Values, right: Values, seed: Values | float | bool, lattice: Lattice
) -> Values:
    """One chunk by doubling (Hillis and Steele 1986)."""
    meet, join = lattice.meet, lattice.join
    reach = right.copy()
    path = left.copy()
    reach[..., -1] = join(reach[..., -1], meet(path[..., -1], seed))
    length = 1
    while length < reach.shape[-1]:
        head, tail = reach[..., :-length], reach[..., length:]
        reach[..., :-length] = join(head, meet(path[..., :-length], tail))
        path[..., :-length] = meet(path[..., :-length], path[..., length:])
        length *= 2
    return reach


def _until_truth(
    left: Values, right: Values, width: int, seed: Values | float | bool, up: bool, out: Values
) -> None:
    """Until of truth values: it is decided at the next sample where right holds or left does not.

    width: 0 for unbounded. Upside down (not `up`) it is release.
    """
    if not up:
        left, right, seed = ~left, ~right, np.logical_not(seed)
    events = right | ~left
    decided = right.copy() if width == 0 else right
    if width == 0:
        decided[..., -1] |= left[..., -1] & seed
    events[..., -1] = True
    places = np.flatnonzero(events)
    following = np.repeat(places, np.diff(places, prepend=-1))
    found = decided.reshape(-1)[following]
    if width:
        following -= np.arange(following.size)
        found &= following < width
    found = found.reshape(right.shape)[..., : out.shape[-1]]
    out[...] = found if up else ~found


def until_slide(left: Values, right: Values, width: int, lattice: Lattice, out: Values) -> None:
    """Writes to out[k] the bounded until over the samples k .. k + width - 1.

    left, right: (..., n); out may lie over the first values of `right`. Pairs (reach, path) of a
    run compose to (reach1 or (path1 and reach2), path1 and path2), and overlapping runs may be
    composed, so doubling costs O(n log width); compiled O(n) by block suffixes and prefixes of
    the same pairs.
    """
    count = out.shape[-1]
    left, right = left[..., : count + width - 1], right[..., : count + width - 1]
    full = right.shape[-1] - width + 1
    if width == 1:
        out[...] = right
        return
    if full < 1:
        until_remaining(left, right, lattice.bottom, lattice, out)
        return
    if right.dtype == np.bool_ and width > WIDE:
        _until_truth(left, right, width, lattice.bottom, lattice.up, out)
        return
    if compiled.until_slide(left, right, width, lattice, out):
        return
    rows = left.reshape(-1, left.shape[-1]), right.reshape(-1, right.shape[-1])
    results = out.reshape(-1, count)
    for some, columns in _chunks(rows[1], full, width):
        read = slice(columns.start, columns.stop + width - 1)
        results[some, columns] = _until_runs(
            rows[0][some, read], rows[1][some, read], width, lattice
        )
    if full < count:
        seed = lattice.bottom
        until_remaining(left[..., full:], right[..., full:], seed, lattice, out[..., full:])


def _until_runs(left: Values, right: Values, width: int, lattice: Lattice) -> Values:
    """Runs of length 1, 2, 4, ..., then two overlapping ones."""
    meet, join = lattice.meet, lattice.join
    reach, path = right, left
    for shift in _doublings(width):
        reach = join(reach[..., :-shift], meet(path[..., :-shift], reach[..., shift:]))
        path = meet(path[..., :-shift], path[..., shift:])
    return reach
