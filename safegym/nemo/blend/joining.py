"""Joining rows with their rollouts by sorting both on the key that they share."""

import struct
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from safegym.errors import BlendError
from safegym.nemo.blend.places import Place
from safegym.nemo.blend.rollouts import (
    INDEX,
    ROLLOUT_INDEX,
    TASK_INDEX,
    infos_of,
    key_of,
    value_at,
    whole,
)
from safegym.nemo.blend.sorting import SMALL, ExternalSort, external_sort
from safegym.nemo.blend.stored import Tell, stored_rows
from safegym.nemo.rows.forms import fields_of

_PAIR = struct.Struct(">QQ")
_COUNTS = struct.Struct(">QQQQ")
Counts = tuple[int, ...]
Outcome = Callable[[Mapping[str, Any], str], int]
"""Says of a rollout which of the counts it belongs to; the text says where it stands."""


def joined(
    rollouts: Sequence[Place], place: Place, by: str, outcome: Outcome, tell: Tell
) -> Generator[Counts]:
    """Counts of each row's rollouts, in the order of the rows.

    Raises BlendError for a rollout that is there twice, or that belongs to no row.
    """
    with (
        external_sort(budget=SMALL) as outcomes,
        external_sort(budget=SMALL) as keyed,
        external_sort(budget=SMALL) as counted,
    ):
        for source in rollouts:
            _add_outcomes(source, outcomes, by, outcome, tell)
        _add_rows(place, keyed, by, tell)
        _join(outcomes.merged(), keyed.merged(), counted, rollouts[0])
        for _, counts in counted.merged():
            yield _COUNTS.unpack(counts)


def _add_outcomes(
    place: Place, outcomes: ExternalSort, by: str, outcome: Outcome, tell: Tell
) -> None:
    """Key: the task's, then the rollout's number, so that a rollout counted twice stands together.

    A rollout without a number gets one that no other has.
    """
    for line, record in stored_rows(place, tell):
        where = f"{place.text} line {line.number}"
        profile = "rollout_infos" in record
        inner = record.get("sample") if profile and by else record
        key = key_of(inner if isinstance(inner, Mapping) else {}, by, where)
        for number, info in enumerate(infos_of(record, where) if profile else (record,)):
            index = info.get(ROLLOUT_INDEX)
            known = isinstance(index, int) and not isinstance(index, bool)
            own = (
                b"\x01" + whole(index, where)
                if known
                else (b"\x00" + place.text.encode() + _PAIR.pack(line.number, number))
            )
            outcomes.add(key + own, bytes([len(key), outcome(info, where)]))


def _add_rows(place: Place, keyed: ExternalSort, by: str, tell: Tell) -> None:
    """Key of each row -> its number. Equal rows without an index of their own share one."""
    with external_sort(budget=SMALL) as same, external_sort(budget=SMALL) as leaders:
        for number, (line, row) in enumerate(stored_rows(place, tell)):
            fields = fields_of(row)
            if by or TASK_INDEX in fields:
                where = f"{place.text} line {line.number}"
                inner = by and value_at(fields, by) is None
                keyed.add(key_of(row if inner else fields, by, where), INDEX.pack(number))
            else:
                same.add(sha256(line.text).digest()[:16], INDEX.pack(number))
        before, leader = b"", b""
        for digest, number_bytes in same.merged():
            if digest != before:
                before, leader = digest, number_bytes
            leaders.add(leader, number_bytes)
        index, before = -1, b""
        for leader, number_bytes in leaders.merged():
            if leader != before:
                index, before = index + 1, leader
            keyed.add(INDEX.pack(index), number_bytes)


def _join(
    outcomes: Iterator[tuple[bytes, bytes]],
    keyed: Iterator[tuple[bytes, bytes]],
    counted: ExternalSort,
    place: Place,
) -> None:
    """Rows in order of their key against tallies in the same order."""
    tallies = _tallies(outcomes)
    key, counts = next(tallies, (None, [0, 0, 0, 0]))
    used, lost = False, 0
    for row_key, number in keyed:
        while key is not None and key < row_key:
            lost += 0 if used else sum(counts)
            (key, counts), used = next(tallies, (None, [0, 0, 0, 0])), False
        matched = key == row_key
        used = used or matched
        counted.add(number, _COUNTS.pack(*(counts if matched else (0, 0, 0, 0))))
    while key is not None:
        lost += 0 if used else sum(counts)
        (key, counts), used = next(tallies, (None, [0, 0, 0, 0])), False
    if lost:
        raise BlendError(
            f"{lost} rollouts of {place.text} and what else was given belong to no row: rows and "
            "rollouts are of different files, or need another key, such as --by task_id."
        )


def _tallies(outcomes: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, list[int]]]:
    key: bytes | None = None
    counts, before = [0, 0, 0, 0], b""
    for named, (size, outcome) in outcomes:
        if named == before:
            raise BlendError(
                f"A rollout is there twice ({ROLLOUT_INDEX} {INDEX.unpack(named[-8:])[0]} of one "
                "task); a rollout counts once, so leave one of the two files or lines out."
            )
        before = named
        if key != named[:size]:
            if key is not None:
                yield key, counts
            key, counts = named[:size], [0, 0, 0, 0]
        counts[outcome] += 1
    if key is not None:
        yield key, counts
