"""Raw values: a trace's signals, and terms over them."""

import difflib
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from safegym.errors import TraceError, UnitError, UnsupportedError
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.terms import Apply, Component, Constant, Signal, Term
from safegym.units import same_unit

Floats = NDArray[np.float64]
SELECTING = ("neg", "abs", "min", "max")
"""Operations that cannot make a non-finite value out of finite ones."""


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
            declared = (samples, "d") if signal.any_length else (samples, *signal.shape)
            raise TraceError(
                f"Signal {signal.name} is declared with shape {signal.shape}, so its array must "
                f"have shape {declared}; found {values.shape}."
            )
        if not np.isfinite(values).all():
            raise TraceError(_not_finite(signal, values))
        found[signal.name] = values
    return found


def fits(signal: Signal, shape: tuple[int, ...], samples: int) -> bool:
    """Whether an array of this shape, first axis `samples` long, can be the signal's."""
    if signal.any_length:
        return len(shape) == 2 and shape[0] == samples
    return shape == (samples, *signal.shape)


def refuse_other_units(signals: Iterable[Signal], units: Mapping[str, str]) -> None:
    """Raise UnitError where a signal is declared in another unit than the trace recorded it in."""
    for signal in signals:
        recorded = units.get(signal.name)
        if recorded is not None and not same_unit(signal.unit, recorded):
            raise UnitError(
                f"The formula reads {signal.name} in {signal.unit}, and the trace recorded it in "
                f"{recorded}; nothing is converted silently. State the formula over "
                f'Signal("{signal.name}", unit="{recorded}"), or in text parse(..., signals=[...]).'
            )


def missing_signal(signal: Signal, arrays: Mapping[str, object]) -> str:
    """Returns the message for a signal that is not there, with the nearest names that are."""
    known = list(arrays)
    near = difflib.get_close_matches(signal.name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(known) or 'none'}."
    return f"The formula reads signal {signal.name}, which the trace lacks; {hint}"


def _not_finite(signal: Signal, values: Floats) -> str:
    at = int(np.argmin(np.isfinite(values).reshape(len(values), -1).all(axis=1)))
    return (
        f"Signal {signal.name} is not finite at sample {at} ({values[at]}); a dropped sample could "
        'hide a violation. Cut the trace before it and end it with end="interrupted".'
    )


class Readings:
    """Values of terms over signals, each distinct term computed once.

    arrays: signal name -> (..., n) for a scalar, (..., n, d) for a vector; the values of a term
    have shape (..., n), or () where it is constant.
    """

    __slots__ = ("_arrays", "_known")

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        self._arrays = arrays
        self._known: dict[Term, Floats] = {}

    def value(self, term: Term) -> Floats:
        """Returns the term's values. Raises TraceError where an operation leaves the reals."""
        found = self._known.get(term)
        if found is None:
            for part in postorder(term):  # parts first, so that no depth of a term is too deep
                if isinstance(part, Term) and part not in self._known:
                    self._known[part] = self._compute(part)
            found = self._known[term]
        return found

    def _component(self, term: Component) -> Floats:
        values = self._arrays[term.signal.name]
        if term.index >= values.shape[-1]:
            raise TraceError(
                f"The formula reads {short(term)}, but signal {term.signal.name} has the "
                f"components 0 to {values.shape[-1] - 1} here."
            )
        return values[..., term.index]

    def _compute(self, term: Term) -> Floats:
        if isinstance(term, Signal):
            return self._arrays[term.name]
        if isinstance(term, Component):
            return self._component(term)
        if isinstance(term, Constant):
            return np.float64(term.value)  # type: ignore[return-value]  # behaves as shape ()
        if not isinstance(term, Apply):
            raise UnsupportedError(f"The monitor cannot evaluate the term {short(term)}.")
        arguments = [self._known[argument] for argument in term.arguments]
        if term.operation in SELECTING:
            return _apply(term.operation, arguments)
        with np.errstate(all="ignore"):
            result = _apply(term.operation, arguments)
        if not np.isfinite(result).all():
            raise TraceError(_not_real(term, result))
        return result


def _apply(operation: str, arguments: list[Floats]) -> Floats:
    """One operation, element by element, in binary64."""
    if operation in _FOLDS:
        result = arguments[0]
        for argument in arguments[1:]:
            result = _FOLDS[operation](result, argument)
        return result
    if operation == "norm":
        total = arguments[0] * arguments[0]
        for argument in arguments[1:]:
            total = total + argument * argument
        return np.sqrt(total)
    return _SINGLE[operation](arguments[0])


_FOLDS = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}
_SINGLE = {
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
}


def _not_real(term: Apply, result: Floats) -> str:
    bad = np.atleast_1d(~np.isfinite(result))
    at = int(np.argmax(bad.reshape(-1, bad.shape[-1]).any(axis=0)))
    return (
        f"The term {short(term)} has no finite value at sample {at} (overflow, or an operation "
        "outside its domain); the formula cannot be judged on this trace."
    )
