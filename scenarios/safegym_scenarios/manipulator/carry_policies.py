"""Scripted policies that fetch and carry."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import MakePolicy
from safegym_scenarios.manipulator.policies import Array, limited, ways_to

ITEM, GOAL, TOUCH, FLOW = slice(10, 13), slice(13, 16), 16, slice(17, 19)
FULL = 0.6
"""m/s of the tip at action 1."""


@dataclass(frozen=True)
class Carrying:
    """Fetch, lift, carry across, lower, let go, rise: a function of the observation alone.

    lower: m/s at which the item is set down. drop: m above its goal at which it is let go. top:
    m/s. near: m/s close to the goal. follow: whether the velocity of the item is added. safe: m,
    height of the tip above the middle of the workspace while it travels.
    """

    lower: float = 0.08
    drop: float = 0.001
    top: float = 0.45
    near: float = 0.6
    follow: bool = True
    safe: float = 0.02

    def __call__(self, observations: Any) -> Array:
        """Actions (B, 4) for observations (B, 19)."""
        seen = observations.astype(np.float64)
        item, goal = 0.5 * seen[:, ITEM], 0.5 * seen[:, GOAL]
        held = seen[:, TOUCH : TOUCH + 1] > 0.5
        off = np.linalg.norm(goal[:, :2], axis=1, keepdims=True)
        placed = (off < 0.025) & (goal[:, 2:] > -self.drop - 0.003)
        fetching = self._fetch(seen, item)
        wish = np.where(held, self._carry(seen, goal, off), fetching)
        wish = np.where(placed, np.array((0.0, 0.0, 0.25)), wish)
        close = np.linalg.norm(goal, axis=1, keepdims=True) < 0.35
        wish = limited(wish, np.where(held & close, self.near, self.top))
        return ways_to(limited(wish / FULL, 1.0), np.where(placed[:, 0], -1.0, 1.0))

    def _fetch(self, seen: Array, item: Array) -> Array:
        off = np.linalg.norm(item[:, :2], axis=1, keepdims=True)
        flow = FULL * seen[:, FLOW] if self.follow else 0.0
        down = np.where(
            off < 0.012, np.clip(3.0 * item[:, 2:] - 0.03, -0.4, 0.1), self._climb(seen)
        )
        high = (off < 0.012) | (item[:, 2:] < -0.04)
        return np.hstack((np.where(high, 4.0 * item[:, :2] + flow, 0.0), down))

    def _carry(self, seen: Array, goal: Array, off: Array) -> Array:
        down = np.clip(3.0 * goal[:, 2:] - 0.02, -max(0.4, self.lower), 0.1)
        down = np.where(goal[:, 2:] > -0.05, -self.lower, down)
        lift = self._climb(seen)
        across = np.where((lift < 0.2) | (off < 0.012), 4.0 * goal[:, :2], 0.0)
        return np.hstack((across, np.where(off < 0.012, down, lift)))

    def _climb(self, seen: Array) -> Array:
        return 4.0 * (self.safe - 0.5 * seen[:, 2:3])


def carrying(name: str, **choice: Any) -> MakePolicy:
    """A maker of the scripted policy `arm.<name>`."""
    return lambda: ScriptedPolicy(f"arm.{name}", Carrying(**choice))


def idle(seen: Any) -> Array:
    """Does nothing."""
    return np.zeros((len(seen), 4))


def idling(name: str) -> MakePolicy:
    """A maker of the scripted policy `arm.<name>` that does nothing."""
    return lambda: ScriptedPolicy(f"arm.{name}", idle)
