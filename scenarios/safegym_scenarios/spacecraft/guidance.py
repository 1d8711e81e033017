"""Thrusts and torques from what is seen. Row by row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym_scenarios.spacecraft.craft import INERTIA, MASS, THRUST, TORQUE
from safegym_scenarios.spacecraft.view import Array, View, decode

Actions = NDArray[np.float32]


def pushed(wish: Array, view: View, *, gain: float = 0.4) -> Array:
    """Shares of the thrust (B, 3) that bring the velocity to `wish` m/s. gain: 1/s."""
    return MASS * gain * (wish - view.velocity) / THRUST


def held(view: View, *, quick: float = 0.3, damping: float = 1.0) -> Array:
    """Shares of the torque (B, 3) that make the turn. quick: rad/s, of the loop."""
    torque = INERTIA * (quick * quick * view.turn - 2.0 * damping * quick * view.rate)
    return torque / TORQUE


def both(push: Array, turn: Array) -> Actions:
    """Actions (B, 6)."""
    return np.asarray(np.clip(np.concatenate([push, turn], axis=1), -1.0, 1.0), np.float32)


def approach(
    observations: NDArray[Any],
    *,
    slope: float = 0.09,
    fastest: float = 0.25,
    least: float = 0.03,
    cone: float = 0.12,
    across: float = 0.15,
    quick: float = 0.3,
    gain: float = 0.4,
    offset: float = 0.0,
    soft: float = 9.0,
) -> Actions:
    """Along x to the goal, slower the nearer; on hold while outside of the cone about the axis.

    slope: 1/s, speed per metre to go; fastest, least: m/s. cone: metres off the axis allowed per
    metre to go. across: 1/s. offset: m, an error across. soft: N, the most that brakes.
    """
    view = decode(observations)
    ahead = view.way[:, 0]
    side = view.way[:, 1:] + np.array([offset, 0.0])
    off = np.sqrt(np.einsum("ij,ij->i", side, side))
    inside = np.clip(2.0 - off / (0.05 + cone * np.maximum(ahead, 0.0)), -0.3, 1.0)
    speed = np.clip(slope * ahead, least, fastest) * inside
    wish = np.concatenate([speed[:, None], np.clip(across * side, -0.2, 0.2)], axis=1)
    push = pushed(wish, view, gain=gain)
    push[:, 0] = np.maximum(push[:, 0], -soft / THRUST)
    return both(push, held(view, quick=quick))


def go(
    observations: NDArray[Any],
    *,
    slope: float = 0.15,
    fastest: float = 0.35,
    gain: float = 0.4,
    keep: float = 0.0,
    quick: float = 0.3,
    damping: float = 1.0,
) -> Actions:
    """Straight to the goal. keep: m from the middle of what must not be touched."""
    view = decode(observations)
    wish = slope * view.way
    size = np.sqrt(np.einsum("ij,ij->i", wish, wish))[:, None]
    wish *= np.minimum(1.0, fastest / np.maximum(size, 1e-9))
    if keep:
        distance = np.maximum(np.sqrt(np.einsum("ij,ij->i", view.near, view.near)), 1e-9)[:, None]
        normal = view.near / distance
        excess = np.einsum("ij,ij->i", wish, normal)[:, None] - 0.15 * (distance - keep)
        wish = wish - np.maximum(excess, 0.0) * normal
    return both(pushed(wish, view, gain=gain), held(view, quick=quick, damping=damping))


def idle(observations: NDArray[Any]) -> Actions:
    """No thrust, no torque."""
    return np.zeros((len(observations), 6), np.float32)
