"""Arrays as a trace keeps them: own copies, C order, native, finite, read-only."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.errors import TraceError

EXACT_TYPES = ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1")
"""Element types that actions and observations may have; float16 is widened to float32."""


def refuse_masked(values: object, name: str) -> None:
    """Raises TraceError where a masked array hides a value: it is no reading."""
    if not isinstance(values, np.ma.MaskedArray):
        return
    hidden = np.argwhere(np.ma.getmaskarray(values))
    if len(hidden):
        at = ", ".join(str(place) for place in hidden[0])
        raise TraceError(
            f"{name} is masked at index {at}, and what lies under a mask is no reading; give "
            "values.filled(0.0) and Trace.from_arrays(..., gaps=[(3, 5)]), or leave these samples "
            "and their stamps out of a log for Trace.from_stamps."
        )


def frozen_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """A read-only float64 copy. Raises TraceError if a value is no number, or would be changed."""
    refuse_masked(values, name)
    try:
        source = np.asarray(values)
        if source.dtype.kind not in "fiub":
            raise TypeError(f"its elements are {source.dtype}")
        copy = np.array(source, dtype=np.float64, order="C", copy=True, subok=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise TraceError(f"{name} is not an array of real numbers: {error}.") from error
    if source.dtype != np.float64 and not _kept(source, copy):
        raise TraceError(
            f"{name} ({source.dtype}) holds values that float64 cannot hold exactly; "
            f"round them first, with numpy.asarray(values, dtype=numpy.float64)."
        )
    copy.flags.writeable = False
    return copy


def _kept(source: NDArray[Any], copy: NDArray[np.float64]) -> bool:
    """Whether float64 holds every element: only wide integers and long doubles can lose."""
    if source.dtype.kind == "f":
        return source.dtype.itemsize <= 8 or bool(np.array_equal(source, copy, equal_nan=True))
    if source.dtype.kind == "b" or source.dtype.itemsize < 8:
        return True
    limit = 2**53
    return bool(source.size == 0 or (int(source.max()) <= limit and int(source.min()) >= -limit))


def frozen_exact(values: ArrayLike, name: str) -> NDArray[Any]:
    """A read-only copy that keeps its element type (`EXACT_TYPES`). Raises TraceError otherwise."""
    refuse_masked(values, name)
    try:
        source = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise TraceError(f"{name} is not a rectangular array: {error}.") from error
    kind = source.dtype.newbyteorder("=")
    if kind == np.float16:
        kind = np.dtype(np.float32)
    if kind.str[1:] not in EXACT_TYPES:
        raise TraceError(
            f"{name} has elements of type {source.dtype}; use integers, float32 or float64."
        )
    copy = np.array(source, dtype=kind, order="C", copy=True, subok=False)
    copy.flags.writeable = False
    return copy


def first_non_finite(values: NDArray[Any]) -> int | None:
    """Index along the first axis of the first NaN or infinity, None where all is finite."""
    if values.dtype.kind != "f" or _surely_finite(values):
        return None
    bad = ~np.isfinite(values)
    if not bad.any():
        return None
    rows = bad if bad.ndim == 1 else bad.reshape(len(bad), -1).any(axis=1)
    return int(np.argmax(rows))


def _surely_finite(values: NDArray[Any]) -> bool:
    """True only if all is finite: then the sum of squares is, unless it overflows.

    One product instead of two passes: half the time of `isfinite(values).all()` on the columns
    of an episode.
    """
    flat = values.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(flat.dot(flat))
