"""Any trace that the signals' declarations allow: free reals within bounds and rates."""

import itertools
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.symbolic.engine import Bool, Model, value_of, z3
from safegym.check.symbolic.outline import Outline
from safegym.check.symbolic.symbols import Symbols, symbol
from safegym.check.symbolic.terms import rational
from safegym.check.symbolic.unroll import Unrolling
from safegym.formula.nodes import Formula
from safegym.formula.reading import lengths_read
from safegym.formula.rewrite import negate
from safegym.formula.terms import Signal, signals_of
from safegym.trace.model import Trace

Definite = Literal["horizon", "absorbed", "failed"]
"""Ends that leave nothing open."""


@dataclass
class World:
    """All traces of `samples` samples over `signals`, on a clock of dt seconds, horizon H.

    kind: how they end; past a horizon they must run far enough that every bounded window is seen.
    slack: by how much each atom must clear its limit, so that a witness survives rounding to
    binary64. plain: ordinary SMT-LIB only. The reals are in the units of `signals`; an atom that
    declares another unit reads them times the exact factor (one with pi within 2^-250 of it),
    unrounded.
    """

    signals: tuple[Signal, ...]
    dt: Fraction
    horizon: int
    samples: int
    slack: Fraction = Fraction(0)
    kind: Definite = "horizon"
    plain: bool = False
    unrolling: Unrolling = field(init=False)
    _ruled: dict[tuple[str, int], list[Bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        outline = Outline(self.samples - 1, self.horizon, self.kind)
        atom = Symbols(self.signals, self.slack).atom
        self.unrolling = Unrolling(outline, atom, unknown=False, plain=self.plain)

    def holds(self, formula: Formula, at: int = 0) -> Bool:
        """The step formula at a sample, as a constraint on the trace."""
        return self.unrolling.value(formula, at)

    def fails(self, formula: Formula, at: int = 0) -> Bool:
        """The step formula is broken at a sample, whatever an open end would bring.

        After a failed end every literal is false, so that a negation is no opposite there.
        """
        if self.kind == "failed":
            return self.may_fail(formula, at)
        return self.unrolling.value(negate(formula), at)

    def may_fail(self, formula: Formula, at: int = 0) -> Bool:
        """The step formula does not hold at a sample: it is broken, or left open."""
        return z3.Not(self.unrolling.value(formula, at))

    @property
    def opened(self) -> bool:
        """Whether something that was read so far lies past a horizon, where nothing is known."""
        return self.unrolling.opened

    def only(self, names: Collection[str], samples: int) -> "World":
        """The same world cut to some signals, and to so many samples."""
        found = copy(self)
        found.signals = tuple(signal for signal in self.signals if signal.name in names)
        found.samples = samples
        return found

    def rules(self) -> list[Bool]:
        """What the declarations say: bounds, largest rates of change, labels."""
        found: list[Bool] = []
        for signal in self.signals:
            key = (signal.name, self.samples)
            if key not in self._ruled:
                self._ruled[key] = list(self._rules(signal))
            found += self._ruled[key]
        return found

    def coarser(self, stride: int) -> list[Bool]:
        """Signals straight between every stride-th sample: a part of the traces, on this clock."""
        found: list[Bool] = []
        for signal in self.signals:
            for component in range(_width(signal)):
                for at in range(self.samples):
                    place, last = at % stride, self.samples - 1
                    if place == 0 or at == last:
                        continue
                    first, second = at - place, min(at - place + stride, last)
                    value = symbol(signal.name, component, first)
                    if not signal.coding:
                        share = z3.Q(place, second - first)
                        value = value + share * (symbol(signal.name, component, second) - value)
                    found.append(symbol(signal.name, component, at) == value)
        return found

    def trace(self, model: Model) -> Trace:
        """The trace of a model, rounded to binary64; judge it before believing it."""
        signals = {signal.name: self._values(signal, model) for signal in self.signals}
        if not signals:  # the formulas read nothing, and a trace needs a signal
            signals = {"unread": np.zeros(self.samples)}
        units = {signal.name: signal.unit for signal in self.signals}
        return Trace.from_arrays(
            signals, dt=self.dt, end=self.kind, horizon=self.horizon, units=units
        )

    def _rules(self, signal: Signal) -> Iterable[Bool]:
        for component in range(_width(signal)):
            values = [symbol(signal.name, component, at) for at in range(self.samples)]
            if signal.labels:
                for value in values:
                    yield z3.Or(*(value == number for _, number in signal.coding))
            if signal.bounds is not None:
                low, high = (rational(bound) for bound in signal.bounds)
                for value in values:
                    yield z3.And(low <= value, value <= high)
            if signal.max_rate is not None:
                step = Fraction(signal.max_rate) * self.dt
                most = z3.Q(step.numerator, step.denominator)
                for before, after in itertools.pairwise(values):
                    yield z3.And(after - before <= most, before - after <= most)

    def _values(self, signal: Signal, model: Model) -> NDArray[np.float64]:
        width = _width(signal)
        table = np.array(
            [
                [value_of(model, symbol(signal.name, component, at)) for component in range(width)]
                for at in range(self.samples)
            ]
        )
        return table if signal.shape else table[:, 0]


def _width(signal: Signal) -> int:
    return signal.shape[0] if signal.shape else 1


def all_signals(formulas: Iterable[Formula], find: Mapping[str, Signal]) -> tuple[Signal, ...]:
    """The signals of several formulas, one each name, in order of first appearance.

    A vector of any length gets as many components as are read.
    """
    found: dict[str, Signal] = {}
    lengths: dict[str, int] = {}
    for formula in formulas:
        for name, length in lengths_read(formula).items():
            lengths[name] = max(length, lengths.get(name, 0))
        for signal in signals_of(formula):
            known = found.setdefault(signal.name, find.get(signal.name, signal))
            if known.any_length:
                found[signal.name] = signal
    return tuple(_with_length(signal, lengths) for signal in found.values())


def _with_length(signal: Signal, lengths: Mapping[str, int]) -> Signal:
    if not signal.any_length:
        return signal
    return Signal(signal.name, signal.unit, (lengths[signal.name],))
