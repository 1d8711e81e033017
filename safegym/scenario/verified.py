"""What the last verification of each scenario found, kept beside the lock for the docs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safegym.errors import ScenarioError
from safegym.scenario.lock_entry import controls_digest, entry_of
from safegym.scenario.registry import folder_of
from safegym.scenario.spec import ScenarioSpec

FILE = "verified.json"
COMMAND = "safegym scenarios verify --all --write-table"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Separation:
    """One claim: in how many episodes good satisfies it, and the bad policy (named) violates it."""

    claim: str
    satisfied: int
    violated: int
    policy: str


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario that was verified. lock: its digest in the lock. seeds: episodes of each policy.
    good: those in which the good policy satisfied every claim. controls: digest of the policies.
    """

    lock: str
    seeds: int
    good: int
    claims: tuple[Separation, ...]
    controls: str = ""

    @property
    def worst_bad(self) -> int:
        """In how many episodes the least telling bad policy violates its claim."""
        return least_violated(self.claims)


Rows = Mapping[str, Row]


def least_violated(claims: Iterable[Separation]) -> int:
    """In how many episodes the least telling bad policy violates its claim; 0 without claims."""
    return min((claim.violated for claim in claims), default=0)


def table_path(pack: str = "core") -> Path:
    """Where a pack keeps its table: beside its code. Raises ScenarioError for an unknown pack."""
    return folder_of(pack) / FILE


def read_table(path: Path) -> dict[str, Row]:
    """Rows by scenario name, none if there is no file yet. Raises ScenarioError if it is none."""
    if not path.exists():
        return {}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != _FORMAT:
            raise ScenarioError(f"{path} has format {document['format']}, known is {_FORMAT}.")
        return {name: _row(value) for name, value in document["scenarios"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ScenarioError(
            f"{path} is no table of verified scenarios ({type(error).__name__}: {error}); take it "
            f"back from version control, or delete it and run {COMMAND}."
        ) from error


def write_table(path: Path, rows: Rows) -> None:
    """One line a scenario, by name."""
    lines = (f"{json.dumps(name)}: {json.dumps(_plain(rows[name]))}" for name in sorted(rows))
    inner = ",\n".join(lines)
    path.write_text(f'{{"format": {_FORMAT}, "scenarios": {{\n{inner}\n}}}}\n', encoding="utf-8")


def is_current(row: Row | None, spec: ScenarioSpec) -> bool:
    """Whether the row was found of the scenario, and under the policies, as they are now."""
    return (
        row is not None
        and row.lock == entry_of(spec).digest
        and row.controls == controls_digest(spec)
    )


def current(rows: Rows, specs: Iterable[ScenarioSpec]) -> dict[str, Row]:
    """The rows that are current, by name: what changed since is not verified."""
    return {spec.name: rows[spec.name] for spec in specs if is_current(rows.get(spec.name), spec)}


def _row(value: Mapping[str, Any]) -> Row:
    claims: Sequence[Sequence[Any]] = value["claims"]
    return Row(
        value["lock"],
        value["seeds"],
        value["good"],
        tuple(Separation(*row) for row in claims),
        value["controls"],
    )


def _plain(row: Row) -> dict[str, Any]:
    claims = [[each.claim, each.satisfied, each.violated, each.policy] for each in row.claims]
    counts = {"seeds": row.seeds, "good": row.good, "claims": claims}
    return {"lock": row.lock, "controls": row.controls, **counts}
