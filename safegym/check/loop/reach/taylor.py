"""Taylor models of flows: terms of x(t) = x + t f + t^2/2 Lf + ... and their remainder."""

from dataclasses import dataclass
from fractions import Fraction
from math import factorial

import numpy as np

from safegym.check.loop.compact import compacted
from safegym.check.loop.reach.rounding import Array, down, slack, up
from safegym.check.neural.bounds import Bounds
from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.terms import term_node
from safegym.errors import UnsupportedError
from safegym.formula.derivative import ZERO, derivative, plain, times, total
from safegym.formula.flow import Flow
from safegym.formula.terms import Term

ORDER = 3
"""The power of the period in the remainder."""
TRIES = 12
"""Attempts at a box that holds a whole period, each wider than the last."""
LARGEST = 1e12
"""A state beyond which no box is looked for."""


def lie_terms(flow: Flow, order: int = ORDER) -> tuple[tuple[Term, ...], ...]:
    """f, Lf, ..., L^(order-1) f, each a term for every state, without units."""
    names = [signal.name for signal in flow.states]
    rates = [plain(each) for each in flow.derivative]
    found = [tuple(rates)]
    for _ in range(order - 1):
        found.append(tuple(_along(each, names, rates) for each in found[-1]))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Remainders:
    """Intervals of Lie derivatives over boxes (B, states + disturbances + actions)."""

    flow: Flow
    rates: Bounds
    every: Bounds

    @classmethod
    def of(cls, flow: Flow, terms: tuple[tuple[Term, ...], ...]) -> "Remainders":
        """Of f, and of f and all others of `lie_terms` one after the other."""
        listed = tuple(term for each in terms for term in each)
        return cls(
            flow, Bounds(_graph(flow, terms[0]), "real"), Bounds(_graph(flow, listed), "real")
        )

    def hull(
        self, low: Array, high: Array, held: tuple[Array, Array], ends: tuple[Array, Array]
    ) -> tuple[Array, Array]:
        """Boxes (B, n) that hold every state of one period that starts in [low, high].

        held: bounds of disturbances and actions. ends: about where the period ends, to begin from;
        any boxes will do. A box B holds it when low + [0, h] f(B) lies in
        B (Picard and Lindelof). Raises UnsupportedError where none was found.
        """
        period = up(float(self.flow.dt))
        inside = np.minimum(low, ends[0]), np.maximum(high, ends[1])
        factor = 1.1
        for _ in range(TRIES):
            wide = _widened(*inside, factor)
            if max(np.abs(wide[0]).max(), np.abs(wide[1]).max()) > LARGEST:
                break
            after = self._swept(low, high, wide, held, period)
            if (after[0] >= wide[0]).all() and (after[1] <= wide[1]).all():
                return self._swept(low, high, after, held, period)
            inside = np.minimum(inside[0], after[0]), np.maximum(inside[1], after[1])
            factor *= 1.5
        raise UnsupportedError(
            f"No box was found that holds {self.flow.name} for one period of {self.flow.dt} s; "
            "start from smaller cells (cells=) or declare a shorter period."
        )

    def _swept(
        self,
        low: Array,
        high: Array,
        inside: tuple[Array, Array],
        held: tuple[Array, Array],
        period: float,
    ) -> tuple[Array, Array]:
        ends = [np.concatenate(pair, axis=1) for pair in zip(inside, held, strict=True)]
        least, most = self.rates.interval(ends[0], ends[1])[-1]
        below, above = np.minimum(0.0, least) * period, np.maximum(0.0, most) * period
        return down(low + down(below)), up(high + up(above))


def coefficient(flow: Flow, power: int) -> tuple[float, float]:
    """h^power / power! in binary64, and a bound on how far that is from the exact number."""
    exact = flow.dt**power / factorial(power)
    near = float(exact)
    return near, up(float(abs(exact - Fraction(near))))


def rest(remainders: Remainders, order: int, whole: tuple[Array, Array]) -> tuple[Array, Array]:
    """What the Taylor polynomial of that order lacks, (B, n): remainder and rounded coefficients.

    whole: boxes of the states throughout the period, with what is held.
    """
    n = len(remainders.flow.states)
    lows, highs = remainders.every.interval(*whole)[-1]
    near, off = coefficient(remainders.flow, order)
    last = slice((order - 1) * n, order * n)
    size = np.maximum(np.abs(lows[:, last]), np.abs(highs[:, last]))
    loose = slack(near * size, 2) + up(off * size)
    below, above = near * lows[:, last] - loose, near * highs[:, last] + loose
    for power in range(1, order):
        part = slice((power - 1) * n, power * n)
        _, off = coefficient(remainders.flow, power)
        wrong = up(off * np.maximum(np.abs(lows[:, part]), np.abs(highs[:, part])))
        below, above = down(below - wrong), up(above + wrong)
    return down(below), up(above)


def _along(term: Term, names: list[str], rates: list[Term]) -> Term:
    """The derivative of a term along the flow."""
    found: Term = ZERO
    for name, rate in zip(names, rates, strict=True):
        found = total(found, times(derivative(term, name), rate))
    return found


def _graph(flow: Flow, terms: tuple[Term, ...]) -> Graph:
    signals = (*flow.states, *flow.disturbances, *flow.actions)
    builder = GraphBuilder(len(signals))
    source = builder.input()
    entries = {(signal.name, 0): (source, at) for at, signal in enumerate(signals)}
    nodes = [term_node(each, builder, entries) for each in terms]
    return compacted(builder.graph(builder.stack(nodes)))


def _widened(low: Array, high: Array, factor: float) -> tuple[Array, Array]:
    more = (factor - 1.0) * (high - low) + 1e-9 * (1.0 + np.maximum(np.abs(low), np.abs(high)))
    return low - more, high + more
