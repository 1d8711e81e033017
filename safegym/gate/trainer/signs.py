"""Where a violation of a claim can settle: what a sample must show for it to be that sample.

The sign is necessary and not sufficient: a violation settles at no sample without it, and where it
stands, the claim is judged. Worked out over many samples at once.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.intake import converter
from safegym.check.monitor.readings import Readings
from safegym.errors import TraceError
from safegym.formula.claim import Claim
from safegym.formula.nodes import (
    Always,
    And,
    Atom,
    Boolean,
    Eventually,
    Formula,
    Next,
    Or,
    Release,
    Until,
    WeakNext,
)
from safegym.formula.rewrite import to_steps
from safegym.formula.terms import Signal, signals_of
from safegym.gate.trainer.trigger import earliest
from safegym.scenario.agreement import recorded_units
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.conversion import Conversion

Samples = Mapping[str, NDArray[np.float64]]
"""Signal name -> its values at n samples, (n,) or (n, d), finite and as recorded."""
Shown = Callable[[Readings], Any]
"""Whether each sample shows something: truth values that broadcast to (n,)."""

_OPPOSITES = {
    "<": operator.ge,
    "<=": operator.gt,
    ">": operator.le,
    ">=": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Sign:
    """No violation settles before sample `first`, after `last`, or where `shown` is false.

    shown: None where nothing is known of the samples in between. signals: what the claim reads;
    conversions: of those that it reads in another unit than is recorded.
    """

    first: float
    last: float
    shown: Shown | None
    conversions: Mapping[str, Conversion]
    signals: tuple[Signal, ...]

    @classmethod
    def of(cls, claim: Claim, spec: ScenarioSpec) -> "Sign":
        """The sign of a claim's violations in an episode that is still open."""
        formula = to_steps(claim.property, spec.clock.dt, rounding=claim.rounding)
        return cls(
            earliest(claim, spec.clock),
            _latest(formula),
            _turns(formula),
            converter(signals_of(claim.property), recorded_units(spec)),
            tuple(signals_of(claim.property)),
        )

    def places(self, readings: Readings, count: int) -> Sequence[int]:
        """Which of `count` samples show the sign, whatever their numbers, ascending.

        readings: of the samples as recorded. All of them where a term of the claim has no finite
        value, for the judging to say so.
        """
        if self.shown is None:
            return range(count)
        try:
            shown = self.shown(self._read(readings))
        except TraceError:
            return range(count)
        places: list[int] = np.broadcast_to(shown, count).nonzero()[0].tolist()
        return places

    def _read(self, readings: Readings) -> Readings:
        if not self.conversions:
            return readings
        return Readings(
            {
                signal.name: self.conversions.get(signal.name, _same)(readings.value(signal))
                for signal in self.signals
            }
        )


def _same(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values


def _latest(formula: Formula) -> float:
    """No violation settles after this sample; inf unless the root tells."""
    if isinstance(formula, And):
        return max((_latest(part) for part in formula.arguments), default=inf)
    if isinstance(formula, Always) and formula.window.hi is not None:
        return float(formula.window.hi) if _is_present(formula.argument) else inf
    return inf


def _is_present(formula: Formula) -> bool:
    if isinstance(formula, (And, Or)):
        return all(map(_is_present, formula.arguments))
    return isinstance(formula, (Atom, Boolean))


def _turns(formula: Formula) -> Shown | None:
    """What the sample shows at which the formula, of any sample, turns out false.

    Of several parts the last to turn out false does so there; a comparison does at its own sample.
    None with operators of the past, which may turn out false by a sample long gone.
    """
    if isinstance(formula, Atom):
        opposite, left, right = _OPPOSITES[formula.comparison], formula.left, formula.right
        return lambda readings: opposite(readings.value(left), readings.value(right))
    if isinstance(formula, Boolean):
        broken = not formula.value
        return lambda readings: broken
    if isinstance(formula, (And, Or)):
        return _any([_turns(part) for part in formula.arguments])
    if isinstance(formula, (Always, Eventually, Next, WeakNext)):
        return _turns(formula.argument)
    if isinstance(formula, (Until, Release)):
        return _any([_turns(formula.left), _turns(formula.right)])
    return None


def _any(parts: Sequence[Shown | None]) -> Shown | None:
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    return lambda readings: reduce(operator.or_, [part(readings) for part in found])
