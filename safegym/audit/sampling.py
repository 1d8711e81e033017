"""Which trace shards a sampled bundle leaves out: screens in which every episode passed."""

from collections.abc import Iterable, Sequence

from safegym.audit.record import AuditRecord

SCREENING = "gate"
KEPT_ONE_IN = 10
WHY = (
    "screening episodes in which no claim was violated or undecided; of their shards one in "
    f"{KEPT_ONE_IN} is here, chosen by digest, as are all that hold a failing episode"
)


def passing_left_out(records: Sequence[AuditRecord]) -> dict[str, str]:
    """Artifact -> why it is left out.

    Certification keeps every shard, and so do searches and suites. A shard of a screen is left out
    if no verdict on its traces is other than satisfied and its digest does not draw it.
    """
    failing = _failing(records)
    left_out: dict[str, str] = {}
    for record in records:
        if record.kind != "trace_shard" or record.payload["stream"] != SCREENING:
            continue
        shard = record.payload["shard"]
        drawn = int(shard["digest"].removeprefix("sha256:")[:8], 16) % KEPT_ONE_IN == 0
        if not drawn and failing.isdisjoint(record.payload["traces"]):
            left_out[str(shard["artifact"])] = WHY
    return left_out


def _failing(records: Iterable[AuditRecord]) -> frozenset[str]:
    """Traces on which some verdict is violated or undecided."""
    return frozenset(
        str(row["trace"])
        for record in records
        if record.kind == "verdict"
        for row in record.payload["verdicts"]
        if row["status"] != "satisfied"
    )
