"""Signals and their components, and a term's declarations. The other terms are re-exported."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, cast, get_args

from safegym.errors import FormulaError
from safegym.formula.checks import (
    ANY_LENGTH,
    Coding,
    bounds_of,
    check_name,
    coding_of,
    counts_from_zero,
    index_of,
    number_text,
    positive,
    shape_of,
    signal_unit,
)
from safegym.formula.expression import Piece
from safegym.formula.interning import Interned, postorder
from safegym.formula.operations import (
    Apply,
    Constant,
    Operation,
    Term,
    check_scalar,
    common_unit,
    no_length,
    term,
)
from safegym.formula.windows import UNBOUNDED, Window

if TYPE_CHECKING:
    from safegym.formula.nodes import Atom

__all__ = [
    "UNBOUNDED",
    "Apply",
    "Component",
    "Constant",
    "Hold",
    "Operation",
    "Signal",
    "Term",
    "Window",
    "check_scalar",
    "common_unit",
    "describe",
    "signals_of",
    "term",
]

Hold = Literal["sample", "max", "min", "any"]


class Signal(Term):
    """A named quantity that a trace carries, one value (or vector) a sample.

    name: ASCII identifier that is no word of the language. unit: text, "1" if none. shape: () or
    (d,); (-1,) is a vector of any length, only read by component. scale: finite, > 0, in the
    signal's unit; margins of atoms over it are divided by this. bounds: (lowest, highest) declared
    values. max_rate: largest change per second. hold: what a sample stands for over the time since
    the last one. labels: names of the values 0, 1, 2... of a mode signal, or a mapping from name to
    whole number. Raises FormulaError or UnitError for anything malformed.
    """

    __slots__ = ("name", "unit", "shape", "scale", "bounds", "max_rate", "hold", "coding")  # noqa: RUF023  # the constructor's order
    name: str
    unit: str
    shape: tuple[int, ...]
    scale: float | None
    bounds: tuple[float, float] | None
    max_rate: float | None
    hold: Hold
    coding: Coding

    def __new__(
        cls,
        name: str,
        unit: str = "1",
        shape: tuple[int, ...] = (),
        scale: float | None = None,
        bounds: tuple[float, float] | None = None,
        max_rate: float | None = None,
        hold: Hold = "sample",
        labels: Sequence[str] | Mapping[str, int] | Coding = (),
    ) -> "Signal":
        """Makes the signal; see the class."""
        check_name(name)
        what = f"Signal {name!r}:"
        parsed, text = signal_unit(unit, what)
        if hold not in get_args(Hold):
            raise FormulaError(
                f'{what} hold must be "sample", "max", "min" or "any", not {hold!r:.60}.'
            )
        return cls._intern(
            str(name),
            text,
            shape_of(shape, what),
            None if scale is None else positive(scale, f"{what} scale"),
            bounds_of(bounds, what),
            None if max_rate is None else positive(max_rate, f"{what} max_rate"),
            str(hold),
            coding_of(labels, shape, what),
            unit_or_none=parsed,
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of a mode signal's values, in the order declared."""
        return tuple(label for label, _ in self.coding)

    @property
    def length(self) -> int | None:
        """How many components a vector has (-1: nobody declared it); None for a scalar."""
        return self.shape[0] if self.shape else None

    @property
    def any_length(self) -> bool:
        """Whether this is a vector whose length nobody declared."""
        return self.shape == (ANY_LENGTH,)

    def __getitem__(self, index: int) -> "Component":
        size = self.shape[0] if self.shape else 0
        place = index_of(index, f"The index of signal {self.name!r}")
        return Component(self, place + size if -size <= place < 0 else place)

    def __iter__(self) -> "Iterator[Component]":
        if not self.shape:
            raise TypeError(f"Signal {self.name!r} is a scalar and cannot be iterated.")
        if self.any_length:
            raise FormulaError(no_length(self))
        return (Component(self, index) for index in range(self.shape[0]))

    def is_(self, label: str) -> "Atom":
        """Returns the atom that holds where this mode signal has the named value."""
        for name, code in self.coding:
            if name == label:
                return abs(self - code) <= 0.5
        raise FormulaError(_no_label(self, label))

    def pieces(self) -> tuple[Piece, ...]:
        """The name."""
        return (self.name,)


def _no_label(signal: Signal, label: object) -> str:
    if not signal.coding:
        return (
            f"Signal {signal.name!r} has no label {label!r:.60}; it has none at all: declare them "
            f'with labels=("OK", "FAULT") or labels={{"OK": 0, "FAULT": 7}}.'
        )
    near = get_close_matches(str(label), signal.labels, n=1, cutoff=0.5)
    return (
        f"Signal {signal.name!r} has no label {label!r:.60}; its labels: "
        f"{', '.join(signal.labels)}." + (f" Did you mean {near[0]}?" if near else "")
    )


class Component(Term):
    """One component of a vector signal: `Signal("p", "m", shape=(3,))[2]`."""

    __slots__ = ("signal", "index")  # noqa: RUF023  # the constructor's order
    signal: Signal
    index: int

    def __new__(cls, signal: Signal, index: int) -> "Component":
        """Makes the component. Raises FormulaError if the signal has none of that index."""
        _check_signal(signal)
        if not signal.shape:
            raise FormulaError(
                f"Signal {signal.name!r} is a scalar; declare it with shape=(d,) to use "
                f"{signal.name}[{index}]."
            )
        place = index_of(index, f"The index of signal {signal.name!r}")
        if place < 0 and signal.any_length:
            raise FormulaError(no_length(signal))
        if place < 0 or (place >= signal.shape[0] and not signal.any_length):
            raise FormulaError(
                f"Signal {signal.name!r} has components 0 to {signal.shape[0] - 1}, not {index}."
            )
        return cls._intern(signal, place, unit_or_none=signal.unit_or_none)

    def pieces(self) -> tuple[Piece, ...]:
        """The name and index."""
        return (f"{self.signal.name}[{self.index}]",)


def signals_of(root: Interned) -> tuple[Signal, ...]:
    """Returns the distinct signals below `root`, in order of first appearance.

    Raises FormulaError if two of them share a name but not their declaration.
    """
    found: dict[str, Signal] = {}
    for node in postorder(root):
        if isinstance(node, Signal) and found.setdefault(node.name, node) is not node:
            raise FormulaError(
                f"Signal {node.name!r} is declared in two ways: {describe(found[node.name])} and "
                f"{describe(node)}. Declare it once and use that object."
            )
    return tuple(found.values())


def describe(signal: Signal) -> str:
    """Returns the signal's declaration, one canonical line."""
    values = (*signal.fields[1:-1], labels_text(signal))
    named = zip(DECLARED[1:], values, strict=True)
    return " ".join((signal.name, *(f"{name}={_field_text(value)}" for name, value in named)))


def labels_text(signal: Signal) -> tuple[str, ...]:
    """Returns the labels as declared: names, with their number unless that counts 0, 1, 2..."""
    if counts_from_zero(signal.coding):
        return signal.labels
    return tuple(f"{label}={code}" for label, code in signal.coding)


DECLARED = ("name", "unit", "shape", "scale", "bounds", "max_rate", "hold", "labels")
"""What a declaration says of a signal, in the constructor's order."""


def _field_text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, tuple):
        return "(" + ",".join(_field_text(item) for item in cast("tuple[object, ...]", value)) + ")"
    return str(value)


def _check_signal(signal: object) -> None:
    if not isinstance(signal, Signal):
        raise FormulaError(f"Only signals have components, found {signal!r:.60}.")
