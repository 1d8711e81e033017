"""The tensors that a formula reads, checked."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from safegym.check.monitor.intake import missing_signal
from safegym.errors import TraceError
from safegym.formula.terms import Signal
from safegym.trace.gaps import GapsBySignal, gaps_by_signal

FLOATS = (torch.float32, torch.float64)


@dataclass(frozen=True, slots=True)
class Readings:
    """Signals of one batch. tensors: what the formula reads. like: zeros (..., 1), for rows, type
    and device. samples: T + 1. gaps: of the signals that have some.
    """

    tensors: Mapping[str, Tensor]
    like: Tensor
    samples: int
    gaps: GapsBySignal


def read(signals: tuple[Signal, ...], given: object, gaps: object) -> Readings:
    """Returns the tensors that the signals name, each (..., n) or (..., n, d), all finite.

    Raises TypeError for what is no tensor; TraceError naming a missing signal with the nearest
    there are, a wrong shape, type or device, or the first value that is not finite.
    """
    if not isinstance(given, Mapping) or not given:
        raise TypeError(
            "Signals come as a mapping from name to tensor, found "
            f'{type(given).__name__} {given!r:.40}; write {{"x": x}} with x of shape (..., T+1).'
        )
    tensors: dict[str, Tensor] = {}
    for signal in signals:
        if signal.name not in given:
            raise TraceError(missing_signal(signal, given))
        tensors[signal.name] = _checked(signal, given[signal.name])
    if not tensors:
        name = next(iter(given))
        tensors[name] = _checked(Signal("x"), given[name])
    rows = {name: _rows(signal, tensors[name]) for name, signal in _named(signals, tensors)}
    _check_alike(tensors, rows)
    shape = next(iter(rows.values()))
    first = next(iter(tensors.values()))
    found = gaps_by_signal(gaps, list(given), shape[-1] - 1)
    return Readings(tensors, first.new_zeros((*shape[:-1], 1)), shape[-1], found)


def _named(signals: tuple[Signal, ...], tensors: Mapping[str, Tensor]) -> list[tuple[str, Signal]]:
    """Each tensor with its declaration; one that no formula reads is taken for a scalar."""
    if signals:
        return [(signal.name, signal) for signal in signals]
    return [(name, Signal("x")) for name in tensors]


def _checked(signal: Signal, values: object) -> Tensor:
    if not isinstance(values, Tensor):
        raise TypeError(
            f"Signal {signal.name} is {type(values).__name__}, and gradients go through tensors; "
            f"write torch.as_tensor({signal.name}, dtype=torch.float64)."
        )
    if values.dtype not in FLOATS:
        raise TraceError(
            f"Signal {signal.name} has elements of type {values.dtype}; margins are float32 or "
            f"float64: write {signal.name}.double()."
        )
    rows = _rows(signal, values)
    if not rows or not rows[-1] or not _fits(signal, values):
        tail = "T+1, d" if signal.any_length else ", ".join(("T+1", *map(str, signal.shape)))
        raise TraceError(
            f"Signal {signal.name} is declared with shape {signal.shape}, so its tensor must have "
            f"shape (..., {tail}): rows, samples 0..T; found {tuple(values.shape)}."
        )
    if not bool(torch.isfinite(values).all()):
        raise TraceError(_not_finite(signal, values))
    return values


def _fits(signal: Signal, values: Tensor) -> bool:
    if not signal.shape:
        return True
    return values.ndim >= 2 and (signal.any_length or values.shape[-1] == signal.shape[0])


def _rows(signal: Signal, values: Tensor) -> tuple[int, ...]:
    """(..., n)."""
    return tuple(values.shape[:-1] if signal.shape else values.shape)


def _not_finite(signal: Signal, values: Tensor) -> str:
    place = tuple(int(i) for i in torch.nonzero(~torch.isfinite(values))[0])
    at = len(_rows(signal, values)) - 1
    row = f" of row {place[:at]}" if at else ""
    return (
        f"Signal {signal.name} is not finite at sample {place[at]}{row} "
        f"({float(values[place].detach())}); a dropped sample could hide a violation. Cut the "
        'signals before it and end them with end="interrupted".'
    )


def _check_alike(tensors: Mapping[str, Tensor], rows: Mapping[str, tuple[int, ...]]) -> None:
    """Raises TraceError unless all have the same rows and samples, element type and device."""
    first, *others = tensors
    one = tensors[first]
    for name in others:
        other = tensors[name]
        if rows[name] != rows[first]:
            raise TraceError(
                f"Signal {first} has rows and samples {rows[first]}, signal {name} {rows[name]}; "
                f"all have the same: write {name}.expand(...) for one that all rows share."
            )
        if (one.dtype, one.device) != (other.dtype, other.device):
            raise TraceError(
                f"Signal {first} is {one.dtype} on {one.device}, signal {name} {other.dtype} on "
                f"{other.device}; write {name}.to({first})."
            )
