"""What the lock keeps of a scenario: digests of its parts, so that a change can be named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from safegym.digest import digest_json
from safegym.scenario.code_form import code_digest
from safegym.scenario.fingerprint import declared_parts, files_behind, source_files
from safegym.scenario.spec import ScenarioSpec

_SHORT = 12
"""Hexadecimal digits that are kept of a part's digest: enough to see that it changed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One scenario. digest: over its name, code, assets and declarations; not over installed
    versions, comments and docstrings. parts: declaration -> digest. files: path -> digest, of a
    locked entry those of all scenarios. Both are cut short.
    """

    digest: str
    parts: Mapping[str, str]
    files: Mapping[str, str]


def entry_of(spec: ScenarioSpec) -> Entry:
    """The entry of a scenario as it is now. Raises ScenarioError for a file that is missing."""
    files = _files(source_files(spec))
    parts = {**declared_parts(spec), "physics": sorted(spec.physics)}
    whole = digest_json({"name": spec.name, "parts": parts, "files": files})
    return Entry(
        whole,
        {name: _short(digest_json([value])) for name, value in sorted(parts.items())},
        {path: _short(digest) for path, digest in sorted(files.items())},
    )


def controls_digest(spec: ScenarioSpec) -> str:
    """Of the control policies: their names, their code with what it imports, learned weights.

    It is not in the lock, since a scenario stays the same whoever acts in it; what verification
    found hangs on it. Raises ScenarioError for a file that is missing.
    """
    makers = {"good": spec.good, **spec.bad}
    behind: set[Path] = set()
    cards: list[list[str]] = []
    for role, maker in sorted(makers.items()):
        if maker is not None:
            behind |= files_behind(maker, role, spec.physics)
            card = maker().card
            cards.append([role, card.name, "" if card.kind == "scripted" else card.digest])
    return digest_json({"cards": cards, "files": _files(sorted(behind))})


def _files(paths: Sequence[Path]) -> dict[str, str]:
    """Digests by place; files of one place, such as two outside of any package, are numbered."""
    found: dict[str, str] = {}
    for path in paths:
        first = where = place(path)
        count = 1
        while where in found:
            count += 1
            where = f"{first} ({count})"
        found[where] = code_digest(path)
    return found


def changes(locked: Entry, found: Entry) -> list[str]:
    """What differs, in words: files first, then declarations."""
    files = {name: locked.files[name] for name in found.files if name in locked.files}
    return [
        *(f"file {name}" for name in _differing(files, found.files)),
        *_differing(locked.parts, found.parts),
    ]


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return [
        f"{name}{_how(name, one, other)}"
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name)
    ]


def _how(name: str, one: Mapping[str, str], other: Mapping[str, str]) -> str:
    if name not in one:
        return " (new)"
    return "" if name in other else " (gone)"


def _short(digest: str) -> str:
    return digest.partition(":")[2][:_SHORT]


def place(path: Path) -> str:
    """A file's path from the folder that its top-level package lies in, wherever it is installed.

    A file outside any package stands by its name.
    """
    folder = path.parent
    top = path
    while (folder / "__init__.py").is_file():
        top, folder = folder, folder.parent
    if top == path:
        return _in_package_above(path)
    return path.relative_to(top.parent).as_posix()


def _in_package_above(path: Path) -> str:
    """Of an asset in a folder without code: from the package above it, if there is one."""
    for above in path.parents:
        if (above / "__init__.py").is_file():
            return f"{place(above / '__init__.py').removesuffix('__init__.py')}" + (
                path.relative_to(above).as_posix()
            )
    return path.name
