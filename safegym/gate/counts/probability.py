"""Probabilities, conditional probabilities and quantiles: one e-process on failing episodes."""

from decimal import Decimal
from fractions import Fraction

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import float_at_least, float_at_most
from safegym.check.statistics.limits import lower_limit, upper_limit
from safegym.check.statistics.outcomes import Decision
from safegym.gate.counts.count import STATUS, Figures
from safegym.gate.counts.seen import Seen
from safegym.gate.obligation import Obligation
from safegym.gate.reading import Reading

METHOD = "one-sided mixture e-process at the threshold, episodes in index order"
CONDITIONAL = f"{METHOD}, on episodes whose condition held"
QUANTILE = f"{METHOD}, on the probability of missing the claimed margin"
ROUNDS = ", looked at after complete rounds of the strata"


class ProbabilityCount:
    """Counts failing episodes until an e-process at the threshold has crossed.

    level: of this attempt. look: episodes between two looks; with more than 1 (complete rounds of
    strata) the process is fed whole rounds only, which keeps it valid (docs/decisions/0012).
    latest: the limit told is the one over all episodes alone, as plans of version 1 told it.
    """

    def __init__(
        self, obligation: Obligation, level: float, look: int = 1, *, latest: bool = False
    ) -> None:
        if obligation.threshold is None:
            raise ValueError(f"{obligation.claim.id} has no threshold to count against.")
        self.obligation = obligation
        self.process = EProcess(threshold=obligation.threshold, level=level)
        self.seen = Seen()
        self.crossed_at: int | None = None
        self._look = look
        self._latest = latest
        self._round = Seen()

    @property
    def level(self) -> Fraction | None:
        """Error level of this attempt."""
        return self.process.level

    @property
    def first_clean(self) -> int:
        """Clean episodes that would show the claim, in whole rounds."""
        return -(-self.process.first_clean // self._look) * self._look

    @property
    def decision(self) -> Decision | None:
        """What the e-process has shown."""
        return self.process.decision

    def add(self, reading: Reading, stratum: str = "") -> None:
        """Take in one episode; the process sees it when its round is complete."""
        outcome = reading.outcome
        self.seen.add(outcome, stratum)
        if self.decision is not None:
            return
        if self._look == 1:
            self.process.update_each([outcome])
        else:
            self._round.add(outcome)
            if self._round.run == self._look:
                self._feed_round()
        if self.process.decision is not None:
            self.crossed_at = self.seen.run

    def _feed_round(self) -> None:
        done, self._round = self._round, Seen()
        _feed(self.process, done)

    def hopeless(self, cap: int) -> bool:
        """Whether the process can no longer show the claim within `cap` episodes."""
        return self.process.futile(cap)

    def futility(self, cap: int) -> str:
        """Why it is hopeless."""
        seen = self.seen
        left = cap - seen.skipped - seen.doubtful
        most, clean = self.process.kmax(max(left, 0)), self.process.first_clean
        told = f"{self.obligation.claim.id}: {seen.words()}"
        if most >= 0:
            return f"{told}; at most {most} would pass within {cap} episodes"
        if left < cap:
            return (
                f"{told}; within the cap of {cap} the condition can hold in {max(left, 0)} at "
                f"most, and {clean} clean ones are needed"
            )
        return f"{told}; not even {cap} clean episodes settle it, {clean} would"

    def refutation(self) -> str:
        """What refutes it."""
        item = self.obligation
        what = (
            "probability of missing the margin"
            if item.kind == "quantile"
            else (
                "failure probability under the condition"
                if item.kind == "conditional"
                else "failure probability"
            )
        )
        threshold = float(self.process.threshold)
        return (
            f"{item.claim.id}: {what} shown to be above {threshold:.6g} "
            f"({self.seen.violations} of {self.seen.episodes})"
        )

    def e_value(self) -> Decimal:
        """The greater of the e-values at the crossing and over all episodes of the attempt."""
        whole = EProcess(self.process.threshold, self.process.level)
        _feed(whole, self.seen)
        return max(self.process.e_value("below"), whole.e_value("below"))

    def figures(self) -> Figures:
        """Status, and the limit on the side that was shown, in the claim's own terms."""
        refuted = self.decision == "above"
        return Figures(
            kind="estimated",
            status=STATUS[self.decision],
            bound=self._claimed(self._limit(refuted), refuted),
            side="upper" if self.obligation.below != refuted else "lower",
            validity="anytime",
            method=self._method(),
        )

    def _limit(self, refuted: bool) -> Fraction:
        """The one-sided limit on the failure probability on the side that was shown.

        After a decision the better of the limits at the crossing and over all episodes: limits of
        one e-process hold at every look together, so no later look takes back what is shown.
        """
        seen, level = self.seen, self.process.level
        now = _limit_at(seen, level, refuted=refuted)
        if self.decision is None or self._latest:
            return now
        crossing, threshold = (
            _limit_at(self.process, level, refuted=refuted),
            self.process.threshold,
        )
        return max(crossing, now, threshold) if refuted else min(crossing, now, threshold)

    def _claimed(self, limit: Fraction, refuted: bool) -> float:
        """The limit in the claim's own terms, rounded outward."""
        upper = self.obligation.below != refuted
        exact = limit if self.obligation.below else 1 - limit
        return float_at_least(exact) if upper else float_at_most(exact)

    def _method(self) -> str:
        methods = {"conditional": CONDITIONAL, "quantile": QUANTILE}
        method = methods.get(self.obligation.kind, METHOD) + (ROUNDS if self._look > 1 else "")
        at = self.crossed_at
        return method if at is None else f"{method}; crossed at episode {at}"


def _limit_at(counts: Seen | EProcess, level: Fraction, *, refuted: bool) -> Fraction:
    """The limit of the e-process family at these counts.

    An upper limit counts undecided episodes as failures, a lower one as safe; doubtful ones only
    count for a lower one, as safe.
    """
    if refuted:
        episodes = counts.episodes + counts.doubtful
        return Fraction(lower_limit(counts.violations, episodes, level=level))
    worst = counts.violations + counts.undecided
    return Fraction(upper_limit(worst, counts.episodes, level=level))


def _feed(process: EProcess, seen: Seen) -> None:
    process.update(
        violations=seen.violations,
        undecided=seen.undecided,
        episodes=seen.episodes,
        skipped=seen.skipped,
        doubtful=seen.doubtful,
    )
