"""One certification attempt: fresh episodes of a frozen policy until the tally is decided."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.check.statistics.ledger import Attempt as LedgerEntry
from safegym.check.statistics.ledger import AttemptLedger, AttemptOutcome
from safegym.errors import EvidenceError
from safegym.gate.events import AttemptClosed, AttemptStarted, EpisodeJudged, Listener, ignore
from safegym.gate.evidence import Basis, evidence_json, gather
from safegym.gate.judging import EpisodeBook, Judged, Reference, judge_all
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
    """An attempt's number in the ledger. entry None: an ended attempt that is replayed."""

    number: int
    entry: LedgerEntry | None
    ended: AttemptOutcome | None

    def hold(self) -> AbstractContextManager[Any]:
        """Keep other processes off this attempt while it runs."""
        return nullcontext() if self.entry is None else self.entry

    def close(self, outcome: Outcome) -> None:
        """Close the entry, or check the replay. Raises EvidenceError if the replay disagrees."""
        named = LEDGER_OUTCOME[outcome]
        if self.entry is not None:
            self.entry.close(named)
        elif named not in (self.ended, "abandoned"):
            raise EvidenceError(
                f"Attempt {self.number} ended {self.ended} before, and its replay ended {named}: "
                "the same policy, scenario and seeds must give the same episodes. Physics or code "
                "changed under the same digests; nothing is certified."
            )


def ticket(ledger: AttemptLedger, policy_digest: str, root: int) -> Ticket:
    """The attempt of this policy: new, resumed, or a replay of one that ended.

    Durable on return. Raises EvidenceError if the policy's attempt draws from another root.
    """
    found = ledger.find(policy_digest)
    if found is not None and found.details.get("root") != root:
        raise EvidenceError(
            f"Policy {policy_digest} has attempt {found.number} on seeds of root "
            f"{found.details.get('root')}; another root ({root}) would be a second draw. "
            f"Use GatePlan(seed={found.details.get('root')})."
        )
    if found is not None and found.outcome in ("certified", "refuted"):
        return Ticket(found.number, None, found.outcome)
    entry = ledger.start(policy_digest, details={"root": root})
    return Ticket(entry.number, entry, None)


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
        held = ticket(self.ledger, digest, self.setting.plan.seed)
        with held.hold():
            tally = Tally(self.setting.obligations, held.number, self.setting.plan.cap)
            started = self._started(digest, tally)
            book = self._book(digest, tally.attempt)
            failing: list[Judged] = []
            try:
                surplus = self._run(policy, tally, book, failing)
            except BaseException:
                book.flush()
                held.close("abandoned")
                self._closed(tally, "abandoned", ("broken off",), 0, started)
                raise
            book.flush()
            outcome = tally.outcome or "exhausted"
            held.close(outcome)
        evidence = gather(tally, Basis(self.setting.assumptions(policy), book.root, versions()))
        references = self._evidence(evidence, digest, book, started)
        self._closed(tally, outcome, tally.reasons, len(surplus), (*started, *references))
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
        self, policy: Policy, tally: Tally, book: EpisodeBook, failing: list[Judged]
    ) -> list[Judged]:
        claims = self.setting.claims
        fresh = self._fresh_seeds(policy.card.digest, tally.attempt)
        with self.setting.campaign(policy, fresh, episodes=tally.cap) as campaign:
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

    def _fresh_seeds(self, digest: str, attempt: int) -> Callable[[int], int]:
        seed_of = self.setting.seeds(digest, "certify", attempt)

        def fresh(index: int) -> int:
            seed = seed_of(index)
            self.ledger.refuse_burnt(seed)
            return seed

        return fresh

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
        clean = max(c.process.first_clean for c in tally.counts if c.process is not None)
        self.listener(AttemptStarted(tally.attempt, digest, tally.cap, clean))
        return self._append(
            "attempt_started",
            {
                "attempt": tally.attempt,
                "policy": digest,
                "claims": self.setting.claims_digest,
                "scenario": self.setting.spec.digest,
                "cap": tally.cap,
                "clean_episodes_needed": clean,
                "root": str(self.setting.plan.seed),
                "levels": {
                    c.obligation.claim.id: float(c.process.level)
                    for c in tally.counts
                    if c.process is not None
                },
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
        surplus: int,
        rests_on: tuple[Reference, ...],
    ) -> None:
        self._append(
            "attempt_closed",
            {
                "attempt": tally.attempt,
                "outcome": outcome,
                "reasons": list(reasons),
                "episodes": tally.episodes,
                "surplus": surplus,
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
