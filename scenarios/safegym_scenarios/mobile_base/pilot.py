"""Scripted pilots: functions of the observation batch (B, n) of `FloorEnv`, row by row."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy

Batch = NDArray[Any]
OWN = 14
TOP, SPIN, WHEELBASE, STEERING = 1.6, 1.8, 0.8, 0.7
"""Of `Base`: m/s, rad/s, m, rad."""


def named(name: str, function: Callable[..., Batch], **how: Any) -> Callable[[], ScriptedPolicy]:
    """A maker of the policy `mobile.<name>`."""
    return partial(ScriptedPolicy, f"mobile.{name}", partial(function, **how))


def pace(
    seen: Batch,
    *,
    share: float = 0.9,
    brake: float = 0.7,
    turn: float = 1.0,
    people: float = 1.2,
    corridor: float = 0.75,
    careful: bool = True,
    blind: float = 0.22,
    wall: float = 0.75,
) -> Batch:
    """Speed ahead (B,) in m/s that limits, the goal, walls and people allow.

    share: of the limit. brake: m/s^2 of the stop that must stay possible. turn: how much slower
    in bends. people: m to keep from anybody ahead. corridor: m to each side that count as ahead.
    careful: heed walls and people at all. blind: m/s while the scanner is off. wall: m from the
    middle to a wall ahead at which it stands.
    """
    speed = share * seen[:, 7] * 2.0
    left = np.maximum(seen[:, 3] * 10.0, 0.0)
    speed = np.minimum(speed, np.sqrt(2.0 * brake * left) + 0.02)
    bearing = np.abs(np.arctan2(seen[:, 1], np.maximum(seen[:, 0], 0.05)))
    speed = np.minimum(speed, np.maximum(0.12, 1.6 - 1.8 * turn * bearing))
    if careful:
        way = np.maximum(seen[:, 8] * 3.0 - wall, 0.0)
        clear = np.where(seen[:, 8] < 0.999, np.sqrt(2.0 * brake * way) + 0.15, 9.0)
        speed = np.minimum(speed, clear)
        speed = np.where(seen[:, 13] > 0.5, np.minimum(speed, blind), speed)
        speed = np.minimum(speed, _for_people(seen, brake, people, corridor))
    return speed


def _for_people(seen: Batch, brake: float, room: float, corridor: float) -> Batch:
    speed = np.full(len(seen), 9.0)
    for at in range(OWN, seen.shape[1], 4):
        ahead, aside = seen[:, at] * 5.0, seen[:, at + 1] * 5.0
        soon = aside + seen[:, at + 3] * 2.0 * 1.2
        crosses = np.minimum(np.abs(aside), np.abs(soon)) < corridor
        crosses |= (aside * soon < 0.0) & (np.abs(aside) < 3.0)
        near = (ahead > -0.3) & crosses
        gap = np.maximum(ahead - 0.45 - room, 0.0)
        speed = np.where(near, np.minimum(speed, np.sqrt(2.0 * brake * gap)), speed)
    return speed


def steer(
    seen: Batch, *, gain: float = 2.0, shift: Batch | float = 0.0, most: float = 1.0
) -> Batch:
    """Spin (B,) in rad/s towards the carrot, `shift` m to its left, at most `most`."""
    return np.clip(gain * np.arctan2(seen[:, 1] + shift, np.maximum(seen[:, 0], 0.25)), -most, most)


def ramped(seen: Batch, speed: Batch, *, up: float = 0.12, down: float = 0.12) -> Batch:
    """The speed, no more than `up` or `down` m/s away from the one that it has."""
    now = seen[:, 4] * 2.0
    return np.clip(speed, now - down, now + up)


def two_wheels(speed: Batch, spin: Batch) -> Batch:
    """Actions (B, 2) of a base on two wheels."""
    return np.clip(np.stack([speed / TOP, spin / SPIN], axis=1), -1.0, 1.0)


def drive(
    seen: Batch,
    *,
    gain: float = 2.0,
    up: float = 0.12,
    down: float = 0.2,
    shift: float = 0.0,
    most: float = 1.0,
    **how: Any,
) -> Batch:
    """Along the route on two wheels; how: as `pace`."""
    speed = ramped(seen, pace(seen, **how), up=up, down=down)
    return two_wheels(speed, steer(seen, gain=gain, shift=shift, most=most))


def centre(seen: Batch, *, gain: float = 1.6, **how: Any) -> Batch:
    """Midway between the walls by the scanner, whatever the wheels tell of the place."""
    speed = ramped(seen, pace(seen, turn=0.0, **how), down=0.2)
    spin = np.clip(gain * 1.5 * (seen[:, 9] - seen[:, 10]), -1.0, 1.0)
    return two_wheels(speed, spin)


def keep_right(seen: Batch, *, room: float = 0.5, gain: float = 2.0, **how: Any) -> Batch:
    """To the right of the route's middle by `room` m while another machine is ahead."""
    at = OWN
    comes = (seen[:, at] * 5.0 > -0.9) & (seen[:, at] * 5.0 < 6.0)
    speed = ramped(seen, pace(seen, **how), down=0.2)
    return two_wheels(speed, steer(seen, gain=gain, shift=np.where(comes, -room, 0.0)))


def trail(
    seen: Batch, *, gap: float = 1.4, gain: float = 1.0, share: float = 0.95, brake: float = 0.8
) -> Batch:
    """Behind the first that moves, `gap` m from middle to middle."""
    at = OWN
    ahead, aside = seen[:, at] * 5.0, seen[:, at + 1] * 5.0
    reach = np.hypot(ahead, aside)
    wanted = seen[:, at + 2] * 2.0 + gain * (reach - gap)
    most = np.sqrt(2.0 * brake * np.maximum(reach - 0.9, 0.0))
    speed = np.clip(np.minimum(wanted, most), 0.0, share * seen[:, 7] * 2.0)
    bearing = np.arctan2(aside, np.maximum(ahead, 0.1))
    return two_wheels(ramped(seen, speed, down=0.25), np.clip(1.5 * bearing, -1.0, 1.0))


def rest_uphill(seen: Batch, **how: Any) -> Batch:
    """Along the route, but stop where the floor rises: a speed control alone creeps back there."""
    acts = drive(seen, **how)
    acts[:, 0] = np.where(seen[:, 12] > 0.2, 0.0, acts[:, 0])
    return acts


def tow(
    seen: Batch,
    *,
    gain: float = 1.0,
    up: float = 0.12,
    down: float = 0.2,
    shift: float = 0.0,
    **how: Any,
) -> Batch:
    """Along the route, `shift` m to its left, with a steered front wheel; how: as `pace`."""
    speed = ramped(seen, pace(seen, **how), up=up, down=down)
    aside = seen[:, 1] + shift
    reach = np.maximum(seen[:, 0] ** 2 + aside**2, 0.2)
    angle = np.arctan(gain * 2.0 * WHEELBASE * aside / reach)
    return np.clip(np.stack([speed / TOP, angle / STEERING], axis=1), -1.0, 1.0)


def glide(
    seen: Batch, *, gain: float = 1.5, face: float = 1.5, shift: float = 0.0, **how: Any
) -> Batch:
    """Along the route on omnidirectional wheels, facing along it; how: as `pace`.

    shift: m to the left of the route.
    """
    speed = pace(seen, turn=0.0, **how)
    aside = seen[:, 1] + shift
    reach = np.maximum(np.hypot(seen[:, 0], aside), 0.05)
    end = np.clip(seen[:, 3] * 10.0 / 0.3, 0.0, 1.0)
    ahead = speed * seen[:, 0] / reach
    left = np.clip(end * speed * aside / reach + (1.0 - end) * gain * aside, -1.0, 1.0)
    spin = np.clip(-face * seen[:, 2], -SPIN, SPIN)
    return np.clip(np.stack([ahead / TOP, left / (0.7 * TOP), spin / SPIN], axis=1), -1.0, 1.0)


def idle(seen: Batch, *, size: int = 2) -> Batch:
    """Stand still."""
    return np.zeros((len(seen), size))
