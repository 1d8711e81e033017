"""Pilots of the lunar lander: one law of descent, and mistakes one makes with it."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy

Observations = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Descent:
    """How a pilot comes down.

    slope: descent speed for each m of altitude, 1/s. slowest, fastest: its bounds, m/s. centring:
    tilt that it asks for each m beside the pad, rad/m. damping: for each m/s of drift, rad s/m.
    lean: largest tilt it asks for, rad. lead: how far ahead it looks at the tilt, s. urgency:
    excess of sink speed that outweighs one rad to turn, m/s/rad. floor: altitude that it takes for
    the ground, m.
    """

    slope: float = 0.65
    slowest: float = 0.65
    fastest: float = 5.5
    centring: float = 0.05
    damping: float = 0.1
    lean: float = 0.5
    lead: float = 0.5
    urgency: float = 3.2
    floor: float = 0.0


def pilot(name: str, descent: Descent, *, continuous: bool) -> ScriptedPolicy:
    """A pilot with a name of its own."""
    kind = "throttle" if continuous else "switch"
    law = partial(_fly, descent=descent, continuous=continuous)
    return ScriptedPolicy(f"lander.{name}-{kind}", law)


def idle(*, continuous: bool) -> ScriptedPolicy:
    """A pilot who fires nothing."""
    kind = "throttle" if continuous else "switch"
    return ScriptedPolicy(f"lander.free-fall-{kind}", partial(_fall, continuous=continuous))


def tumbler(*, continuous: bool) -> ScriptedPolicy:
    """A pilot with the wrong sign in the attitude loop."""
    kind = "throttle" if continuous else "switch"
    return ScriptedPolicy(f"lander.wrong-sign-{kind}", partial(_tumble, continuous=continuous))


def _fly(observations: Observations, *, descent: Descent, continuous: bool) -> NDArray[Any]:
    lift, turn, down = _loops(observations, descent)
    return _engines(lift, turn, down, descent.urgency, continuous)


def _tumble(observations: Observations, *, continuous: bool) -> NDArray[Any]:
    lift, turn, down = _loops(observations, Descent())
    return _engines(lift, -turn, down, Descent().urgency, continuous)


def _fall(observations: Observations, *, continuous: bool) -> NDArray[Any]:
    calm = np.zeros(len(observations))
    return _engines(calm, calm, np.ones(len(observations), np.bool_), 1.0, continuous)


def _loops(
    observations: Observations, descent: Descent
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Speed still to lose, m/s; turn to make, rad; whether both legs are down.

    The observation is Gymnasium's, here back in m, m/s, rad and rad/s.
    """
    x, y, vx, vy, tilt, spin, left, right = observations.astype(np.float64).T
    x, y, vx, vy, spin = 10.0 * x, 20.0 / 3.0 * y, 5.0 * vx, 7.5 * vy, 2.5 * spin
    height = y - descent.floor
    sinking = np.clip(descent.slope * height + descent.slowest, -descent.fastest, descent.fastest)
    if descent.floor == 0.0:
        sinking = np.maximum(sinking, descent.slowest)
    lean = np.clip(descent.centring * x + descent.damping * vx, -descent.lean, descent.lean)
    touched = (left > 0.5) | (right > 0.5)
    turn = np.where(touched, 0.0, lean - tilt - descent.lead * spin)
    return -sinking - vy, turn, (left > 0.5) & (right > 0.5)


def _engines(
    lift: Floats, turn: Floats, down: NDArray[np.bool_], urgency: float, continuous: bool
) -> NDArray[Any]:
    """The engines that do it: the main one unless a turn is more urgent; none on the ground."""
    main = (lift > 0.0) & (lift > urgency * (np.abs(turn) - 0.05)) & ~down
    side = (np.abs(turn) > 0.05) & ~down
    if continuous:
        throttle = np.where(main, np.clip(0.4 + lift, 0.05, 1.0), -1.0)
        thrust = np.where(side, -np.sign(turn) * np.clip(0.5 + np.abs(turn), 0.55, 1.0), 0.0)
        return np.stack((throttle, thrust), axis=1).astype(np.float32)
    sides = np.where(side, np.where(turn < 0.0, 3, 1), 0)
    return np.where(main, 2, sides).astype(np.int64)
