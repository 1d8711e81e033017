"""Ordered keys: truth and margin of an atom in one 64-bit integer.

The bits of a float64 read as an integer order the numbers, once those of negative ones are turned
around; +0.0 becomes 0 and -0.0 becomes -1. A zero margin is kept as +0.0 where its atom is true
and as -0.0 where it is false, so truth is `key >= 0`, the larger key is the join of both truth and
margin, and the complement of a key is the negation of both. One pass so gives what two would.
"""

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.stream import words as w

Keys = NDArray[np.int64]
Floats = NDArray[np.float64]
_REST = np.int64(0x7FFFFFFFFFFFFFFF)


def key_of(margins: Floats, truth: NDArray[np.bool_]) -> Keys:
    """Returns the keys of margins with their truth, which decides at a margin of 0."""
    bits = np.ascontiguousarray(margins, np.float64).view(np.int64)
    keys = bits ^ ((bits >> 63) & _REST)
    return np.where(margins == 0.0, np.where(truth, 0, -1), keys)


def truth_key(truth: NDArray[np.bool_]) -> Keys:
    """Returns the keys of truth values without margins."""
    return np.where(truth, np.int64(w.TRUE), np.int64(w.FALSE))


def margin_of(keys: Keys) -> Floats:
    """Returns the margins, with 0.0 for -0.0."""
    bits = keys ^ ((keys >> 63) & _REST)
    margins: Floats = bits.view(np.float64) + 0.0
    return margins
