"""Counts of one obligation within a screen, and the test whether it degraded."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, Protocol

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.mean import MeanEProcess
from safegym.check.statistics.screen import Screen as Count
from safegym.gate.counts import Seen
from safegym.gate.evidence import claimed_threshold
from safegym.gate.obligation import Obligation
from safegym.gate.plan import GatePlan
from safegym.gate.reading import Reading

METHOD = "sequential screen; makes no claim"
Result = Literal["passed", "failed"]


class Watch(Protocol):
    """What a screen asks of each claim, whatever its kind."""

    @property
    def item(self) -> Obligation:
        """The obligation."""
        ...

    @property
    def seen(self) -> Seen:
        """Counts of all episodes that ran."""
        ...

    @property
    def result(self) -> Result | None:
        """Whether it passed or failed; None while it runs."""
        ...

    @property
    def degraded(self) -> bool:
        """Whether it was shown to be worse than the plan's multiple of its threshold."""
        ...

    @property
    def excess(self) -> float:
        """What was observed as a multiple of what passes, to rank checkpoints."""
        ...

    def add(self, reading: Reading) -> None:
        """Count one episode, in index order."""
        ...

    def to_json(self) -> dict[str, Any]:
        """What the evidence record says."""
        ...


def make_watch(item: Obligation, plan: GatePlan, *, degradation: bool) -> Watch:
    """A fresh watch. degradation: whether the screen looks for degradation."""
    made = MeanWatch if item.kind == "mean" else EpisodeWatch
    return made(item, plan, degradation)


def allowed(item: Obligation, episodes: int) -> int:
    """Failures that pass a screen of `episodes`: half of what the threshold would give."""
    return 0 if item.threshold is None else math.floor(episodes * item.threshold / 2)


def degraded_threshold(threshold: Fraction, multiple: float) -> Fraction:
    """Failure probability above which a policy counts as degraded, always inside (0, 1)."""
    return min(threshold * Fraction(multiple), (1 + threshold) / 2)


@dataclass(slots=True)
class EpisodeWatch:
    """Counts failing episodes; passes with at most half of what the threshold would give."""

    item: Obligation
    plan: GatePlan
    watched: bool
    seen: Seen = field(default_factory=Seen)
    count: Count = field(init=False)
    drift: EProcess | None = field(init=False)

    def __post_init__(self) -> None:
        total = self.plan.screen_episodes
        self.count = Count(total, allowed(self.item, total))
        self.drift = None
        if self.watched and self.item.threshold is not None:
            threshold = degraded_threshold(self.item.threshold, self.plan.verification_threshold)
            self.drift = EProcess(threshold=threshold, level=self.plan.level)

    @property
    def result(self) -> Result | None:
        """Whether it passed or failed; None while it runs."""
        return self.count.decision

    @property
    def degraded(self) -> bool:
        """Whether the failure probability was shown to be above the verification threshold."""
        return self.drift is not None and self.drift.decision == "above"

    @property
    def excess(self) -> float:
        """Observed failure share as a multiple of what passes."""
        count = self.count
        share = (count.violations + count.undecided) / max(1, count.episodes)
        return share * count.cap / max(1, count.allowed)

    def add(self, reading: Reading) -> None:
        """Count one episode."""
        outcome = reading.outcome
        self.seen.add(outcome)
        self.count.update(outcome)
        if self.drift is not None:
            self.drift.update_each([outcome])

    def to_json(self) -> dict[str, Any]:
        """What the evidence record says."""
        seen = self.seen
        conditional = self.item.kind == "conditional"
        aside = {"skipped": seen.skipped, "doubtful": seen.doubtful} if conditional else {}
        return {**_record(self, self.watched), "allowed": self.count.allowed, **aside}


@dataclass(slots=True)
class MeanWatch:
    """Sums worst ends of shares; passes when the whole screen's mean is on the claimed side."""

    item: Obligation
    plan: GatePlan
    watched: bool
    seen: Seen = field(default_factory=Seen)
    shares: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    drift: MeanEProcess | None = field(init=False)

    def __post_init__(self) -> None:
        self.drift = None
        if self.watched:
            threshold = degraded_threshold(self._edge, self.plan.verification_threshold)
            self.drift = MeanEProcess(threshold, self.plan.level, claim="below")

    @property
    def _edge(self) -> Fraction:
        """The threshold as a share of which 0 is the best."""
        threshold = self.item.threshold or Fraction(0)
        return threshold if self.item.below else 1 - threshold

    @property
    def _worst(self) -> float:
        """Sum of the worst ends, as shares of which 0 is the best."""
        below = self.item.below
        return math.fsum(high if below else 1.0 - low for low, high in self.shares)

    @property
    def result(self) -> Result | None:
        """Whether it passed or failed; None while it runs."""
        total = self.plan.screen_episodes
        if self._worst > total * self._edge:
            return "failed"
        return "passed" if len(self.shares) >= total else None

    @property
    def degraded(self) -> bool:
        """Whether the mean was shown to be worse than the verification threshold."""
        return self.drift is not None and self.drift.decision == "above"

    @property
    def excess(self) -> float:
        """Observed mean as a multiple of what passes."""
        return self._worst / max(1, len(self.shares)) / float(self._edge)

    def add(self, reading: Reading) -> None:
        """Take in one episode's share."""
        low, high = reading.share or (0.0, 1.0)
        self.seen.add("safe" if reading.status == "satisfied" else "undecided")
        self.shares.append((low, high))
        if self.drift is not None:
            turned = (low, high) if self.item.below else (1.0 - high, 1.0 - low)
            self.drift.update(*turned)

    def to_json(self) -> dict[str, Any]:
        """What the evidence record says."""
        number = max(1, len(self.shares))
        ends = [math.fsum(share[end] for share in self.shares) / number for end in (0, 1)]
        return {**_record(self, self.watched), "allowed": 0, "average": ends}


def _record(watch: Watch, watched: bool) -> Mapping[str, Any]:
    seen, claim = watch.seen, watch.item.claim
    return {
        "claim_id": claim.id,
        "claim_digest": claim.digest,
        "kind": "observed",
        "status": "inconclusive",
        "threshold": claimed_threshold(watch.item),
        "bound": None,
        "confidence": None,
        "level": None,
        "episodes": seen.episodes,
        "violations": seen.violations,
        "undecided": seen.undecided,
        "validity": "exact",
        "method": METHOD,
        "screen": watch.result or "open",
        "watched": watched,
        "degraded": watch.degraded,
    }
