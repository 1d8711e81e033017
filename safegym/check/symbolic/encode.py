"""A graph as z3 constraints: exact affine forms, and one variable for each entry that is not.

Everything that is affine where the inputs' bounds let it be stays an affine form; only what can be
in several pieces becomes z3's business.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph, Node
from safegym.check.symbolic.affine import (
    FINE,
    INFINITY,
    Affine,
    End,
    Interval,
    Line,
    Variables,
    affine_of,
    ceiling,
    integers,
    mapped,
    product,
)
from safegym.check.symbolic.engine import Bool, Real, total, z3
from safegym.check.symbolic.pieces import Case, image, pair_cases, unary_cases
from safegym.check.symbolic.rounding import FORMATS
from safegym.errors import UnsupportedError

Phases = Mapping[tuple[int, int], bool]
"""(node, entry) of a relu, leaky_relu or abs -> whether its input is >= 0 (else <= 0)."""
Known = Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]
"""Sound bounds of every node's entries, as `Bounds.interval` returns them for a batch of one."""


class GraphEncoder:
    """Constraints of graphs over variables with bounds.

    deployed: each node's error is a free number within what its arithmetic can do; else exact.
    contradictory: set where the bounds alone leave no point. Raises UnsupportedError for nodes
    without an exact counterpart in z3, for a deployed result that may overflow or has no bounds.
    """

    def __init__(self, *, deployed: bool, prefix: str = "v") -> None:
        self.reals: list[Real] = []
        self.constraints: list[Bool] = []
        self.contradictory = False
        self._variables = Variables()
        self._deployed, self._prefix = deployed, prefix
        self._phases: Phases = {}
        self._known: Known | None = None

    def add(self, low: End, high: End, real: Real | None = None) -> Line:
        """A variable whose bounds are known from elsewhere; a new real unless one is given."""
        number = self._variables.add(low, high)
        self.reals.append(z3.Real(f"{self._prefix}{number}") if real is None else real)
        return Line({number: Fraction(1)}, Fraction(0))

    def encode(
        self,
        graph: Graph,
        inputs: Sequence[Line],
        *,
        phases: Phases | None = None,
        known: Known | None = None,
    ) -> list[Line]:
        """The graph's outputs over its inputs; empty once the bounds contradict each other."""
        self._phases, self._known = phases or {}, known
        forms: list[Affine] = []
        for at, node in enumerate(graph.nodes):
            if node.kind == "input":
                lines = list(inputs[node.first : node.first + node.size])
                forms.append(affine_of(lines, len(self._variables)))
            else:
                forms.append(self._form(at, node, [forms[each] for each in node.inputs]))
            if self.contradictory:
                return []
        return [forms[-1].entry(k) for k in range(forms[-1].size)]

    def bounds(self, line: Line) -> Interval:
        """What a line can be by the bounds of its variables."""
        return line.bounds(self._variables)

    def real(self, line: Line) -> Real:
        """The line as a z3 real, without its radius."""
        terms = [q(c) * self.reals[v] for v, c in line.coefficients.items()]
        return total([*terms, q(line.constant)])

    def at_most(self, line: Line, limit: Fraction, *, strict: bool = False) -> Bool:
        """Whether the line can be at most (below) the limit, its radius used in favour."""
        bound = q(limit + line.radius)
        return self.real(line) < bound if strict else self.real(line) <= bound

    def _form(self, at: int, node: Node, inputs: Sequence[Affine]) -> Affine:
        if node.kind == "linear":
            return self._linear(node, inputs)
        if node.kind in ("max", "min"):
            lines = [self._pair(node, inputs, k) for k in range(node.size)]
        elif node.kind in ("product", "square"):
            lines = [self._product(node, inputs[0], inputs[-1], k) for k in range(node.size)]
        elif node.kind in ("divide", "cast"):
            lines = [self._scaled(node, inputs[0], k) for k in range(node.size)]
        else:
            lines = [self._unary(at, node, inputs[0], k) for k in range(node.size)]
        return affine_of(lines, len(self._variables))

    def _linear(self, node: Node, inputs: Sequence[Affine]) -> Affine:
        bias = np.zeros(node.size) if node.bias is None else node.bias
        parts = list(zip(node.weights, inputs, strict=True))
        form = mapped(parts, bias, len(self._variables))
        if not self._deployed or node.precision == "exact":
            return form
        rounding = FORMATS[node.precision]
        sizes = [Fraction(abs(each)) for each in bias.tolist()]
        for matrix, part in parts:
            whole, below = integers(np.abs(matrix))
            largest = np.array(
                [ceiling(self._largest(part.entry(k))) for k in range(part.size)], dtype=object
            )
            for k, size in enumerate(product(whole, largest[:, None])[:, 0].tolist()):
                sizes[k] += Fraction(size, below * FINE)
        terms = sum(matrix.shape[1] for matrix, _ in parts)
        radius = form.radius.copy()
        for k, size in enumerate(sizes):
            error = rounding.summed(terms, size)
            _check_overflow(size + error, rounding.largest)
            radius[k] += ceiling(error)
        return Affine(form.rows, form.offset, form.below, radius)

    def _scaled(self, node: Node, form: Affine, k: int) -> Line:
        line = form.entry(k)
        if node.divisor is not None:
            line = line.scaled(1 / Fraction(float(node.divisor[k])))
        return line.wider(self._error(node, line))

    def _largest(self, line: Line) -> Fraction:
        """The greatest absolute value. Raises UnsupportedError where there is none."""
        low, high = line.bounds(self._variables)
        if isinstance(low, float) or isinstance(high, float):
            raise UnsupportedError(
                "A deployed result has no bounds here, so neither has its rounding error; bound "
                'every state and action, or ask with semantics="real".'
            )
        return max(Fraction(-low), Fraction(high))

    def _error(self, node: Node, exact: Line) -> Fraction:
        """Of one rounding of a number, where the deployed program rounds."""
        if not self._deployed or node.precision == "exact":
            return Fraction(0)
        size, rounding = self._largest(exact), FORMATS[node.precision]
        _check_overflow(size + rounding.rounded(size), rounding.largest)
        return rounding.rounded(size)

    def _unary(self, at: int, node: Node, form: Affine, k: int) -> Line:
        line = form.entry(k)
        low, high = self._span(line, node.inputs[0], k)
        phase = self._phases.get((at, k))
        if phase is not None:
            turned = line.scaled(Fraction(-1 if phase else 1))
            self.constraints.append(self.at_most(turned, Fraction(0)))
            low = max(low, Fraction(0)) if phase else low
            high = high if phase else min(high, Fraction(0))
        if low > high:
            self.contradictory = True
            return line
        # only the side of leaky_relu that multiplies is rounded
        error = Fraction(0)
        if node.kind == "leaky_relu":
            error = self._error(node, line.scaled(Fraction(node.slope)))
        cases = unary_cases(node, k, line, (low, high), error)
        return self._chosen(cases, image(node, k, (low, high), error))

    def _pair(self, node: Node, inputs: Sequence[Affine], k: int) -> Line:
        left, right = (form.entry(k) for form in inputs)
        (a, b), (c, d) = self.bounds(left), self.bounds(right)
        of = max if node.kind == "max" else min
        cases = pair_cases(node, left, right, self.bounds(left.minus(right)))
        return self._chosen(cases, (of(a, c), of(b, d)))

    def _chosen(self, cases: Sequence[Case], span: Interval) -> Line:
        """The only case's value, or a variable within `span` that is one of them."""
        if len(cases) == 1:
            return cases[0].value
        line = self.add(*span)
        meant = self.reals[-1]
        for below in cases[0].relaxed:
            self.constraints.append(self.at_most(below.minus(line), Fraction(0)))
        for above in cases[-1].relaxed:
            self.constraints.append(self.at_most(line.minus(above), Fraction(0)))
        self._bound(meant, self._variables.bounds[-1])
        self.constraints.append(z3.Or(*(self._case(case, meant) for case in cases)))
        return line

    def _bound(self, real: Real, span: Interval) -> None:
        low, high = span
        if isinstance(low, Fraction):
            self.constraints.append(real >= q(low))
        if isinstance(high, Fraction):
            self.constraints.append(real <= q(high))

    def _case(self, case: Case, meant: Real) -> Bool:
        conditions = [self.at_most(each, Fraction(0)) for each in case.conditions]
        value, radius = self.real(case.value), q(case.value.radius)
        return z3.And(*conditions, meant <= value + radius, meant >= value - radius)

    def _product(self, node: Node, left: Affine, right: Affine, k: int) -> Line:
        one, two = left.entry(k), right.entry(k)
        (a, b), (c, d) = self.bounds(one), self.bounds(two)
        radius, low, high = Fraction(0), -INFINITY, INFINITY
        span: Interval = (low, high)
        if not any(isinstance(end, float) for end in (a, b, c, d)):
            ends = [a * c, a * d, b * c, b * d]
            span = (min(ends), max(ends))
        if node.kind == "square" and a <= 0 <= b:
            span = (Fraction(0), span[1])
        if one.radius or two.radius:
            radius = self._largest(one) * two.radius + self._largest(two) * one.radius
        line = self.add(*span)
        exact = self.real(one) * self.real(two)
        if node.precision != "exact":
            radius += self._error(node, line)
        if radius:
            whole = self._largest(line) + radius
            line = self.add(-whole, whole)
        meant = self.reals[-1]
        self.constraints += [meant <= exact + q(radius), meant >= exact - q(radius)]
        return line

    def _span(self, line: Line, node: int, k: int) -> Interval:
        """The bounds of an entry, those that are known from elsewhere counted in."""
        low, high = line.bounds(self._variables)
        if self._known is not None:
            lows, highs = self._known[node]
            below, above = float(lows.ravel()[k]), float(highs.ravel()[k])
            low = max(low, Fraction(below)) if np.isfinite(below) else low
            high = min(high, Fraction(above)) if np.isfinite(above) else high
        return low, high


def q(value: Fraction) -> Real:
    """A rational for z3."""
    return z3.Q(value.numerator, value.denominator)


def _check_overflow(size: Fraction, largest: Fraction) -> None:
    if size > largest:
        raise UnsupportedError("A deployed result may overflow on this cell.")
