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
    original: `predict` of the object that was given, where the deployed program is a copy of it.
    """

    name: str
    digest: str
    kind: Literal["box", "discrete"]
    graph: Graph
    observation: "SpaceLimits"
    action: "SpaceLimits | None"
    predict: Predict
    values: Values
    centre: Vector
    spread: Vector
    original: Predict | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SpaceLimits:
    """A box's limits (n,), flattened; float type of its numbers; the shape of one of them."""

    low: Vector
    high: Vector
    dtype: str
    shape: tuple[int, ...]


def check_class(given: object, kind: type[Any], name: str) -> None:
    """Raises UnsupportedError unless the object is exactly of that class, with its methods.

    A subclass, or a method replaced on the object, may do something else at a few inputs that no
    comparison tries.
    """
    changed = [each for each in getattr(given, "__dict__", {}) if callable(getattr(kind, each, 0))]
    if type(given) is not kind or changed:
        found = f"its own {changed[0]}" if changed else f"a {type(given).__name__}"
        raise UnsupportedError(
            f"Policy {name} has {found} where only a {kind.__name__} as it is written is read."
        )


def unlimited(size: int, dtype: str = "float32") -> SpaceLimits:
    """A box without limits."""
    whole = np.full(size, np.inf)
    return SpaceLimits(-whole, whole, dtype, (size,))


def observation_limits(space: spaces.Space[Any], name: str) -> SpaceLimits:
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


def action_limits(space: spaces.Space[Any], name: str) -> SpaceLimits | None:
    """Of an action space, None of a Discrete one. Raises UnsupportedError for any other."""
    if isinstance(space, spaces.Discrete):
        if int(space.start) != 0:
            raise UnsupportedError(
                f"Policy {name} chooses from {space}; supported are choices that start at 0."
            )
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


def _limits(space: spaces.Box) -> SpaceLimits:
    low, high = (np.asarray(limit, np.float64).reshape(-1) for limit in (space.low, space.high))
    return SpaceLimits(low, high, str(space.dtype), tuple(space.shape))
