"""What a formula reads of a trace: the arrays its signals name, checked and in the formula's units.

This is the one place where units are converted: everything behind this door reads the arrays that
it gives, so that every backend judges the same bits.
"""

from collections.abc import Iterable, Mapping
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from safegym.errors import TraceError, UnitError
from safegym.formula.terms import Signal
from safegym.trace.conversion import Conversion, conversion
from safegym.trace.gaps import Gaps
from safegym.trace.model import Trace
from safegym.trace.names import nearest

Floats = NDArray[np.float64]


def taken(signals: Iterable[Signal], trace: Trace) -> dict[str, Floats]:
    """Returns what the signals read of a trace, in the signals' units, each (T+1,) or (T+1, d).

    A signal recorded in another unit of the same dimension is converted: each number is the
    binary64 nearest to value * factor. Raises UnitError for another dimension, else as `read`.
    """
    wanted = tuple(signals)
    conversions = converter(wanted, trace.units)
    found = read(wanted, trace.signals, len(trace.rewards) + 1)
    for name, convert in conversions.items():
        found[name] = _converted(convert, found[name], trace.unseen.get(name, ()))
    return found


def converter(signals: Iterable[Signal], units: Mapping[str, str]) -> dict[str, Conversion]:
    """Returns signal name -> what turns its recorded numbers into the signal's unit.

    units: signal name -> unit of the numbers that come; a signal without an entry is believed to
    come in its own. A signal whose numbers stay as they are has no entry in the result. Call an
    entry with float64 values of any shape. Raises UnitError, naming both dimensions.
    """
    found: dict[str, Conversion] = {}
    for signal in signals:
        recorded = units.get(signal.name)
        if recorded is None:
            continue
        try:
            change = conversion(signal.name, recorded, signal.unit)
        except UnitError as error:
            raise UnitError(_no_factor(signal, recorded, error)) from None
        if change is not None:
            found[signal.name] = change
    return found


def conversion_notes(signals: Iterable[Signal], units: Mapping[str, str]) -> tuple[str, ...]:
    """Returns what a verdict says of the conversions that were made, one line each."""
    return tuple(f"{change}." for change in converter(signals, units).values())


def read(
    signals: Iterable[Signal], arrays: Mapping[str, Floats], samples: int
) -> dict[str, Floats]:
    """Returns the arrays that the signals name, each (samples,) or (samples, d), all finite.

    A vector of any length takes what the trace has. Raises TraceError naming a missing signal with
    the nearest ones there are, a wrong shape, or the first sample that is not finite.
    """
    found: dict[str, Floats] = {}
    for signal in signals:
        values = arrays.get(signal.name)
        if values is None:
            raise TraceError(missing_signal(signal, arrays))
        if not fits(signal, values.shape, samples):
            raise TraceError(_misshapen(signal, values.shape, samples))
        if not (isfinite(np.vdot(values, values)) or np.isfinite(values).all()):
            raise TraceError(_not_finite(signal, values))  # the product is quick, and may overflow
        found[signal.name] = values
    return found


def fits(signal: Signal, shape: tuple[int, ...], samples: int) -> bool:
    """Whether an array of this shape, first axis `samples` long, can be the signal's."""
    if signal.any_length:
        return len(shape) == 2 and shape[0] == samples
    return shape == (samples, *signal.shape)


def missing_signal(
    signal: Signal, arrays: Mapping[str, object], *, where: str = "the trace"
) -> str:
    """Returns the message for a signal that is not there, with the nearest names that are.

    where: what lacks it, such as "the sample".
    """
    hint = nearest(signal.name, arrays)
    return f"The formula reads signal {signal.name}, which {where} lacks; {hint}"


def _converted(convert: Conversion, values: Floats, gaps: Gaps) -> Floats:
    result = convert(values)
    clear_gaps(result, gaps)
    finite = np.isfinite(result)
    if not finite.all():
        at = int(np.argmin(finite.reshape(len(finite), -1).all(axis=1)))
        raise TraceError(
            f"Signal {convert.signal} is {values[at]} {convert.recorded} at sample {at}, which no "
            f"binary64 number of {convert.read} can say; state the formula in {convert.recorded}."
        )
    result.flags.writeable = False
    return result


def clear_gaps(values: Floats, gaps: Gaps) -> None:
    """Puts 0 for what a unit cannot say in a gap: it stands for nothing. values: (samples, ...)."""
    for first, last in gaps:
        part = values[first : last + 1]
        part[~np.isfinite(part)] = 0.0


def _no_factor(signal: Signal, recorded: str, error: UnitError) -> str:
    return (
        f"The formula reads {signal.name} in {signal.unit}, and it was recorded in {recorded}: "
        f'{str(error).rstrip(".")}. State the formula over Signal("{signal.name}", '
        f'unit="{recorded}"), or in text parse(..., signals=[...]); or record it in {signal.unit}.'
    )


def _misshapen(signal: Signal, shape: tuple[int, ...], samples: int) -> str:
    declared = (samples, "d") if signal.any_length else (samples, *signal.shape)
    said = (
        f"Signal {signal.name} is declared with shape {signal.shape}, so its array must have shape "
        f"{declared}; found {shape}."
    )
    unit = "" if signal.unit == "1" else f', "{signal.unit}"'
    match shape:
        case (found,) if found == samples:
            return f'{said} To read it whole declare Signal("{signal.name}"{unit}).'
        case (found, width) if found == samples:
            return (
                f'{said} To read it declare Signal("{signal.name}"{unit}, shape=({width},)), with '
                f"components {signal.name}[0] to {signal.name}[{width - 1}]."
            )
        case _:
            return said


def _not_finite(signal: Signal, values: Floats) -> str:
    at = int(np.argmin(np.isfinite(values).reshape(len(values), -1).all(axis=1)))
    return (
        f"Signal {signal.name} is not finite at sample {at} ({values[at]}); a dropped sample could "
        'hide a violation. Cut the trace before it and end it with end="interrupted".'
    )
