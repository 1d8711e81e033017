"""A network on its way to a `PolicyGraph`: graph, spaces, and the deployed program beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph
from safegym.check.neural.policy import Predict
from safegym.errors import UnsupportedError

Vector = NDArray[np.float64]
Values = Callable[[NDArray[Any]], NDArray[Any]]
"""Observations (B, n) -> what the deployed network gives, one entry for each graph output."""


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """What an importer gives, before it is compared.

    predict: as in `PolicyGraph`. values: the deployed program's own numbers for the graph's
    outputs: the actions of a box, the values that argmax is taken of.
    centre, spread: (n,) where observations usually lie, for sampling.
    """

    name: str
    digest: str
    kind: Literal["box", "discrete"]
    graph: Graph
    observation: "Limits"
    action: "Limits | None"
    predict: Predict
    values: Values
    centre: Vector
    spread: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """A box's limits (n,), flattened; float type of its numbers; the shape of one of them."""

    low: Vector
    high: Vector
    dtype: str
    shape: tuple[int, ...]


def unlimited(size: int, dtype: str = "float32") -> Limits:
    """A box without limits."""
    whole = np.full(size, np.inf)
    return Limits(-whole, whole, dtype, (size,))


def observation_limits(space: spaces.Space[Any], name: str) -> Limits:
    """Of an observation space. Raises UnsupportedError for one that is no Box of floats."""
    if isinstance(space, spaces.Dict):
        raise UnsupportedError(
            f"Policy {name} takes Dict observations, which no graph of one vector holds; supported "
            "is a Box of float32 or float64: wrap the environment in "
            "gymnasium.wrappers.FlattenObservation and train on that."
        )
    if not isinstance(space, spaces.Box):
        raise UnsupportedError(
            f"Policy {name} takes observations in {space}, which it turns into one-hot vectors; "
            "supported is a Box of float32 or float64."
        )
    if str(space.dtype) not in ("float32", "float64"):
        image = len(space.shape) == 3 and space.dtype == np.uint8
        raise UnsupportedError(
            f"Policy {name} takes {'images' if image else f'{space.dtype} observations'} "
            f"(shape {space.shape}, dtype {space.dtype}); supported is a Box of float32 or float64."
        )
    return _limits(space)


def action_limits(space: spaces.Space[Any], name: str) -> Limits | None:
    """Of an action space, None of a Discrete one. Raises UnsupportedError for any other."""
    if isinstance(space, spaces.Discrete):
        return None
    if isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)):
        raise UnsupportedError(
            f"Policy {name} acts in {space}: several choices at once; supported are Box and "
            "Discrete actions."
        )
    if not isinstance(space, spaces.Box) or str(space.dtype) not in ("float32", "float64"):
        raise UnsupportedError(
            f"Policy {name} acts in {space}; supported are a Box of float32 or float64, and "
            "Discrete."
        )
    return _limits(space)


def _limits(space: spaces.Box) -> Limits:
    low, high = (np.asarray(limit, np.float64).reshape(-1) for limit in (space.low, space.high))
    return Limits(low, high, str(space.dtype), tuple(space.shape))
