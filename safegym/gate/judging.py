"""Judging the traces of a campaign and keeping what the audit trail needs of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.audit.log import AuditLog
from safegym.check.monitor import judge
from safegym.digest import digest_json
from safegym.formula.claim import Claim
from safegym.trace.model import Trace
from safegym.trace.store import ShardWriter
from safegym.verdict import Verdict

SHARD = 100
"""Episodes a shard. Fixed, so that shards do not depend on workers or timing."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One episode with its verdicts, in the claims' order."""

    index: int
    trace: Trace
    verdicts: tuple[Verdict, ...]

    @property
    def violated(self) -> bool:
        """Whether any claim was violated."""
        return any(verdict.status == "violated" for verdict in self.verdicts)


def judge_all(claims: Sequence[Claim], index: int, trace: Trace) -> Judged:
    """Judge one trace on every claim."""
    return Judged(index, trace, tuple(judge(claim, trace) for claim in claims))


Reference = dict[str, str]
"""How a record names another: {"kind", "record": payload digest}."""


@dataclass(slots=True)
class EpisodeBook:
    """Writes judged episodes to trace shards and verdict records, `SHARD` at a time.

    log None keeps digests only (a certification without a run folder). stem: of the shards' file
    names. subject: fields that every record of this book carries. references: claim id -> the
    verdict records written so far.
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

    def add(self, judged: Judged) -> None:
        """Take the next episode in index order."""
        self.digests.append(judged.trace.digest)
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
            record = self.log.append(
                "verdict",
                {
                    **self.subject,
                    "claim_id": claim.id,
                    "claim_digest": claim.digest,
                    "verdicts": [
                        {"trace": judged.trace.digest, **verdict_json(judged.verdicts[position])}
                        for judged in batch
                    ],
                    "rests_on": [shard.reference()],
                },
            )
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


def number(value: float) -> float | str:
    """A number as records carry it: finite, or the strings "inf" and "-inf"."""
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value + 0.0


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """What a verdict record keeps of one verdict."""
    robustness = verdict.robustness
    return {
        "status": verdict.status,
        "lo": None if robustness is None else number(robustness.lo),
        "hi": None if robustness is None else number(robustness.hi),
    }
