"""What a reviewer should know of a log in which nothing is wrong: what no derivation covers."""

from collections.abc import Iterable, Iterator

from safegym.audit.record import AuditRecord

PLAN_VERSION = 3
"""Version of gate plans that this version writes: the gate's own constant, as a test checks."""


def remarks(records: Iterable[AuditRecord]) -> Iterator[str]:
    """Yield remarks on live records, in their order."""
    for record in records:
        payload = record.payload
        if record.kind == "plan_registered":
            said = payload["plan"].get("version", 1)
            if isinstance(said, int) and said < PLAN_VERSION:
                yield (
                    f"Record {record.index}: the plan is of version {said}, earlier than this "
                    f"safegym's {PLAN_VERSION}: such a log says less, so less of it is derived "
                    "again. The key's owner could sign a log in the old form today; only a "
                    "checkpoint that you kept from then shows that it is as old as it looks."
                )
        if record.kind == "attempt_closed" and payload.get("surplus"):
            ran = str(payload["surplus"])[:20]
            yield (
                f"Record {record.index}: {ran} surplus episodes ran beyond "
                "the deciding one; their traces are not kept, so what is said of them cannot be "
                "derived again."
            )
