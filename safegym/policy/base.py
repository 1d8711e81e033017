"""The policy protocol, its card, scripted policies, and the door for everything else."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from safegym.digest import PREFIX, digest_bytes, digest_json
from safegym.errors import PolicyError

Array = NDArray[Any]
WIDTH = 64
"""Batch width of evidence inference. Part of every policy digest: actions depend on it."""


@dataclass(frozen=True, slots=True)
class PolicyCard:
    """What a policy is, for the record.

    digest: over everything that decides its actions (weights, normaliser, mode, width), or
    "unknown:<type>" for an object that came from elsewhere (kind "foreign"). Evidence needs a
    known digest. kind: "scripted", "sb3", "foreign", ... mode: "deterministic" or "sampled".
    width: rows per call of `act`; 1 for a policy that only ever sees the rows in use.
    assumptions: what evidence on it rests on besides the digest, a line each, such as weights that
    no digest reaches.
    """

    name: str
    digest: str
    kind: str
    mode: str = "deterministic"
    width: int = WIDTH
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    assumptions: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the digest pins down what the policy does."""
        return self.digest.startswith(PREFIX)


@runtime_checkable
class Policy(Protocol):
    """Maps a batch of observations to a batch of actions.

    `observations` has shape (B, ...); `state` is what the last call returned (None at first);
    `starts` (B,) is True where an episode begins. A row's action may depend only on that row,
    its state, and `starts`, never on its neighbours or its position. `act` leaves `state` as it
    was and returns the new one.

    A policy may declare `observation_space` and `action_space`; they are compared with the
    environment's before a run. One that draws its actions (mode "sampled") also has
    `begin(row, seed)`, called when an episode begins in a row, and draws that row's actions from a
    generator of this seed.

    A policy may also have `notes(row) -> ((kind, detail), ...)`: what happened in a row in the last
    `act`, which becomes events of the trace, at the sample that was acted on. Kinds begin with
    "policy."; the detail of "policy.failed" says why a row has no action. And one may have
    `given(row, options)`, called before `begin`: what reset is given besides the seed.
    """

    @property
    def card(self) -> PolicyCard:
        """What this policy is."""
        ...

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """Actions (B, ...) and the new state."""
        ...


class ScriptedPolicy:
    """A policy written as a stateless function of the observation batch.

    `function(observations (B, ...)) -> actions (B, ...)`, row by row independent.
    The digest covers name, version, width and the file that defines the function; raise `version`
    when the function changes through anything else (what it imports, what it closes over).
    """

    def __init__(
        self, name: str, function: Callable[[Array], Array], *, version: str = "1"
    ) -> None:
        self._function = function
        named = {"kind": "scripted", "name": name, "version": version, "width": WIDTH}
        digest = digest_json({**named, "source": _source_digest(function)})
        self._card = PolicyCard(name=name, digest=digest, kind="scripted")

    @property
    def card(self) -> PolicyCard:
        """Name, digest over name, version, width and source file."""
        return self._card

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """The function's actions. Raises PolicyError if it returns another number of rows."""
        actions = np.asarray(self._function(observations))
        if len(actions) != len(observations):
            raise PolicyError(
                f"Scripted policy {self._card.name} returned {len(actions)} actions for "
                f"{len(observations)} observations; return one action per row."
            )
        return actions, state


def _source_digest(function: Callable[..., Any]) -> str:
    """Digest of the file that defines a function, "" if there is none (an interactive session)."""
    inner: Any = function
    while isinstance(inner, partial):
        inner = inner.func
    try:
        path = inspect.getsourcefile(inner if inspect.isroutine(inner) else type(inner))
        return "" if path is None else digest_bytes(Path(path).read_bytes())
    except (TypeError, OSError):
        return ""


_NAMED = (
    " A scenario's ready policy is made by its spec: find(scenario).good() with `find` from "
    "safegym.scenario.registry; a saved one is read by safegym.load_policy(path)."
)


def as_policy(source: object) -> Policy:
    """The policy that `source` stands for: itself, a `predict` object's, or a function's.

    An object with `predict(observations, ...) -> (actions, state)` (stable-baselines3) acts
    deterministically; a function takes one observation and returns one action. What decides their
    actions cannot be seen from outside, so their card has no known digest. Raises PolicyError for
    anything else.
    """
    if isinstance(source, Policy):
        return source
    from safegym.policy.foreign import FunctionPolicy, PredictPolicy

    predict = getattr(source, "predict", None)
    if callable(predict):
        return PredictPolicy(source)
    if callable(source):
        return FunctionPolicy(source)
    raise PolicyError(
        f"A {type(source).__name__} is not a policy; pass a safegym policy, an object with "
        "predict(observations), or a function from one observation to one action."
        + (_NAMED if isinstance(source, str) else "")
    )
