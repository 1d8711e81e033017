"""Which interpreter carries out an update: numpy until compiling pays.

The modes are those of the offline kernels (`compiled`). Both interpreters work on the same words
and cells, so changing over changes no bit.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from safegym.check.monitor import compiled
from safegym.check.monitor.stream import arrays
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.windows import Words
from safegym.errors import UnsupportedError

MODES = compiled._State
"""Its `mode` is the process-wide one, None until it is first asked for."""
Advance = Callable[[Words], int]
PAYS = 10_000
"""Updates in numpy after which compiling pays (they take a second or more); a fortieth of that
where numba is imported already."""


class _State:
    """Process-wide: the compiled interpreter, or why there is none; updates done in numpy."""

    machine: Advance | None = None
    broken: str = ""
    updates: int = 0


def choose() -> tuple[Advance, str]:
    """Returns the interpreter to use, and the mode for which it stays the right one ("" for none).

    Raises UnsupportedError where numba is asked for and cannot be had.
    """
    mode = compiled.mode()
    if mode == "numpy":
        return arrays.advance, mode
    if mode == "auto" and _State.machine is None:
        return _counting, ""
    found = _machine()
    if found is None:
        raise UnsupportedError(f"The compiled monitor cannot be used here: {_State.broken}")
    return found, mode


def _counting(words: Words) -> int:
    """numpy, until enough of it was done."""
    _State.updates += 1
    enough = PAYS // 40 if "numba" in sys.modules else PAYS
    if _State.updates >= enough:
        found = _machine()
        if found is not None:
            return found(words)
    return arrays.advance(words)


def _machine() -> Advance | None:
    """The compiled interpreter, None where it cannot be had."""
    if _State.machine is None and not _State.broken:
        try:
            from safegym.check.monitor.stream import machine  # imports numba

            _try(machine.advance)
            _State.machine = _entry(machine.advance)
        except (ImportError, RuntimeError, OSError) as error:
            _State.broken = str(error)
    return _State.machine


def _entry(advance: Any) -> Advance:
    """The compiled function itself: numba's dispatch on argument types takes a third of a call."""
    compiled_once = list(getattr(advance, "overloads", {}).values())
    found: Advance = getattr(compiled_once[0], "entry_point", advance) if compiled_once else advance
    return found


def _try(advance: Any) -> None:
    """Compiles: an update of one episode that does nothing."""
    words = np.zeros(w.HEADER + 4, np.int64)
    words[w.BATCH] = words[w.ROOM] = words[w.STRIDE] = 1
    words[w.CELLS], words[w.HEIGHT], words[w.LIMIT] = w.HEADER, 4, w.NEVER
    advance(words)
