"""Arrays of any library (torch, JAX, numpy), kept on their device until they are asked for.

Nothing here imports torch or JAX: an array brings its library along.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import TraceError


def kept(array: Any) -> Any:
    """A copy on the same device that later writes into `array` do not reach."""
    if hasattr(array, "detach"):
        return array.detach().clone()
    if isinstance(array, np.ndarray):
        return array.copy()
    return array  # JAX arrays never change; a library with in-place writes has `detach` or is numpy


def on_host(arrays: Sequence[Any]) -> NDArray[Any]:
    """Equal arrays stacked along a new first axis, on their device, then moved to numpy once.

    Arrays of several libraries, as of a policy that now and then acts on the host, are moved one by
    one.
    """
    kinds = {type(array) for array in arrays}
    if len(kinds) > 1:
        found = np.stack([on_host([array])[0] for array in arrays])
    elif hasattr(arrays[0], "detach"):
        stacked = sys.modules["torch"].stack(tuple(arrays)).cpu()
        half = "bfloat16" in str(stacked.dtype)  # numpy has no such numbers
        found = (stacked.float() if half else stacked).numpy()
    elif arrays[0].__class__.__module__.startswith("jax"):
        found = np.asarray(sys.modules["jax"].numpy.stack(tuple(arrays)))
    else:
        found = np.stack([np.asarray(array) for array in arrays])
    return found


def check_width(name: str, array: Any, copies: int, shape: tuple[int, ...]) -> None:
    """Raise TraceError unless `array` has one row of `shape` for each copy."""
    found = tuple(int(size) for size in getattr(array, "shape", ()))
    if found != (copies, *shape):
        raise TraceError(
            f"{name} has shape {found}; with {copies} copies it must have shape "
            f"{(copies, *shape)}: one row for each copy."
        )


def check_rows(name: str, array: Any, copies: int) -> None:
    """Raise TraceError unless `array` has one row for each copy, of whatever shape."""
    check_width(name, array, copies, tuple(int(size) for size in getattr(array, "shape", ())[1:]))
