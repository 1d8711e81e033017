"""Scripted pilots of underwater vehicles: functions of the observation batch, see `Diver`."""

import numpy as np

from safegym_scenarios.marine.helms import (
    AHEAD,
    COS,
    CURRENT,
    MORE,
    SIN,
    SPEED,
    TURNING,
    Array,
)

_WAY, _FAST, _RATE = 20.0, 3.0, 0.5
NOW, SOON, LATER, BEYOND = MORE + 1, MORE + 2, MORE + 3, MORE + 4


def upright(seen: Array, first: int) -> tuple[Array, Array]:
    """The vector at `first` and the entry after it, along x and up."""
    c, s, ahead, up = seen[:, COS], seen[:, SIN], seen[:, first], seen[:, first + 1]
    return c * ahead - s * up, s * ahead + c * up


def pitch_to(seen: Array, wanted: Array) -> Array:
    """Fins for a pitch of `wanted` rad, the righting moment made good."""
    pitch = np.arctan2(seen[:, SIN], seen[:, COS])
    turning = np.sin(wanted) + 2.0 * (wanted - pitch) - 1.0 * seen[:, TURNING] * _RATE
    return np.asarray(np.clip(turning, -1.0, 1.0))


def glide(
    seen: Array, *, steep: float = 0.35, gain: float = 0.12, lead: float = 2.0, power: float = 0.6
) -> Array:
    """Fly to the goal's depth by pitch. lead: s that the climb rate is looked ahead."""
    climb = upright(seen, SPEED)[1] * _FAST
    way = upright(seen, AHEAD)[1] * _WAY - lead * climb
    wanted = np.clip(gain * way, -steep, steep)
    return np.stack([np.full(len(seen), power), pitch_to(seen, wanted)], axis=1)


def over_ground(seen: Array, *, room: float = 4.0, ahead: bool = True) -> Array:
    """Keep `room` m above the ground, that 5 and 10 m ahead included."""
    heights = [seen[:, NOW], seen[:, SOON], seen[:, LATER]] if ahead else [seen[:, NOW]]
    lowest = np.min(np.stack(heights), axis=0) * 10.0
    wanted = np.clip(0.2 * (room - lowest), -0.25, 0.45)
    return np.stack([np.full(len(seen), 0.55), pitch_to(seen, wanted)], axis=1)


def along_pipe(seen: Array, *, room: float = 1.8, top: float = 0.5) -> Array:
    """At `top` m/s, `room` m above the pipe, by the vertical thruster."""
    speed, climb = upright(seen, SPEED)
    current = upright(seen, CURRENT)
    now, soon = seen[:, NOW] * 10.0, seen[:, SOON] * 10.0
    slope = np.clip((now - soon) / 5.0, -1.0, 1.0)
    wanted = np.clip(0.6 * (room - now), -0.5, 0.5) + slope * speed * _FAST
    up = 1.5 * (wanted - climb * _FAST) + 0.6 * wanted
    ahead = 2.0 * (top - speed * _FAST) + 0.3 * (top - current[0])
    pitch = pitch_to(seen, np.zeros(len(seen)))
    return np.stack([np.clip(ahead, -1, 1), pitch, np.clip(up - 0.4 * current[1], -1, 1)], axis=1)


def hover(seen: Array, *, top: float = 0.3, gain: float = 0.25) -> Array:
    """To the goal in a straight line at `top` m/s at most, and stay there."""
    speed, climb = upright(seen, SPEED)
    dx, dy = upright(seen, AHEAD)
    far = np.maximum(0.01, np.hypot(dx, dy) * _WAY)
    pace = np.minimum(top, gain * far)
    wx, wy = pace * dx * _WAY / far, pace * dy * _WAY / far
    current = upright(seen, CURRENT)
    ahead = 2.0 * (wx - speed * _FAST) + 0.3 * (wx - current[0])
    up = 2.0 * (wy - climb * _FAST) + 0.5 * (wy - current[1])
    pitch = pitch_to(seen, np.zeros(len(seen)))
    return np.stack([np.clip(ahead, -1, 1), pitch, np.clip(up, -1, 1)], axis=1)


def abort_on_leak(seen: Array, *, heed: float = -3.0, blow: bool = True) -> Array:
    """Fly on until the vehicle is `heed` N light; then blow the ballast and climb."""
    leaking = (seen[:, BEYOND] * 20.0 < heed) | (seen[:, BEYOND + 1] > 0.5)
    cruise = glide(seen)
    climb = pitch_to(seen, np.full(len(seen), 0.45))
    ahead = np.where(leaking, 1.0, cruise[:, 0])
    fins = np.where(leaking, climb, cruise[:, 1])
    return np.stack([ahead, fins, np.where(leaking & blow, 1.0, -1.0)], axis=1)


def into_cone(
    seen: Array, *, fast: float = 1.2, slow: float = 0.55, gain: float = 0.12, shift: float = 0.0
) -> Array:
    """Line up early, then slow down before the throat. shift: m that it aims beside."""
    dx, dy = upright(seen, AHEAD)
    speed, climb = upright(seen, SPEED)
    dx, dy = dx * _WAY, dy * _WAY + shift
    pace = np.clip(0.15 * dx, slow, fast)
    way = dy - 2.5 * climb * _FAST
    wanted = np.clip(gain * way * np.clip(1.5 / pace, 0.5, 2.5), -0.35, 0.35)
    ahead = 1.2 * (pace - speed * _FAST) + 0.07 * pace + 0.23 * pace**2
    up = np.clip(3.0 * (np.clip(0.3 * dy, -0.3, 0.3) - climb * _FAST), -1, 1)
    return np.stack([np.clip(ahead, -1, 1), pitch_to(seen, 0.3 * wanted), up], axis=1)


def into_waves(seen: Array, *, speed: float = 1.6) -> Array:
    """Ahead at a speed that the sea allows."""
    moving, _ = upright(seen, SPEED)
    ahead = 1.5 * (speed - moving * _FAST) + 0.08 * speed**2
    return np.stack([np.clip(ahead, -1, 1), np.zeros(len(seen))], axis=1)
