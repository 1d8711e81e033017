"""A first reading of a file of rows: their number, their digest, and that each can be played."""

import hashlib
from dataclasses import dataclass
from typing import Any

from safegym.digest import PREFIX
from safegym.errors import BlendError
from safegym.nemo.blend.places import Place
from safegym.nemo.blend.stored import Tell, silent, stored_rows
from safegym.nemo.rows.forms import missing_keys

FIRST = 5
"""Broken rows that a message names."""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A file of rows: how many, and the digest of its lines."""

    place: Place
    rows: int
    digest: str

    def to_json(self) -> dict[str, Any]:
        """For reports."""
        return {"file": self.place.text, "rows": self.rows, "digest": self.digest}


def survey(place: Place, tell: Tell = silent) -> Surveyed:
    """Read a file once. Raises BlendError naming lines and keys if rows lack required ones."""
    hasher, rows, lacking = hashlib.sha256(), 0, Lacking(place)
    for line, row in stored_rows(place, tell, f"checking {place.text}"):
        hasher.update(line.text)
        hasher.update(b"\n")
        rows += 1
        lacking.see(line.number, missing_keys(row))
    lacking.refuse()
    return Surveyed(place, rows, PREFIX + hasher.hexdigest())


class Lacking:
    """Counts rows that lack required keys, and keeps the first of them."""

    def __init__(self, place: Place) -> None:
        self._place, self._count = place, 0
        self._first: list[str] = []

    def see(self, number: int, missing: list[str]) -> None:
        """Hear of one row, and of the keys that it lacks."""
        if missing:
            self._count += 1
            if len(self._first) < FIRST:
                self._first.append(f"line {number}: {', '.join(missing)}")

    def refuse(self) -> None:
        """Raises BlendError if any row lacked a key."""
        if self._count:
            more = "; ..." if self._count > len(self._first) else ""
            raise BlendError(
                f"{self._place.text}: {self._count} rows lack required keys ("
                f"{'; '.join(self._first)}{more}). `safegym blend check` lists them."
            )
