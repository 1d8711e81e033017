"""One policy of a run as its log tells of it, and all of them together."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from safegym.audit.waivers import Waiver
from safegym.errors import GateError

Status = Literal["promoted", "withdrawn", "not promoted", "baseline"]


@dataclass(frozen=True, slots=True)
class ClaimCount:
    """What one screen or attempt counted on one claim.

    kind: observed, estimated or proved. status: satisfied, violated or inconclusive; a screen's is
    always inconclusive. bound: limit at `confidence`, None where none holds; side: "upper" or
    "lower".
    """

    claim_id: str
    kind: str
    status: str
    episodes: int
    violations: int
    undecided: int
    threshold: float | None
    bound: float | None
    confidence: float | None
    side: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A screen (attempt 0) or a certification attempt of a policy.

    outcome: of a screen "passed", "failed" or "degraded"; of an attempt as its attempt_closed
    record says, "open" where none followed.
    """

    epoch: int
    attempt: int
    outcome: str
    claims: tuple[ClaimCount, ...]

    @property
    def words(self) -> str:
        """In one phrase: "screen of epoch 3 passed", "attempt 1 certified"."""
        what = f"attempt {self.attempt}" if self.attempt else f"screen of epoch {self.epoch}"
        return f"{what} {self.outcome}"


@dataclass(frozen=True, slots=True)
class Release:
    """When a policy was promoted: record of the log, claimed time (UTC), and the reasons."""

    record: int
    time: str
    epoch: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """When, by whom and why a promoted policy was taken back. instead: the one before, or ""."""

    record: int
    time: str
    who: str
    why: str
    instead: str


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """A policy that the run froze by digest.

    epoch: in which it was first frozen. parent: the nearest policy of the registry that it was
    trained from, "" if there is none. folder: its files, None where it has none (scripted). record:
    index of its policy_frozen record.
    """

    digest: str
    name: str
    kind: str
    epoch: int
    parent: str
    status: Status
    trials: tuple[Trial, ...]
    promoted: Release | None
    withdrawn: Withdrawal | None
    folder: Path | None
    record: int

    @property
    def short(self) -> str:
        """The first 12 hex digits of the digest: enough to name it on the command line."""
        return self.digest.partition(":")[2][:12]

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {**asdict(self), "folder": None if self.folder is None else str(self.folder)}


@dataclass(frozen=True, slots=True)
class PolicyRegistry:
    """All policies of a run, in the order in which they were frozen.

    verification: "intact", or "incomplete" where nothing contradicts but something is missing
    (`missing` says what; a run that has not ended is incomplete). rederived: whether every verdict
    was derived again from the stored traces. waivers: gaps that people accepted, as they stand
    today.
    """

    run: Path
    run_id: str
    scenario: str
    policies: tuple[PolicyEntry, ...]
    verification: str
    missing: tuple[str, ...]
    rederived: bool
    waivers: tuple[Waiver, ...] = ()

    @property
    def released(self) -> tuple[PolicyEntry, ...]:
        """Promoted and not withdrawn, latest promotion first."""
        kept = [entry for entry in self.policies if entry.status == "promoted"]
        return tuple(sorted(kept, key=_promotion, reverse=True))

    @property
    def current(self) -> PolicyEntry | None:
        """The released policy that counts: the latest one that was not withdrawn."""
        return next(iter(self.released), None)

    def find(self, digest: str) -> PolicyEntry:
        """The policy of this digest, or of one that begins so (with or without "sha256:").

        Raises GateError if none or several do.
        """
        wanted = digest.removeprefix("sha256:")
        found = [e for e in self.policies if wanted and e.digest[7:].startswith(wanted)]
        if len(found) == 1:
            return found[0]
        known = ", ".join(entry.short for entry in found or self.policies) or "none"
        many = "several begin so" if found else "it has none that begins so"
        raise GateError(f"The run in {self.run} has no one policy {digest!r}: {many} ({known}).")

    def to_json(self) -> dict[str, Any]:
        """The registry as JSON."""
        current = self.current
        return {
            "run": str(self.run),
            "run_id": self.run_id,
            "scenario": self.scenario,
            "current": None if current is None else current.digest,
            "verification": self.verification,
            "missing": list(self.missing),
            "rederived": self.rederived,
            "waivers": [waiver.to_json() for waiver in self.waivers],
            "policies": [entry.to_json() for entry in self.policies],
        }


def _promotion(entry: PolicyEntry) -> int:
    return -1 if entry.promoted is None else entry.promoted.record


def count_of(payload: Mapping[str, Any]) -> ClaimCount:
    """What an evidence record counted."""
    names = ("claim_id", "kind", "status", "episodes", "violations", "undecided")
    limits = ("threshold", "bound", "confidence")
    told = {name: payload[name] for name in (*names, *limits)}
    return ClaimCount(**told, side=payload.get("side"))
