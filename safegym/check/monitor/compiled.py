"""When to leave numpy for machine code, and the door to it.

Compiled kernels give the same bits; they only cost an import (0.4 s) and, once per machine, a
compilation each. So in `auto` mode they are taken when numpy has done enough work for that to pay,
and only where they are the faster ones: truth values and short windows stay in numpy. If numba is
missing or cannot cache, numpy stays.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal, get_args

import numpy as np

from safegym.check.monitor.lattice import Lattice, Values
from safegym.errors import UnsupportedError

Mode = Literal["auto", "numpy", "numba"]
VARIABLE = "SAFEGYM_KERNELS"
ENOUGH_WORK = 50_000_000
"""Values through the slower kernels after which importing numba pays (about one second)."""
SHORTEST = 256
"""Arrays below this many values stay in numpy."""
NARROW, NARROW_UNTIL = 8, 4
"""Windows up to so many samples stay in numpy, in every mode; it is the faster one there."""


class _State:
    """Process-wide choice of kernels."""

    mode: Mode | None = None
    work: int = 0
    module: Any = None
    broken: str = ""


def mode() -> Mode:
    """The chosen mode: `use`, else the variable SAFEGYM_KERNELS, else auto."""
    if _State.mode is None:
        wanted = os.environ.get(VARIABLE, "auto")
        modes: tuple[Mode, ...] = get_args(Mode)
        if wanted not in modes:
            raise UnsupportedError(
                f"{VARIABLE}={wanted!r} is not a kernel mode; use one of {', '.join(modes)}."
            )
        _State.mode = wanted
    return _State.mode


@contextmanager
def use(wanted: Mode) -> Generator[None]:
    """Force a mode inside a `with` block. Raises UnsupportedError if numba is asked and missing."""
    before = mode()
    if wanted == "numba" and _load() is None:
        raise UnsupportedError(f"The numba kernels cannot be used here: {_State.broken}")
    _State.mode = wanted
    try:
        yield
    finally:
        _State.mode = before


def _load() -> Any:
    """The compiled module, or None with the reason in `_State.broken`."""
    if _State.module is None and not _State.broken:
        try:
            from safegym.check.monitor import machine  # imports numba

            _State.module = machine
        except (ImportError, RuntimeError, OSError) as error:
            _State.broken = str(error)
    return _State.module


def _wanted(values: Values) -> Any:
    """The compiled module if it should do this piece of work."""
    chosen = mode()
    if chosen == "numpy" or values.dtype != np.float64:
        return None
    if chosen == "numba":
        return _load()
    work = values.size
    if work < SHORTEST:
        return None
    if _State.module is None and not _State.broken:
        _State.work += work
        enough = ENOUGH_WORK // 10 if "numba" in sys.modules else ENOUGH_WORK
        return _load() if _State.work >= enough else None
    return _State.module


def _done(module: Any, name: str, lattice: Lattice, *arguments: Any) -> bool:
    """Whether the kernel ran; a failing compiler makes the process fall back to numpy for good."""
    try:
        module.kernel(name, lattice.up)(*arguments)
    except (RuntimeError, OSError) as error:
        if mode() == "numba":
            raise
        _State.broken, _State.module = str(error), None
        return False
    return True


def _rows(x: Values) -> Values:
    """As (rows, n), a view."""
    return x[None] if x.ndim == 1 else x


def slide(x: Values, width: int, lattice: Lattice, out: Values) -> bool:
    """Compiled `kernels.slide`; False where numpy should do it."""
    if width <= NARROW:
        return False
    module = _wanted(x)
    return module is not None and _done(module, "slide", lattice, _rows(x), width, _rows(out))


def until_slide(left: Values, right: Values, width: int, lattice: Lattice, out: Values) -> bool:
    """Compiled `kernels.until_slide`; False where numpy should do it."""
    module = None if width <= NARROW_UNTIL else _wanted(right)
    if module is None:
        return False
    path = np.empty(width)
    arguments = _rows(left), _rows(right), width, path, _rows(out)
    return _done(module, "until_slide", lattice, *arguments)


def until_remaining(
    left: Values, right: Values, seed: Values | float | bool, lattice: Lattice, out: Values
) -> bool:
    """Compiled `kernels.until_remaining`; False where numpy should do it."""
    module = _wanted(right)
    if module is None:
        return False
    seeds = np.empty(right.shape[:-1] or (1,))
    seeds[...] = seed
    arguments = _rows(left), _rows(right), seeds, _rows(out)
    return _done(module, "until_remaining", lattice, *arguments)
