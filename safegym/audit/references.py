"""How records name each other, and which records a resumption set aside.

Inside a payload a record is named by kind and payload digest, so that payloads of equal runs are
equal however often a run was resumed. The envelope of the naming record lists the leaves meant:
the latest one before it with that kind and payload digest that no resumption has superseded.
"""

from collections.abc import Iterator
from typing import Any

from safegym.errors import AuditError

Name = tuple[str, str]
"""(kind, payload digest)."""


def named_records(payload: Any) -> Iterator[dict[str, Any]]:
    """Yield every {"kind", "record"} object of a payload, in order of appearance."""
    if isinstance(payload, dict):
        if payload.keys() == {"kind", "record"}:
            yield payload
            return
        for item in payload.values():
            yield from named_records(item)
    elif isinstance(payload, list):
        for item in payload:
            yield from named_records(item)


def named_artifacts(payload: Any) -> Iterator[dict[str, Any]]:
    """Yield every {"artifact", "digest", "size", ...} object of a payload."""
    if isinstance(payload, dict):
        if "artifact" in payload:
            yield payload
            return
        for item in payload.values():
            yield from named_artifacts(item)
    elif isinstance(payload, list):
        for item in payload:
            yield from named_artifacts(item)


class LeafIndex:
    """The latest live leaf of each name, kept while records arrive in order."""

    def __init__(self) -> None:
        self._names: list[Name] = []
        self._latest: dict[Name, int] = {}
        self._superseded: set[int] = set()

    @property
    def superseded(self) -> frozenset[int]:
        """Indices of records that a later resumption set aside."""
        return frozenset(self._superseded)

    def resolve(self, payload: Any) -> tuple[int, ...]:
        """Return the leaves that a payload names, ascending. Raises AuditError if one lacks."""
        found = set[int]()
        for reference in named_records(payload):
            leaf = self._latest.get((reference["kind"], reference["record"]))
            if leaf is None:
                raise AuditError(
                    f"It rests on a {reference['kind']} record with payload "
                    f"{reference['record']}, but no live record before it has that kind and "
                    "payload.",
                    step="references",
                )
            found.add(leaf)
        return tuple(sorted(found))

    def add(self, kind: str, payload_digest: str, payload: Any) -> None:
        """Take in the next record. A run_resumed sets aside what came after its checkpoint."""
        index = len(self._names)
        if kind == "run_resumed":
            self._superseded.update(range(payload["from"]["size"], index))
            self._latest = {
                name: leaf for leaf, name in enumerate(self._names) if leaf not in self._superseded
            }
        self._names.append((kind, payload_digest))
        self._latest[(kind, payload_digest)] = index
