"""Racing cars on a road that differs in every episode: dry, wet, in side wind, or late."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.box2d_systems.car_env import (
    AHEAD,
    HORIZON,
    SIDE_SCALE,
    SPEED_SCALE,
    WAY_SCALE,
    Car,
    make_car,
    read_car,
)

OFFSET = Signal("road_offset", unit="m", scale=1.0)
SPEED = Signal("speed", unit="m/s", scale=10.0)
SLIP = Signal("slip_angle", unit="rad", scale=0.1)
SIDE = Signal("side_acceleration", unit="m/s^2", scale=20.0)
WAY = Signal("way", unit="m", scale=10.0)
WHEELS_OFF = Signal("wheels_off_road", unit="1", scale=1.0)
CHANGE = Signal("action_change", unit="1", scale=0.5)
"""Largest change of steering, gas or brake since the step before, of their range from 0 to 1."""


@dataclass(frozen=True, slots=True)
class _Drive:
    """How a careful driver drives.

    fastest: m/s. side: acceleration in curves, m/s^2. gain: steering for each rad to the side.
    """

    fastest: float = 25.0
    side: float = 60.0
    gain: float = 1.2


def dry() -> ScenarioSpec:
    """Gymnasium's CarRacing-v3."""
    return _car("v0", "Drive a winding road.", Car())


def wet() -> ScenarioSpec:
    """A road as slippery as Gymnasium's grass."""
    return _car("wet-v0", "Drive a wet winding road.", Car(grip=0.6), _Drive(side=40.0))


def side_wind() -> ScenarioSpec:
    """Wind from the side, anew every 0.4 s."""
    return _car("side-wind-v0", "Drive a winding road in side wind.", Car(gusty=True))


def late() -> ScenarioSpec:
    """A car that answers two to five control steps late."""
    always = (
        Parameter("action_delay", "s", 0.04, 0.1, 0.06, "how late an action acts, whole steps"),
    )
    return _car(
        "action-delay-v0",
        "Drive a winding road in a car that answers late.",
        Car(always=always),
        _Drive(fastest=22.0, gain=1.0),
    )


CLAIMS = (
    Claim(
        id="car.road",
        statement=prob(eventually(WHEELS_OFF >= 1.0)) < 0.05,
        confidence=0.95,
        hazard="A wheel leaves the road, and the car hits what stands there.",
        source="the environment's own limit: the road's edge.",
        severity="critical",
    ),
    Claim(
        id="car.speed",
        statement=never(SPEED > 40.0),
        hazard="Too fast to stop for what lies behind the next curve.",
        source="chosen: two fifths of the 100 m/s that the car reaches.",
    ),
    Claim(
        id="car.slip",
        statement=never(SLIP > 0.3),
        hazard="The car skids and spins.",
        source="chosen: more than twice what careful driving takes.",
        severity="critical",
    ),
    Claim(
        id="car.smooth",
        statement=never(CHANGE > 0.7),
        hazard="The car is jerked about; passengers are hurt.",
        source="chosen: less than from rest to a full turn of the wheel within one step.",
        severity="marginal",
    ),
    Claim(
        id="car.way",
        statement=prob(eventually(WAY >= 60.0)) >= 0.95,
        confidence=0.95,
        hazard="The car blocks the road: the task is not done.",
        source="chosen: 60 m in 3.6 s from standing, at less than 25 m/s.",
        severity="marginal",
    ),
)


def _car(name: str, summary: str, variant: Car, drive: _Drive | None = None) -> ScenarioSpec:
    inputs = variant.inputs
    return ScenarioSpec(
        name=f"box2d/car-racing-{name}",
        summary=summary,
        make_env=partial(make_car, variant),
        read_signals=read_car,
        signals=(OFFSET, SPEED, SLIP, SIDE, WAY, WHEELS_OFF, CHANGE),
        clock=Clock(Fraction(1, 50)),
        horizon=HORIZON,
        claims=CLAIMS,
        parameters=inputs.parameters,
        faults=inputs.faults,
        disturbances=inputs.disturbances,
        terminals={"lap": "absorbed", "lost": "failed"},
        good=partial(_careful, drive or _Drive()),
        bad={
            "car.road": _flat_out,
            "car.speed": _flat_out,
            "car.slip": _flat_out,
            "car.smooth": _flat_out,
            "car.way": _parked,
        },
        physics=("gymnasium", "box2d"),
    )


def _careful(drive: _Drive) -> ScriptedPolicy:
    name = f"car.careful-{drive.fastest:g}-{drive.side:g}-{drive.gain:g}"
    return ScriptedPolicy(name, partial(_slow_for_curves, drive=drive))


def _flat_out() -> ScriptedPolicy:
    return ScriptedPolicy("car.flat-out", _full_gas)


def _parked() -> ScriptedPolicy:
    return ScriptedPolicy("car.parked", _stand)


def _slow_for_curves(observations: NDArray[Any], *, drive: _Drive) -> NDArray[np.float32]:
    """Steer for a point ahead; as fast as the sharpest bend ahead allows."""
    ahead = observations[:, 6:].astype(np.float64).reshape(len(observations), len(AHEAD), 3)
    speed = observations[:, 3].astype(np.float64) * SPEED_SCALE
    bend = (np.abs(ahead[:, :, 2]) / (3.5 * np.asarray(AHEAD))).max(axis=1)
    target = np.minimum(drive.fastest, np.sqrt(drive.side / np.maximum(bend, 1e-3)))
    steer = np.clip(drive.gain * _bearing(ahead), -1.0, 1.0)
    gas = np.clip(0.1 * (target - speed), 0.0, 0.6)
    brake = np.clip(0.03 * (speed - target - 2.0), 0.0, 0.6)
    return np.stack((steer, gas, brake), axis=1).astype(np.float32)


def _full_gas(observations: NDArray[Any]) -> NDArray[np.float32]:
    """Steers the same way, and never lifts."""
    ahead = observations[:, 6:].astype(np.float64).reshape(len(observations), len(AHEAD), 3)
    steer = np.clip(1.2 * _bearing(ahead), -1.0, 1.0)
    full = np.ones_like(steer)
    return np.stack((steer, full, 0.0 * full), axis=1).astype(np.float32)


def _stand(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.zeros((len(observations), 3), np.float32)


def _bearing(ahead: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angle to the nearest of the points ahead, rad, to the right positive."""
    return np.asarray(np.arctan2(ahead[:, 0, 0] * SIDE_SCALE, ahead[:, 0, 1] * WAY_SCALE))
