"""An attempt's number in the ledger, and the watch over its episodes across crashes.

An attempt that was broken off is run again from episode 0, not continued: the log that it is
written to must hold every episode itself, and running them again is checked against what the
ledger remembers (docs/decisions/0011).
"""

import hashlib
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from safegym.check.statistics.ledger import Attempt as LedgerEntry
from safegym.check.statistics.ledger import AttemptLedger, AttemptOutcome, AttemptRecord
from safegym.digest import PREFIX, digest_json
from safegym.errors import EvidenceError
from safegym.gate.setting import Setting
from safegym.gate.tally import Outcome, Tally

LEDGER_OUTCOME: dict[Outcome, AttemptOutcome] = {
    "certified": "certified",
    "refuted": "refuted",
    "futile": "inconclusive",
    "exhausted": "inconclusive",
    "unrepeatable": "inconclusive",
    "abandoned": "abandoned",
}
EVERY = 100
"""Episodes between two records of progress."""


@dataclass(slots=True)
class Chain:
    """A running digest over the digests of an attempt's traces, in index order."""

    episodes: int = 0
    digest: str = PREFIX + "0" * 64

    def add(self, trace_digest: str) -> None:
        """Take in the next episode."""
        text = f"{self.digest}\n{trace_digest}".encode()
        self.digest = PREFIX + hashlib.sha256(text).hexdigest()
        self.episodes += 1


@dataclass(slots=True)
class Ticket:
    """An attempt's number in the ledger, held while it runs.

    entry: None for an ended attempt that is replayed. ended: that attempt. fresh: this policy
    was never tried before, so its seeds are drawn now. known: episodes that ran before, and the
    chain over them.
    """

    number: int
    entry: LedgerEntry | None
    ended: AttemptRecord | None = None
    fresh: bool = False
    known: tuple[int, str] = (0, "")
    chain: Chain = field(default_factory=Chain)

    def hold(self) -> AbstractContextManager[Any]:
        """Keep other processes off this attempt while it runs."""
        return nullcontext() if self.entry is None else self.entry

    def follow(self, trace_digest: str) -> None:
        """Take in the next episode; durable every hundred.

        Raises EvidenceError if the episodes up to here are not those that ran before.
        """
        self.chain.add(trace_digest)
        episodes, digest = self.known
        if digest and self.chain.episodes == episodes and self.chain.digest != digest:
            raise EvidenceError(
                f"Attempt {self.number} was broken off or ended before, and its first {episodes} "
                "episodes now come out otherwise: the same policy, scenario and seeds must give "
                "the same episodes. Physics or code changed under the same digests, or a seed does "
                "not decide its episode; nothing is certified."
            )
        if self.chain.episodes % EVERY == 0:
            self._record()

    def refuse_shorter(self, outcome: Outcome, episodes: int) -> None:
        """Raises EvidenceError if it was decided where it had gone on before."""
        if outcome in ("certified", "refuted") and episodes < self.known[0]:
            raise EvidenceError(
                f"Attempt {self.number} is {outcome} after {episodes} episodes, and had gone on "
                f"beyond {self.known[0]} before: its episodes come out otherwise now, so nothing "
                "is certified."
            )

    def _record(self) -> None:
        if self.entry is not None and self.chain.episodes > self.entry.next_index:
            self.entry.record(self.chain.episodes, {"chain": self.chain.digest})

    def close(self, outcome: Outcome, tally: Tally) -> None:
        """Close the entry, or check the replay. Raises EvidenceError if the replay disagrees."""
        if self.entry is not None:
            self._record()
            self.entry.close(LEDGER_OUTCOME[outcome], details={"episodes": tally.episodes})
        elif self.ended is not None and outcome != "abandoned":
            _check_replay(self.ended, outcome, tally)


def _check_replay(ended: AttemptRecord, outcome: Outcome, tally: Tally) -> None:
    """Raises EvidenceError unless the replay ended like the attempt, or under a smaller cap."""
    named, ran = LEDGER_OUTCOME[outcome], tally.episodes
    episodes = int(ended.details.get("episodes", ran))
    if named == "inconclusive" and tally.cap < episodes:
        return
    if (named, ran) != (ended.outcome, episodes):
        raise EvidenceError(
            f"Attempt {ended.number} ended {ended.outcome} after {episodes} episodes before, and "
            f"its replay ended {outcome} after {ran}: the same policy, scenario and seeds "
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

    Durable on return. The same policy on seeds of another root, or held to other thresholds,
    levels or strata, is another attempt: a second draw (docs/decisions/0002).
    """
    asked = _asked(policy_digest, setting)
    subject = digest_json(asked)
    found = ledger.find(subject)
    known = (0, "")
    if found is not None and found.state is not None:
        known = found.next_index, str(found.state.get("chain", ""))
    if found is not None and found.outcome in ("certified", "refuted"):
        return Ticket(found.number, None, found, known=known)
    entry = ledger.start(subject, details=asked)
    return Ticket(entry.number, entry, fresh=found is None, known=known)
