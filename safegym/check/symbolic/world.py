"""Any trace that the signals' declarations allow: free reals within bounds and rates."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.symbolic.engine import Bool, Model, Real, value_of, z3
from safegym.check.symbolic.outline import Outline
from safegym.check.symbolic.terms import comparison, rational, term_real
from safegym.check.symbolic.unroll import Unrolling
from safegym.formula.nodes import Atom, Formula
from safegym.formula.reading import lengths_read
from safegym.formula.terms import Signal, signals_of
from safegym.trace.conversion import rational_factor
from safegym.trace.model import Trace
from safegym.units import factor_between


@dataclass
class World:
    """All traces of `samples` samples over `signals`, on a clock of dt seconds, horizon H.

    The traces run far enough past H that every bounded window is seen. slack: by how much each
    atom must clear its limit, so that a witness survives rounding to binary64. The reals are in the
    units of `signals`; an atom that declares another unit reads them times the exact factor (one
    with pi within 2^-250 of it), unrounded.
    """

    signals: tuple[Signal, ...]
    dt: Fraction
    horizon: int
    samples: int
    slack: Fraction = Fraction(0)
    unrolling: Unrolling = field(init=False)

    def __post_init__(self) -> None:
        outline = Outline(self.samples - 1, self.horizon, "horizon")
        self.unrolling = Unrolling(outline, self._atom, unknown=False)

    def holds(self, formula: Formula, at: int = 0) -> Bool:
        """The step formula at a sample, as a constraint on the trace."""
        return self.unrolling.value(formula, at)

    def rules(self) -> list[Bool]:
        """What the declarations say: bounds, largest rates of change, labels."""
        return [rule for signal in self.signals for rule in self._rules(signal)]

    def trace(self, model: Model) -> Trace:
        """The trace of a model, rounded to binary64; judge it before believing it."""
        signals = {signal.name: self._values(signal, model) for signal in self.signals}
        if not signals:  # the formulas read nothing, and a trace needs a signal
            signals = {"unread": np.zeros(self.samples)}
        units = {signal.name: signal.unit for signal in self.signals}
        return Trace.from_arrays(
            signals, dt=self.dt, end="horizon", horizon=self.horizon, units=units
        )

    def _atom(self, node: Atom, at: int) -> Bool:
        factors = self._factors(node)

        def read(name: str, component: int) -> Real:
            value = _real(name, component, at)
            return value * factors[name] if name in factors else value

        left, right = term_real(node.left, read), term_real(node.right, read)
        slack = z3.Q(self.slack.numerator, self.slack.denominator)
        upward = node.comparison in (">", ">=")
        return comparison(node, left - slack if upward else left + slack, right)

    def _factors(self, node: Atom) -> dict[str, Real]:
        """Signal name -> factor, for the signals that the atom reads in another unit."""
        found: dict[str, Real] = {}
        declared = {signal.name: signal.unit for signal in self.signals}
        for signal in signals_of(node):
            factor = factor_between(declared[signal.name], signal.unit)
            if not factor.is_one:
                near = rational_factor(factor)
                found[signal.name] = z3.Q(near.numerator, near.denominator)
        return found

    def _rules(self, signal: Signal) -> Iterable[Bool]:
        for component in range(_width(signal)):
            values = [_real(signal.name, component, at) for at in range(self.samples)]
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
                [value_of(model, _real(signal.name, component, at)) for component in range(width)]
                for at in range(self.samples)
            ]
        )
        return table if signal.shape else table[:, 0]


def _width(signal: Signal) -> int:
    return signal.shape[0] if signal.shape else 1


def _real(name: str, component: int, at: int) -> Real:
    return z3.Real(f"{name}[{component}]@{at}")


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
