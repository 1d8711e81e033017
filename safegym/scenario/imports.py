"""Which source files a scenario's code rests on, found by reading its import lines."""

import ast
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

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
        pending.extend(
            (imported, source)
            for imported in _imports(name, file)
            if _belongs(imported, root)
            for source in _file_of(imported)
        )
    return found


def _belongs(module: str, root: str) -> bool:
    if module == _READERS or module.startswith(_READERS + "."):
        return True
    return root != "safegym" and (module == root or module.startswith(root + "."))


def _imports(module: str, path: Path) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            if node.level:
                base = resolve_name(base, package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _file_of(module: str) -> Iterator[Path]:
    """The module's source file, without importing it; nothing for a name that is not a module."""
    root, *rest = module.split(".")
    for folder in getattr(sys.modules.get(root), "__path__", ()):
        base = Path(folder, *rest)
        for path in (base / "__init__.py", base.parent / f"{base.name}.py"):
            if path.is_file() and (rest or path.name == "__init__.py"):
                yield path.resolve()
