"""Judging the traces of a campaign and keeping what the audit trail needs of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.digest import digest_json
from safegym.formula.claim import Claim
from safegym.gate.assumed import reported
from safegym.gate.counterexample import Origin
from safegym.gate.reading import Finding, Reading, find, finding_json, number, verdict_json
from safegym.trace.model import Trace
from safegym.trace.store import ShardWriter
from safegym.verdict import Verdict

__all__ = [
    "SHARD",
    "EpisodeBook",
    "Judged",
    "Reference",
    "judge_all",
    "number",
    "verdict_json",
]

SHARD = 100
"""Episodes a shard. Fixed, so that shards do not depend on workers or timing."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One episode with what was found on each claim, in the claims' order.

    options: what its reset was given besides the seed. origin: what its start is banked as.
    """

    index: int
    trace: Trace
    findings: tuple[Finding, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    origin: Origin = "screen"

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The findings that are verdicts: all but those on claims about a mean."""
        return tuple(finding for finding in self.findings if isinstance(finding, Verdict))

    @property
    def violated(self) -> bool:
        """Whether any claim was violated."""
        return any(reading.violated for reading in self.readings)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """What the statistics take of it."""
        return tuple(Reading.of(finding) for finding in self.findings)


def judge_all(
    claims: Sequence[Claim],
    index: int,
    trace: Trace,
    options: Mapping[str, Any] | None = None,
    origin: Origin = "screen",
) -> Judged:
    """Judge one trace on every claim; measure it for claims about a mean."""
    found = tuple(find(claim, trace) for claim in claims)
    return Judged(index, trace, found, options or {}, origin)


Reference = dict[str, str]
"""How a record names another: {"kind", "record": payload digest}."""


@dataclass(slots=True)
class EpisodeBook:
    """Writes judged episodes to trace shards and verdict records, `SHARD` at a time.

    log None keeps digests only (a certification without a run folder). stem: of the shards' file
    names. subject: fields that every record of this book carries. references: claim id -> the
    verdict records written so far. reported: what the policy reported in the episodes.
    """

    log: AuditLog | None
    folder: Path | None
    stem: str
    claims: tuple[Claim, ...]
    subject: dict[str, Any]
    pending: list[Judged] = field(default_factory=list[Judged])
    digests: list[str] = field(default_factory=list[str])
    references: dict[str, list[Reference]] = field(default_factory=dict[str, list[Reference]])
    shards: int = 0
    reported: Counter[str] = field(default_factory=Counter[str])

    def add(self, judged: Judged) -> None:
        """Take the next episode in index order."""
        self.digests.append(judged.trace.digest)
        self.reported.update(reported((judged.trace,)))
        if self.log is None:
            return
        self.pending.append(judged)
        if len(self.pending) == SHARD:
            self.flush()

    def flush(self) -> None:
        """Write what is pending: a shard, its record, and a verdict record for each claim."""
        if self.log is None or self.folder is None or not self.pending:
            return
        batch, self.pending = self.pending, []
        path = _free(self.folder / f"{self.stem}-{self.shards:05d}.arrow")
        self.shards += 1
        with ShardWriter(path) as writer:
            for judged in batch:
                writer.append(judged.trace, episode=judged.index)
        traces = [judged.trace.digest for judged in batch]
        shard = self.log.append(
            "trace_shard",
            {
                **self.subject,
                "shard": self.log.artifact(path.absolute()),
                "first_index": batch[0].index,
                "traces": traces,
            },
        )
        for position, claim in enumerate(self.claims):
            found = [finding_json(judged.findings[position]) for judged in batch]
            kind, entries = (
                ("measurement", "measured")
                if claim.kind == "mean"
                else (
                    "verdict",
                    "verdicts",
                )
            )
            payload = {
                **self.subject,
                "claim_id": claim.id,
                "claim_digest": claim.digest,
                entries: found,
                "rests_on": [shard.reference()],
            }
            record = self.log.append(kind, payload)
            self.references.setdefault(claim.id, []).append(record.reference())

    @property
    def root(self) -> str:
        """Digest over the trace digests in index order."""
        return digest_json(self.digests)


def _free(path: Path) -> Path:
    """The path, or one beside it if a part of the run that was set aside has used it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found, times = path, 1
    while found.exists():
        times += 1
        found = path.with_name(f"{path.stem}.again-{times}{path.suffix}")
    return found
