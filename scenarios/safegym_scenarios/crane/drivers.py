"""Scripted drivers of the cranes with a duty: over a stack, around people, from and to the ground.

Functions of the observation batch; the entries beyond `Crane`'s begin at `MORE`.
"""

import numpy as np

from safegym_scenarios.crane.steering import (
    HEIGHT,
    HOIST,
    MORE,
    PULL,
    SPEED,
    TRAVEL,
    Array,
    go,
)

_REACH = 10.0


def over_stack(
    seen: Array, *, room: float = 1.0, hold: float = 4.5, wait: bool = True, top: float = 1.6
) -> Array:
    """Lift `room` m above the stack before it, cross, and lower behind it.

    hold: m before the stack where a load that is too low waits; wait: whether it does.
    """
    ahead, peak = seen[:, MORE] * _REACH, seen[:, MORE + 1] * _REACH
    height, way = seen[:, HEIGHT] * _REACH, seen[:, TRAVEL] * _REACH
    needed = peak + room
    passed = ahead < -3.6
    low = height < needed - 0.3
    limit = np.where(low & ~passed & wait & (ahead > 2.5), ahead - hold, way)
    travel = go(seen, TRAVEL, np.minimum(way, limit), top=2.0, cruise=top)
    climb = np.where(passed, seen[:, HOIST] * _REACH, height - needed)
    return np.stack([travel, go(seen, HOIST, climb, top=1.0, cruise=0.8, slow=0.4)], axis=1)


def around_people(seen: Array, *, keep: float = 4.2, heed: bool = True) -> Array:
    """Wait `keep` m before the path of somebody who has not crossed yet."""
    ahead, beside = seen[:, MORE] * _REACH, seen[:, MORE + 1] * _REACH
    way = seen[:, TRAVEL] * _REACH
    free = (beside > 4.0) | (ahead < 0.0) | (not heed)
    held = np.where(free, way, np.minimum(way, ahead - keep))
    return go(seen, TRAVEL, held, top=2.0, cruise=1.4)[:, None]


def lift_weighing(seen: Array, *, gently: float = 0.15, heed: float = 0.97) -> Array:
    """Take up slack slowly, feel the weight, and put down what weighs more than the rating.

    heed: share of the rated pull at which it gives up.
    """
    pull = seen[:, PULL] * 100.0
    rated = pull + seen[:, MORE + 1] * 100.0
    heavy = pull > heed * rated
    free = seen[:, HEIGHT] * _REACH > 0.2
    speed = seen[:, SPEED + HOIST]
    wanted = np.where(free, -0.6, -gently)
    way = seen[:, HOIST] * _REACH
    wanted = np.maximum(wanted, -np.sqrt(2 * 0.3 * np.maximum(-way, 0.0)) - 0.3 * np.abs(way))
    wanted = np.where(heavy, 0.4, np.where(way > 0.0, 0.3 * way, wanted))
    return np.asarray(np.clip(4.0 * (wanted - speed), -1.0, 1.0))[:, None]


def lift_watching(
    seen: Array, *, speed: float = 0.25, gently: float = 0.1, give_up: float = 62.0
) -> Array:
    """Lift slowly; once the pull was above `give_up` kN pay out until the rope holds no more.

    gently: m/s at which it takes up slack, so that the jerk is not taken for a chain.
    """
    pull, most = seen[:, PULL] * 100.0, seen[:, MORE] * 100.0
    way = seen[:, HOIST] * _REACH
    pace = np.where(seen[:, HEIGHT] * _REACH > 0.1, speed, gently)
    lifting = np.maximum(-pace, 0.5 * way)
    easing = np.where(pull > 52.0, 0.4, 0.0)
    wanted = np.where(most > give_up, easing, lifting)
    return np.asarray(np.clip(4.0 * (wanted - seen[:, SPEED + HOIST]), -1.0, 1.0))[:, None]


def haul(seen: Array, *, share: float = 1.0) -> Array:
    """Up at once, with this share of the winch's acceleration, whatever the rope says."""
    return np.full((len(seen), 1), -share)


def stop_when_told(
    seen: Array, *, brake: float = 0.55, heed: bool = True, boost: float = 2.0
) -> Array:
    """Drive to the goal; when the stop is pressed slow down at `brake` m/s^2 and stand."""
    way, speed = seen[:, TRAVEL] * _REACH, seen[:, SPEED] * 2.0
    on = go(seen, TRAVEL, way, top=2.0, boost=boost, cruise=1.6)
    stop = np.clip(-3.0 * speed, -brake, brake) / boost
    return np.where((seen[:, MORE] > 0.5) & heed, stop, on)[:, None]


def land(
    seen: Array,
    *,
    touch: float = 0.12,
    follow: float = 1.0,
    near: float = 0.35,
    top: float = 0.6,
    shift: float = 0.0,
) -> Array:
    """Over the mark first, then down in step with the deck, slower the nearer.

    touch: m/s against the deck at the end. follow: how much of the deck's speed it goes along
    with. near: m from the mark within which it goes below 2 m. shift: m beside the mark.
    """
    rising, height = seen[:, MORE + 1], seen[:, MORE + 2] * 2.0
    ways = seen[:, :2] * _REACH + np.array([shift, 0.0])
    off = np.hypot(ways[:, 0], ways[:, 1])
    sway = np.hypot(seen[:, 6], seen[:, 7]) * 0.2
    ready = (off < near) & (sway < 0.03) | (height < 0.8)
    sinking = np.clip(0.5 * height, touch, top)
    sinking = np.where(ready, sinking, np.clip(0.5 * (height - 2.0), -0.3, top))
    down = height < 0.02
    wanted = np.where(down & (seen[:, PULL] < 0.02), 0.05, sinking - follow * rising)
    hoist = np.clip(6.0 * (wanted - seen[:, SPEED + HOIST]), -1.0, 1.0)
    held = np.where(down[:, None], 0.0, ways)
    moves = [go(seen, axis, held[:, axis], top=2.0, cruise=1.2) for axis in (0, 1)]
    return np.stack([*moves, hoist], axis=1)


def rush_and_slam(seen: Array) -> Array:
    """Full speed, and full brakes when the stop is pressed."""
    speed = seen[:, SPEED] * 2.0
    slam = np.clip(-8.0 * speed, -1.0, 1.0)
    on = np.where(seen[:, TRAVEL] * _REACH > 3.0, 1.0, slam)
    return np.where(seen[:, MORE] > 0.5, slam, on)[:, None]
