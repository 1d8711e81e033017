"""Samples that come online: one of each signal for B episodes, checked, in the units read."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.monitor.intake import fits, missing_signal
from safegym.errors import TraceError
from safegym.formula.terms import Signal
from safegym.trace.conversion import Conversion

Floats = NDArray[np.float64]
Samples = Mapping[str, ArrayLike]


def check_mapping(samples: object) -> None:
    """Raises TraceError unless samples come by name."""
    if not isinstance(samples, Mapping):
        raise TraceError(
            f'A sample is a mapping such as {{"x": values}}, found {type(samples).__name__}.'
        )


def sample_of(
    signal: Signal, samples: Samples, batch: int, least: int | None, length: int | None
) -> Floats:
    """Returns a signal's sample, float64 (B,) or (B, d).

    least, length: of a vector whose length is not declared, the components that are read, and the
    length of its first sample, None before it. Raises TraceError for a missing or misshapen one,
    or what is no array of real numbers.
    """
    if signal.name not in samples:
        raise TraceError(missing_signal(signal, samples, where="the sample"))
    values = _floats(signal, samples[signal.name])
    known = signal.shape
    if signal.any_length and length is not None:
        known = (length,)
    misfit = not fits(signal, values.shape, batch)
    if signal.any_length and not misfit:
        misfit = values.shape[1] < (least or 0) or length not in (None, values.shape[1])
    if misfit:
        open_length = signal.any_length and length is None
        wanted = f"({batch}, d) with d >= {least}" if open_length else str((batch, *known))
        raise TraceError(
            f"Signal {signal.name} has shape {values.shape}; with B = {batch} episodes it must be "
            f"{wanted}."
        )
    return values


def _floats(signal: Signal, sample: ArrayLike) -> Floats:
    try:
        found = np.asarray(sample)
        if found.dtype.kind in "biuf":
            return found.astype(np.float64, copy=False)
        problem = f"an array of {found.dtype}"
    except (ValueError, TypeError) as error:
        problem = str(error)
    raise TraceError(f"Signal {signal.name} must be an array of real numbers; found {problem}.")


def check_finite(signal: Signal, values: Floats, steps: NDArray[np.int64]) -> None:
    """Raises TraceError for the first episode whose sample is not finite.

    steps: index of each episode's last sample before this one, -1 for none.
    """
    if np.isfinite(values).all():
        return
    row = _first_bad(values)
    raise TraceError(
        f"Signal {signal.name} is not finite at sample {steps[row] + 1} of episode {row} "
        f"({values[row]}); end that episode as interrupted before it."
    )


def _first_bad(values: Floats) -> int:
    return int(np.argmin(np.isfinite(values).reshape(len(values), -1).all(axis=1)))


def in_units_read(
    samples: Samples, changes: Mapping[str, Conversion], steps: NDArray[np.int64]
) -> Samples:
    """Returns the samples with these signals converted, as a trace's are.

    What cannot be converted is left for the checks that follow. Raises TraceError for a number
    that the unit read cannot say.
    """
    check_mapping(samples)
    found = dict(samples)
    for name, change in changes.items():
        values = np.asarray(found.get(name, ()))
        if name in found and values.dtype.kind in "biuf" and values.ndim > 0:
            found[name] = _changed(change, values.astype(np.float64, copy=False), steps)
    return found


def _changed(change: Conversion, values: Floats, steps: NDArray[np.int64]) -> Floats:
    result = change(values)
    if np.isfinite(result).all() or not np.isfinite(values).all() or len(values) != len(steps):
        return result
    row = _first_bad(result)
    raise TraceError(
        f"Signal {change.signal} is {values[row]} {change.recorded} at sample {steps[row] + 1} of "
        f"episode {row}, which no binary64 number of {change.read} can say; state the formula in "
        f"{change.recorded}."
    )
