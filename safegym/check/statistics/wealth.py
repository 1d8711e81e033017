"""The wealth of bets on a bounded mean: certified, yet looked at closely only near its goal."""

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.directed import directed, power
from safegym.check.statistics.mixture import Mixture, log_of
from safegym.errors import EvidenceError

DIGITS: Final = 50
_STEP_SLACK: Final = 1e-13
_UNIT: Final = 2.0**-45

Floats = NDArray[np.float64]


class Wealth:
    """Lower ends of the running products of one mixture's factors over values in [low, high].

    A value x has the share s = (x - low) / (high - low), or 1 - s when `mirrored`; one step
    multiplies product j by s * on_violation[j] + (1 - s) * on_safe[j], the straight line through
    the two Bernoulli factors: its mean depends on E[x] alone, so it is <= 1 under the same null as
    for x in {0, 1}. Products are directed decimals (50 digits). They are brought up to date only
    when asked for, or when floats with an error bound cannot exclude that the goal is reached, so
    every answer is the one that decimals at each step would give.
    """

    __slots__ = (
        "_bound",
        "_factors",
        "_goal",
        "_high",
        "_log_goal",
        "_logs",
        "_low",
        "_mirrored",
        "_products",
        "_spread",
        "_steps",
        "_top",
        "_unseen",
        "_unsettled",
        "_width",
    )

    def __init__(
        self, mixture: Mixture, level: Fraction, low: float, high: float, *, mirrored: bool
    ) -> None:
        lower = directed(DIGITS).lower
        pairs = list(zip(mixture.on_violation, mixture.on_safe, strict=True))
        self._factors = [(lower(bad), lower(good)) for bad, good in pairs]
        self._goal = directed(DIGITS).upper(1 / level)
        self._log_goal = log_of(1 / level)
        self._low, self._high, self._mirrored = low, high, mirrored
        self._width = float(Fraction(high) - Fraction(low))
        self._steps = np.array([[float(bad), float(good)] for bad, good in pairs]).T
        self._top = (float(self._steps[0].max()), float(self._steps[1].max()))
        self.restart([lower(weight) for weight in mixture.weights])

    def restart(self, products: Sequence[Decimal]) -> None:
        """Go on from these products."""
        self._products = list(products)
        self._unsettled: list[float] = []
        self._unseen: list[float] = []
        self._logs = np.array([_log(product) for product in products])
        self._spread = float(np.abs(self._logs[np.isfinite(self._logs)]).max(initial=0.0))
        self._bound = self._upper_bound()

    def within_reach(self, products: Sequence[Decimal], steps: int) -> bool:
        """Whether that many values can have led from these products of a new wealth to `products`.

        No step multiplies a product by more than its greater factor.
        """
        up = directed(DIGITS).up
        return all(
            found <= up.multiply(start, power(max(pair), steps, up))
            for found, start, pair in zip(products, self.products, self._factors, strict=True)
        )

    def add(self, x: float) -> bool:
        """Add one value and say whether the goal is reached: never early."""
        self._unsettled.append(x)
        self._unseen.append(x)
        share, rest = (x - self._low) / self._width, (self._high - x) / self._width
        if self._mirrored:
            share, rest = rest, share
        most = share * self._top[0] + rest * self._top[1]
        self._bound += (math.log(most) if most > 0.0 else 0.0) + _STEP_SLACK
        if self._bound < self._log_goal:
            return False
        self._look()
        return self._bound >= self._log_goal and self.crosses()

    @property
    def products(self) -> list[Decimal]:
        """The certified products, up to date."""
        if self._unsettled:
            self._settle()
        return self._products

    def value(self) -> Decimal:
        """A lower end of the wealth."""
        total = Decimal(0)
        for product in self.products:
            total = directed(DIGITS).down.add(total, product)
        return total

    def crosses(self) -> bool:
        """Whether the lower end has reached the goal."""
        return self.value() >= self._goal

    def _look(self) -> None:
        """Bring the float logarithms up to date, and the bound on log wealth with them."""
        values = np.array(self._unseen)
        share, rest = (values - self._low) / self._width, (self._high - values) / self._width
        if self._mirrored:
            share, rest = rest, share
        factors = share[:, None] * self._steps[0] + rest[:, None] * self._steps[1]
        with np.errstate(divide="ignore"):
            logs = np.log(factors)
        self._logs = self._logs + logs.sum(axis=0)
        sizes = np.abs(logs)
        self._spread += float(np.where(np.isfinite(sizes), sizes, 0.0).max(axis=1).sum())
        self._spread += len(self._unseen)
        self._unseen = []
        self._bound = self._upper_bound()

    def _upper_bound(self) -> float:
        top = float(self._logs.max())
        if top == -math.inf:
            return top
        total = top + math.log(float(np.exp(self._logs - top).sum()))
        return total + _UNIT * (64.0 + self._spread)

    def _settle(self) -> None:
        down, up = directed(DIGITS).down, directed(DIGITS).up
        low, high = Decimal(self._low), Decimal(self._high)
        width = up.subtract(high, low)
        products = self._products
        for x in self._unsettled:
            exact = Decimal(x)
            share = down.divide(down.subtract(exact, low), width)
            rest = down.divide(down.subtract(high, exact), width)
            if self._mirrored:
                share, rest = rest, share
            products = [
                down.multiply(
                    product, down.add(down.multiply(share, bad), down.multiply(rest, good))
                )
                for product, (bad, good) in zip(products, self._factors, strict=True)
            ]
        self._products, self._unsettled = products, []


def read_products(texts: Iterable[str], like: Sequence[Decimal]) -> list[Decimal]:
    """Products as a state holds them. Raises EvidenceError unless they fit."""
    products = [Decimal(text) for text in texts]
    if len(products) != len(like) or not all(p.is_finite() and p >= 0 for p in products):
        raise EvidenceError(f"Wealth must be {len(like)} finite numbers >= 0.")
    return products


def _log(value: Decimal) -> float:
    """Natural logarithm of a decimal of any size; -inf of 0."""
    if value == 0:
        return -math.inf
    exponent = value.adjusted()
    digits = directed(DIGITS).down.scaleb(value, -exponent)  # the default context has a short range
    return math.log(float(digits)) + exponent * math.log(10.0)
