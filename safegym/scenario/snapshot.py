"""A running episode, held and continued later, with the same chance or with other.

What is taken: the environment and every wrapper with all they hold (elapsed steps, streams of
disturbances, a recorder's open tape, terminal flags), MuJoCo's integration state with its warm
start, and every random generator among them.
"""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from safegym.errors import ScenarioError
from safegym.scenario.snapshot_kinds import visit_of
from safegym.scenario.snapshot_walk import OpaqueError, Put, Views, Walk
from safegym.scenario.spec import Environment

__all__ = ["Snapshot", "capture", "restore"]

_views: WeakKeyDictionary[Environment, Views] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The state of one episode at one instant. Holds for the environment it was taken from."""

    env: Environment
    entries: tuple[tuple[Put, Any, Any], ...]
    generators: tuple[Any, ...]
    reseeders: tuple[Any, ...]


def capture(env: Environment, *beside: object) -> Snapshot:
    """The state of the episode that runs in `env`, wrappers included.

    beside: further objects whose state belongs to the episode, such as a monitor. Objects are
    read by their attributes; an unwrapped environment with get_state() and set_state(state) is
    asked for its own. Raises ScenarioError for state that cannot be read, naming where it hangs.

    State of a class, a module, or a process outside of Python is not seen; `restore` and running
    on must give the same samples, and whoever relies on it checks that first.
    """
    walk = Walk(_views.setdefault(env, Views()), visit_of)
    for root in (env, *beside):
        try:
            walk.visit(root)
        except OpaqueError as opaque:
            name = "env" if root is env else type(root).__name__
            raise ScenarioError(
                f"An episode of {env} cannot be cloned: {name}{opaque.path} is {opaque.reason}. "
                "Give the unwrapped environment get_state() -> state and set_state(state)."
            ) from None
    return Snapshot(env, tuple(walk.entries), tuple(walk.generators), tuple(walk.reseeders))


def restore(env: Environment, snapshot: Snapshot, seed: int | None = None) -> None:
    """Put the episode back as it was; running on gives the same samples bit for bit.

    seed: draw what is still to come from other streams, which follow from this whole number >= 0
    alone. Each generator is re-seeded; an object with a method reseed(seed), which an environment
    that draws ahead needs, is then asked to drop what it has drawn.
    Raises ScenarioError for a snapshot of another environment.
    """
    if snapshot.env is not env:
        raise ScenarioError(
            f"This snapshot was taken from another {type(snapshot.env).__name__}; restore it into "
            "that environment: restore(snapshot.env, snapshot)."
        )
    for put, found, content in snapshot.entries:
        put(found, content)
    if seed is not None:
        _reseed(snapshot, seed)


def _reseed(snapshot: Snapshot, seed: int) -> None:
    count = len(snapshot.generators)
    streams = np.random.SeedSequence(seed).spawn(count + len(snapshot.reseeders))
    for generator, stream in zip(snapshot.generators, streams[:count], strict=True):
        _seed_generator(generator, stream)
    for found, stream in zip(snapshot.reseeders, streams[count:], strict=True):
        found.reseed(_whole(stream))


def _seed_generator(generator: Any, stream: np.random.SeedSequence) -> None:
    if isinstance(generator, np.random.Generator):
        bits: Any = generator.bit_generator
        bits.state = type(bits)(stream).state
    elif isinstance(generator, np.random.RandomState):
        generator.seed(stream.generate_state(8))
    else:
        generator.seed(_whole(stream))


def _whole(stream: np.random.SeedSequence) -> int:
    return int(stream.generate_state(1, np.uint64)[0]) >> 1
