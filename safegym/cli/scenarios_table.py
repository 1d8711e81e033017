"""Keeping what a verification found, for the docs and the gallery."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from safegym.check.controls import Outcome
    from safegym.scenario.verified import Row


def keep(outcomes: Sequence["Outcome"], pack: str) -> Path:
    """Bring the pack's table up to date; returns its path.

    Verified scenarios get a row, those that fail lose theirs, and so do those that are gone.
    """
    from safegym.scenario.registry import names
    from safegym.scenario.verified import read_table, table_path, write_table

    path = table_path(pack)
    known = set(names(pack))
    rows = {name: row for name, row in read_table(path).items() if name in known}
    for outcome in outcomes:
        rows.pop(outcome.name, None)
        if outcome.verified and outcome.name in known:
            rows[outcome.name] = _row(outcome)
    write_table(path, rows)
    return path


def _row(outcome: "Outcome") -> "Row":
    from safegym.scenario.lock_entry import controls_digest, entry_of
    from safegym.scenario.registry import find
    from safegym.scenario.verified import Row

    spec = find(outcome.name)
    digest, controls = entry_of(spec).digest, controls_digest(spec)
    return Row(digest, outcome.seeds, outcome.good, outcome.claims, controls)
