"""Means: a betting e-process on the share of samples that each episode gives."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from safegym.check.statistics.boundary import below_boundary
from safegym.check.statistics.exact import float_at_least, float_at_most
from safegym.check.statistics.mean import MeanEProcess
from safegym.check.statistics.mean_limits import mean_limits
from safegym.check.statistics.outcomes import Decision
from safegym.gate.counts.count import STATUS, Figures
from safegym.gate.counts.reach import Reach
from safegym.gate.counts.seen import Seen
from safegym.gate.obligation import Obligation
from safegym.gate.reading import Reading

METHOD = "betting e-process at the threshold on each episode's share, in index order"
SMALLEST_LEVEL = Fraction(1, 10**300)
"""At this level a process never decides, so that its e-value goes on to the attempt's end."""


class MeanCount:
    """Counts shares in [0, 1] until a betting e-process at the threshold has crossed.

    An episode that leaves its share open enters at the worst end of its range, for either side.
    latest: the limit told is the one over all episodes alone, as plans of version 1 told it.
    """

    def __init__(self, obligation: Obligation, level: float, *, latest: bool = False) -> None:
        if obligation.threshold is None:
            raise ValueError(f"{obligation.claim.id} has no threshold to count against.")
        self.obligation = obligation
        self.seen = Seen()
        self.crossed_at: int | None = None
        self._latest = latest
        self._hoped: Decision = "below" if obligation.below else "above"
        self.process = self._process(Fraction(level))
        self._reach = Reach(self._edge, self.process.level)
        self._lowest: list[float] = []
        self._highest: list[float] = []

    def _process(self, level: Fraction) -> MeanEProcess:
        threshold = self.obligation.threshold or Fraction(0)
        return MeanEProcess(threshold, level, claim=self._hoped)

    @property
    def level(self) -> Fraction | None:
        """Error level of this attempt."""
        return self.process.level

    @property
    def first_clean(self) -> int:
        """Episodes that would show the claim if each had the best share there is.

        A share of 0 (of 1, where the mean is bounded from below) moves the wealth like a safe
        episode moves the e-process of a probability, so its boundary answers.
        """
        return below_boundary(self._edge, self.process.level).episodes_needed(0)

    @property
    def _edge(self) -> Fraction:
        """The threshold as a share of which 0 is the best."""
        threshold = self.process.threshold
        return threshold if self._hoped == "below" else 1 - threshold

    @property
    def decision(self) -> Decision | None:
        """Shown ("below") or refuted ("above"), whichever way the claim compares."""
        found = self.process.decision
        return None if found is None else ("below" if found == self._hoped else "above")

    def add(self, reading: Reading, stratum: str = "") -> None:
        """Take in one episode's share."""
        share = reading.share
        if share is None:
            raise ValueError(f"{self.obligation.claim.id} needs a measured share.")
        self.seen.add("safe" if reading.status == "satisfied" else "undecided", stratum)
        self._lowest.append(share[0])
        self._highest.append(share[1])
        if self.decision is None:
            self._reach.add(share[1] if self._hoped == "below" else 1.0 - share[0])
            self.process.update(*share)
            if self.decision is not None:
                self.crossed_at = self.seen.run

    def hopeless(self, cap: int) -> bool:
        """Whether even the best shares in all episodes up to `cap` would not show the claim."""
        if self.decision is not None:
            return self.decision == "above"
        return self._reach.lost(self._products, cap - self.seen.run)

    def _products(self) -> list[Decimal]:
        """The certified products of the hoped-for side."""
        return [Decimal(text) for text in self.process.state()["hoped"]]

    def futility(self, cap: int) -> str:
        """Why it is hopeless."""
        if self.first_clean > cap:
            need = f"not even {cap} episodes of the best share settle it, {self.first_clean} would"
        else:
            need = f"the best share in all the rest up to {cap} would not show it"
        return f"{self.obligation.claim.id}: {self._words()}; {need}"

    def refutation(self) -> str:
        """What refutes it."""
        side = "above" if self.obligation.below else "below"
        threshold = float(self.process.threshold)
        return (
            f"{self.obligation.claim.id}: mean shown to be {side} {threshold:.6g} ({self._words()})"
        )

    def e_value(self) -> Decimal:
        """The greater of the wealth at the crossing and over all episodes of the attempt."""
        whole = self._process(SMALLEST_LEVEL)
        for low, high in zip(self._lowest, self._highest, strict=True):
            whole.update(low, high)
        return max(self.process.e_value(self._hoped), whole.e_value(self._hoped))

    def figures(self) -> Figures:
        """Status, the limit on the side that was shown, and the mean as it was seen."""
        method = METHOD if self.crossed_at is None else f"{METHOD}; crossed at {self.crossed_at}"
        return Figures(
            kind="estimated",
            status=STATUS[self.decision],
            bound=self._limit(),
            side="upper" if self._upper else "lower",
            validity="anytime",
            method=method,
            average=self.average,
        )

    def _limit(self) -> float:
        """The limit on the mean on the side that was shown.

        Shown: the best of the threshold and the limits at the crossing and over all episodes, which
        are of the deciding family and hold at every look together. Refuted: the threshold, since
        the refuting process bets otherwise than those limits do.
        """
        threshold, upper = self.process.threshold, self._upper
        if self.decision is None or self._latest:
            return self._limit_at(self.seen.run, upper=upper)
        shown = [threshold]
        if self.decision == "below":
            ends = (self.process.episodes, self.seen.run)
            shown += [Fraction(self._limit_at(episodes, upper=upper)) for episodes in ends]
        if upper:
            return float_at_least(min(shown))
        return float_at_most(max(shown))

    @property
    def _upper(self) -> bool:
        """Whether the limit told is an upper one: on the side hoped for, unless it is refuted."""
        return self.obligation.below != (self.decision == "above")

    def _limit_at(self, episodes: int, *, upper: bool) -> float:
        """That limit over the first episodes; of the deciding family on the side hoped for."""
        ends = self._lowest[:episodes], self._highest[:episodes]
        lo, hi = mean_limits(*ends, level=self.process.level)
        return hi if upper else lo

    @property
    def average(self) -> tuple[float, float] | None:
        """Mean of the lowest and of the highest shares, None without an episode."""
        if not self.seen.run:
            return None
        low, high = (float(np.mean(ends)) for ends in (self._lowest, self._highest))
        return max(0.0, low), min(1.0, high)

    def _words(self) -> str:
        found = self.average
        if found is None:
            return "no episode"
        low, high = found
        shown = f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} to {high:.4g}"
        return f"mean {shown} seen in {self.seen.run} episodes"
