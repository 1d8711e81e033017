"""Raw values: a trace's signals, and terms over them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from safegym.errors import TraceError, UnsupportedError
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.terms import Apply, Component, Constant, Signal, Term, signals_of

Floats = NDArray[np.float64]
Gaps = tuple[tuple[int, int], ...]
"""Closed intervals of sample indices at which nothing is known."""
Unseen = Gaps | Mapping[str, Gaps]
"""Gaps of all signals alike, or of each that has some by its name."""
SELECTING = ("neg", "abs", "min", "max")
"""Operations that cannot make a non-finite value out of finite ones."""


def gaps_over(signals: Iterable[Signal], unseen: Unseen) -> Gaps:
    """Returns the gaps in which what reads these signals is unknown."""
    if not isinstance(unseen, Mapping):
        return unseen
    return tuple(gap for signal in signals for gap in unseen.get(signal.name, ()))


@lru_cache(maxsize=4096)
def _parts(term: Term) -> tuple[Term, ...]:
    """A term's distinct parts, operands first, so that no depth is too deep."""
    return tuple(part for part in postorder(term) if isinstance(part, Term))


class Readings:
    """Values of terms over signals, each distinct term computed once.

    arrays: signal name -> (..., n) for a scalar, (..., n, d) for a vector; the values of a term
    have shape (..., n), or () where it is constant. gaps: closed intervals of samples whose values
    stand for nothing, so that terms need not be finite there. first: the index of the arrays' first
    sample. episodes: the rows' numbers, for errors.
    """

    __slots__ = ("_arrays", "_episodes", "_first", "_gaps", "_known")

    def __init__(
        self,
        arrays: Mapping[str, Floats],
        gaps: Unseen = (),
        first: int = 0,
        episodes: Sequence[int] | None = None,
    ) -> None:
        self._arrays = arrays
        self._gaps = gaps
        self._first = first
        self._episodes = episodes
        self._known: dict[Term, Floats] = {}

    def between(self, first: int, last: int) -> "Readings":
        """Returns the readings of samples first..last alone, views of the same arrays, (n,)."""
        start, stop = first - self._first, last - self._first + 1
        arrays = {name: values[start:stop] for name, values in self._arrays.items()}
        return Readings(arrays, self._gaps, first)

    def value(self, term: Term) -> Floats:
        """Returns the term's values. Raises TraceError where an operation leaves the reals."""
        found = self._known.get(term)
        if found is None:
            for part in _parts(term):
                if part not in self._known:
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
            self._refuse(term, result)
        return result

    def _refuse(self, term: Apply, result: Floats) -> None:
        """Raises TraceError unless all that is not finite lies in gaps."""
        bad = np.atleast_1d(~np.isfinite(result))
        for first, last in gaps_over(signals_of(term), self._gaps):
            bad[..., max(first - self._first, 0) : max(last - self._first + 1, 0)] = False
        if not bad.any():
            return
        row, at = (int(place) for place in np.argwhere(np.atleast_2d(bad))[0])
        where = f" of episode {self._episodes[row]}" if self._episodes is not None else ""
        raise TraceError(
            f"The term {short(term)} has no finite value at sample {at + self._first}{where} "
            "(overflow, or an operation outside its domain); the formula cannot be judged on this "
            "trace."
        )


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
