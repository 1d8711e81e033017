"""A screen: a cheap, sequential look at a policy that makes no claim."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.screen import Screen as Count
from safegym.gate.events import EpisodeJudged, Listener, ScreenDone, ignore
from safegym.gate.evidence import claimed_threshold
from safegym.gate.judging import EpisodeBook, Judged, Reference, judge_all
from safegym.gate.obligation import Obligation
from safegym.gate.plan import GatePlan
from safegym.gate.setting import Setting, versions
from safegym.policy.base import Policy
from safegym.verdict import Status

METHOD = "sequential screen; makes no claim"


@dataclass(frozen=True, slots=True)
class Screen:
    """Outcome of a screen, which is observed and never an estimate.

    violations, undecided: claim id -> episodes. degraded: the mirror e-process of some claim
    showed a failure probability above the verification threshold. excess: worst observed failure
    share as a multiple of what passes, to rank checkpoints. references: its evidence records.
    """

    epoch: int
    policy_digest: str
    passed: bool
    degraded: bool
    episodes: int
    violations: Mapping[str, int]
    undecided: Mapping[str, int]
    excess: float
    failing: tuple[Judged, ...] = ()
    references: tuple[Reference, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        return {
            "epoch": self.epoch,
            "policy_digest": self.policy_digest,
            "passed": self.passed,
            "degraded": self.degraded,
            "episodes": self.episodes,
            "violations": dict(self.violations),
            "undecided": dict(self.undecided),
            "excess": self.excess,
            "references": list(self.references),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Screen":
        """The screen of `to_json`, without its failing episodes."""
        fields: dict[str, Any] = {**data, "references": tuple(data["references"])}
        return cls(**fields)


def allowed(item: Obligation, episodes: int) -> int:
    """Failures that pass a screen of `episodes`: half of what the threshold would give."""
    return 0 if item.threshold is None else math.floor(episodes * item.threshold / 2)


def degraded_threshold(threshold: Fraction, multiple: float) -> Fraction:
    """Failure probability above which a policy counts as degraded, always inside (0, 1)."""
    return min(threshold * Fraction(multiple), (1 + threshold) / 2)


@dataclass(frozen=True, slots=True)
class Watch:
    """Counts of one obligation within a screen, and the test whether it degraded."""

    item: Obligation
    count: Count
    drift: EProcess | None
    watched: bool

    @classmethod
    def of(cls, item: Obligation, plan: GatePlan, *, degradation: bool) -> "Watch":
        """A fresh watch. degradation: whether the screen looks for degradation."""
        count = Count(plan.screen_episodes, allowed(item, plan.screen_episodes))
        drift = None
        if degradation and item.threshold is not None:
            threshold = degraded_threshold(item.threshold, plan.verification_threshold)
            drift = EProcess(threshold=threshold, level=plan.level)
        return cls(item, count, drift, degradation)

    @property
    def degraded(self) -> bool:
        """Whether the failure probability was shown to be above the verification threshold."""
        return self.drift is not None and self.drift.decision == "above"

    def add(self, status: Status) -> None:
        """Count one episode, in index order."""
        self.count.update(status)
        if self.drift is not None:
            self.drift.update_each([status])

    def to_json(self, statuses: Sequence[Status]) -> dict[str, Any]:
        """What the evidence record says; `statuses` are those of all episodes that ran."""
        claim = self.item.claim
        return {
            "claim_id": claim.id,
            "claim_digest": claim.digest,
            "kind": "observed",
            "status": "inconclusive",
            "threshold": claimed_threshold(self.item),
            "bound": None,
            "confidence": None,
            "level": None,
            "episodes": len(statuses),
            "violations": statuses.count("violated"),
            "undecided": statuses.count("inconclusive"),
            "validity": "exact",
            "method": METHOD,
            "screen": self.count.decision or "open",
            "allowed": self.count.allowed,
            "watched": self.watched,
            "degraded": self.degraded,
        }


@dataclass(frozen=True, slots=True)
class Screener:
    """Runs screens of one setting; their traces and verdicts go to the log if there is one."""

    setting: Setting
    log: AuditLog | None = None
    folder: Path | None = None
    listener: Listener = ignore

    def screen(
        self,
        policy: Policy,
        epoch: int,
        *,
        watch_degradation: bool = False,
        to_the_end: bool = False,
        label: str = "",
    ) -> Screen:
        """Screen `policy` on fresh episodes of the gate stream.

        Stops at the first obligation that can no longer pass; with `watch_degradation` it goes on
        until the mirror e-processes have spoken or the episodes are used up, and with `to_the_end`
        it runs all of them. label: what the evidence records call the policy.
        """
        setting, total = self.setting, self.setting.plan.screen_episodes
        watches = [
            Watch.of(item, setting.plan, degradation=watch_degradation)
            for item in setting.obligations
        ]
        book = self._book(policy.card.digest, epoch, label)
        tallied: list[Judged] = []
        seed_of = setting.seeds(policy.card.digest, "gate", epoch)
        with setting.campaign(policy, seed_of, episodes=total) as run:
            for index, trace in run:
                judged = judge_all(setting.claims, index, trace)
                book.add(judged)
                tallied.append(judged)
                for position, watch in enumerate(watches):
                    watch.add(judged.verdicts[position].status)
                self.listener(_progress(len(tallied), total, watches))
                if not to_the_end and _settled(watches, watch_degradation):
                    run.stop()
                    break
            surplus = [judge_all(setting.claims, index, trace) for index, trace in run.surplus]
        book.flush()
        return self._result(epoch, policy, watches, book, tallied, surplus)

    def _book(self, digest: str, epoch: int, label: str) -> EpisodeBook:
        subject = {
            "stream": "gate",
            "attempt": 0,
            "epoch": epoch,
            "policy": digest,
            "scenario": self.setting.spec.digest,
            "label": label,
        }
        stem = f"screen-{epoch:05d}-{digest.partition(':')[2][:12]}"
        return EpisodeBook(self.log, self.folder, stem, self.setting.claims, subject)

    def _result(
        self,
        epoch: int,
        policy: Policy,
        watches: list[Watch],
        book: EpisodeBook,
        tallied: list[Judged],
        surplus: list[Judged],
    ) -> Screen:
        violations = _counted(watches, tallied, "violated")
        result = Screen(
            epoch=epoch,
            policy_digest=policy.card.digest,
            passed=all(watch.count.decision == "passed" for watch in watches),
            degraded=any(watch.degraded for watch in watches),
            episodes=len(tallied),
            violations=violations,
            undecided=_counted(watches, tallied, "inconclusive"),
            excess=max(_excess(watch) for watch in watches),
            failing=tuple(judged for judged in (*tallied, *surplus) if judged.violated),
            references=self._record(watches, book, tallied),
        )
        self.listener(
            ScreenDone(
                epoch,
                result.passed,
                result.degraded,
                len(tallied),
                dict(violations),
                book.subject["label"],
            )
        )
        return result

    def _record(
        self, watches: list[Watch], book: EpisodeBook, tallied: list[Judged]
    ) -> tuple[Reference, ...]:
        if self.log is None:
            return ()
        written: list[Reference] = []
        for position, watch in enumerate(watches):
            payload = {
                **book.subject,
                **watch.to_json([judged.verdicts[position].status for judged in tallied]),
                "trace_root": book.root,
                "versions": versions(),
                "rests_on": book.references[watch.item.claim.id],
            }
            written.append(self.log.append("evidence", payload).reference())
        return tuple(written)


def _counted(watches: list[Watch], tallied: list[Judged], status: str) -> dict[str, int]:
    """Episodes of that status per claim, over all that ran."""
    return {
        watch.item.claim.id: sum(j.verdicts[position].status == status for j in tallied)
        for position, watch in enumerate(watches)
    }


def _excess(watch: Watch) -> float:
    count = watch.count
    share = (count.violations + count.undecided) / max(1, count.episodes)
    return share * count.cap / max(1, count.allowed)


def _settled(watches: list[Watch], watch_degradation: bool) -> bool:
    if not any(watch.count.decision == "failed" for watch in watches):
        return False
    return not watch_degradation or any(watch.degraded for watch in watches)


def _progress(number: int, total: int, watches: list[Watch]) -> EpisodeJudged:
    worst = max(watch.count.violations for watch in watches)
    undecided = max(watch.count.undecided for watch in watches)
    return EpisodeJudged("screen", number, total, worst, undecided)
