"""Sizes at which the monitor changes its way of working, drawn small, so that all are met."""

from collections.abc import Generator
from contextlib import contextmanager
from random import Random
from typing import Any

from safegym.check.monitor import atoms, compiled, evaluate, everywhere, kernels, past

SIZES: dict[tuple[Any, str], list[int]] = {
    (evaluate, "WORTH_REUSING"): [0, 4096],
    (evaluate, "WORTH_COPYING"): [1, 3, 64],
    (past, "LONG"): [1, 2, 4096],
    (kernels, "WIDE"): [1, 3, 64],
    (kernels, "TALL"): [2, 3, 64],
    (kernels, "CHUNK"): [8, 16384],
    (compiled, "NARROW"): [1, 8],
    (compiled, "NARROW_UNTIL"): [1, 4],
    (atoms, "PIECE"): [3, 16384],
    (everywhere, "SMALLEST"): [1, 4, 20, 8192],
    (everywhere, "LARGEST"): [1, 5, 16384],
    (everywhere, "BUFFERS"): [0, 2, 3],
}


@contextmanager
def small_parts(random: Random) -> Generator[None]:
    """Draws each size for the time of the block."""
    before = {(module, name): getattr(module, name) for module, name in SIZES}
    try:
        for (module, name), choices in SIZES.items():
            setattr(module, name, random.choice(choices))
        yield
    finally:
        for (module, name), value in before.items():
            setattr(module, name, value)
