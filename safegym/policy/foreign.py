"""Policies that came from elsewhere: objects with `predict`, and plain functions."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import PolicyError
from safegym.policy.base import WIDTH, Array, PolicyCard

_OPTIONAL = ("state", "episode_start", "deterministic")


class PredictPolicy:
    """Runs an object with `predict`, as stable-baselines3 has it, in deterministic mode.

    `predict` gets the batch of observations (B, ...), and of state, episode_start and
    deterministic those that it takes. Its spaces, where it has some, are checked before a run.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        accepted = _accepted(model.predict)
        self._takes = {name: name in accepted for name in _OPTIONAL}
        self._card = _foreign_card(type(model), "predict")
        for name in ("observation_space", "action_space"):
            space = getattr(model, name, None)
            if space is not None:
                setattr(self, name, space)

    @property
    def card(self) -> PolicyCard:
        """A card without a known digest."""
        return self._card

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """What `predict` gives. Raises PolicyError if that is not actions or (actions, state)."""
        values = {"state": state, "episode_start": starts, "deterministic": True}
        wanted = {name: value for name, value in values.items() if self._takes[name]}
        found: Any = self._model.predict(observations, **wanted)
        if isinstance(found, tuple):
            if len(found) != 2:
                raise PolicyError(
                    f"{self._card.name}.predict returned {len(found)} values; it must return "
                    "(actions, state) or actions."
                )
            return np.asarray(found[0]), found[1]
        return np.asarray(found), None


class FunctionPolicy:
    """Runs a function from one observation to one action, a row at a time."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._card = _foreign_card(function, "function", width=1)

    @property
    def card(self) -> PolicyCard:
        """A card without a known digest, of width 1."""
        return self._card

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """One call a row."""
        actions = [np.asarray(self._function(observation)) for observation in observations]
        return np.stack(actions), state


def _foreign_card(source: Any, what: str, width: int = WIDTH) -> PolicyCard:
    kind = source if hasattr(source, "__qualname__") else type(source)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return PolicyCard(
        name=name, digest=f"unknown:{name}", kind="foreign", width=width, details={"from": what}
    )


def _accepted(function: Callable[..., Any]) -> frozenset[str]:
    """Names of arguments that the function takes by keyword."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return frozenset()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return frozenset(_OPTIONAL)
    return frozenset(parameters)
