"""One thread for numpy's matrix products while a search runs.

The products here are many and small; more threads than one only wait for each other, and on a busy
machine a search took six times as long with two. Searches run in parallel over processes instead.
"""

import ctypes
import threading
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


class _Held:
    """Threads as they were before the first of the searches that run at once in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.searches = 0
        self.before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        """The first search sets one thread."""
        with self.lock:
            if self.searches == 0:
                for get, put in _controls():
                    self.before.append((put, int(get())))
                    put(1)
            self.searches += 1

    def leave(self) -> None:
        """The last one puts the threads back."""
        with self.lock:
            self.searches -= 1
            while self.searches == 0 and self.before:
                put, threads = self.before.pop()
                put(threads)


_HELD = _Held()


@contextmanager
def one_thread() -> Generator[None]:
    """Matrix products of this process in one thread; where that cannot be set, as they were."""
    _HELD.enter()
    try:
        yield
    finally:
        _HELD.leave()


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
