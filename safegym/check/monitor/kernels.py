"""Sliding and running kernels over the last axis, in numpy. None is quadratic.

Every kernel only selects among its inputs, so its result does not depend on the order of work:
the numpy and the compiled paths agree bit for bit (margins never hold -0.0 or NaN).
Sources: van Herk 1992 and Gil and Werman 1993 (block prefix and suffix extremes).
"""

import numpy as np

from safegym.check.monitor import compiled
from safegym.check.monitor.lattice import Lattice, Values

DOUBLING_LIMIT = 100_000
"""Window length up to which doubling, which is vectorised, beats block scans, which are not."""
CHUNK = 8192
"""Samples a doubling kernel works on at a time, so that they stay in the cache."""


def slide(x: Values, width: int, join: np.ufunc) -> Values:
    """Join over each run of `width` neighbours; length n - width + 1. O(n) for any width."""
    if width == 1:
        return x
    if x.shape[-1] == width:
        whole: Values = join.reduce(x, axis=-1, keepdims=True)
        return whole
    fast = compiled.slide(x, width, join)
    if fast is not None:
        return fast
    return (
        _slide_doubling(x, width, join)
        if width <= DOUBLING_LIMIT
        else _slide_blocks(x, width, join)
    )


def _slide_doubling(x: Values, width: int, join: np.ufunc) -> Values:
    """Runs of length 1, 2, 4, ..., then two overlapping ones."""
    length = 1
    while 2 * length <= width:
        x = join(x[..., :-length], x[..., length:])
        length *= 2
    rest = width - length
    return join(x[..., :-rest], x[..., rest:]) if rest else x


def _slide_blocks(x: Values, width: int, join: np.ufunc) -> Values:
    """A window is the suffix of one block joined with the prefix of the next."""
    n = x.shape[-1]
    blocks = -(-n // width)
    pad = blocks * width - n
    if pad:
        x = np.concatenate([x, np.broadcast_to(x[..., -1:], (*x.shape[:-1], pad))], axis=-1)
    cut = x.reshape(*x.shape[:-1], blocks, width)
    prefix = join.accumulate(cut, axis=-1).reshape(x.shape)
    suffix = join.accumulate(cut[..., ::-1], axis=-1)[..., ::-1].reshape(x.shape)
    count = n - width + 1
    joined: Values = join(suffix[..., :count], prefix[..., width - 1 : width - 1 + count])
    return joined


def running(x: Values, join: np.ufunc) -> Values:
    """Join of everything up to and including each sample."""
    return join.accumulate(x, axis=-1)


def remaining(x: Values, join: np.ufunc) -> Values:
    """Join of everything from each sample on."""
    return join.accumulate(x[..., ::-1], axis=-1)[..., ::-1]


def until_remaining(
    left: Values, right: Values, seed: Values | float | bool, lattice: Lattice
) -> Values:
    """Unbounded until: U_k = right_k or (left_k and U_(k+1)), where U after the last is `seed`."""
    fast = compiled.until_remaining(left, right, seed, lattice)
    if fast is not None:
        return fast
    out = np.empty(right.shape, right.dtype)
    for stop in range(right.shape[-1], 0, -CHUNK):
        chunk = slice(max(0, stop - CHUNK), stop)
        out[..., chunk] = _until_chunk(left[..., chunk], right[..., chunk], seed, lattice)
        seed = out[..., chunk.start]
    return out


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


def until_slide(left: Values, right: Values, width: int, lattice: Lattice) -> Values:
    """Bounded until from 0 over runs of `width` neighbours; length n - width + 1.

    Pairs (reach, path) of a run compose to (reach1 or (path1 and reach2), path1 and path2), and
    overlapping runs may be composed, so doubling costs O(n log width); compiled O(n) by
    two-stack aggregation of the same pairs.
    """
    if width == 1:
        return right
    fast = compiled.until_slide(left, right, width, lattice)
    if fast is not None:
        return fast
    count = right.shape[-1] - width + 1
    if count <= 2 * CHUNK or width > CHUNK:
        return _until_runs(left, right, width, lattice)
    out = np.empty((*right.shape[:-1], count), right.dtype)
    for start in range(0, count, CHUNK):
        stop = min(start + CHUNK, count)
        read = slice(start, stop + width - 1)
        out[..., start:stop] = _until_runs(left[..., read], right[..., read], width, lattice)
    return out


def _until_runs(left: Values, right: Values, width: int, lattice: Lattice) -> Values:
    """Runs of length 1, 2, 4, ..., then two overlapping ones."""
    meet, join = lattice.meet, lattice.join
    reach, path = right, left
    length = 1
    while 2 * length <= width:
        reach = join(reach[..., :-length], meet(path[..., :-length], reach[..., length:]))
        path = meet(path[..., :-length], path[..., length:])
        length *= 2
    rest = width - length
    if not rest:
        return reach
    joined: Values = join(reach[..., :-rest], meet(path[..., :-rest], reach[..., rest:]))
    return joined
