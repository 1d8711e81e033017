"""Bounded means: the e-process's linear form, for claims mean(x) < c and mean(x) > c."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Self

from safegym.check.statistics.directed import directed
from safegym.check.statistics.exact import (
    Probability,
    count,
    exact_probability,
    finite_float,
    read_fraction,
    written,
)
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.mixture import Mixture
from safegym.check.statistics.outcomes import Decision
from safegym.errors import EvidenceError

DIGITS: Final = 50


class _Wealth:
    """Lower ends of the running products of one mixture's factors over values in [0, 1].

    One step multiplies product j by x * on_violation[j] + (1 - x) * on_safe[j], the straight line
    through the two Bernoulli factors: its mean depends on E[x] alone, so it is <= 1 under the
    same null as for x in {0, 1}.
    """

    __slots__ = ("_arithmetic", "_factors", "_goal", "products")

    def __init__(self, mixture: Mixture, level: Fraction) -> None:
        self._arithmetic = directed(DIGITS)
        lower = self._arithmetic.lower
        pairs = zip(mixture.on_violation, mixture.on_safe, strict=True)
        self._factors = [(lower(bad), lower(good)) for bad, good in pairs]
        self._goal = self._arithmetic.upper(1 / level)
        self.products = [lower(weight) for weight in mixture.weights]

    def step(self, x: Fraction) -> None:
        down = self._arithmetic.down
        share, rest = self._arithmetic.lower(x), self._arithmetic.lower(1 - x)
        for j, (bad, good) in enumerate(self._factors):
            factor = down.add(down.multiply(share, bad), down.multiply(rest, good))
            self.products[j] = down.multiply(self.products[j], factor)

    def value(self) -> Decimal:
        total = Decimal(0)
        for product in self.products:
            total = self._arithmetic.down.add(total, product)
        return total

    def crosses(self) -> bool:
        return self.value() >= self._goal


class MeanEProcess:
    """Decides between mean(x) < threshold ("below") and mean(x) > threshold ("above").

    x is one number per independent episode, in the declared range [low, high], fed in index
    order; `threshold` lies strictly inside the range. `claim` is the side that is hoped for: it
    gets the grid with half its weight on the boldest bet, the other side the mirror grid. Each side
    errs with probability at most `level`, at every peek. Wealth is kept as certified lower ends (50
    digits), so a decision is never early.
    Raises EvidenceError for a threshold outside the range or a level outside (0, 1).
    It is a betting martingale with a fixed mixture of bets: see `_Wealth` for why it is valid.
    """

    __slots__ = (
        "_claim",
        "_decision",
        "_episodes",
        "_high",
        "_hoped",
        "_level",
        "_low",
        "_other",
        "_surplus",
        "_threshold",
    )

    def __init__(
        self,
        threshold: float | Fraction,
        level: Probability,
        *,
        claim: Decision = "below",
        low: float = 0.0,
        high: float = 1.0,
    ) -> None:
        self._level = exact_probability(level, "level")
        self._low = Fraction(finite_float(low, "low"))
        self._high = Fraction(finite_float(high, "high"))
        exact = threshold if isinstance(threshold, Fraction) else None
        self._threshold = exact or Fraction(finite_float(threshold, "threshold"))
        if not self._low < self._threshold < self._high:
            raise EvidenceError(
                f"threshold = {threshold} is not strictly inside the declared range "
                f"[{low}, {high}]; declare the range with low= and high=."
            )
        if claim not in ("below", "above"):
            raise EvidenceError(f"claim = {claim!r} is not 'below' or 'above'.")
        self._claim: Decision = claim
        boundary = self._share(self._threshold)
        self._hoped = _Wealth(below_mixture(boundary), self._level)
        self._other = _Wealth(above_mixture(boundary), self._level)
        self._episodes = 0
        self._surplus = 0
        self._decision: Decision | None = None

    @property
    def threshold(self) -> Fraction:
        """The boundary, exactly, in the unit of x."""
        return self._threshold

    @property
    def level(self) -> Fraction:
        """The error level of each side, exactly."""
        return self._level

    @property
    def episodes(self) -> int:
        """Episodes up to the decision."""
        return self._episodes

    @property
    def surplus(self) -> int:
        """Episodes fed after the decision: outside the evidence."""
        return self._surplus

    @property
    def decision(self) -> Decision | None:
        """What is claimed: "below" (mean < threshold), "above" (mean > threshold), or None."""
        return self._decision

    @property
    def decided_at(self) -> int | None:
        """Number of episodes at which it was decided; None before."""
        return self._episodes if self._decision is not None else None

    def update(self, lowest: float, highest: float | None = None) -> Decision | None:
        """Add one episode and return the decision.

        `lowest` is x; where the episode leaves x open, the range [lowest, highest] it may lie in:
        "below" then takes the highest and "above" the lowest.
        Raises EvidenceError, and counts nothing, for values outside the declared range.
        """
        least = Fraction(finite_float(lowest, "lowest"))
        most = least if highest is None else Fraction(finite_float(highest, "highest"))
        if not self._low <= least <= most <= self._high:
            raise EvidenceError(
                f"An episode's value [{float(least)}, {float(most)}] must be ordered and inside "
                f"the declared range [{float(self._low)}, {float(self._high)}]."
            )
        if self._decision is not None:
            self._surplus += 1
            return self._decision
        ends = (self._share(least), self._share(most))
        self._hoped.step(max(ends))
        self._other.step(min(ends))
        self._episodes += 1
        if self._hoped.crosses():
            self._decision = self._claim
        elif self._other.crosses():
            self._decision = "above" if self._claim == "below" else "below"
        return self._decision

    def e_value(self, side: Decision) -> Decimal:
        """A lower end (50 digits) of the side's e-value now."""
        return (self._hoped if side == self._claim else self._other).value()

    def state(self) -> dict[str, Any]:
        """Everything, as a JSON value. `MeanEProcess.from_state` reads it back."""
        return {
            "kind": "mean-e-process/1",
            "threshold": written(self._threshold),
            "level": written(self._level),
            "low": written(self._low),
            "high": written(self._high),
            "claim": self._claim,
            "episodes": self._episodes,
            "surplus": self._surplus,
            "decision": self._decision,
            "hoped": [str(product) for product in self._hoped.products],
            "other": [str(product) for product in self._other.products],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The process as it was at `state()`.

        Raises EvidenceError if the state is malformed or its decision is not what its own wealth
        gives. (That the wealth belongs to the episodes is for whoever replays them to check.)
        """
        try:
            process = cls._blank(state)
            process._episodes = count(state["episodes"], "episodes")
            process._surplus = count(state["surplus"], "surplus")
            process._hoped.products = _read_products(state["hoped"], process._hoped.products)
            process._other.products = _read_products(state["other"], process._other.products)
            decision = state["decision"]
        except (KeyError, TypeError, ArithmeticError) as error:
            raise EvidenceError(f"The state of a mean e-process is malformed: {error}.") from error
        found: Decision | None = None
        if process._hoped.crosses():
            found = process._claim
        elif process._other.crosses():
            found = "above" if process._claim == "below" else "below"
        if decision != found:
            raise EvidenceError(f"The state says {decision!r}, but its wealth gives {found!r}.")
        process._decision = found
        return process

    @classmethod
    def _blank(cls, state: Mapping[str, Any]) -> Self:
        if state["kind"] != "mean-e-process/1":
            raise EvidenceError(f"This is not the state of a mean e-process: {state['kind']!r}.")
        return cls(
            read_fraction(state["threshold"], "threshold"),
            read_fraction(state["level"], "level"),
            claim=state["claim"],
            low=float(read_fraction(state["low"], "low")),
            high=float(read_fraction(state["high"], "high")),
        )

    def __repr__(self) -> str:
        return (
            f"MeanEProcess(threshold={float(self._threshold)!r}, level={float(self._level)!r}, "
            f"claim={self._claim!r}): {self._episodes} episodes, decision {self._decision}"
        )

    def _share(self, x: Fraction) -> Fraction:
        """X on [0, 1], turned so that the hoped-for side is "below"."""
        share = (x - self._low) / (self._high - self._low)
        return share if self._claim == "below" else 1 - share


def _read_products(texts: Any, like: list[Decimal]) -> list[Decimal]:
    products = [Decimal(text) for text in texts]
    if len(products) != len(like) or not all(p.is_finite() and p >= 0 for p in products):
        raise EvidenceError(f"Wealth must be {len(like)} finite numbers >= 0.")
    return products
