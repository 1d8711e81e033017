"""The mixture that every e-process here is made of, and its certified comparison with a goal."""

import math
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.statistics.directed import directed, power

DIGITS = (50, 200, 800)
_SLACK = 2.0**-45
_ZERO = -1e30
"""Stands for log 0: any positive multiple of it has the exponential 0, and 0 times it is 0."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Logs:
    """Natural logarithms of weights and factors, each shape (J,), correctly rounded to binary64."""

    weights: Floats
    on_violation: Floats
    on_safe: Floats
    steepest_violation: float
    steepest_safe: float


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """E(v, s) = sum_j weights[j] * on_violation[j]**v * on_safe[j]**s, all exact rationals.

    v violations and s safe episodes. Under the null each factor has mean <= 1, so E is a
    nonnegative supermartingale from 1 (Ville: it ever reaches 1/a with probability <= a).
    """

    weights: tuple[Fraction, ...]
    on_violation: tuple[Fraction, ...]
    on_safe: tuple[Fraction, ...]
    _cache: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False)

    def exact(self, violations: int, safe: int) -> Fraction:
        """E as a rational number. Slow: its size grows with the counts."""
        terms = zip(self.weights, self.on_violation, self.on_safe, strict=True)
        return sum((w * u**violations * s**safe for w, u, s in terms), Fraction(0))

    def enclosure(self, violations: int, safe: int, digits: int) -> tuple[Decimal, Decimal]:
        """Decimals (lower, upper) with lower <= E <= upper, from that many digits."""
        arithmetic = directed(digits)
        if digits not in self._cache:
            parts = (self.weights, self.on_violation, self.on_safe)
            self._cache[digits] = (
                list(zip(*([arithmetic.lower(x) for x in part] for part in parts), strict=True)),
                list(zip(*([arithmetic.upper(x) for x in part] for part in parts), strict=True)),
            )
        ends: list[Decimal] = []
        contexts = (arithmetic.down, arithmetic.up)
        for context, terms in zip(contexts, self._cache[digits], strict=True):
            total = Decimal(0)
            for weight, on_violation, on_safe in terms:
                product = context.multiply(weight, power(on_violation, violations, context))
                product = context.multiply(product, power(on_safe, safe, context))
                total = context.add(total, product)
            ends.append(total)
        return ends[0], ends[1]

    def reaches(self, violations: int, safe: int, goal: Fraction) -> bool:
        """Whether E >= goal, decided without error: enclosures first, rationals on a near tie."""
        for digits in DIGITS:
            lower, upper = self.enclosure(violations, safe, digits)
            if lower >= directed(digits).upper(goal):
                return True
            if upper < directed(digits).lower(goal):
                return False
        return self.exact(violations, safe) >= goal

    @property
    def logs(self) -> Logs:
        """Logarithms for the quick path."""
        if "logs" not in self._cache:
            on_violation, on_safe = _logs(self.on_violation), _logs(self.on_safe)
            self._cache["logs"] = Logs(
                weights=_logs(self.weights),
                on_violation=on_violation,
                on_safe=on_safe,
                steepest_violation=float(np.max(np.abs(on_violation[on_violation > _ZERO]))),
                steepest_safe=float(np.max(np.abs(on_safe[on_safe > _ZERO]))),
            )
        logs: Logs = self._cache["logs"]
        return logs

    def log_value(self, violations: ArrayLike, safe: ArrayLike) -> tuple[Floats, Floats]:
        """Log E and its slope per safe episode, shape as broadcast; floats, not certified."""
        logs = self.logs
        v, s = np.broadcast_arrays(
            np.asarray(violations, dtype=np.float64), np.asarray(safe, dtype=np.float64)
        )
        terms = (
            logs.weights[:, None]
            + logs.on_violation[:, None] * v.reshape(1, -1)
            + logs.on_safe[:, None] * s.reshape(1, -1)
        )
        top = terms.max(axis=0)
        shares = np.exp(terms - top)
        total = shares.sum(axis=0)
        slope = (shares * logs.on_safe[:, None]).sum(axis=0) / total
        return (top + np.log(total)).reshape(v.shape), slope.reshape(v.shape)

    def log_slack(self, violations: ArrayLike, safe: ArrayLike) -> Floats:
        """A bound, 2**8 rounding units wide, on the error of `log_value`."""
        logs = self.logs
        v = np.asarray(violations, dtype=np.float64)
        s = np.asarray(safe, dtype=np.float64)
        return _SLACK * (64.0 + logs.steepest_violation * v + logs.steepest_safe * s)


def _logs(values: tuple[Fraction, ...]) -> Floats:
    logs = np.array([_log(value) for value in values], dtype=np.float64)
    logs.flags.writeable = False
    return logs


def _log(value: Fraction) -> float:
    """Natural logarithm, right to the last bit also where `value` is close to 1."""
    if value == 0:
        return _ZERO
    excess = value - 1
    if excess and abs(excess) < Fraction(1, 10**12):
        return float(excess - excess**2 / 2 + excess**3 / 3)
    with localcontext() as context:
        context.prec = 60
        return float((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def log_of(goal: Fraction) -> float:
    """log(goal) as a float for a goal >= 1 of any size."""
    return math.log(goal.numerator) - math.log(goal.denominator) if goal > 2 else _log(goal)
