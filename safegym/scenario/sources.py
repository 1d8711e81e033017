"""Source files, read once: their digest and their import lines, until they change on disk."""

import ast
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from safegym.digest import digest_bytes

_SETTLED_SECONDS = 2.0
"""A file written more lately than this is read again: two writes may share one time stamp."""
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_known: dict[Path, tuple[tuple[int, ...], "Source"]] = {}


@dataclass(frozen=True, slots=True)
class Import:
    """One import line: `from <level dots><base> import <names>`, or `import <names>` without base.

    base: None for a plain import.
    """

    names: tuple[str, ...]
    base: str | None = None
    level: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it is now. digest: over its bytes. imports: of a Python file, anywhere in it."""

    digest: str
    imports: tuple[Import, ...]


def read(path: Path) -> Source:
    """The file, from memory where its size and times are those of the last reading.

    Raises OSError if it cannot be read, SyntaxError if it is Python that does not parse.
    """
    stamp = _stamp(path)
    found = _known.get(path)
    if found is not None and found[0] == stamp:
        return found[1]
    data = path.read_bytes()
    source = Source(digest_bytes(data), tuple(_imports(data)) if path.suffix == ".py" else ())
    if time.time() - os.stat(path).st_mtime > _SETTLED_SECONDS:
        _known[path] = (stamp, source)
    return source


def _stamp(path: Path) -> tuple[int, ...]:
    seen = os.stat(path)
    return seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino


def _imports(data: bytes) -> Iterator[Import]:
    """Import lines, wherever they stand; only statements are looked at."""
    pending: list[ast.AST] = [ast.parse(data)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield Import(tuple(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            yield Import(names, node.module or "", node.level)
        for block in _BLOCKS:
            pending.extend(getattr(node, block, ()) if not isinstance(node, ast.expr) else ())
