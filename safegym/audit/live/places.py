"""Which runs are served: one run, one bundle, or the run folders inside a folder."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from safegym.audit import layout
from safegym.errors import AuditError

MOST = 500
"""Runs of one index."""
DEPTH = 3
"""Levels below the folder that are searched."""
LOOKED_AT = 20_000
"""Folder entries that one search looks at."""


def is_folder_of_runs(place: Path) -> bool:
    """Whether `place` is to be served as a list of runs. Raises AuditError if nothing is there."""
    if not place.exists():
        raise AuditError(f"There is no run folder or bundle {place}.", step="bounded reads")
    if place.is_file() or (place / layout.LOG).exists():
        return False
    if next(run_folders(place), None) is None:
        raise AuditError(
            f"{place} holds no {layout.LOG}, and no folder in it does. Name a run folder, a "
            "bundle, or a folder of runs: safegym report RUN --serve",
            step="bounded reads",
        )
    return True


def run_folders(folder: Path) -> Iterator[Path]:
    """Run folders below `folder`, sorted by name; links and hidden folders are passed over."""
    budget = [LOOKED_AT]
    yield from _below(folder, DEPTH, budget)


def _below(folder: Path, depth: int, budget: list[int]) -> Iterator[Path]:
    for name in _folders(folder, budget):
        if (folder / name / layout.LOG).is_file():
            yield folder / name
        elif depth > 1:
            yield from _below(folder / name, depth - 1, budget)


def _folders(folder: Path, budget: list[int]) -> list[str]:
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                budget[0] -= 1
                if budget[0] < 0:
                    break
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    found.append(entry.name)
    except OSError:
        return []
    return sorted(found)


def slug_of(relative: str) -> str:
    """A run's place in addresses: letters, digits, - and _ only, different for each path."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", relative)[:60].strip("-") or "run"
    if plain == relative:
        return plain
    return f"{plain}-{hashlib.sha256(os.fsencode(relative)).hexdigest()[:8]}"
