"""Curricula: rows by pass rate, easiest first, and without the tails that teach nothing."""

import struct
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from safegym.errors import BlendError
from safegym.nemo.blend.places import Place, refuse
from safegym.nemo.blend.rates import UnratedRows, rate_of
from safegym.nemo.blend.sorting import BUDGET, external_sort
from safegym.nemo.blend.stored import Tell, silent, stored_rows, writing

_ALL_ONES = 2**64 - 1
Named = str | Path | Place


@dataclass(frozen=True, slots=True)
class SortReport:
    """What was sorted: rows, those without a pass rate, and the digest of the lines."""

    out: str
    rows: int
    unrated: int
    digest: str

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def sort_by_pass_rate(
    source: Named,
    out: Named,
    *,
    ascending: bool = False,
    unrated: Literal["refuse", "first", "last"] = "refuse",
    budget: int = BUDGET,
    tell: Tell = silent,
) -> SortReport:
    """Order rows by pass rate, highest first; equal rates keep their order.

    unrated: where rows without a pass rate go. budget: bytes of rows held in memory. Raises
    BlendError for a bad pass rate, or rows without one if they are refused.
    """
    place, target = Place.of(source), Place.of(out)
    _ = target.kind
    refuse([target], [place])
    missing = UnratedRows(place, "pass --unrated last or first")
    with external_sort(budget=budget) as sort:
        for line, row in stored_rows(place, tell, f"sorting {place.text}"):
            rate = rate_of(row, place, line.number)
            if rate is None:
                missing.see(line.number)
            sort.add(_key(rate, ascending=ascending, unrated_first=unrated == "first"), line.text)
        if unrated == "refuse":
            missing.refuse()
        with writing(target, tell) as written:
            for _, text in sort.merged():
                written.write(text)
    return SortReport(target.text, written.rows, missing.count, written.digest)


def _key(rate: float | None, *, ascending: bool, unrated_first: bool) -> bytes:
    """Bytes that compare as the order wanted: a double >= 0 compares as its big-endian bytes."""
    if rate is None:
        return b"\x00" if unrated_first else b"\x02"
    bits = struct.unpack(">Q", struct.pack(">d", rate))[0]
    return b"\x01" + struct.pack(">Q", bits if ascending else bits ^ _ALL_ONES)


@dataclass(frozen=True, slots=True)
class CutReport:
    """What a cut kept and dropped. unrated: rows without a pass rate, kept or dropped as asked."""

    out: str
    rows: int
    below: int
    above: int
    unrated: int
    digest: str

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def cut_tails(
    source: Named,
    out: Named,
    *,
    low: float,
    high: float,
    unrated: Literal["refuse", "keep", "drop"] = "refuse",
    tell: Tell = silent,
) -> CutReport:
    """Keep rows with low <= pass rate <= high, in their order; the others are counted.

    Raises BlendError unless 0 <= low <= high <= 1, or as `sort_by_pass_rate` does.
    """
    if not 0 <= low <= high <= 1:
        raise BlendError(
            f"A cut keeps pass rates within 0 <= low <= high <= 1, found {low:g} and {high:g}; "
            "for example --low 0.05 --high 0.95."
        )
    place, target = Place.of(source), Place.of(out)
    _ = target.kind
    refuse([target], [place])
    missing, below, above = UnratedRows(place, "pass --unrated keep or drop"), 0, 0
    with writing(target, tell) as written:
        for line, row in stored_rows(place, tell, f"cutting {place.text}"):
            rate = rate_of(row, place, line.number)
            if rate is None:
                missing.see(line.number)
                if unrated == "keep":
                    written.write(line.text)
                continue
            below, above = below + (rate < low), above + (rate > high)
            if low <= rate <= high:
                written.write(line.text)
        if unrated == "refuse":
            missing.refuse()
    return CutReport(target.text, written.rows, below, above, missing.count, written.digest)
