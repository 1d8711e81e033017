"""Scripted policies of the grippers: one way of grasping, with its choices as data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import MakePolicy

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Grasping:
    """Open, go over the item, down, close, lift, carry to the goal, and let go where it is placed.

    force: of a finger, in its largest. speed: share of the largest speed when carrying. lower:
    share of it close to the shelf. place: whether the goal is a place to set the item down. drop:
    m above it at which the item is let go. align: m of the grasp from the item's middle that is
    good enough. by_touch: force is raised while less than `force` is felt. suction: a cup, no
    fingers. jerk: up at full speed. hover: m above the item while it goes there. saving: share of
    the force that is left once the item is up.
    """

    force: float = 0.4
    speed: float = 0.5
    lower: float = 0.12
    place: bool = False
    drop: float = 0.002
    align: float = 0.004
    by_touch: bool = False
    suction: bool = False
    jerk: bool = False
    hover: float = 0.09
    saving: float = 1.0

    def __call__(self, observations: Any) -> Array:
        """Actions (B, 3) for observations (B, 12)."""
        seen = observations.astype(np.float64)
        item_x, item_z = 0.1 * seen[:, 4], 0.1 * seen[:, 5]
        goal_x, goal_z = 0.3 * seen[:, 6], 0.3 * seen[:, 7]
        opening, felt, height = seen[:, 8], 40.0 * seen[:, 9], 0.1 * seen[:, 11]
        lifted = height > 0.006
        aligned = np.abs(item_x) < self.align
        low = np.abs(item_z) < (0.005 if self.suction else 0.006)
        there = aligned & low
        closed = self._closed(seen, felt)
        placed = (np.abs(goal_x) < 0.012) & (goal_z > -self.drop) & self.place
        clear = (item_z < -0.05) | (opening > 0.9)
        # fetch: across only where the fingers are clear of the item
        x = np.where(clear | (self.align > 0.05) | (self.hover < 0.05), 5.0 * item_x, 0.0)
        z = np.where(aligned, 4.0 * item_z - 0.01 * (not self.suction), 4.0 * (item_z + self.hover))
        z = np.where(~clear & ~aligned, 0.0, z)
        if self.suction:
            z = z - 0.02
        grip = np.where(there, self._grip(felt), -0.4)
        x, z = np.where(there, 0.0, x), np.where(there, -0.02 if self.suction else 0.0, z)
        # carry
        go = (there & closed) | lifted & (np.abs(item_z) < 0.015)
        x, z = (
            np.where(go, self._across(goal_x, goal_z, height), x),
            np.where(go, self._up(goal_x, goal_z), z),
        )
        less = np.where(height > 0.05, self.saving, 1.0)
        grip = np.where(go, less * self._grip(felt), grip)
        # let go
        x, z = (
            np.where(placed, 0.0, x),
            np.where(placed & (opening > 0.8), 0.15, np.where(placed, 0.0, z)),
        )
        grip = np.where(placed, -0.4, grip)
        found: Array = np.clip(np.stack((x / 0.4, z / 0.4, grip), axis=1), -1.0, 1.0)
        return found

    def _closed(self, seen: Array, felt: Array) -> NDArray[np.bool_]:
        if self.suction:
            return felt > 0.5
        tight = felt > 40.0 * self.force
        return tight if self.by_touch else tight & (seen[:, 8] < 0.75) & (np.abs(seen[:, 2]) < 0.1)

    def _grip(self, felt: Array) -> Array:
        if self.by_touch:
            return np.where(felt < 1.0, 1.0, self.force)
        return np.full(len(felt), self.force)

    def _across(self, goal_x: Array, goal_z: Array, height: Array) -> Array:
        top = 0.4 * self.speed
        wish = np.clip(3.0 * goal_x, -top, top)
        return np.where((goal_z < 0.05) | (np.abs(goal_x) < 0.02), wish, 0.0)

    def _up(self, goal_x: Array, goal_z: Array) -> Array:
        top = 0.4 * self.speed
        if self.jerk:
            return np.where(goal_z > 0.0, 0.4, -0.4)
        if not self.place:
            return np.clip(4.0 * goal_z, -top, top)
        over = np.abs(goal_x) < 0.01
        down = np.where(goal_z < -0.03, -top, -0.4 * self.lower)
        return np.where(over, down, np.clip(4.0 * (goal_z + 0.045), -top, top))


def grasping(name: str, **choice: Any) -> MakePolicy:
    """A maker of the scripted policy `gripper.<name>`."""
    return lambda: ScriptedPolicy(f"gripper.{name}", Grasping(**choice))


def idle(seen: Any) -> Array:
    """Does nothing."""
    return np.zeros((len(seen), 3))


def idling(name: str) -> MakePolicy:
    """A maker of the scripted policy `gripper.<name>` that does nothing."""
    return lambda: ScriptedPolicy(f"gripper.{name}", idle)
