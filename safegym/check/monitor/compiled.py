"""When to leave numpy for machine code, and the door to it.

Compiled kernels give the same bits; they only cost an import (0.4 s) and, once per machine, a
compilation. So in `auto` mode they are taken when numpy has done enough work for that to pay. If
numba is missing or cannot cache, numpy stays.
"""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Literal, get_args

import numpy as np

from safegym.check.monitor.lattice import Lattice, Values
from safegym.errors import UnsupportedError

Mode = Literal["auto", "numpy", "numba"]
VARIABLE = "SAFEGYM_KERNELS"
ENOUGH_WORK = 50_000_000
"""Samples through the slow kernels after which importing numba pays (about one second)."""
SHORTEST = 1024
"""Arrays below this many values stay in numpy."""


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


def _wanted(work: int) -> Any:
    """The compiled module if it should do this piece of work."""
    chosen = mode()
    if chosen == "numpy":
        return None
    if chosen == "numba":
        return _load()
    if work < SHORTEST:
        return None
    if _State.module is None and not _State.broken:
        _State.work += work
        enough = ENOUGH_WORK // 10 if "numba" in sys.modules else ENOUGH_WORK
        return _load() if _State.work >= enough else None
    return _State.module


def _rows(x: Values) -> Values:
    """(rows, n), C-contiguous, truth values as bytes."""
    flat = np.ascontiguousarray(x).reshape(-1, x.shape[-1])
    return flat.view(np.uint8) if flat.dtype == np.bool_ else flat


def _shaped(result: Values, like: Values) -> Values:
    shaped = result.reshape(*like.shape[:-1], result.shape[-1])
    return shaped.view(np.bool_) if like.dtype == np.bool_ else shaped


def _guarded(kernel: Callable[..., Values], *arguments: Any) -> Values | None:
    """A failing compiler makes the process fall back to numpy for good."""
    try:
        return kernel(*arguments)
    except (RuntimeError, OSError) as error:
        if mode() == "numba":
            raise
        _State.broken, _State.module = str(error), None
        return None


def slide(x: Values, width: int, join: np.ufunc) -> Values | None:
    """Compiled `kernels.slide`, or None where numpy should do it."""
    if width <= 8 and mode() == "auto":
        return None
    module = _wanted(x.size)
    if module is None:
        return None
    found = _guarded(module.slide, _rows(x), width, _is_max(join))
    return None if found is None else _shaped(found, x)


def until_slide(left: Values, right: Values, width: int, lattice: Lattice) -> Values | None:
    """Compiled `kernels.until_slide`, or None where numpy should do it."""
    module = _wanted(right.size)
    if module is None:
        return None
    found = _guarded(module.until_slide, _rows(left), _rows(right), width, _is_max(lattice.join))
    return None if found is None else _shaped(found, right)


def until_remaining(
    left: Values, right: Values, seed: Values | float | bool, lattice: Lattice
) -> Values | None:
    """Compiled `kernels.until_remaining`, or None where numpy should do it."""
    module = _wanted(right.size)
    if module is None:
        return None
    rows = _rows(right)
    seeds = np.broadcast_to(np.asarray(seed).astype(rows.dtype), right.shape[:-1]).reshape(-1)
    found = _guarded(
        module.until_remaining,
        _rows(left),
        rows,
        np.ascontiguousarray(seeds),
        _is_max(lattice.join),
    )
    return None if found is None else _shaped(found, right)


def _is_max(join: np.ufunc) -> bool:
    return join is np.maximum or join is np.logical_or
