"""The two policies that separate claims of any pack: one that holds still, one that thrashes."""

from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.policy.base import Policy, ScriptedPolicy

Low = tuple[float, ...]


def still(name: str, space: spaces.Space[object], idle: int = 0) -> Policy:
    """The middle of a Box, or the discrete action `idle`."""
    if isinstance(space, spaces.Discrete):
        return ScriptedPolicy(f"{name}.still-{idle}", partial(_constant, value=idle))
    low, high = _ends(space)
    middle = tuple(((low + high) / 2.0).ravel().tolist())
    return ScriptedPolicy(
        f"{name}.still",
        partial(_middle, middle=middle, shape=space.shape or (), dtype=str(space.dtype)),
    )


def wild(name: str, space: spaces.Space[object]) -> Policy:
    """From one end of the space to the other, by what is observed."""
    if isinstance(space, spaces.Discrete):
        return ScriptedPolicy(f"{name}.wild", partial(_any_of, count=int(space.n)))
    low, high = _ends(space)
    ends = tuple(low.ravel().tolist()), tuple(high.ravel().tolist())
    return ScriptedPolicy(
        f"{name}.wild", partial(_thrash, ends=ends, shape=space.shape or (), dtype=str(space.dtype))
    )


def _ends(space: spaces.Space[object]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = np.asarray(space.low), np.asarray(space.high)  # type: ignore[attr-defined] # a Box
    return np.maximum(low.astype(np.float64), -10.0), np.minimum(high.astype(np.float64), 10.0)


def _constant(observations: NDArray[np.float64], *, value: int) -> NDArray[np.int64]:
    return np.full(len(observations), value, np.int64)


def _middle(
    observations: NDArray[np.float64], *, middle: Low, shape: tuple[int, ...], dtype: str
) -> NDArray[Any]:
    one = np.array(middle, dtype).reshape(shape)
    return np.tile(one, (len(observations), *(1,) * len(shape)))


def _mixed(observations: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Numbers in [-1, 1] that change with every entry observed, (B, count)."""
    flat = np.asarray(observations, np.float64).reshape(len(observations), -1)
    weights = 37.0 + 11.0 * np.arange(flat.shape[1])
    phase = (flat * weights).sum(axis=1)
    mixed: NDArray[np.float64] = np.sin(
        phase[:, None] * (1.0 + 0.37 * np.arange(count)) + np.arange(count)
    )
    return mixed


def _any_of(observations: NDArray[np.float64], *, count: int) -> NDArray[np.int64]:
    share = (_mixed(observations, 1)[:, 0] + 1.0) / 2.0
    return np.minimum((share * count).astype(np.int64), count - 1)


def _thrash(
    observations: NDArray[np.float64], *, ends: tuple[Low, Low], shape: tuple[int, ...], dtype: str
) -> NDArray[Any]:
    low, high = np.array(ends[0]), np.array(ends[1])
    chosen = np.where(_mixed(observations, len(low)) > 0.0, high, low)
    return chosen.astype(dtype).reshape(len(observations), *shape)
