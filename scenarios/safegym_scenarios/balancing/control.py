"""Feedback policies: an action linear in the observation, cut off where a cap says so.

The gains of the good ones are in `gains`; bad ones are the mistakes that people make with them.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy

Gains = Sequence[Sequence[float]]


def linear(
    observations: NDArray[Any], *, gains: Gains, caps: Sequence[float], bias: Sequence[float]
) -> NDArray[np.float64]:
    """Actions (B, m) = bias - gains (m, n) @ entries (n), entries cut off at their caps."""
    matrix, most = np.asarray(gains, np.float64), np.asarray(caps, np.float64)
    seen = np.clip(np.asarray(observations, np.float64)[:, : len(most)], -most, most)
    pulled = (seen[:, None, :] * matrix).sum(axis=2)
    return np.asarray(np.clip(np.asarray(bias) - pulled, -1.0, 1.0))


def feedback(
    name: str,
    gains: Gains,
    *,
    caps: dict[int, float] | None = None,
    without: Sequence[int] = (),
    scale: float = 1.0,
    times: dict[int, float] | None = None,
    bias: Sequence[float] | None = None,
) -> ScriptedPolicy:
    """A policy with these gains (m, n) under its own name.

    caps: entry -> where it is cut off, so that a far goal does not make it race. without: entries
    left out. scale: of all gains; times: of an entry's. bias: a constant part of the action.
    """
    matrix = np.array(gains, np.float64) * scale
    for entry in without:
        matrix[:, entry] = 0.0
    for entry, factor in (times or {}).items():
        matrix[:, entry] *= factor
    most = np.full(matrix.shape[1], 1e6)
    for entry, cap in (caps or {}).items():
        most[entry] = cap
    constant = (0.0,) * len(matrix) if bias is None else tuple(bias)
    rows = tuple(tuple(row) for row in matrix.tolist())
    return ScriptedPolicy(
        name, partial(linear, gains=rows, caps=tuple(most.tolist()), bias=constant)
    )


def idle(name: str, actions: int) -> ScriptedPolicy:
    """Never acts."""
    return ScriptedPolicy(name, partial(_nothing, actions=actions))


def _nothing(observations: NDArray[Any], *, actions: int) -> NDArray[np.float64]:
    return np.zeros((len(observations), actions))
