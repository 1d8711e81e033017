"""Bounded means: the e-process's linear form, for claims mean(x) < c and mean(x) > c."""

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

from safegym.check.statistics.eprocess import SMALLEST_THRESHOLD
from safegym.check.statistics.exact import (
    Probability,
    episode_count,
    exact_probability,
    finite_float,
    one_of,
    read_fraction,
    written,
)
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.outcomes import Decision
from safegym.check.statistics.wealth import Wealth, read_products
from safegym.errors import EvidenceError


class MeanEProcess:
    """Decides between mean(x) < threshold ("below") and mean(x) > threshold ("above").

    x is one number per independent episode, in the declared range [low, high], fed in index
    order; `threshold` lies strictly inside the range. `claim` is the side that is hoped for: it
    gets the grid with half its weight on the boldest bet, the other side the mirror grid. Each side
    errs with probability at most `level`, at every peek. Wealth is kept as certified lower ends (50
    digits), so a decision is never early.
    Raises EvidenceError for a threshold outside the range, or within 1e-12 of its width of an end,
    a range too wide for binary64, and a level outside (0, 1).
    It is a betting martingale with a fixed mixture of bets: see `Wealth` for why it is valid.
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
        self._low, self._high = finite_float(low, "low"), finite_float(high, "high")
        exact = threshold if isinstance(threshold, Fraction) else None
        self._threshold = exact or Fraction(finite_float(threshold, "threshold"))
        if not math.isfinite(self._high - self._low):
            raise EvidenceError(
                f"The declared range [{low}, {high}] is too wide for binary64; write for example "
                "low=0.0, high=1.0."
            )
        if not self._low < self._threshold < self._high:
            raise EvidenceError(
                f"threshold = {threshold} is not strictly inside the declared range "
                f"[{low}, {high}]; declare the range with low= and high=."
            )
        if claim not in ("below", "above"):
            raise EvidenceError(f"claim = {claim!r} is not 'below' or 'above'.")
        self._claim: Decision = claim
        start, end = Fraction(self._low), Fraction(self._high)
        boundary = (self._threshold - start) / (end - start)
        turned = claim == "above"
        boundary = 1 - boundary if turned else boundary
        if not SMALLEST_THRESHOLD <= boundary <= 1 - SMALLEST_THRESHOLD:
            raise EvidenceError(
                f"threshold = {threshold} is within 1e-12 of an end of [{low}, {high}]: no number "
                "of episodes that can be run would decide it; declare the range that is needed."
            )
        ends = (self._low, self._high)
        self._hoped = Wealth(below_mixture(boundary), self._level, *ends, mirrored=turned)
        self._other = Wealth(above_mixture(boundary), self._level, *ends, mirrored=turned)
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
        least = finite_float(lowest, "lowest")
        most = least if highest is None else finite_float(highest, "highest")
        if not self._low <= least <= most <= self._high:
            raise EvidenceError(
                f"An episode's value [{least}, {most}] must be ordered and inside the declared "
                f"range [{self._low}, {self._high}]; declare the range with low= and high=."
            )
        if self._decision is not None:
            self._surplus += 1
            return self._decision
        worst, best = (most, least) if self._claim == "below" else (least, most)
        shown, refuted = self._hoped.add(worst), self._other.add(best)
        self._episodes += 1
        if shown:
            self._decision = self._claim
        elif refuted:
            self._decision = "above" if self._claim == "below" else "below"
        return self._decision

    def e_value(self, side: Decision) -> Decimal:
        """A lower end (50 digits) of the side's e-value now.

        Raises EvidenceError for a side that is neither "below" nor "above".
        """
        if not one_of(side, ("below", "above")):
            raise EvidenceError(f"side = {side!r} is not 'below' or 'above'.")
        return (self._hoped if side == self._claim else self._other).value()

    def state(self) -> dict[str, Any]:
        """Everything, as a JSON value. `MeanEProcess.from_state` reads it back."""
        return {
            "kind": "mean-e-process/1",
            "threshold": written(self._threshold),
            "level": written(self._level),
            "low": written(Fraction(self._low)),
            "high": written(Fraction(self._high)),
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

        Raises EvidenceError if the state is malformed, if its decision is not what its own wealth
        gives, or if no values of that many episodes give as much wealth. (That the wealth belongs
        to these episodes is for whoever replays them to check.)
        """
        try:
            process = cls._blank(state)
            process._episodes = episode_count(state["episodes"], "episodes")
            process._surplus = episode_count(state["surplus"], "surplus")
            for wealth, name in ((process._hoped, "hoped"), (process._other, "other")):
                products = read_products(state[name], wealth.products)
                if not wealth.within_reach(products, process._episodes):
                    raise EvidenceError(
                        f"The state's wealth {name!r} is more than its {process._episodes} "
                        "episodes can have given."
                    )
                wealth.restart(products)
            decision = state["decision"]
        except (KeyError, TypeError, IndexError, ArithmeticError, ValueError) as error:
            if isinstance(error, EvidenceError):
                raise
            raise EvidenceError(f"The state of a mean e-process is malformed: {error}.") from error
        found: Decision | None = None
        if process._hoped.crosses():
            found = process._claim
        elif process._other.crosses():
            found = "above" if process._claim == "below" else "below"
        if decision != found:
            raise EvidenceError(f"The state says {decision!r}, but its wealth gives {found!r}.")
        if found is None and process._surplus:
            raise EvidenceError("The state has a surplus where nothing is decided.")
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
