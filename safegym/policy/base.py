"""The policy protocol, its card, and scripted policies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from safegym.digest import digest_json
from safegym.errors import PolicyError

Array = NDArray[Any]
WIDTH = 64
"""Batch width of evidence inference. Part of every policy digest: actions depend on it."""


@dataclass(frozen=True, slots=True)
class PolicyCard:
    """What a policy is, for the record.

    digest: over everything that decides its actions (weights, normaliser, mode, width).
    kind: "scripted", "sb3", ... mode: "deterministic" or "sampled".
    """

    name: str
    digest: str
    kind: str
    mode: str = "deterministic"
    width: int = WIDTH
    details: Mapping[str, str] = field(default_factory=dict[str, str])


@runtime_checkable
class Policy(Protocol):
    """Maps a batch of observations to a batch of actions.

    `observations` has shape (B, ...); `state` is what the last call returned (None at first);
    `starts` (B,) is True where an episode begins. A row's action may depend only on that row,
    its state, and `starts`, never on its neighbours or its position.
    """

    @property
    def card(self) -> PolicyCard: ...

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]: ...


class ScriptedPolicy:
    """A policy written as a stateless function of the observation batch.

    `function(observations (B, ...)) -> actions (B, ...)`, row by row independent.
    `version` is part of the digest: raise it when the function's behaviour changes.
    """

    def __init__(self, name: str, function: Callable[[Array], Array], *, version: str = "1") -> None:
        self._function = function
        digest = digest_json({"kind": "scripted", "name": name, "version": version, "width": WIDTH})
        self._card = PolicyCard(name=name, digest=digest, kind="scripted")

    @property
    def card(self) -> PolicyCard:
        return self._card

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        actions = np.asarray(self._function(observations))
        if len(actions) != len(observations):
            raise PolicyError(
                f"Scripted policy {self._card.name} returned {len(actions)} actions for "
                f"{len(observations)} observations; return one action per row."
            )
        return actions, state
