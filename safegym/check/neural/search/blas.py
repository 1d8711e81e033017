"""One thread for numpy's matrix products while a search runs.

The products here are many and small; more threads than one only wait for each other, and on a busy
machine a search took six times as long with two. Searches run in parallel over processes instead.
"""

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)


@contextmanager
def one_thread() -> Generator[None]:
    """Matrix products of this process in one thread; where that cannot be set, as they were."""
    controls = _controls()
    before = [int(get()) for get, _ in controls]
    for _, put in controls:
        put(1)
    try:
        yield
    finally:
        for (_, put), threads in zip(controls, before, strict=True):
            put(threads)


def _controls() -> list[tuple[Any, Any]]:
    """(get, set) of each OpenBLAS that numpy brought along."""
    found: list[tuple[Any, Any]] = []
    home = Path(np.__file__).parent
    for folder in (home.parent / "numpy.libs", home / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            for name in _NAMES:
                get, put = (getattr(library, name.format(verb), None) for verb in ("get", "set"))
                if get is not None and put is not None:
                    found.append((get, put))
                    break
    return found
