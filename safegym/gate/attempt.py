"""One certification attempt: fresh episodes of a frozen policy until the tally is decided."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import EvidenceError
from safegym.gate.events import AttemptClosed, AttemptStarted, EpisodeJudged, Listener, ignore
from safegym.gate.evidence import Basis, evidence_json, gather
from safegym.gate.judging import EpisodeBook, Judged, Reference
from safegym.gate.recount import attempt_levels, stratum_weights
from safegym.gate.repeats import Sample, reason, repeat, repeats_json
from safegym.gate.setting import Setting, versions
from safegym.gate.tally import Outcome, Tally
from safegym.gate.ticket import Ticket, attempt_number, ticket
from safegym.policy.base import Policy
from safegym.scenario.determinism import Difference
from safegym.verdict import Evidence

__all__ = ["Attempt", "Certifier", "attempt_number"]


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


@dataclass(slots=True)
class Run:
    """What an attempt has gathered so far. repeated: indices of the episodes run again."""

    tally: Tally
    sample: Sample
    failing: list[Judged] = field(default_factory=list[Judged])
    surplus: list[Judged] = field(default_factory=list[Judged])
    repeated: tuple[int, ...] = ()
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Certifier:
    """Runs attempts of one setting, numbered by the ledger, written to the log if there is one.

    trained: seeds that this run's training has used, which may not certify; it grows in place.
    """

    setting: Setting
    ledger: AttemptLedger
    log: AuditLog | None = None
    folder: Path | None = None
    listener: Listener = ignore
    trained: AbstractSet[int] = frozenset()

    def attempt(self, policy: Policy) -> Attempt:
        """Certify `policy` on fresh seeds.

        The attempt's number is durable before episode 1; an attempt that is broken off counts.
        Raises GateError if the scenario's files changed since it was loaded, EvidenceError if
        episodes come out otherwise than the ledger remembers them.
        """
        self.setting.refuse_changed()
        digest = policy.card.digest
        held = ticket(self.ledger, digest, self.setting)
        with held.hold():
            run = Run(self.setting.tally(held.number), Sample(self.setting.plan.repeats))
            started = self._started(digest, run.tally)
            book = self._book(digest, run.tally.attempt)
            seed_of = self._seeds(digest, held.number, held.fresh)
            try:
                self._run(policy, run, book, seed_of, held)
                book.flush()
                outcome, reasons = self._concluded(policy, run, seed_of)
                held.refuse_shorter(outcome, run.tally.episodes)
            except BaseException:
                held.close("abandoned", run.tally)
                book.flush()
                self._closed(run, "abandoned", ("broken off",), started)
                raise
            held.close(outcome, run.tally)
        evidence = self._gathered(policy, run, book, outcome)
        references = self._evidence(evidence, digest, book, started)
        self._closed(run, outcome, reasons, (*started, *references))
        evidence = tuple(replace(item, surplus=len(run.surplus)) for item in evidence)
        self.listener(AttemptClosed(held.number, outcome, reasons, evidence))
        return Attempt(
            held.number,
            digest,
            outcome,
            reasons,
            evidence,
            run.tally.episodes,
            len(run.surplus),
            tuple(run.failing),  # of the surplus, some only ran because there were more workers
            references,
            held.ended is not None,
        )

    def _run(
        self,
        policy: Policy,
        run: Run,
        book: EpisodeBook,
        seed_of: Callable[[int], int],
        held: Ticket,
    ) -> None:
        setting, tally = self.setting, run.tally
        with setting.campaign(policy, seed_of, episodes=tally.cap) as campaign:
            for index, trace in campaign:
                judged = setting.judged(index, trace)
                book.add(judged)
                run.sample.add(trace)
                if judged.violated:
                    run.failing.append(judged)
                tally.add(judged.readings, setting.stratum(index, trace.seed), trace.end.reason)
                held.follow(trace.digest)
                self.listener(_progress(tally))
                if tally.outcome is not None:
                    campaign.stop()
                    break
            run.surplus.extend(setting.judged(index, trace) for index, trace in campaign.surplus)

    def _concluded(
        self, policy: Policy, run: Run, seed_of: Callable[[int], int]
    ) -> tuple[Outcome, tuple[str, ...]]:
        """The outcome; before it may be "certified", a sample of the episodes is run again."""
        tally = run.tally
        outcome = tally.outcome or "exhausted"
        if outcome != "certified" or run.sample.most == 0:
            return outcome, tally.reasons
        run.repeated, run.differences = repeat(self.setting, policy, run.sample, seed_of)
        if not run.differences:
            return outcome, tally.reasons
        return "unrepeatable", tuple(reason(difference) for difference in run.differences)

    def _gathered(
        self, policy: Policy, run: Run, book: EpisodeBook, outcome: Outcome
    ) -> tuple[Evidence, ...]:
        weights = stratum_weights(self.setting.plan)
        assumptions = self.setting.assumptions(policy, book.reported)
        basis = Basis(assumptions, book.root, versions(), weights)
        return gather(run.tally, basis, outcome)

    def _seeds(self, digest: str, attempt: int, fresh: bool) -> Callable[[int], int]:
        """Seeds of the attempt: none that training has drawn; at its first start, none replayed.

        Seeds burnt since then are its own failing episodes, which later policies were trained on.
        They follow from this frozen policy's digest, so it has never seen them.
        """
        seed_of = self.setting.seeds(digest, "certify", attempt)

        def checked(index: int) -> int:
            seed = seed_of(index)
            if seed in self.trained:
                raise EvidenceError(
                    f"Seed {seed} of episode {index} was drawn in this run's training, so the "
                    "policy may have seen its episode; certify under another root: "
                    f"GatePlan(seed={self.setting.plan.seed + 1})."
                )
            if fresh:
                self.ledger.refuse_burnt(seed)
            return seed

        return checked

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
            found = evidence_json(item, version=self.setting.plan.version)
            payload = {**found, "policy": digest, "rests_on": rests_on}
            written += self._append("evidence", payload)
        return written

    def _closed(
        self,
        run: Run,
        outcome: Outcome,
        reasons: tuple[str, ...],
        rests_on: tuple[Reference, ...],
    ) -> None:
        repeated = {}
        if run.sample.most:
            repeated = {"repeated": repeats_json(run.repeated, run.differences)}
        self._append(
            "attempt_closed",
            {
                "attempt": run.tally.attempt,
                "outcome": outcome,
                "reasons": list(reasons),
                "episodes": run.tally.episodes,
                "surplus": len(run.surplus),
                "surplus_violated": sum(judged.violated for judged in run.surplus),
                **repeated,
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
        max(count.seen.violations for count in tally.counts),
        max(count.seen.undecided for count in tally.counts),
    )
