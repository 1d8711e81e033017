"""The ledger of certification attempts on one (scenario, claim set)."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, cast, get_args

from filelock import FileLock, Timeout

from safegym.check.statistics.burnt import BurntSeeds
from safegym.check.statistics.exact import count
from safegym.check.statistics.journal import Entry, Journal
from safegym.errors import EvidenceError
from safegym.home import registry_folder

AttemptOutcome = Literal["certified", "refuted", "inconclusive", "abandoned"]
FORMAT: Final = "safegym-attempts/1"
FINAL: Final[tuple[AttemptOutcome, ...]] = ("certified", "refuted")


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """What the ledger holds of one attempt.

    number: from 1, which sets its level a_j. outcome: None while open, also if its process died:
    it counts all the same. next_index: first episode index not yet in `state`. state: the
    statistics as last recorded, None before. starts: how often it was started or resumed.
    details: those given at its first start, and at its last end.
    """

    number: int
    policy_digest: str
    started: str
    outcome: AttemptOutcome | None = None
    next_index: int = 0
    state: Mapping[str, Any] | None = None
    starts: int = 1
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Attempt:
    """A running attempt: its number, the index to go on at, and the statistics so far.

    While it lives no other process can run the same attempt; the hold ends with `close`,
    `release`, the end of a `with` block (which leaves the attempt open), or the process.
    """

    def __init__(self, ledger: "AttemptLedger", record: AttemptRecord, hold: FileLock) -> None:
        self._ledger = ledger
        self._record = record
        self._hold: FileLock | None = hold

    @property
    def number(self) -> int:
        """j, from 1; the level is `spent_level(level, number)`."""
        return self._record.number

    @property
    def policy_digest(self) -> str:
        """Digest of the frozen policy under test."""
        return self._record.policy_digest

    @property
    def resumed(self) -> bool:
        """Whether this policy's attempt was started before."""
        return self._record.starts > 1

    @property
    def next_index(self) -> int:
        """First episode index not yet in `state`."""
        return self._record.next_index

    @property
    def state(self) -> Mapping[str, Any] | None:
        """The statistics as last recorded, or None if there are none yet."""
        return self._record.state

    def record(self, next_index: int, state: Mapping[str, Any]) -> None:
        """Makes the statistics of all episodes below `next_index` durable.

        What ran after the last record is run again on resuming, with the same seeds.
        Raises EvidenceError if the index goes back or the attempt is no longer held.
        """
        self._must_be_held()
        index = count(next_index, "next_index")
        if index < self.next_index:
            raise EvidenceError(
                f"Attempt {self.number} has recorded episodes below {self.next_index}; it cannot "
                f"go back to {index}."
            )
        self._ledger._append(
            "progress", {"attempt": self.number, "next_index": index, "state": dict(state)}
        )
        self._record = replace(self._record, next_index=index, state=dict(state))

    def close(self, outcome: AttemptOutcome, *, details: Mapping[str, Any] | None = None) -> None:
        """Ends the attempt, durably. "certified" and "refuted" are final for this policy."""
        self._must_be_held()
        if outcome not in get_args(AttemptOutcome):
            raise EvidenceError(
                f"An attempt ends {', '.join(get_args(AttemptOutcome))}, got {outcome!r}."
            )
        self._ledger._append(
            "closed",
            {"attempt": self.number, "outcome": outcome, "details": dict(details or {})},
        )
        self.release()

    def release(self) -> None:
        """Lets go without closing: the attempt stays open, counts, and can be resumed."""
        if self._hold is not None:
            self._hold.release()
            self._hold = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _must_be_held(self) -> None:
        if self._hold is None:
            raise EvidenceError(
                f"Attempt {self.number} is not running; resume it with ledger.start(policy_digest)."
            )


class AttemptLedger:
    """Numbers the attempts to certify any policy against one claim set on one scenario.

    It lives in the user's registry (`folder`, default `registry_folder()`), not in a run folder:
    every attempt since the registry began spends level, also failed and abandoned ones.
    Several processes may use it at once; numbers only ever rise by one.
    Raises EvidenceError if the file was tampered with or the folder cannot be written.
    """

    def __init__(
        self, scenario_digest: str, claims_digest: str, *, folder: Path | str | None = None
    ) -> None:
        if not scenario_digest or not claims_digest:
            raise EvidenceError("A ledger belongs to a scenario digest and a claim-set digest.")
        self._scenario = scenario_digest
        self._claims = claims_digest
        root = (Path(folder) if folder is not None else registry_folder()) / "attempts"
        self._stem = root / _key(scenario_digest, claims_digest)
        self._journal = Journal(self._stem.with_name(self._stem.name + ".jsonl"))
        self._burnt = BurntSeeds(root / f"seeds-{_key(scenario_digest)}.jsonl")
        with self._journal.exclusive():
            if not any(entry.kind == "opened" for entry in self._journal.entries):
                self._journal.append("opened", self._header)
        self.attempts()

    @property
    def path(self) -> Path:
        """The ledger's file."""
        return self._journal.path

    @property
    def next_attempt(self) -> int:
        """The number that a policy never tried before would get now."""
        return len(self.attempts()) + 1

    @property
    def recoveries(self) -> tuple[str, ...]:
        """One line for each torn record that a crash left and that was taken off."""
        self._journal.refresh_if_grown()
        return tuple(
            f"{entry.time}: a torn last record of {entry.payload['lost_bytes']} bytes was removed"
            for entry in self._journal.entries
            if entry.kind == "recovered"
        )

    def attempts(self) -> tuple[AttemptRecord, ...]:
        """All attempts, number 1 first.

        Raises EvidenceError if numbers repeat or decrease, or records do not fit together.
        """
        self._journal.refresh_if_grown()
        return _replayed(self._journal.entries, self._header, self._journal.path)

    def find(self, policy_digest: str) -> AttemptRecord | None:
        """The attempt of that policy, or None. A policy has at most one."""
        return next((a for a in self.attempts() if a.policy_digest == policy_digest), None)

    def start(self, policy_digest: str, *, details: Mapping[str, Any] | None = None) -> Attempt:
        """Begins an attempt, or resumes this policy's own; durable on return, before any episode.

        A policy tried before keeps its number, its index and its recorded statistics.
        Raises EvidenceError if its attempt ended "certified" or "refuted" (it is not run again),
        or is running in another process.
        """
        if not policy_digest:
            raise EvidenceError("An attempt needs the digest of a frozen policy.")
        with self._journal.exclusive():
            found = self.find(policy_digest)
            if found is not None and found.outcome in FINAL:
                raise EvidenceError(
                    f"Policy {policy_digest} was {found.outcome} at attempt {found.number}; "
                    "that is final. Read it with ledger.find(policy_digest)."
                )
            number = found.number if found is not None else self.next_attempt
            hold = self._hold(number)
            try:
                self._journal.append(
                    "resumed" if found is not None else "started",
                    {"attempt": number, "policy": policy_digest, "details": dict(details or {})},
                )
                return Attempt(self, self.attempts()[number - 1], hold)
            except BaseException:
                hold.release()
                raise

    def close(self, attempt: Attempt, outcome: AttemptOutcome) -> None:
        """Ends an attempt, durably."""
        attempt.close(outcome)

    def burn(self, seeds: Iterable[int]) -> None:
        """Marks seeds as replayed on this scenario, for every claim set; durable on return."""
        self._burnt.burn(seeds)

    def is_burnt(self, seed: int) -> bool:
        """Whether certification must refuse this seed."""
        return self._burnt.is_burnt(seed)

    def refuse_burnt(self, seed: int) -> None:
        """Raises EvidenceError if the seed is burnt."""
        if self.is_burnt(seed):
            raise EvidenceError(
                f"Seed {seed} was replayed in training on this scenario and cannot enter a "
                "certificate; certify on seeds of the certify stream."
            )

    def text(self) -> str:
        """The attempts, one a line, for printing beside evidence."""
        lines = [
            f"attempt {a.number}: {a.outcome or 'not closed'}, policy {a.policy_digest}, "
            f"{a.next_index} episodes recorded, begun {a.started}"
            for a in self.attempts()
        ]
        return "\n".join(lines) or "no attempt yet"

    @property
    def _header(self) -> dict[str, Any]:
        return {"format": FORMAT, "scenario": self._scenario, "claims": self._claims}

    def _append(self, kind: str, payload: Mapping[str, Any]) -> None:
        self._journal.append(kind, payload)

    def _hold(self, number: int) -> FileLock:
        lock = FileLock(self._stem.with_name(f"{self._stem.name}.attempt-{number}.lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise EvidenceError(
                f"Attempt {number} is running in another process; wait for it to end."
            ) from error
        return lock


def _key(*digests: str) -> str:
    return hashlib.sha256("\n".join(digests).encode("utf-8")).hexdigest()[:40]


def _replayed(
    entries: Iterable[Entry], header: Mapping[str, Any], path: Path
) -> tuple[AttemptRecord, ...]:
    attempts: list[AttemptRecord] = []
    for entry in entries:
        try:
            _apply(entry, attempts, header)
        except (KeyError, TypeError, ValueError) as error:
            raise EvidenceError(
                f"{path} cannot be trusted: record {entry.index} ({entry.kind}): {error}. Restore "
                "it from a copy; certification is refused until then."
            ) from error
    return tuple(attempts)


def _apply(entry: Entry, attempts: list[AttemptRecord], header: Mapping[str, Any]) -> None:
    payload = entry.payload
    if entry.kind == "opened":
        if dict(payload) != dict(header):
            raise ValueError("it belongs to another scenario, claim set or format")
        return
    if entry.kind == "recovered":
        return
    number = payload["attempt"]
    if entry.kind == "started":
        if type(number) is not int or number != len(attempts) + 1:
            raise ValueError(f"attempt {number} follows attempt {len(attempts)}")
        if any(a.policy_digest == payload["policy"] for a in attempts):
            raise ValueError("one policy has two attempts")
        attempts.append(
            AttemptRecord(
                number, str(payload["policy"]), entry.time, details=dict(payload["details"])
            )
        )
        return
    if type(number) is not int or not 1 <= number <= len(attempts):
        raise ValueError(f"it names attempt {number}, which was never started")
    attempts[number - 1] = _moved(attempts[number - 1], entry)


def _moved(attempt: AttemptRecord, entry: Entry) -> AttemptRecord:
    payload = entry.payload
    if attempt.outcome in FINAL:
        raise ValueError(f"attempt {attempt.number} goes on after its end")
    if entry.kind == "resumed":
        if payload["policy"] != attempt.policy_digest:
            raise ValueError(f"attempt {attempt.number} is resumed by another policy")
        return replace(attempt, outcome=None, starts=attempt.starts + 1)
    if entry.kind == "progress":
        index = count(payload["next_index"], "next_index")
        if index < attempt.next_index:
            raise ValueError(f"attempt {attempt.number} goes back to episode {index}")
        return replace(attempt, next_index=index, state=dict(payload["state"]))
    if entry.kind == "closed" and payload["outcome"] in get_args(AttemptOutcome):
        details = {**attempt.details, **payload["details"]}
        return replace(attempt, outcome=cast("AttemptOutcome", payload["outcome"]), details=details)
    raise ValueError("no such kind of record")
