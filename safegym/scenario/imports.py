"""Which source files a scenario's code rests on, found by reading its import lines."""

import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

from safegym.scenario.sources import Source, read

_READERS = "safegym.scenario.signals"


def imported_files(module: str, path: Path) -> set[Path]:
    """The file and, transitively, what it imports from its own top-level package.

    The MuJoCo signal readers count as its own too; the rest of safegym is named by its version.
    """
    root = module.partition(".")[0]
    found: set[Path] = set()
    pending = [(module, path)]
    while pending:
        name, file = pending.pop()
        if file in found:
            continue
        found.add(file)
        pending.extend(_edges(name, file, read(file), root))
    return found


@cache
def _edges(module: str, path: Path, source: Source, root: str) -> tuple[tuple[str, Path], ...]:
    """Modules that a file imports and that belong to the scenario, with their files."""
    return tuple(
        (imported, file)
        for imported in _imports(module, path, source)
        if _belongs(imported, root)
        for file in _file_of(imported)
    )


def is_reader(module: str) -> bool:
    """Whether a module holds signal readers, whose files count as a scenario's own."""
    return module == _READERS or module.startswith(_READERS + ".")


def _belongs(module: str, root: str) -> bool:
    if is_reader(module):
        return True
    return root != "safegym" and (module == root or module.startswith(root + "."))


def _imports(module: str, path: Path, source: Source) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for line in source.imports:
        if line.base is None:
            yield from line.names
            continue
        base = "." * line.level + line.base
        if line.level:
            base = resolve_name(base, package)
        yield base
        yield from (f"{base}.{name}" for name in line.names)


def _file_of(module: str) -> Iterator[Path]:
    """The module's source file, without importing it; nothing for a name that is not a module."""
    root, *rest = module.split(".")
    for folder in getattr(sys.modules.get(root), "__path__", ()):
        base = Path(folder, *rest)
        for path in (base / "__init__.py", base.parent / f"{base.name}.py"):
            if path.is_file() and (rest or path.name == "__init__.py"):
                yield path.resolve()
