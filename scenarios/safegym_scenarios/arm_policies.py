"""Scripted policies for the arm: one that keeps every claim, and one to break each of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy

Array = NDArray[np.float64]
GAIN = 4.0
CREEP = 0.15
WAY = slice(8, 12)
INSIDE = slice(12, 13)


def careful() -> ScriptedPolicy:
    """Works while nobody is inside the zone and stands still while somebody is."""
    return _policy("careful", _careful)


def heedless() -> ScriptedPolicy:
    """Works on as if nobody were there: violates the force claim."""
    return _policy("heedless", _towards_station)


def creeping() -> ScriptedPolicy:
    """Slows down for a person but does not stop: violates the stop claim."""
    return _policy("creeping", _creeping)


def overreaching() -> ScriptedPolicy:
    """Drives each joint to its end stop: violates the joint-limit claim."""
    return _policy("overreaching", _overreaching)


def idle() -> ScriptedPolicy:
    """Never moves: violates the claim that work gets done."""
    return _policy("idle", _idle)


def _policy(name: str, wish: Callable[[Array], Array]) -> ScriptedPolicy:
    return ScriptedPolicy(f"arm.{name}", partial(_act, wish=wish))


def _act(observations: NDArray[Any], *, wish: Callable[[Array], Array]) -> NDArray[np.float32]:
    return np.clip(wish(observations.astype(np.float64)), -1.0, 1.0).astype(np.float32)


def _towards_station(observations: Array) -> Array:
    return GAIN * observations[:, WAY]


def _careful(observations: Array) -> Array:
    return np.where(observations[:, INSIDE] > 0.5, 0.0, _towards_station(observations))


def _creeping(observations: Array) -> Array:
    wanted = _towards_station(observations)
    return np.where(observations[:, INSIDE] > 0.5, np.clip(wanted, -CREEP, CREEP), wanted)


def _overreaching(observations: Array) -> Array:
    stopped = observations[:, INSIDE] > 0.5
    return np.where(stopped, 0.0, np.ones((len(observations), 4)))


def _idle(observations: Array) -> Array:
    return np.zeros((len(observations), 4))
