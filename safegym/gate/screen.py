"""A screen: a cheap, sequential look at a policy that makes no claim."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.gate.events import EpisodeJudged, Listener, ScreenDone, ignore
from safegym.gate.judging import EpisodeBook, Judged, Reference
from safegym.gate.setting import Setting, versions
from safegym.gate.watch import METHOD, Watch, allowed, degraded_threshold, make_watch
from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign

__all__ = ["METHOD", "Screen", "Screener", "allowed", "degraded_threshold"]
_FIRST = 8
"""Episodes that a screen starts at first: a policy that fails them is cheap to look at."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Outcome of a screen, which is observed and never an estimate.

    violations, undecided: claim id -> episodes. degraded: the mirror e-process of some claim
    showed a failure probability above the verification threshold. excess: worst observed failure
    share as a multiple of what passes, to rank checkpoints. references: its evidence records.
    steps: environment steps of its episodes.
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
    steps: int = 0

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
            "steps": self.steps,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Screen":
        """The screen of `to_json`, without its failing episodes."""
        fields: dict[str, Any] = {**data, "references": tuple(data["references"])}
        return cls(**fields)


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
            make_watch(item, setting.plan, degradation=watch_degradation)
            for item in setting.obligations
        ]
        book = self._book(policy.card.digest, epoch, label)
        tallied: list[Judged] = []
        seed_of = setting.seeds(policy.card.digest, "gate", epoch)
        first = None if to_the_end else _FIRST
        with setting.campaign(policy, seed_of, episodes=total, first=first) as run:
            for index, trace in run:
                judged = setting.judged(index, trace)
                book.add(judged)
                tallied.append(judged)
                for watch, reading in zip(watches, judged.readings, strict=True):
                    watch.add(reading)
                self.listener(_progress(len(tallied), total, watches))
                if not to_the_end and _settled(watches, watch_degradation):
                    run.stop()
                    break
            _let_go(run, setting)
        book.flush()
        return self._result(epoch, policy, watches, book, tallied)

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
    ) -> Screen:
        violations = {watch.item.claim.id: watch.seen.violations for watch in watches}
        result = Screen(
            epoch=epoch,
            policy_digest=policy.card.digest,
            passed=all(watch.result == "passed" for watch in watches),
            degraded=any(watch.degraded for watch in watches),
            episodes=len(tallied),
            violations=violations,
            undecided={watch.item.claim.id: watch.seen.undecided for watch in watches},
            excess=max(watch.excess for watch in watches),
            failing=tuple(judged for judged in tallied if judged.violated),
            references=self._record(watches, book),
            steps=sum(len(judged.trace.rewards) for judged in tallied),
        )
        self.listener(
            ScreenDone(
                epoch,
                result.passed,
                result.degraded,
                len(tallied),
                dict(violations),
                book.subject["label"],
                _margins(tallied),
            )
        )
        return result

    def _record(self, watches: list[Watch], book: EpisodeBook) -> tuple[Reference, ...]:
        if self.log is None:
            return ()
        written: list[Reference] = []
        for watch in watches:
            payload = {
                **book.subject,
                **watch.to_json(),
                "trace_root": book.root,
                "versions": versions(),
                "rests_on": book.references[watch.item.claim.id],
            }
            written.append(self.log.append("evidence", payload).reference())
        return tuple(written)


def _let_go(run: Campaign, setting: Setting) -> None:
    """Wait for what worker processes still run, so that they stay for the next screen.

    What comes back is not looked at: how much there is of it depends on the number of workers, and
    failing episodes of a screen are replayed in training, which no such number may change.
    """
    if setting.workers > 1:
        _ = run.surplus


def _settled(watches: list[Watch], watch_degradation: bool) -> bool:
    if not any(watch.result == "failed" for watch in watches):
        return False
    return not watch_degradation or any(watch.degraded for watch in watches)


def _margins(tallied: list[Judged]) -> dict[str, tuple[float, float]]:
    """Lowest and mean margin by claim, over the episodes whose margin is known and finite."""
    found: dict[str, list[float]] = {}
    for judged in tallied:
        for verdict in judged.verdicts:
            low = None if verdict.robustness is None else verdict.robustness.lo
            if low is not None and math.isfinite(low):
                found.setdefault(verdict.claim_id, []).append(low)
    return {claim: (min(lows), math.fsum(lows) / len(lows)) for claim, lows in found.items()}


def _progress(number: int, total: int, watches: list[Watch]) -> EpisodeJudged:
    worst = max(watch.seen.violations for watch in watches)
    undecided = max(watch.seen.undecided for watch in watches)
    return EpisodeJudged("screen", number, total, worst, undecided)
