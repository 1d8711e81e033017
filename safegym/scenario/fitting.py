"""Whether a policy and an environment fit, asked before anything runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import PolicyError, ScenarioError, UnsupportedError
from safegym.policy.base import Array, Policy

Check = Callable[[Array], tuple[Array, NDArray[np.bool_] | None]]
"""Takes actions (B, ...); returns them as the environment takes them, and which rows fit (B,).

None stands for all of them, the usual case.
"""


def check_spaces(policy: Policy, observation: spaces.Space[Any], action: spaces.Space[Any]) -> None:
    """Raises PolicyError if the policy declares other spaces, UnsupportedError for composite ones.

    A policy declares spaces by attributes `observation_space` and `action_space`.
    """
    for what, space in (("observation", observation), ("action", action)):
        if space.shape is None or space.dtype is None or isinstance(space, spaces.Text):
            raise UnsupportedError(
                f"The environment's {what} space is {space}; a policy is run on arrays only. "
                "Wrap it in gymnasium.wrappers.FlattenObservation, or act on a Box."
            )
        declared = getattr(policy, f"{what}_space", None)
        if isinstance(declared, spaces.Space) and not _same(declared, space):
            raise PolicyError(
                f"Policy {policy.card.name} was made for the {what} space {declared}, the "
                f"environment has {space}; load a policy that was trained on this scenario."
            )


def check_mode(policy: Policy) -> None:
    """Raises PolicyError for a policy that draws its actions from anything but the seed."""
    card = policy.card
    if card.mode != "deterministic" and not hasattr(policy, "begin"):
        raise PolicyError(
            f"Policy {card.name} draws its actions ({card.mode} mode), but not from the episode's "
            "seed, so its episodes could not be repeated; use deterministic mode, or give it a "
            "method begin(row, seed) that seeds one generator per row."
        )


def check_first(observation: Any, shape: tuple[int, ...]) -> None:
    """Raises ScenarioError for a first observation of another shape than the space says."""
    if np.shape(observation) != shape:
        raise ScenarioError(
            f"the observation has shape {np.shape(observation)}; the space says {shape}"
        )


def action_check(policy: Policy, space: spaces.Space[Any]) -> Check:
    """What each batch of actions goes through: shape and kind raise PolicyError, bounds mark rows.

    Floats are cast to the space's own float type first. The array is the caller's own: neither the
    policy nor an environment that writes into its action shares it with anybody.
    """
    low, high = _bounds(space)
    shape, dtype = space.shape or (), np.dtype(space.dtype)

    def check(actions: Array) -> tuple[Array, NDArray[np.bool_] | None]:
        actions = np.asarray(actions)
        if actions.shape[1:] != shape or (actions.dtype.kind == "f") != (dtype.kind == "f"):
            raise PolicyError(
                f"Policy {policy.card.name} gives actions {actions.dtype} of shape "
                f"{actions.shape[1:]}; the environment's action space is {space}: one "
                f"{dtype} array of shape {shape} per row."
            )
        given, actions = actions, np.array(actions, dtype)
        asked = actions if dtype.kind == "f" else given  # a whole number may wrap into the space
        fits = np.asarray((asked >= low) & (asked <= high))
        if fits.all():
            return actions, None
        return actions, np.asarray(fits.reshape(len(actions), -1).all(axis=1))

    return check


def _bounds(space: spaces.Space[Any]) -> tuple[Array, Array]:
    """Lowest and highest action, inclusive."""
    if isinstance(space, spaces.Box):
        return space.low, space.high
    if isinstance(space, spaces.Discrete):
        return np.asarray(space.start), np.asarray(space.start + space.n - 1)
    if isinstance(space, spaces.MultiDiscrete):
        return np.asarray(space.start), np.asarray(space.start + space.nvec - 1)
    if isinstance(space, spaces.MultiBinary):
        return np.asarray(0), np.asarray(1)
    raise UnsupportedError(f"Actions in {space} are not supported; use a Box or Discrete space.")


def _same(declared: spaces.Space[Any], found: spaces.Space[Any]) -> bool:
    if isinstance(declared, spaces.Box) and isinstance(found, spaces.Box):
        return bool(
            declared.shape == found.shape
            and declared.dtype == found.dtype
            and np.array_equal(declared.low, found.low)
            and np.array_equal(declared.high, found.high)
        )
    return bool(declared == found)
