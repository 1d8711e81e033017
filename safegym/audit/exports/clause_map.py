"""Clauses of standards and laws as data, and what a run holds that is evidence for each.

A map says which kinds of evidence belong to a clause, in a few words of our own; it quotes no
standard. `checked_by` names the person who has read the clause and agrees; null: nobody has. What
is found is evidence for a clause. Whether a clause is met is a judgement over people, process and
product, which no log makes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from safegym.audit.exports.standing import Dossier
from safegym.audit.report.fields import items, table, text
from safegym.errors import AuditError

LARGEST = 1 << 20
"""Bytes of the largest map that is read."""
MOST_RUNS = 6
"""Stretches of records that are listed of one kind of evidence."""
SAYS = (
    "This is evidence for clauses. Whether a clause is met is a judgement over people, process and "
    "product, and no log makes it."
)
SOURCES: Mapping[str, tuple[str, ...]] = {
    "claims": ("spec_registered",),
    "scenario": ("scenario_registered",),
    "plan": ("plan_registered",),
    "training": ("checkpoint", "penalty", "replay"),
    "policy": ("policy_frozen",),
    "evidence": ("evidence", "proof"),
    "attempts": ("attempt_started", "attempt_closed"),
    "counterexamples": ("falsification",),
    "regression": ("regression",),
    "decisions": ("gate_decision", "promotion", "rollback", "withdrawal"),
    "traces": ("trace_shard", "verdict", "measurement"),
    "people": ("waiver", "review_signature", "withdrawal", "tombstone"),
    "log": ("run_closed", "run_resumed"),
}
"""What a map may name -> kinds of record that are it."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. subject: in our words. evidence: keys of `SOURCES`. lacks: what no log can give.

    checked_by: the person who read it, None: unchecked by a person.
    """

    clause: str
    subject: str
    evidence: tuple[str, ...]
    lacks: str
    checked_by: str | None

    @property
    def checked(self) -> str:
        """In words whether a person has checked the entry."""
        return f"checked by {self.checked_by}" if self.checked_by else "unchecked by a person"


@dataclass(frozen=True, slots=True)
class ClauseMap:
    """Clauses of one standard. name: of the file, as commands take it."""

    name: str
    title: str
    edition: str
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What a run holds for one clause: source -> indices of records; and the sources it lacks."""

    clause: Clause
    records: Mapping[str, tuple[int, ...]]
    missing: tuple[str, ...]


def map_names() -> tuple[str, ...]:
    """The maps that come along, by name."""
    folder = files("safegym.audit.exports").joinpath("clauses")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


def load_map(name: str) -> ClauseMap:
    """A map that comes along, by name, or the one in a file (.json). Raises AuditError."""
    if name in map_names():
        entry = files("safegym.audit.exports").joinpath("clauses", f"{name}.json")
        return parse_map(name, entry.read_bytes())
    path = Path(name)
    if path.suffix != ".json":
        raise AuditError(
            f"There is no clause map {name!r:.80}; the maps are {', '.join(map_names())}, or name "
            "a file of your own: --map MINE.json"
        )
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise AuditError(f"The clause map {path} cannot be read: {error.strerror}.") from error
    return parse_map(path.stem, data)


def parse_map(name: str, data: bytes) -> ClauseMap:
    """A map from JSON bytes. Raises AuditError for anything that is none."""
    if len(data) > LARGEST:
        raise AuditError(f"The clause map {name} is larger than {LARGEST >> 20} MiB.")
    try:
        told = table({"map": json.loads(data)}, "map")
        json.dumps(told, ensure_ascii=False).encode("utf-8")  # refuses half characters
        clauses = [table({"clause": one}, "clause") for one in items(told, "clauses")]
        found = tuple(_clause(one) for one in clauses)
        return ClauseMap(name, text(told, "title"), text(told, "edition"), found)
    except (ValueError, RecursionError, AuditError) as error:
        raise AuditError(f"The clause map {name} cannot be read: {error}") from error


def _clause(told: Mapping[str, Any]) -> Clause:
    number, subject = text(told, "clause"), text(told, "subject")
    sources = tuple(str(one) for one in items(told, "evidence"))
    unknown = [one for one in sources if one not in SOURCES]
    if not number or not subject or "checked_by" not in told or unknown:
        wrong = f"unknown evidence {', '.join(unknown)}; " if unknown else ""
        raise AuditError(
            f"clause {number or '?'!r:.60}: {wrong}each entry needs clause, subject, evidence "
            f"(of {', '.join(SOURCES)}) and checked_by (a name, or null)"
        )
    lacks = text(told, "lacks")
    return Clause(number, subject, sources, lacks, text(told, "checked_by") or None)


def evidence_for(dossier: Dossier, clauses: ClauseMap) -> tuple[Found, ...]:
    """For each clause, the records in force that are evidence for it."""
    by_kind: dict[str, list[int]] = {}
    for record in dossier.live():
        by_kind.setdefault(record.kind, []).append(record.index)
    held = {
        source: tuple(sorted(index for kind in kinds for index in by_kind.get(kind, ())))
        for source, kinds in SOURCES.items()
    }
    return tuple(
        Found(
            clause,
            {source: held[source] for source in clause.evidence if held[source]},
            tuple(source for source in clause.evidence if not held[source]),
        )
        for clause in clauses.clauses
    )


def found_json(found: Found) -> dict[str, Any]:
    """What was found for a clause, ready for `json.dumps`."""
    clause = found.clause
    return {
        "clause": clause.clause,
        "subject": clause.subject,
        "checked_by": clause.checked_by,
        "checked": clause.checked,
        "records": {source: list(indices) for source, indices in found.records.items()},
        "missing": list(found.missing),
        "not_in_any_log": clause.lacks,
    }


def map_json(clauses: ClauseMap, rows: Iterable[Found]) -> dict[str, Any]:
    """A map with what was found, ready for `json.dumps`."""
    about = {"name": clauses.name, "title": clauses.title, "edition": clauses.edition}
    return {**about, "clauses": [found_json(found) for found in rows]}


def indices_words(indices: Sequence[int]) -> str:
    """Indices of records in words, runs of them drawn together: "3, 7 to 9 and 40 more"."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    words = [str(a) if a == b else f"{a} to {b}" for a, b in runs[:MOST_RUNS]]
    more = sum(b - a + 1 for a, b in runs[MOST_RUNS:])
    return ", ".join(words) + (f" and {more} more" if more else "")
