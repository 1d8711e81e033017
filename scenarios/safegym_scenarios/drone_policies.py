"""Scripted policies for the corridor: one that keeps every claim, and one to break each of them.

Written on the observation, row by row and with plain arithmetic only, so that an action does not
depend on its neighbours in the batch.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy
from safegym_scenarios.drone_course import CAGE, HALF_WIDTH
from safegym_scenarios.drone_guidance import ROOM as GUIDED_ROOM
from safegym_scenarios.drone_view import FORWARD, SIDE, Mode, Observation, View, actions_for, decode

Array = NDArray[np.float64]
Wish = Callable[[View], tuple[Array, Array]]

CRUISE = 1.0
SIDE_CRUISE = 0.36
ROOM = 0.25
SLACK = 0.1
SETTLING = 0.3


def careful(mode: Mode) -> ScriptedPolicy:
    """Lines up with the gap before it comes near, sideways at no more than 0.36 m/s."""
    return _policy("careful", mode, _careful)


def reckless(mode: Mode) -> ScriptedPolicy:
    """Flies fast at the next obstacle: violates the collision claim."""
    return _policy("reckless", mode, _reckless)


def sidling(mode: Mode) -> ScriptedPolicy:
    """Moves over to each gap as fast as it can: violates the drift claim."""
    return _policy("sidling", mode, _sidling)


def jerky(mode: Mode) -> ScriptedPolicy:
    """Races ahead and brakes hard before each obstacle: violates the tilt claim."""
    return _policy("jerky", mode, _jerky)


def crawling(mode: Mode) -> ScriptedPolicy:
    """As slow as the action allows: violates the claim of reaching the goal."""
    return _policy("crawling", mode, _crawling)


def unaided() -> ScriptedPolicy:
    """The guidance alone: a residual of zero."""
    return ScriptedPolicy("drone.guidance", _nothing)


def _policy(name: str, mode: Mode, wish: Wish) -> ScriptedPolicy:
    return ScriptedPolicy(f"drone.{name}.{mode}", partial(_act, mode=mode, wish=wish))


def _act(observations: NDArray[Any], *, mode: Mode, wish: Wish) -> Observation:
    view = decode(observations)
    return actions_for(mode, view, *wish(view))


def _nothing(observations: NDArray[Any]) -> Observation:
    return np.zeros((len(observations), 2), np.float32)


def _careful(view: View) -> tuple[Array, Array]:
    off = _way_to_gap(view)
    wanted = np.clip(2.0 * off, -SIDE_CRUISE, SIDE_CRUISE)
    side = wanted + 0.7 * (wanted - view.side)
    astray = np.maximum(np.abs(off) - SLACK, 0.0)
    room = np.maximum(view.near - CAGE - 0.1, 0.0)
    in_time = room / (astray / SIDE_CRUISE + SETTLING)
    forward = np.where(astray > 0.0, np.minimum(CRUISE, in_time), CRUISE)
    return np.minimum(forward, 0.8 * view.goal), side


def _way_to_gap(view: View) -> Array:
    """Metres to the left to the guidance's gap, at the place nearest that leaves ROOM there.

    Where the gap is too narrow for that, to its middle; past the last obstacle, to the corridor's.
    """
    wall_left, wall_right = HALF_WIDTH - view.y, -HALF_WIDTH - view.y
    needed = 2.0 * (CAGE + GUIDED_ROOM)
    right_fits = view.right - wall_right >= needed
    left_fits = wall_left - view.left >= needed
    margin = CAGE + GUIDED_ROOM
    nearer_right = np.maximum(margin - view.right, 0.0) < np.maximum(view.left + margin, 0.0)
    to_right = right_fits & (nearer_right | ~left_fits)
    low = np.where(to_right, wall_right, view.left) + CAGE + ROOM
    high = np.where(to_right, view.right, wall_left) - CAGE - ROOM
    middle = (low + high) / 2.0
    target = np.clip(0.0, np.minimum(low, middle), np.maximum(high, middle))
    free = view.near > 2.9
    return np.where(free, -view.y, target)


def _reckless(view: View) -> tuple[Array, Array]:
    return np.full_like(view.y, FORWARD[1]), np.clip(view.left + view.right, -SIDE, SIDE)


def _sidling(view: View) -> tuple[Array, Array]:
    forward, side = _careful(view)
    return forward, np.where(np.abs(side) > 0.1, np.copysign(SIDE, side), side)


def _jerky(view: View) -> tuple[Array, Array]:
    _, side = _careful(view)
    brake = (view.proposed_forward < 0.6) & (view.forward > 0.5)
    race = (view.proposed_forward > 0.62) | (view.forward < 0.1)
    forward = np.where(brake, FORWARD[0], np.where(race, FORWARD[1], view.proposed_forward))
    return forward, np.where(brake | race, np.copysign(SIDE, side), side)


def _crawling(view: View) -> tuple[Array, Array]:
    return np.zeros_like(view.y), _careful(view)[1]
