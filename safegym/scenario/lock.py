"""The lock of scenarios: a changed scenario is another one, so its name's version is raised.

`python -m safegym.scenario.lock --check` compares the core pack with its `scenarios.lock`,
`--write` adds new scenarios and takes out those that are gone.
"""

import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from safegym.errors import SafegymError, ScenarioError
from safegym.scenario.lock_entry import Entry, changes, entry_of
from safegym.scenario.registry import folder_of, survey

COMMAND = "python -m safegym.scenario.lock"
FILE = "scenarios.lock"
_FORMAT = 1
_VERSION = re.compile(r"-v([0-9]+)$")
Entries = Mapping[str, Entry]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where scenarios and lock part. new, gone: names; changed: name -> what changed, in words."""

    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    @property
    def sentences(self) -> list[str]:
        """What to do about each, with the line that works; empty if there is none."""
        return [
            *(f"{name} is not in the lock; run {COMMAND} --write" for name in self.new),
            *(f"{name} is in the lock and is gone; run {COMMAND} --write" for name in self.gone),
            *(_raise_version(name, what) for name, what in self.changed.items()),
        ]


def lock_path(pack: str = "core") -> Path:
    """Where a pack keeps its lock: beside its code. Raises ScenarioError for an unknown pack."""
    return folder_of(pack) / FILE


def entries_of(pack: str = "core") -> dict[str, Entry]:
    """The entry of each scenario of a pack, as they are now, by name.

    Raises ScenarioError if one cannot be built.
    """
    specs, problems = survey(pack)
    if problems:
        raise ScenarioError("; ".join(problems))
    return {spec.name: entry_of(spec) for spec in specs}


def read_lock(path: Path) -> dict[str, Entry]:
    """The locked entries by name, none if there is no file yet.

    Raises ScenarioError if the file is no lock.
    """
    if not path.exists():
        return {}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != _FORMAT:
            raise ScenarioError(f"{path} has format {document['format']}, known is {_FORMAT}.")
        files = dict(document["files"])
        return {
            name: Entry(value["digest"], dict(value["parts"]), files)
            for name, value in document["scenarios"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ScenarioError(
            f"{path} is no lock of scenarios ({type(error).__name__}: {error}); take it back from "
            f"version control, or delete it and run {COMMAND} --write."
        ) from error


def write_lock(path: Path, entries: Entries) -> None:
    """One line a file and one a scenario, by name, so that diffs are short."""
    files = {place: digest for entry in entries.values() for place, digest in entry.files.items()}
    kept = {
        name: {"digest": entry.digest, "parts": dict(entry.parts)}
        for name, entry in entries.items()
    }
    text = f'{{"format": {_FORMAT},\n"files": {_lines(files)},\n"scenarios": {_lines(kept)}}}\n'
    path.write_text(text, encoding="utf-8")


def _lines(table: Mapping[str, Any]) -> str:
    rows = (f"{json.dumps(k)}: {json.dumps(table[k], sort_keys=True)}" for k in sorted(table))
    return "{\n" + ",\n".join(rows) + "\n}"


def compare(locked: Entries, found: Entries) -> Difference:
    """Where scenarios and lock part."""
    return Difference(
        new=tuple(sorted(set(found) - set(locked))),
        gone=tuple(sorted(set(locked) - set(found))),
        changed={
            name: changes(locked[name], entry)
            for name, entry in sorted(found.items())
            if name in locked and locked[name].digest != entry.digest
        },
    )


def updated(locked: Entries, found: Entries, unreleased: Sequence[str] = ()) -> dict[str, Entry]:
    """The lock with new names added and those gone taken out.

    unreleased: names, or patterns such as "drone/*", of scenarios that no release holds, which
    may be overwritten. Raises ScenarioError for every other one that changed, with what changed.
    """
    for pattern in unreleased:
        if not any(fnmatchcase(name, pattern) for name in found):
            raise ScenarioError(f"--unreleased {pattern} matches no scenario.")
    changed = compare(locked, found).changed
    refused = {
        name: what
        for name, what in changed.items()
        if not any(fnmatchcase(name, pattern) for pattern in unreleased)
    }
    if refused:
        raise ScenarioError("\n".join(_raise_version(*each) for each in refused.items()))
    return dict(found)


def _raise_version(name: str, what: Sequence[str]) -> str:
    higher = _VERSION.sub(lambda found: f"-v{int(found[1]) + 1}", name)
    return (
        f"{name} changed: {', '.join(what)}. A changed scenario is another one: name it {higher} "
        f"and run {COMMAND} --write. If no release holds {name} yet: "
        f"{COMMAND} --write --unreleased '{name}'"
    )


def main(arguments: Sequence[str]) -> int:
    """Writes or checks the lock; returns 0, 1 if it is not as it should be, else 2."""
    parser = ArgumentParser(prog=COMMAND, description="Lock scenarios, or compare with the lock.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="compare; 1 where something changed")
    what.add_argument("--write", action="store_true", help="add new scenarios, drop those gone")
    parser.add_argument("--file", type=Path, help=f"default: {FILE} beside the pack's code")
    parser.add_argument("--pack", default="core", help="which pack; default: core")
    parser.add_argument(
        "--unreleased", action="append", default=[], metavar="NAME", help="may be overwritten"
    )
    asked = parser.parse_args(arguments)
    try:
        path = asked.file or lock_path(asked.pack)
        locked, found = read_lock(path), entries_of(asked.pack)
        if asked.write:
            write_lock(path, updated(locked, found, asked.unreleased))
            print(f"{len(found)} {asked.pack} scenarios locked in {path}")
            return 0
        sentences = compare(locked, found).sentences
        print("\n".join(sentences), file=sys.stderr, end="\n" if sentences else "")
        if not sentences:
            print(f"{path.name} matches {len(found)} {asked.pack} scenarios")
        return 1 if sentences else 0
    except (SafegymError, OSError, SyntaxError) as error:
        print(str(error), file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
