"""One certification attempt: fresh episodes of a frozen policy until the tally is decided."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.check.statistics.ledger import Attempt as LedgerEntry
from safegym.check.statistics.ledger import AttemptLedger, AttemptOutcome, AttemptRecord
from safegym.digest import digest_json
from safegym.errors import EvidenceError
from safegym.gate.events import AttemptClosed, AttemptStarted, EpisodeJudged, Listener, ignore
from safegym.gate.evidence import Basis, evidence_json, gather
from safegym.gate.judging import EpisodeBook, Judged, Reference, judge_all
from safegym.gate.recount import attempt_levels
from safegym.gate.setting import Setting, versions
from safegym.gate.tally import Outcome, Tally
from safegym.policy.base import Policy
from safegym.verdict import Evidence

LEDGER_OUTCOME: dict[Outcome, AttemptOutcome] = {
    "certified": "certified",
    "refuted": "refuted",
    "futile": "inconclusive",
    "exhausted": "inconclusive",
    "abandoned": "abandoned",
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attempt showed. references: the evidence records that it wrote, if any.

    replayed: this frozen policy's attempt had ended before; the same episodes were run again and
    gave the same outcome, which spends nothing (docs/decisions/0002).
    """

    number: int
    policy_digest: str
    outcome: Outcome
    reasons: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    episodes: int
    surplus: int
    failing: tuple[Judged, ...]
    references: tuple[Reference, ...] = ()
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Ticket:
    """An attempt's number in the ledger.

    entry: None for an ended attempt that is replayed. ended: that attempt. fresh: this policy
    was never tried before, so its seeds are drawn now.
    """

    number: int
    entry: LedgerEntry | None
    ended: AttemptRecord | None = None
    fresh: bool = False

    def hold(self) -> AbstractContextManager[Any]:
        """Keep other processes off this attempt while it runs."""
        return nullcontext() if self.entry is None else self.entry

    def close(self, outcome: Outcome, tally: Tally) -> None:
        """Close the entry, or check the replay. Raises EvidenceError if the replay disagrees."""
        if self.entry is not None:
            self.entry.close(LEDGER_OUTCOME[outcome], details={"episodes": tally.episodes})
        elif self.ended is not None and outcome != "abandoned":
            _check_replay(self.ended, outcome, tally)


def _check_replay(ended: AttemptRecord, outcome: Outcome, tally: Tally) -> None:
    """Raises EvidenceError unless the replay ended like the attempt, or under a smaller cap."""
    named = LEDGER_OUTCOME[outcome]
    episodes = int(ended.details.get("episodes", tally.episodes))
    if named == "inconclusive" and tally.cap < episodes:
        return
    if (named, tally.episodes) != (ended.outcome, episodes):
        raise EvidenceError(
            f"Attempt {ended.number} ended {ended.outcome} after {episodes} episodes before, and "
            f"its replay ended {named} after {tally.episodes}: the same policy, scenario and seeds "
            "must give the same episodes. Physics or code changed under the same digests; nothing "
            "is certified."
        )


def _asked(policy_digest: str, setting: Setting) -> dict[str, str]:
    """What makes two attempts the same one."""
    return {
        "policy": policy_digest,
        "root": str(setting.plan.seed),
        "terms": setting.terms_digest,
    }


def attempt_number(ledger: AttemptLedger, policy_digest: str, setting: Setting) -> int:
    """The number that `ticket` would give, without starting anything."""
    found = ledger.find(digest_json(_asked(policy_digest, setting)))
    return ledger.next_attempt if found is None else found.number


def ticket(ledger: AttemptLedger, policy_digest: str, setting: Setting) -> Ticket:
    """The attempt of this policy: new, resumed, or a replay of one that ended.

    Durable on return. The same policy on seeds of another root, or held to other thresholds or
    levels, is another attempt: a second draw (docs/decisions/0002).
    """
    asked = _asked(policy_digest, setting)
    subject = digest_json(asked)
    found = ledger.find(subject)
    if found is not None and found.outcome in ("certified", "refuted"):
        return Ticket(found.number, None, found)
    entry = ledger.start(subject, details=asked)
    return Ticket(entry.number, entry, fresh=found is None)


@dataclass(frozen=True, slots=True)
class Certifier:
    """Runs attempts of one setting, numbered by the ledger, written to the log if there is one."""

    setting: Setting
    ledger: AttemptLedger
    log: AuditLog | None = None
    folder: Path | None = None
    listener: Listener = ignore

    def attempt(self, policy: Policy) -> Attempt:
        """Certify `policy` on fresh seeds.

        The attempt's number is durable before episode 1; an attempt that is broken off counts.
        """
        digest = policy.card.digest
        held = ticket(self.ledger, digest, self.setting)
        with held.hold():
            tally = Tally(self.setting.obligations, held.number, self.setting.plan.cap)
            started = self._started(digest, tally)
            book = self._book(digest, tally.attempt)
            failing: list[Judged] = []
            try:
                surplus = self._run(policy, tally, book, failing, held.fresh)
                book.flush()
            except BaseException:
                held.close("abandoned", tally)
                book.flush()
                self._closed(tally, "abandoned", ("broken off",), [], started)
                raise
            outcome = tally.outcome or "exhausted"
            held.close(outcome, tally)
        evidence = gather(tally, Basis(self.setting.assumptions(policy), book.root, versions()))
        references = self._evidence(evidence, digest, book, started)
        self._closed(tally, outcome, tally.reasons, surplus, (*started, *references))
        evidence = tuple(replace(item, surplus=len(surplus)) for item in evidence)
        self.listener(AttemptClosed(tally.attempt, outcome, tally.reasons, evidence))
        return Attempt(
            tally.attempt,
            digest,
            outcome,
            tally.reasons,
            evidence,
            tally.episodes,
            len(surplus),
            (*failing, *(judged for judged in surplus if judged.violated)),
            references,
            held.ended is not None,
        )

    def _run(
        self,
        policy: Policy,
        tally: Tally,
        book: EpisodeBook,
        failing: list[Judged],
        fresh: bool,
    ) -> list[Judged]:
        claims = self.setting.claims
        seed_of = self._seeds(policy.card.digest, tally.attempt, fresh)
        with self.setting.campaign(policy, seed_of, episodes=tally.cap) as campaign:
            for index, trace in campaign:
                judged = judge_all(claims, index, trace)
                book.add(judged)
                if judged.violated:
                    failing.append(judged)
                tally.add([verdict.status for verdict in judged.verdicts])
                self.listener(_progress(tally))
                if tally.outcome is not None:
                    campaign.stop()
                    break
            return [judge_all(claims, index, trace) for index, trace in campaign.surplus]

    def _seeds(self, digest: str, attempt: int, fresh: bool) -> Callable[[int], int]:
        """Seeds of the attempt; at its first start, none that replay has used.

        Seeds burnt since then are its own failing episodes, which later policies were trained on.
        They follow from this frozen policy's digest, so it has never seen them.
        """
        seed_of = self.setting.seeds(digest, "certify", attempt)

        def checked(index: int) -> int:
            seed = seed_of(index)
            self.ledger.refuse_burnt(seed)
            return seed

        return checked if fresh else seed_of

    def _book(self, digest: str, attempt: int) -> EpisodeBook:
        subject = {
            "stream": "certify",
            "attempt": attempt,
            "policy": digest,
            "scenario": self.setting.spec.digest,
        }
        stem = f"attempt-{attempt:03d}-{digest.partition(':')[2][:12]}"
        return EpisodeBook(self.log, self.folder, stem, self.setting.claims, subject)

    def _started(self, digest: str, tally: Tally) -> tuple[Reference, ...]:
        levels = attempt_levels(tally)
        clean = levels["clean_episodes_needed"]
        self.listener(AttemptStarted(tally.attempt, digest, tally.cap, clean))
        return self._append(
            "attempt_started",
            {
                "attempt": tally.attempt,
                "policy": digest,
                "claims": self.setting.claims_digest,
                "scenario": self.setting.spec.digest,
                "cap": tally.cap,
                "root": str(self.setting.plan.seed),
                **levels,
            },
        )

    def _evidence(
        self,
        evidence: tuple[Evidence, ...],
        digest: str,
        book: EpisodeBook,
        started: tuple[Reference, ...],
    ) -> tuple[Reference, ...]:
        written: tuple[Reference, ...] = ()
        for item in evidence:
            rests_on = [*started, *book.references.get(item.claim_id, [])]
            payload = {**evidence_json(item), "policy": digest, "rests_on": rests_on}
            written += self._append("evidence", payload)
        return written

    def _closed(
        self,
        tally: Tally,
        outcome: Outcome,
        reasons: tuple[str, ...],
        surplus: Sequence[Judged],
        rests_on: tuple[Reference, ...],
    ) -> None:
        self._append(
            "attempt_closed",
            {
                "attempt": tally.attempt,
                "outcome": outcome,
                "reasons": list(reasons),
                "episodes": tally.episodes,
                "surplus": len(surplus),
                "surplus_violated": sum(judged.violated for judged in surplus),
                "rests_on": list(rests_on),
            },
        )

    def _append(self, kind: str, payload: dict[str, Any]) -> tuple[Reference, ...]:
        return () if self.log is None else (self.log.append(kind, payload).reference(),)


def _progress(tally: Tally) -> EpisodeJudged:
    return EpisodeJudged(
        f"certify, attempt {tally.attempt}",
        tally.episodes,
        tally.cap,
        max(count.violations for count in tally.counts),
        max(count.undecided for count in tally.counts),
    )
