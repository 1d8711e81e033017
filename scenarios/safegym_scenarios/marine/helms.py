"""Scripted helmsmen of boats: functions of the observation batch, see `Boat` for its entries."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
AHEAD, LEFT, SPEED, DRIFT, TURNING, COS, SIN = 0, 1, 2, 3, 4, 5, 6
CURRENT, WIND, MORE = 7, 9, 11
_WAY, _FAST, _RATE = 20.0, 3.0, 0.5


def turned(angle: Array) -> Array:
    """Angles within [-pi, pi)."""
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)


def steer(seen: Array, wanted: Array, *, gain: float = 1.5, damp: float = 2.5) -> Array:
    """Turning towards a heading that is `wanted` rad to the left of now."""
    return np.asarray(np.clip(gain * wanted - damp * seen[:, TURNING] * _RATE, -1.0, 1.0))


def throttle(seen: Array, wanted: Array, *, gain: float = 1.5) -> Array:
    """Thrust ahead for a speed over ground of `wanted` m/s."""
    speed = seen[:, SPEED] * _FAST
    return np.asarray(np.clip(gain * (wanted - speed) + 0.08 * wanted * np.abs(wanted), -1, 1))


def halt(
    seen: Array,
    *,
    top: float = 1.2,
    gain: float = 0.25,
    turn: bool = True,
    heed: float = 1.0,
    speed: float = 1.5,
) -> Array:
    """To the goal and stay there, on all three axes, with the heading along x.

    heed: how much of the water's push it makes good beforehand. speed: gain of the inner loop.
    """
    ahead, left = seen[:, AHEAD] * _WAY, seen[:, LEFT] * _WAY
    wanted = np.clip(gain * ahead, -top, top)
    sideways = np.clip(gain * left, -top, top)
    heading = np.arctan2(seen[:, SIN], seen[:, COS])
    x = speed * (wanted - seen[:, SPEED] * _FAST) - heed * 0.15 * seen[:, CURRENT]
    y = speed * (sideways - seen[:, DRIFT] * _FAST) - heed * 1.0 * seen[:, CURRENT + 1]
    z = steer(seen, -heading) if turn else np.zeros(len(seen))
    return np.stack([np.clip(x, -1, 1), z, np.clip(y, -1, 1)], axis=1)


def to_goal(
    seen: Array, *, top: float = 2.5, slow: float = 0.3, course: bool = True, three: bool = False
) -> Array:
    """Steer for the goal and stop there.

    course: bring the course over ground, not only the heading, onto the goal.
    """
    ahead, left = seen[:, AHEAD] * _WAY, seen[:, LEFT] * _WAY
    far = np.hypot(ahead, left)
    wanted = np.where(far > 1.5, np.arctan2(left, ahead), 0.0)
    moving = np.hypot(seen[:, SPEED], seen[:, DRIFT]) * _FAST > 0.4
    slip = np.where(moving, np.arctan2(seen[:, DRIFT], np.maximum(seen[:, SPEED], 0.25)), 0.0)
    turn = steer(seen, turned(wanted - (slip if course else 0.0)))
    speed = np.minimum(top, slow * far) * np.clip(np.cos(wanted), 0.0, 1.0)
    found = [throttle(seen, speed), turn]
    return np.stack([*found, np.zeros(len(seen))] if three else found, axis=1)


def crab(seen: Array, speed: float = 2.0) -> Array:
    """Angle against current and wind that keeps a boat of `speed` m/s on a line along x, rad."""
    c, s = seen[:, COS], seen[:, SIN]
    current = s * seen[:, CURRENT] + c * seen[:, CURRENT + 1]
    wind = s * seen[:, WIND] + c * seen[:, WIND + 1]
    return np.asarray(np.arcsin(np.clip((current + 0.4 * wind) / speed, -0.8, 0.8)))


def along_line(seen: Array, *, top: float = 2.2, reach: float = 9.0, mindful: bool = True) -> Array:
    """Follow the line y = 0, looking `reach` m ahead along it.

    Entry `MORE` is the distance to the left of the line (5 m). mindful: whether it points up
    against current and wind.
    """
    heading = np.arctan2(seen[:, SIN], seen[:, COS])
    wanted = np.arctan2(-seen[:, MORE] * 5.0, reach)
    if mindful:
        wanted = wanted - crab(seen, top)
    turn = steer(seen, turned(wanted - heading))
    speed = top * np.clip(np.cos(wanted - heading), 0.2, 1.0)
    return np.stack([throttle(seen, speed), turn], axis=1)


def alongside(seen: Array, *, close: float = 0.12, top: float = 0.8) -> Array:
    """Abreast of the berth first, then sideways to the quay, slower the nearer.

    close: m/s at which it touches at last.
    """
    gap, heading = seen[:, MORE] * 5.0, seen[:, MORE + 1] * 0.5
    ahead = seen[:, AHEAD] * _WAY
    x = 1.5 * (np.clip(0.25 * ahead, -top, top) - seen[:, SPEED] * _FAST)
    abreast = np.abs(ahead) < 2.0
    in_wards = np.clip(0.2 * gap, close, max(top, close))
    sideways = np.where(abreast, in_wards, np.clip(0.2 * (gap - 3.0), -top, top))
    y = 2.0 * (sideways - seen[:, DRIFT] * _FAST) + 0.6 * sideways - 0.9 * seen[:, CURRENT + 1]
    x = x - 0.15 * seen[:, CURRENT]
    z = steer(seen, -heading)
    return np.stack([np.clip(x, -1, 1), z, np.clip(y, -1, 1)], axis=1)


def through_zone(seen: Array, *, slow: float = 1.25, fast: float = 2.6, keep: bool = True) -> Array:
    """Along the fairway, slow from 8 m before the zone to its end."""
    before, end, aside = seen[:, MORE] * 20.0, seen[:, MORE + 1] * 20.0, seen[:, MORE + 2] * 5.0
    inside = (before < 8.0) & (end > -0.5)
    remaining = seen[:, AHEAD] * _WAY
    speed = np.minimum(np.where(inside, slow, fast), np.where(remaining > 0.0, 9.0, 0.5))
    heading = np.arctan2(seen[:, SIN], seen[:, COS])
    wanted = np.arctan2(-aside, 8.0) - crab(seen, slow) - heading
    turn = steer(seen, turned(wanted)) if keep else np.zeros(len(seen))
    return np.stack([throttle(seen, speed), turn], axis=1)


def give_way(seen: Array, *, keep: float = 18.0, heed: bool = True) -> Array:
    """Wait `keep` m before the course of a ship that has not passed yet."""
    ahead, beside = seen[:, MORE] * 20.0, seen[:, MORE + 1] * 20.0
    waits = (ahead > 2.0) & (beside < 16.0) & heed
    room = np.clip(0.25 * (ahead - keep), -0.6, 2.2)
    found = to_goal(seen, top=2.2)
    held = throttle(seen, room)
    found[:, 0] = np.where(waits, np.minimum(found[:, 0], held), found[:, 0])
    return found


def trimmed(seen: Array, *, trim: float = 0.37) -> Array:
    """Along the line, with rudder against the one engine that is left."""
    lame = seen[:, MORE + 1] > 0.5
    found = along_line(seen, top=1.6)
    power = np.abs(found[:, 0])
    found[:, 1] = np.clip(found[:, 1] - trim * lame * power, -1.0, 1.0)
    return found


def rudderless(seen: Array) -> Array:
    """Ahead with the rudder amidships."""
    return np.stack([np.full(len(seen), 0.4), np.zeros(len(seen))], axis=1)


def tow(seen: Array, *, creep: float = 0.35, top: float = 1.4, brake: bool = True) -> Array:
    """Take up the line slowly, then tow; slow down early, since the barge runs on.

    creep: m/s faster than the barge while the line is slack. brake: whether it minds the barge
    when it stops.
    """
    found = to_goal(seen, top=top, slow=0.06 if brake else 0.6)
    slack = seen[:, MORE + 3] < 0.03
    gap = -seen[:, MORE] * 20.0
    barge = seen[:, MORE + 2] * _FAST
    thrust = np.where(slack, np.minimum(found[:, 0], throttle(seen, barge + creep)), found[:, 0])
    if brake:
        away = throttle(seen, np.maximum(barge, 0.0) + 0.15)
        thrust = np.where(gap < 17.0, np.maximum(thrust, away), np.maximum(thrust, -0.1))
    return np.stack([thrust, found[:, 1]], axis=1)


def stop_dead(seen: Array, *, left: float = 16.0) -> Array:
    """Tow, and go astern `left` m before the goal, whatever follows."""
    found = tow(seen, top=2.2)
    found[:, 0] = np.where(seen[:, AHEAD] * _WAY < left, -1.0, found[:, 0])
    return found


def full_ahead(seen: Array) -> Array:
    """Full ahead at once, steering for the goal."""
    found = to_goal(seen, top=9.0, slow=9.0)
    found[:, 0] = 1.0
    return found


def idle(seen: Array, *, actions: int = 2) -> Array:
    """Nothing."""
    return np.zeros((len(seen), actions))
