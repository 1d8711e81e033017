"""Postures and gaits as functions of the observation; each row is computed by itself.

A leg's phase is the clock plus its own offset. It stands, and moves backwards, while the sine is
positive, and swings forward, lifted, while it is negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy
from safegym_scenarios.legged.robots import CORNERS, SIX

Array = NDArray[np.float64]
PITCH, ROLL, ROLL_RATE, PITCH_RATE, YAW_RATE, FORWARD, LEFT, UP, HEIGHT = range(9)
AHEAD, ASIDE, HEADING, SINE, COSINE, DRIVES = range(9, 15)


@dataclass(frozen=True, kw_only=True)
class Gait:
    """How a quadruped or hexapod moves.

    stride: rad, largest swing of a hip to either side. reach: m of way to the goal that asks for
    the whole of it. lift: rad, by which a swinging leg is drawn in. extend: rad, by which all legs
    are stretched. level: gain against pitch and roll; damp: against their rates. turn: gain on the
    heading. sidle: gain across. wide: rad by which the feet stand outward. adapt: share of the
    present pitch and roll of the legs that is kept, so that `level` adds up. soft: share of a leg's
    present length that is kept, so that it gives way. lean_forward, lean_left: rad, of all legs.
    """

    stride: float = 0.0
    reach: float = 0.4
    lift: float = 0.0
    extend: float = 0.0
    level: float = 0.0
    damp: float = 0.0
    turn: float = 0.0
    sidle: float = 0.0
    wide: float = 0.0
    adapt: float = 0.0
    soft: float = 0.0
    lean_forward: float = 0.0
    lean_left: float = 0.0


def _phases(seen: Array, offset: float) -> tuple[Array, Array]:
    """Sine and cosine of a leg's phase."""
    s, c = np.sin(offset), np.cos(offset)
    return seen[:, SINE] * c + seen[:, COSINE] * s, seen[:, COSINE] * c - seen[:, SINE] * s


def trot(observations: NDArray[Any], *, gait: Gait) -> Array:
    """A quadruped's 12 drives: diagonal legs together; it stands where stride and lift are 0."""
    seen = np.asarray(observations, np.float64)
    drive = np.clip(seen[:, AHEAD] / gait.reach, -1.0, 1.0)
    turn = np.clip(-gait.turn * seen[:, HEADING], -1.0, 1.0)
    across = np.clip(gait.sidle * seen[:, ASIDE], -0.25, 0.25)
    lengths = seen[:, DRIVES + 2 :: 3] * 0.6
    fronts, lefts = (np.array(signs, np.float64) for signs in zip(*CORNERS, strict=True))
    pitch = (
        gait.adapt * (lengths * fronts).mean(axis=1)
        + gait.level * 0.3 * seen[:, PITCH]
        + gait.damp * 2.0 * seen[:, PITCH_RATE]
    )
    roll = (
        -gait.adapt * (lengths * lefts).mean(axis=1)
        + gait.level * 0.3 * seen[:, ROLL]
        + gait.damp * 2.0 * seen[:, ROLL_RATE]
    )
    action = np.zeros((len(seen), 12))
    for leg, (front, left) in enumerate(CORNERS):
        sine, cosine = _phases(seen, 0.0 if front * left > 0 else np.pi)
        step = gait.stride * np.clip(drive - left * turn, -1.0, 1.0)
        drawn = gait.lift * np.maximum(0.0, -sine)
        kept = gait.soft * lengths[:, leg] + (1.0 - gait.soft) * gait.extend
        length = kept + front * pitch - left * roll - drawn
        action[:, 3 * leg] = (gait.wide * left + gait.lean_left - across * cosine) / 0.35
        action[:, 3 * leg + 1] = (-step * cosine - length + gait.lean_forward) / 0.7
        action[:, 3 * leg + 2] = 2.0 * length / 1.2
    return np.clip(action, -1.0, 1.0)


def tripod(observations: NDArray[Any], *, gait: Gait) -> Array:
    """A hexapod's 12 drives: three legs stand while three swing."""
    seen = np.asarray(observations, np.float64)
    drive = np.clip(seen[:, AHEAD] / gait.reach, -1.0, 1.0)
    turn = np.clip(-gait.turn * seen[:, HEADING] + gait.sidle * seen[:, ASIDE], -1.0, 1.0)
    action = np.zeros((len(seen), 12))
    for leg, (_, left) in enumerate(SIX):
        sine, cosine = _phases(seen, np.pi * ((leg // 2 + leg) % 2))
        step = gait.stride * np.clip(drive - left * turn, -1.0, 1.0)
        action[:, 2 * leg] = step * cosine / 0.6
        action[:, 2 * leg + 1] = (gait.lift * np.maximum(0.0, -sine) - gait.extend) / 0.8
    return np.clip(action, -1.0, 1.0)


def walk(name: str, gait: Gait) -> ScriptedPolicy:
    """A quadruped's policy."""
    return ScriptedPolicy(name, partial(trot, gait=gait))


def crawl(name: str, gait: Gait) -> ScriptedPolicy:
    """A hexapod's policy."""
    return ScriptedPolicy(name, partial(tripod, gait=gait))


def hold(name: str, posture: Sequence[float]) -> ScriptedPolicy:
    """A posture that is held whatever happens."""
    return ScriptedPolicy(name, partial(_held, posture=tuple(posture)))


def _held(observations: NDArray[Any], *, posture: Sequence[float]) -> Array:
    return np.tile(np.asarray(posture, np.float64), (len(observations), 1))
