"""Short digests along an episode, so that a replay that comes out otherwise says from which step.

Two bytes of evidence are not wanted here: whether two episodes are the same is told by the digest
of the trace. These only say where they part.
"""

import hashlib

import numpy as np

from safegym.trace.model import Trace

MOST = 512
"""Prints an episode has at most; a longer one has a print for several samples."""
_LENGTH = 8


def prints_of(trace: Trace) -> tuple[str, ...]:
    """A print per stretch of samples: of signals, and of the actions and rewards before them."""
    stride = stride_of(trace.steps)
    samples = trace.steps + 1
    return tuple(_print(trace, k, min(k + stride, samples)) for k in range(0, samples, stride))


def stride_of(steps: int) -> int:
    """Samples that one print covers."""
    return -(-(steps + 1) // MOST)


def first_parting(prints: tuple[str, ...], steps: int, trace: Trace) -> tuple[int, int]:
    """First and last sample of the stretch in which a trace first differs from the prints of one.

    steps: of the episode that the prints are of. Both are one sample where a print covers one.
    """
    found, stride = prints_of(trace), stride_of(steps)
    if stride_of(trace.steps) != stride:
        shared = min(steps, trace.steps) + 1
        return (shared, shared)
    for index, (one, two) in enumerate(zip(prints, found, strict=False)):
        if one != two:
            return index * stride, min((index + 1) * stride, steps + 1) - 1
    shared = min(len(prints), len(found)) * stride
    return shared, shared


def _print(trace: Trace, first: int, last: int) -> str:
    hasher = hashlib.sha256()
    for name in sorted(trace.signals):
        hasher.update(np.ascontiguousarray(trace.signals[name][first:last]).tobytes())
    before = slice(max(first - 1, 0), max(last - 1, 0))
    hasher.update(np.ascontiguousarray(trace.actions[before]).tobytes())
    hasher.update(np.ascontiguousarray(trace.rewards[before]).tobytes())
    return hasher.hexdigest()[:_LENGTH]
