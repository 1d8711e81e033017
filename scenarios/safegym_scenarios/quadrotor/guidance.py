"""Velocity commands from what is seen: toward a goal, round solids, gently. Row by row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym_scenarios.quadrotor.airframe import CAGE
from safegym_scenarios.quadrotor.view import Array, View, asking, decode

_ACROSS = np.array([-1.0, 1.0, 0.0])
TRIM = 9.81 / 4.0
"""m/s of climb to ask for per share of lift that is missing: gravity over the climb gain."""


def toward(
    view: View, *, gain: float = 1.0, cruise: float = 1.2, climb: float = 0.8, trim: float = 0.0
) -> Array:
    """Velocity (B, 3) toward the goal that moves; sideways at most `cruise`, up `climb` m/s.

    gain: 1/s. trim: share of the surplus of thrust that is answered with climb.
    """
    wish = gain * view.way
    wish[:, :2] *= np.minimum(1.0, cruise / np.maximum(_size(wish[:, :2]), 1e-6))
    wish[:, 2] = np.clip(wish[:, 2], -climb, climb)
    wish += view.goal_velocity
    wish[:, 2] += trim * TRIM * view.surplus
    return wish


def avoid(
    wish: Array, view: View, *, margin: float, brake: float = 1.2, swirl: float = 0.8
) -> Array:
    """The wish without what would bring the cage nearer than `margin` m to a solid.

    brake: 1/s, speed toward a solid allowed per metre beyond the margin. swirl: share of what is
    taken away that goes sideways past the solid.
    """
    for way in view.solids:
        distance = np.maximum(np.sqrt(np.einsum("ij,ij->i", way, way)), 1e-6)[:, None]
        normal = way / distance
        toward = np.einsum("ij,ij->i", wish, normal)[:, None]
        excess = np.maximum(toward - brake * (distance - CAGE - margin), 0.0)
        if not excess.any():
            continue
        side = normal[:, [1, 0, 2]] * _ACROSS
        turn = np.sign(np.einsum("ij,ij->i", side, view.way)[:, None] + 1e-9)
        wish = wish - excess * normal + swirl * np.minimum(excess, 1.0) * turn * side
    return wish


def eased(wish: Array, view: View, ease: float) -> Array:
    """The wish, at most `ease` m/s away from the present velocity sideways: keeps the tilt low."""
    change = wish - view.velocity
    change[:, :2] *= np.minimum(1.0, ease / np.maximum(_size(change[:, :2]), 1e-6))
    return view.velocity + change


def homing(
    observations: NDArray[Any],
    *,
    gain: float = 1.0,
    cruise: float = 1.2,
    climb: float = 0.8,
    trim: float = 0.0,
    margin: float | None = None,
    brake: float = 1.2,
    swirl: float = 0.8,
    ease: float = 0.8,
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> NDArray[np.float32]:
    """Fly to the goal. margin: m to keep from solids, None to ignore them.

    shift: m, by which it aims beside the goal when a solid is nearer than 1.1 m.
    """
    view = decode(observations)
    near = np.sqrt((view.solids[0] ** 2).sum(axis=1, keepdims=True)) < 1.1
    view.way[:] += np.where(near, np.array(shift), 0.0)
    wish = toward(view, gain=gain, cruise=cruise, climb=climb, trim=trim)
    if margin is not None:
        wish = avoid(wish, view, margin=margin, brake=brake, swirl=swirl)
    return asking(eased(wish, view, ease))


def idle(observations: NDArray[Any]) -> NDArray[np.float32]:
    """Ask for no velocity at all."""
    return np.zeros((len(observations), 3), np.float32)


def bang(
    observations: NDArray[Any], *, gain: float = 4.0, trim: float = 0.0
) -> NDArray[np.float32]:
    """Full speed toward the goal until it is passed: a gain far too high."""
    view = decode(observations)
    wish = gain * view.way - 1.5 * view.velocity
    wish[:, 2] += trim * TRIM * view.surplus
    return asking(wish)


def _size(vectors: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None])
