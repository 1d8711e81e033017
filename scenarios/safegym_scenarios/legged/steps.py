"""Policies of the biped, the hopper and the quadruped on wheels; each row is computed by itself."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy
from safegym_scenarios.legged.gaits import (
    AHEAD,
    COSINE,
    DRIVES,
    FORWARD,
    HEADING,
    HEIGHT,
    PITCH,
    PITCH_RATE,
    ROLL,
    SINE,
    UP,
    Array,
)
from safegym_scenarios.legged.robots import CORNERS


def biped_walk(name: str, *, stride: float, lift: float, reach: float = 0.4) -> ScriptedPolicy:
    """Steps on a stiff boom. stride, lift: rad at the hip; reach: m of way that asks for all."""
    return ScriptedPolicy(name, partial(_stepping, stride=stride, lift=lift, reach=reach))


def _stepping(observations: NDArray[Any], *, stride: float, lift: float, reach: float) -> Array:
    seen = np.asarray(observations, np.float64)
    drive = np.clip(seen[:, AHEAD] / reach, -1.0, 1.0)
    action = np.zeros((len(seen), 6))
    for leg, sign in enumerate((1.0, -1.0)):
        drawn = lift * np.maximum(0.0, -sign * seen[:, SINE])
        hip = -stride * drive * sign * seen[:, COSINE] - drawn
        knee = 2.0 * drawn
        action[:, 3 * leg] = hip / 0.7
        action[:, 3 * leg + 1] = knee / 0.9
        action[:, 3 * leg + 2] = -(hip + knee) / 0.5
    return np.clip(action, -1.0, 1.0)


def biped_stand(name: str, *, ankle: float, rate: float, bend: float = 0.0) -> ScriptedPolicy:
    """Stands on its soles. ankle, rate: gains from pitch and its rate. bend: of the knees, rad."""
    return ScriptedPolicy(name, partial(_standing, ankle=ankle, rate=rate, bend=bend))


def _standing(observations: NDArray[Any], *, ankle: float, rate: float, bend: float) -> Array:
    seen = np.asarray(observations, np.float64)
    down = ankle * 0.3 * seen[:, PITCH] + rate * 2.0 * seen[:, PITCH_RATE]
    action = np.zeros((len(seen), 6))
    for leg in range(2):
        action[:, 3 * leg] = -bend / 0.7
        action[:, 3 * leg + 1] = 2.0 * bend / 0.9
        action[:, 3 * leg + 2] = (down - bend) / 0.5
    return np.clip(action, -1.0, 1.0)


def hop(
    name: str, *, apex: float, speed: float, place: float = 0.08, thrust: float = 0.9
) -> ScriptedPolicy:
    """Hops on one leg.

    apex: m, to which the trunk shall rise. speed: m/s that the whole way asks for. place: gain of
    the foot's placing on the error of speed, s. thrust: leg length, of its span, to push off.
    """
    return ScriptedPolicy(
        name, partial(_hopping, apex=apex, speed=speed, place=place, thrust=thrust)
    )


def _hopping(
    observations: NDArray[Any], *, apex: float, speed: float, place: float, thrust: float
) -> Array:
    seen = np.asarray(observations, np.float64)
    forward, up, leg = 0.5 * seen[:, FORWARD], 0.5 * seen[:, UP], seen[:, DRIVES + 1]
    wanted = speed * np.clip(seen[:, AHEAD] / 0.4, -1.0, 1.0)
    loaded = np.abs(leg) > 0.1
    rising = 0.3 * seen[:, HEIGHT] + np.maximum(up, 0.0) ** 2 / 19.62
    pushing = loaded & (up > -0.25) & (rising < apex)
    foot = 0.1 * forward + place * (forward - wanted)
    hip = np.where(loaded, seen[:, DRIVES], -foot / 0.4 / 0.5)
    action = np.stack([hip, np.where(pushing, thrust, 0.0)], axis=1)
    return np.asarray(np.clip(action, -1.0, 1.0))


def roll_on(
    name: str, *, speed: float, level: float, adapt: float, turn: float = 1.0, reach: float = 0.3
) -> ScriptedPolicy:
    """Rolls on four wheels and keeps its trunk level by its legs.

    speed: share of the wheels' most. level, adapt: as of a `Gait`. turn: gain on the heading.
    """
    return ScriptedPolicy(
        name, partial(_rolling, speed=speed, level=level, adapt=adapt, turn=turn, reach=reach)
    )


def _rolling(
    observations: NDArray[Any],
    *,
    speed: float,
    level: float,
    adapt: float,
    turn: float,
    reach: float,
) -> Array:
    seen = np.asarray(observations, np.float64)
    drive = speed * np.clip(seen[:, AHEAD] / reach, -1.0, 1.0)
    turning = np.clip(turn * 0.5 * seen[:, HEADING], -0.4, 0.4)
    lengths = seen[:, DRIVES + 1 :: 3] * 0.6
    fronts, lefts = (np.array(signs, np.float64) for signs in zip(*CORNERS, strict=True))
    pitch = adapt * (lengths * fronts).mean(axis=1) + level * 0.3 * seen[:, PITCH]
    roll = -adapt * (lengths * lefts).mean(axis=1) + level * 0.3 * seen[:, ROLL]
    action = np.zeros((len(seen), 12))
    for leg, (front, left) in enumerate(CORNERS):
        length = front * pitch - left * roll
        action[:, 3 * leg] = -length / 0.7
        action[:, 3 * leg + 1] = 2.0 * length / 1.2
        action[:, 3 * leg + 2] = drive + left * turning
    return np.clip(action, -1.0, 1.0)
