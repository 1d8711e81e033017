"""A slow evaluator of the predicate language: plain Python, straight from the rules.

It shares nothing with the monitor's plan: it walks the formula in seconds, keeps its own polarity
instead of a negation normal form, counts samples with fractions, and loops over every window.
A value is (must, may, lo, hi): the Kleene pair and the robustness interval.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from safegym.formula import nodes as n
from safegym.formula.nodes import Atom, Formula
from safegym.formula.terms import Apply, Component, Constant, Signal, Term

Value = tuple[bool, bool, float, float]
TRUE: Value = (True, True, math.inf, math.inf)
FALSE: Value = (False, False, -math.inf, -math.inf)
UNKNOWN: Value = (False, True, -math.inf, math.inf)


def both(*values: Value) -> Value:
    """Conjunction."""
    result = TRUE
    for v in values:
        result = (
            result[0] and v[0],
            result[1] and v[1],
            min(result[2], v[2]),
            min(result[3], v[3]),
        )
    return result


def either(*values: Value) -> Value:
    """Disjunction."""
    result = FALSE
    for v in values:
        result = (result[0] or v[0], result[1] or v[1], max(result[2], v[2]), max(result[3], v[3]))
    return result


@dataclass
class Reference:
    """The rules over one trace. scale: margins are divided by this (one scale for all atoms).

    gaps: closed intervals of samples at which a signal is not known, by its name.
    """

    signals: dict[str, Sequence[Any]]
    dt: Fraction
    kind: str
    horizon: int | None = None
    scale: float = 1.0
    known: dict[tuple[Formula, int, bool], Value] = field(default_factory=dict)
    gaps: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)

    @property
    def last(self) -> int:
        return len(next(iter(self.signals.values()))) - 1

    @property
    def end(self) -> int:
        return self.last if self.horizon is None else min(self.last, self.horizon)

    @property
    def open(self) -> bool:
        return self.kind == "interrupted" and (self.horizon is None or self.last < self.horizon)

    def robustness(self, f: Formula) -> list[tuple[float, float]]:
        if isinstance(f, n.Not | n.Fraction):
            share = self._share(f)
            if share is not None:
                return [share[2:]] * (self.last + 1)
        return [self.value(f, k)[2:] for k in range(self.last + 1)]

    def truth(self, f: Formula) -> list[tuple[bool, bool]]:
        share = self._share(f)
        if share is not None:
            return [share[:2]] * (self.last + 1)
        return [self.value(f, k)[:2] for k in range(self.last + 1)]

    def status(self, f: Formula) -> str:
        value = self._share(f) or self.value(f, 0)
        return "satisfied" if value[0] else "inconclusive" if value[1] else "violated"

    def share(self, f: Formula) -> tuple[Fraction, Fraction]:
        """The exact share of an episode's samples on which f must hold, and on which it may."""
        values = [self.value(f, k) for k in range(self.end + 1)]
        low, high, total = sum(v[0] for v in values), sum(v[1] for v in values), len(values)
        if self.open:
            if self.horizon is None:
                return Fraction(0), Fraction(1)
            high += self.horizon + 1 - total
            total = self.horizon + 1
        return Fraction(low, total), Fraction(high, total)

    def _share(self, f: Formula) -> Value | None:
        flip = False
        while isinstance(f, n.Not):
            f, flip = f.argument, not flip
        if not isinstance(f, n.Fraction):
            return None
        total = self.end + 1
        values = [self.value(f.argument, k) for k in range(self.end + 1)]
        low, high = sum(v[0] for v in values), sum(v[1] for v in values)
        if self.open:
            if self.horizon is None:
                low, high, total = 0, 1, 1
            else:
                total = self.horizon + 1
                high += total - len(values)
        ends = [low / total, high / total]
        comparison = f.comparison
        if flip:
            comparison = {"<": ">=", ">=": "<", "<=": ">", ">": "<="}[comparison]
        holds = [
            {"<": e < f.bound, "<=": e <= f.bound, ">": e > f.bound, ">=": e >= f.bound}[comparison]
            for e in ends
        ]
        margins = [e - f.bound if comparison in (">", ">=") else f.bound - e for e in ends]
        return all(holds), any(holds), min(margins), max(margins)

    def value(self, f: Formula, k: int, positive: bool = True) -> Value:
        key = (f, k, positive)
        if key not in self.known:
            self.known[key] = self._value(f, k, positive)
        return self.known[key]

    def _value(self, f: Formula, k: int, p: bool) -> Value:
        if isinstance(f, n.Boolean):
            return TRUE if f.value == p else FALSE
        if isinstance(f, Atom):
            return self._atom(f, k, p)
        if isinstance(f, n.Not):
            return self.value(f.argument, k, not p)
        if isinstance(f, n.And | n.Or):
            fold = both if isinstance(f, n.And) == p else either
            return fold(*(self.value(g, k, p) for g in f.arguments))
        if isinstance(f, n.Implies):
            fold = either if p else both
            return fold(self.value(f.left, k, not p), self.value(f.right, k, p))
        if isinstance(f, n.Iff | n.Xor):
            same = isinstance(f, n.Iff) == p
            return either(
                both(self.value(f.left, k, True), self.value(f.right, k, same)),
                both(self.value(f.left, k, False), self.value(f.right, k, not same)),
            )
        return self._temporal(f, k, p)

    def _atom(self, f: Atom, k: int, p: bool) -> Value:
        if k > self.last:
            if self.kind == "failed":
                return FALSE
            if self.kind in ("horizon", "interrupted"):
                return UNKNOWN
            assert self.kind == "absorbed", "positions after a cut do not exist"
            k = self.last
        if self._hidden(f, k):
            return UNKNOWN
        left, right = self.term(f.left, k), self.term(f.right, k)
        comparison = f.comparison
        if not p:
            comparison = {"<": ">=", ">=": "<", "<=": ">", ">": "<="}[comparison]
        truth = {
            "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right
        }[comparison]  # fmt: skip
        margin = (right - left if comparison in ("<", "<=") else left - right) / self.scale
        return truth, truth, margin, margin

    def _hidden(self, f: Atom, k: int) -> bool:
        """Whether the atom reads a signal that is not known at sample k."""
        below: list[Term] = [f.left, f.right]
        while below:
            t = below.pop()
            if isinstance(t, Apply):
                below.extend(t.arguments)
            elif isinstance(t, Signal | Component):
                name = t.name if isinstance(t, Signal) else t.signal.name
                if any(first <= k <= last for first, last in self.gaps.get(name, ())):
                    return True
        return False

    def term(self, t: Term, k: int) -> float:
        if isinstance(t, Constant):
            return t.value
        if isinstance(t, Signal):
            return float(self.signals[t.name][k])
        if isinstance(t, Component):
            return float(self.signals[t.signal.name][k][t.index])
        assert isinstance(t, Apply)
        a = [self.term(argument, k) for argument in t.arguments]
        rules: dict[str, Callable[[], float]] = {
            "+": lambda: a[0] + a[1],
            "-": lambda: a[0] - a[1],
            "*": lambda: a[0] * a[1],
            "/": lambda: a[0] / a[1],
            "neg": lambda: -a[0],
            "abs": lambda: abs(a[0]),
            "min": lambda: min(a),
            "max": lambda: max(a),
            "norm": lambda: math.sqrt(sum(x * x for x in a)),
            "sqrt": lambda: math.sqrt(a[0]),
            "exp": lambda: math.exp(a[0]),
            "sin": lambda: math.sin(a[0]),
            "cos": lambda: math.cos(a[0]),
        }
        return rules[t.operation]()

    def _temporal(self, f: Formula, k: int, p: bool) -> Value:
        if isinstance(f, n.Next | n.WeakNext):
            if k >= self.last and self.kind == "cut":
                return TRUE if isinstance(f, n.WeakNext) == p else FALSE
            return self.value(f.argument, k + 1, p)
        if isinstance(f, n.Previous | n.WeakPrevious):
            if k == 0:
                return TRUE if isinstance(f, n.WeakPrevious) == p else FALSE
            return self.value(f.argument, k - 1, p)
        low, high = self._samples(f)
        if isinstance(f, n.Always | n.Eventually):
            somewhere = isinstance(f, n.Eventually) == p
            return self._future(n.TRUE, f.argument, k, low, high, p, somewhere, weak_left=True)
        if isinstance(f, n.Until | n.Release):
            somewhere = isinstance(f, n.Until) == p
            return self._future(f.left, f.right, k, low, high, p, somewhere)
        first = 0 if high is None else max(0, k - high)
        js = range(first, k - low + 1)
        if isinstance(f, n.Once | n.Historically):
            fold = either if isinstance(f, n.Once) == p else both
            return fold(*(self.value(f.argument, j, p) for j in js))
        assert isinstance(f, n.Since | n.Trigger)
        fold, path = (either, both) if isinstance(f, n.Since) == p else (both, either)
        return fold(
            *(
                path(
                    self.value(f.right, j, p),
                    *(self.value(f.left, i, p) for i in range(j + 1, k + 1)),
                )
                for j in js
            )
        )

    def _future(
        self, left: Formula, right: Formula, k: int, low: int, high: int | None, p: bool,
        somewhere: bool, weak_left: bool = False,
    ) -> Value:  # fmt: skip
        """Until (somewhere) or release over [k + low, k + high], or up to E."""
        fold, path = (either, both) if somewhere else (both, either)

        def at(j: int) -> Value:
            before = [] if weak_left else [self.value(left, i, p) for i in range(k, j)]
            return path(self.value(right, j, p), *before)

        if high is not None:
            last = min(k + high, self.last) if self.kind == "cut" else k + high
            return fold(*(at(j) for j in range(k + low, last + 1)))
        if k + low > self.end:
            if self.kind == "absorbed":
                return at(k + low)
            return {"failed": FALSE, "cut": fold()}.get(self.kind, UNKNOWN)
        seen = fold(*(at(j) for j in range(k + low, self.end + 1)))
        if not self.open:
            return seen
        held = [] if weak_left else [self.value(left, i, p) for i in range(k, self.end + 1)]
        return fold(seen, path(UNKNOWN, *held))

    def _samples(self, f: Formula) -> tuple[int, int | None]:
        window = f.window  # type: ignore[attr-defined]  # windowed nodes only
        low = Fraction(window.lo) / self.dt
        high = None if window.hi is None else Fraction(window.hi) / self.dt
        assert low.denominator == 1
        assert high is None or high.denominator == 1
        return int(low), None if high is None else int(high)
