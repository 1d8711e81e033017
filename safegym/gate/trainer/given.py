"""Failing starts that came from outside of training, such as a search for counterexamples.

They stand in the run folder, in `starts.json`, oldest first. A run takes those that are new to it
when it begins or goes on, never in between, so that it stays what it is when it is run again.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from safegym.digest import canonical_json
from safegym.errors import RunFolderError
from safegym.gate.replay import Counterexample
from safegym.policy.sb3.folder import replace_file
from safegym.trace.document import read_document

STARTS = "starts.json"
MOST = 10_000
_MAX_BYTES = 256 * 2**20


def given_starts(folder: Path) -> tuple[Counterexample, ...]:
    """The starts in a run folder. Raises RunFolderError if the file is malformed."""
    path = folder / STARTS
    if not path.is_file():
        return ()
    try:
        with path.open("rb") as file:
            entries: Any = read_document(file.read(_MAX_BYTES + 1), "file of starts")["starts"]
        if not isinstance(entries, list) or len(entries) > MOST:
            raise ValueError(f"it must list at most {MOST} starts")
        return tuple(Counterexample.from_json(entry) for entry in entries)
    except Exception as error:
        raise RunFolderError(
            f"{path} cannot be read: {error}. Move it away and give the finds again."
        ) from error


def give_starts(folder: Path, starts: Iterable[Counterexample]) -> int:
    """Put starts into a run folder, durably; returns how many were new there.

    Raises RunFolderError if the folder is no run, or another process is giving starts to it.
    """
    lock = FileLock(folder / f"{STARTS}.lock", timeout=10)
    try:
        with lock:
            held = list(given_starts(folder))
            keys = {start.key for start in held}
            fresh = {start.key: start for start in starts if start.key not in keys}
            entries = [start.to_json() for start in (*held, *fresh.values())]
            if len(entries) > MOST:
                raise RunFolderError(f"{folder} would hold more than {MOST} given starts.")
            if fresh:
                replace_file(folder / STARTS, canonical_json({"starts": entries}) + b"\n")
            return len(fresh)
    except Timeout as error:
        raise RunFolderError(f"{folder} is being given starts by another process.") from error
