"""Paths of a closed loop in z3: states, actions and disturbances at samples, tied by the model."""

from collections.abc import Mapping
from fractions import Fraction

from safegym.check.symbolic.affine import Interval
from safegym.check.symbolic.encode import q
from safegym.check.symbolic.engine import Bool, Real, z3
from safegym.check.symbolic.model_policy import Encoding
from safegym.check.symbolic.ranges import ANYTHING, range_of
from safegym.check.symbolic.symbols import symbol
from safegym.check.symbolic.terms import term_real
from safegym.formula.dynamics import Dynamics
from safegym.formula.terms import Signal, Term

Ranges = Mapping[str, Interval]
"""State's name -> every value that it may have."""


class Paths:
    """All paths of the loop from sample 0 on, made longer on demand.

    start: what the states can be at samples 0 to `until`, by what is asserted there elsewhere.
    """

    def __init__(
        self, dynamics: Dynamics, policy: Encoding, start: Ranges, *, until: int = 0
    ) -> None:
        self.dynamics, self.policy = dynamics, policy
        self._start, self._until = start, until
        first = {signal.name: start.get(signal.name, ANYTHING) for signal in dynamics.states}
        self._ranges: list[dict[str, Interval]] = [first]
        self._acting: list[list[Bool]] = []
        self._moving: list[list[Bool]] = []

    def constraints(self, last: int, *, acting: bool) -> list[Bool]:
        """What ties samples 0 to `last`; acting: the last one's action and disturbance too."""
        while len(self._moving) < last:
            self._extend()
        if acting and len(self._acting) <= last:
            self._act()
        found = [rule for at in range(last) for rule in (*self._acting[at], *self._moving[at])]
        return found + (self._acting[last] if acting else [])

    def _extend(self) -> None:
        at = len(self._moving)
        if len(self._acting) <= at:
            self._act()
        names = self._ranges[at]
        rules: list[Bool] = []
        after: dict[str, Interval] = {}
        for signal, term in zip(self.dynamics.states, self.dynamics.next, strict=True):
            rules.append(symbol(signal.name, 0, at + 1) == self._real(term, at))
            low, high = range_of(term, names)
            least, most = self._start.get(signal.name, ANYTHING)
            after[signal.name] = (low, high)
            if at < self._until and low <= most and high >= least:
                after[signal.name] = (max(low, least), min(high, most))
            rules += bounded(symbol(signal.name, 0, at + 1), (low, high))
        self._moving.append(rules)
        self._ranges.append(after)

    def _act(self) -> None:
        """Adds the action and the disturbance of the last sample that there is."""
        at = len(self._acting)
        names, rules = self._ranges[at], list[Bool]()
        seen: list[Real] = []
        for place, term in enumerate(self.dynamics.observation):
            real = self._real(term, at)
            if not isinstance(term, Signal):
                named = z3.Real(f"observed{place}@{at}")
                rules.append(named == real)
                real = named
            seen.append(real)
        ranges = [range_of(term, names) for term in self.dynamics.observation]
        acted = self.policy.act(seen, ranges, at)
        rules += acted.constraints
        for signal, given, span in zip(
            self.dynamics.actions, acted.actions, acted.ranges, strict=True
        ):
            real, clipped, limited = symbol(signal.name, 0, at), given, span
            if signal.bounds is not None:
                clipped, limited = _clipped(given, span, signal.bounds)
            rules.append(real == clipped)
            names[signal.name] = limited
        for signal in self.dynamics.disturbances:
            low, high = (Fraction(end) for end in signal.bounds or ())
            names[signal.name] = (low, high)
            rules += bounded(symbol(signal.name, 0, at), (low, high))
        self._acting.append(rules)

    def _real(self, term: Term, at: int) -> Real:
        return term_real(term, lambda name, component: symbol(name, component, at))


def bounded(real: Real, span: Interval) -> list[Bool]:
    """The real within the finite ends of the span."""
    low, high = span
    found: list[Bool] = []
    if isinstance(low, Fraction):
        found.append(real >= q(low))
    if isinstance(high, Fraction):
        found.append(real <= q(high))
    return found


def _clipped(given: Real, span: Interval, bounds: tuple[float, float]) -> tuple[Real, Interval]:
    """The action as the deployed system clips it."""
    low, high = (Fraction(end) for end in bounds)
    found = given
    if span[1] > high:
        found = z3.If(given > q(high), q(high), found)
    if span[0] < low:
        found = z3.If(given < q(low), q(low), found)
    return found, (min(max(span[0], low), high), max(min(span[1], high), low))
