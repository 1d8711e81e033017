"""Stamps of a log, as whole nanoseconds."""

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.errors import TraceError
from safegym.trace.arrays import refuse_masked
from safegym.trace.products import lost

Stamps = NDArray[np.int64]
"""Strictly increasing nanoseconds, shape (n,), n >= 1."""
StampUnit = Literal["s", "ns"]
SECOND = 10**9
"""Nanoseconds in a second."""
_LATEST = 2**62


def read_stamps(times: ArrayLike, unit: StampUnit, of: str = "the log") -> Stamps:
    """Stamps as nanoseconds, checked.

    unit "s": numbers of seconds, each read to the nearest nanosecond (ties to even); "ns": whole
    numbers of nanoseconds. Raises TraceError: none at all, more than one axis, not finite, beyond
    4.6e9 s, or not strictly increasing, naming the index and both stamps.
    """
    given = _one_array(times, of)
    if given.ndim != 1 or given.size == 0:
        raise TraceError(
            f"The stamps of {of} have shape {given.shape}; at least one stamp is needed, (n,)."
        )
    if unit == "ns":
        stamps = _whole(given, of)
    elif unit == "s":
        stamps = _nanoseconds(given, of)
    else:
        raise TraceError(f'unit is {unit!r:.40}; stamps are in "s" (seconds) or "ns".')
    _check_order(stamps, given, of)
    stamps.flags.writeable = False
    return stamps


def _one_array(times: ArrayLike, of: str) -> NDArray[Any]:
    refuse_masked(times, f"The array of stamps of {of}")
    try:
        return np.asarray(times)
    except ValueError as error:
        raise TraceError(f"The stamps of {of} are no array (n,): {error}.") from error


def nearest_nanosecond(seconds: float) -> int:
    """The nearest nanosecond of a finite number of seconds, ties to even."""
    return round(Fraction(seconds) * SECOND)


def _whole(given: NDArray[Any], of: str) -> Stamps:
    if given.dtype.kind not in "iu":
        raise TraceError(
            f"The stamps of {of} are {given.dtype}; nanoseconds are whole numbers, such as int64. "
            'For seconds write unit="s".'
        )
    _check_range(given, _LATEST, "ns", of)
    return given.astype(np.int64)


def _nanoseconds(given: NDArray[Any], of: str) -> Stamps:
    if given.dtype.kind in "iu":
        _check_range(given, _LATEST // SECOND, "s", of)
        return given.astype(np.int64) * SECOND
    if given.dtype.kind in "mM":
        raise TraceError(
            f"The stamps of {of} are {given.dtype}; write them as whole nanoseconds, "
            f'times.astype("{given.dtype.kind}8[ns]").astype("int64") with unit="ns".'
        )
    if given.dtype.kind != "f" or given.dtype.itemsize > 8:
        raise TraceError(
            f"The stamps of {of} are {given.dtype}; write float64 seconds, or whole nanoseconds "
            'with unit="ns".'
        )
    seconds = given.astype(np.float64)
    if not np.isfinite(seconds).all():
        at = int(np.argmin(np.isfinite(seconds)))
        raise TraceError(f"Stamp {at} of {of} is {seconds[at]}; every stamp must be finite.")
    _check_range(seconds, _LATEST // SECOND, "s", of)
    part, whole = np.modf(seconds)
    return whole.astype(np.int64) * SECOND + _rounded_product(part)


def _rounded_product(part: NDArray[np.float64]) -> Stamps:
    """The nearest whole number to part * 1e9, for |part| < 1, ties to even.

    The product's error can only matter where the rounded product is a tie.
    """
    product = part * 1e9
    near = np.rint(product)
    error = lost(part, 1e9, product)
    tie = product - near
    near += (tie == 0.5) & (error > 0)
    near -= (tie == -0.5) & (error < 0)
    return near.astype(np.int64)


def _check_range(given: NDArray[Any], latest: int, unit: str, of: str) -> None:
    low, high = given.min(), given.max()
    if -latest <= low and high <= latest:
        return
    worst = int(np.argmax(given)) if high > latest else int(np.argmin(given))
    hint = (
        ' If they are nanoseconds write unit="ns"; divide milliseconds by 1000.'
        if unit == "s"
        else ""
    )
    raise TraceError(
        f"Stamp {worst} of {of} is {given[worst]} {unit}; stamps lie within 4.6e9 s of 0.{hint}"
    )


def _check_order(stamps: Stamps, given: NDArray[Any], of: str) -> None:
    steps = np.diff(stamps)
    if steps.size == 0 or steps.min() > 0:
        return
    at = int(np.argmax(steps <= 0)) + 1
    before, after = given[at - 1], given[at]
    if after > before:
        how = "is the same nanosecond as"
    else:
        how = "equals" if before == after else "goes back behind"
    raise TraceError(
        f"Time must go on: stamp {at} of {of} ({after}) {how} stamp {at - 1} ({before}); drop the "
        "repeated samples, or sort the log by its own stamps, before resampling."
    )


def resolution(times: ArrayLike) -> Fraction:
    """Seconds between neighbouring floats at the largest stamp; 0 for whole numbers."""
    given = np.asarray(times)
    if given.dtype.kind != "f":
        return Fraction(0)
    return Fraction(float(np.spacing(np.abs(given).max())))
