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


class LiveLeaves:
    """The leaves in force, kept while records arrive in order.

    Each leaf is set aside at most once, so that many resumptions cost no more than one.
    """

    def __init__(self) -> None:
        self._live: list[int] = []
        self._superseded: set[int] = set()

    @property
    def superseded(self) -> frozenset[int]:
        """Indices of records that a later resumption set aside."""
        return frozenset(self._superseded)

    def is_superseded(self, index: int) -> bool:
        """Whether a resumption set this leaf aside."""
        return index in self._superseded

    def add(self, index: int) -> None:
        """Take in the next record's index."""
        self._live.append(index)

    def cut(self, size: int) -> list[int]:
        """Set aside the live leaves from `size` on; returns them, the latest first."""
        gone = list[int]()
        while self._live and self._live[-1] >= size:
            gone.append(self._live.pop())
        self._superseded.update(gone)
        return gone


class LeafIndex:
    """The latest live leaf of each name, kept while records arrive in order."""

    def __init__(self) -> None:
        self._names: list[Name] = []
        self._leaves: dict[Name, list[int]] = {}
        self._live = LiveLeaves()

    @property
    def superseded(self) -> frozenset[int]:
        """Indices of records that a later resumption set aside."""
        return self._live.superseded

    def resolve(self, payload: Any) -> tuple[int, ...]:
        """Return the leaves that a payload names, ascending. Raises AuditError if one lacks."""
        found = set[int]()
        for reference in named_records(payload):
            leaves = self._leaves.get((reference["kind"], reference["record"]))
            if not leaves:
                raise AuditError(
                    f"It rests on a {reference['kind']} record with payload "
                    f"{reference['record']}, but no live record before it has that kind and "
                    "payload.",
                    step="references",
                )
            found.add(leaves[-1])
        return tuple(sorted(found))

    def add(self, kind: str, payload_digest: str, payload: Any) -> None:
        """Take in the next record. A run_resumed sets aside what came after its checkpoint."""
        index = len(self._names)
        if kind == "run_resumed":
            for leaf in self._live.cut(payload["from"]["size"]):
                self._leaves[self._names[leaf]].pop()
        self._names.append((kind, payload_digest))
        self._leaves.setdefault((kind, payload_digest), []).append(index)
        self._live.add(index)
