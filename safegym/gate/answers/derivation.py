"""What a derivation found: field by field, what is logged and what comes out now."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

NOTHING = "(nothing)"
"""Stands for null and for what is not there: they count the same."""


@dataclass(frozen=True, slots=True)
class Row:
    """One field: what the log says, what comes out, each as text."""

    field: str
    logged: str
    again: str

    @property
    def same(self) -> bool:
        """Whether both are the same."""
        return self.logged == self.again


@dataclass(frozen=True, slots=True)
class Derived:
    """A record derived again. work: what was done for it, in words. told: fields that only the
    run itself could know, which nothing here derives. missing: why it could not be derived.
    """

    leaf: int
    kind: str
    claim_id: str
    work: str
    rows: tuple[Row, ...]
    told: tuple[str, ...] = ()
    missing: str = ""

    @property
    def same(self) -> bool:
        """Whether everything came out as logged; False also where it could not be derived."""
        return not self.missing and all(row.same for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON."""
        rows = [{**asdict(row), "same": row.same} for row in self.rows]
        return {**asdict(self), "rows": rows, "same": self.same}


def rows_of(logged: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[Row]:
    """A row for each field that came out again."""
    for name, value in again.items():
        yield Row(name, _text(logged.get(name)), _text(value))


def _text(value: Any) -> str:
    """A value as the log writes it; what is not there and null look the same, as they count."""
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
