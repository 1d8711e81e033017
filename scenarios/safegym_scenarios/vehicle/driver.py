"""Scripted drivers: functions of the observation batch (B, n) of `RoadEnv`, row by row.

What they take from the observation is said in `RoadEnv`; all lengths in m, speeds in m/s.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy

Batch = NDArray[Any]
OWN = 12
WHEELBASE = 2.8
UNDERSTEER = 0.0026
STEERING = 0.6
DRIVE, BRAKE = 3.0, 9.0
COMFORT = 2.5
"""m/s^2 of braking while nothing is urgent."""
GRAVITY = 9.81


def named(name: str, function: Callable[..., Batch], **how: Any) -> Callable[[], ScriptedPolicy]:
    """A maker of the policy `vehicle.<name>`."""
    return partial(ScriptedPolicy, f"vehicle.{name}", partial(function, **how))


def steer(
    seen: Batch, *, ahead: float = 1.0, gain: float = 1.0, shift: Batch | float = 0.0
) -> Batch:
    """Wheel angle (B,) in [-1, 1] towards the point of the path `ahead` s further on.

    shift: m to the left of where the car is to drive. gain: on the correction.
    """
    offset, turned = seen[:, 0] * 2.0 - shift, seen[:, 1] * 0.3
    speed, curvature = seen[:, 4] * 30.0, seen[:, 5] / 50.0
    reach = ahead * speed + 4.0
    drifting = seen[:, 2] * 2.0 / np.maximum(speed, 3.0)
    wanted = curvature - gain * 2.0 * (offset + reach * (turned + drifting)) / reach**2
    angle = wanted * (WHEELBASE + UNDERSTEER * speed**2)
    return np.clip(angle / STEERING, -1.0, 1.0)


def cruise(
    seen: Batch, *, share: float = 0.95, side: float = 2.2, wary: bool = True, cautious: float = 0.5
) -> Batch:
    """Acceleration (B,) in m/s^2 towards the speed that limits and curves allow.

    share: of the limit. side: m/s^2 across in curves, at full grip. wary: heed grip and curves.
    cautious: share of the grip that is used.
    """
    speed = seen[:, 4] * 30.0
    wanted = share * seen[:, 7] * 30.0
    if wary:
        grip = np.clip(seen[:, 8], 0.05, 1.0)
        most = np.minimum(side, cautious * grip * GRAVITY)
        sharp = np.maximum(np.abs(seen[:, 6]) / 50.0, 1e-4)
        wanted = np.minimum(wanted, np.sqrt(most / sharp))
    return np.clip(0.8 * (wanted - speed), -3.0, 2.0)


def follow(
    seen: Batch,
    actor: int,
    *,
    headway: float = 1.6,
    room: float = 5.0,
    reaction: float = 0.4,
    wide: float = 1.9,
    lane: float = 0.0,
) -> Batch:
    """Acceleration (B,) in m/s^2 that keeps a time gap to another road user ahead; large if none.

    headway: s. room: m at rest. reaction: s that braking is begun early. wide: m to the side that
    count as in the way. lane: m to the left of the path where the observation's offset is 0.
    """
    at = OWN + 4 * actor
    speed = seen[:, 4] * 30.0
    ahead, aside = seen[:, at] * 60.0, seen[:, at + 1] * 10.0 - seen[:, 0] * 2.0 - lane
    other, moving = seen[:, at + 2] * 30.0, seen[:, at + 3] * 10.0
    soon = aside + moving * 1.0
    in_way = (ahead > 0.0) & (np.minimum(np.abs(aside), np.abs(soon)) < wide)
    gap = ahead - 4.5 - room
    steady = np.maximum(0.25 * (gap - headway * speed) + 0.9 * (other - speed), -COMFORT)
    free = np.maximum(gap - reaction * speed, 0.3)
    closing = np.maximum(speed - other, 0.0)
    needed = closing**2 / (2.0 * free)
    hard = -1.15 * needed
    return np.where(in_way, np.where(needed > 2.0, np.minimum(hard, steady), steady), 50.0)


def pedal(wanted: Batch) -> Batch:
    """The pedal (B,) in [-1, 1] for an acceleration in m/s^2."""
    return np.clip(np.where(wanted > 0.0, wanted / DRIVE, wanted / BRAKE), -1.0, 1.0)


def acts(angle: Batch, wanted: Batch) -> Batch:
    """Actions (B, 2) of a wheel angle and an acceleration."""
    return np.stack([angle, pedal(wanted)], axis=1)


def keep_lane(
    seen: Batch,
    *,
    ahead: float = 1.0,
    gain: float = 1.0,
    share: float = 0.95,
    side: float = 2.2,
    wary: bool = True,
    cautious: float = 0.5,
) -> Batch:
    """Drive along the lane."""
    wanted = cruise(seen, share=share, side=side, wary=wary, cautious=cautious)
    return acts(steer(seen, ahead=ahead, gain=gain), wanted)


def idle(seen: Batch) -> Batch:
    """Hold the wheel straight and brake."""
    return np.tile([0.0, -1.0], (len(seen), 1))
