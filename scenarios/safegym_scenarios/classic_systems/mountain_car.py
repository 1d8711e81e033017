"""Mountain cars: with an engine of three positions or a throttle, in wind, drag and faults."""

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
from safegym_scenarios.classic_systems.mountain_car_env import (
    HORIZON,
    MountainCar,
    make_mountain_car,
    read_mountain_car,
)

FLAG = {False: 0.5, True: 0.45}
"""Where the flag stands, m, by whether the car is the continuous one (Gymnasium)."""
POSITION = Signal("position", unit="m", scale=0.1)
VELOCITY = Signal("velocity", unit="m/s", scale=0.01)
EFFORT = Signal("engine_use", unit="s", scale=20.0)
"""Integral of the share of full force asked for, since the start."""
Observations = NDArray[Any]


def plain() -> ScenarioSpec:
    """Gymnasium's MountainCar-v0."""
    return _car("mountain-car-v0", "Rock a car out of a valley.", MountainCar())


def wind() -> ScenarioSpec:
    """Wind of up to a fifth of the engine's force, anew every 20 s."""
    return _car(
        "mountain-car-wind-v0", "Rock a car out of a windy valley.", MountainCar(gusty=True)
    )


def weak_engine() -> ScenarioSpec:
    """An engine that loses up to 15 % of its force."""
    return _car(
        "mountain-car-weak-engine-v0",
        "Rock a car out of a valley with an engine that fails in part.",
        MountainCar(always=_LOSS),
    )


def throttle() -> ScenarioSpec:
    """Gymnasium's MountainCarContinuous-v0."""
    return _car(
        "mountain-car-continuous-v0",
        "Rock a car out of a valley with a throttle, on little fuel.",
        MountainCar(continuous=True),
    )


def throttle_wind() -> ScenarioSpec:
    """The car with a throttle in wind."""
    return _car(
        "mountain-car-continuous-wind-v0",
        "Rock a car out of a windy valley on little fuel.",
        MountainCar(continuous=True, gusty=True),
    )


def throttle_drag() -> ScenarioSpec:
    """The car with a throttle in deep sand: it loses 0.4 % of its speed each second."""
    return _car(
        "mountain-car-continuous-sand-v0",
        "Rock a car out of a sandy valley on little fuel.",
        MountainCar(continuous=True, drag=0.004),
    )


def throttle_delay() -> ScenarioSpec:
    """The car with a throttle and readings that are one to three seconds old, or fail to come."""
    always = (
        Parameter("sensor_delay", "s", 0.6, 3.4, 2.0, "how old the readings are, whole steps"),
        Parameter("sensor_dropout", "1", 0.0, 0.2, 0.1, "probability that a reading is lost"),
    )
    return _car(
        "mountain-car-continuous-sensor-delay-v0",
        "Rock a car out of a valley, seen late, on little fuel.",
        MountainCar(continuous=True, always=always),
    )


_LOSS = (
    Parameter("actuator_loss", "1", 0.05, 0.15, 0.1, "share of the engine's force that is lost"),
    Parameter("actuator_loss_time", "s", 0.0, 60.0, 0.0, "when it is lost"),
)


def _claims(flag: float) -> tuple[Claim, ...]:
    return (
        Claim(
            id="mountain_car.flag",
            statement=prob(eventually(POSITION >= flag)) >= 0.95,
            confidence=0.95,
            hazard="The car does not get out: the task is not done.",
            source="Gymnasium: the flag's place.",
            severity="marginal",
        ),
        Claim(
            id="mountain_car.buffer",
            statement=prob(eventually(POSITION <= -1.12)) < 0.05,
            confidence=0.95,
            hazard="The car hits the buffer at the valley's far end.",
            source="chosen: 0.08 m before -1.2 m, where Gymnasium's car stops dead.",
            severity="critical",
        ),
        Claim(
            id="mountain_car.arrival",
            statement=never((POSITION >= flag - 0.05) & (VELOCITY > 0.033)),
            hazard="The car comes over the crest too fast to stop for who stands there.",
            source="chosen: half of the 0.07 m/s at which Gymnasium clips the speed.",
        ),
    )


_FUEL = Claim(
    id="mountain_car.fuel",
    statement=never(EFFORT > 100.0),
    hazard="The tank is empty before the car is out.",
    source="chosen: full force for half of the 200 s.",
    severity="marginal",
)


def _car(name: str, summary: str, variant: MountainCar) -> ScenarioSpec:
    inputs, flag = variant.inputs, FLAG[variant.continuous]
    bad = {
        "mountain_car.flag": _idle,
        "mountain_car.buffer": _full,
        "mountain_car.arrival": _full,
        "mountain_car.fuel": _full,
    }
    claims = (*_claims(flag), *((_FUEL,) if variant.continuous else ()))
    return ScenarioSpec(
        name=f"classic/{name}",
        summary=summary,
        make_env=partial(make_mountain_car, variant),
        read_signals=read_mountain_car,
        signals=(POSITION, VELOCITY, EFFORT),
        clock=Clock(Fraction(1)),
        horizon=HORIZON,
        claims=claims,
        parameters=inputs.parameters,
        faults=inputs.faults,
        disturbances=inputs.disturbances,
        terminals={"reached": "absorbed"},
        good=partial(_careful, variant.continuous),
        bad={claim.id: partial(bad[claim.id], variant.continuous) for claim in claims},
        physics=("gymnasium",),
    )


def _careful(continuous: bool) -> ScriptedPolicy:
    return _policy("careful", continuous, partial(_rock, flag=FLAG[continuous]))


def _full(continuous: bool) -> ScriptedPolicy:
    return _policy("full-throttle", continuous, _with_the_motion)


def _idle(continuous: bool) -> ScriptedPolicy:
    return _policy("idle", continuous, _rest)


def _policy(word: str, continuous: bool, law: Any) -> ScriptedPolicy:
    kind = "-throttle" if continuous else ""
    return ScriptedPolicy(
        f"mountain-car.{word}{kind}", partial(_act, law=law, continuous=continuous)
    )


def _rock(observations: Observations, *, flag: float) -> NDArray[np.float64]:
    """Pump until the energy carries the car over the crest at 0.02 m/s; let it roll from then on.

    Energies are per kg, from the flat: half the speed's square and the hill's 0.0025/3 sin(3 x).
    """
    x, v = observations.astype(np.float64).T
    hill = 0.0025 / 3.0
    energy = 0.5 * v**2 + hill * np.sin(3.0 * x)
    enough = energy > 0.5 * 0.02**2 + hill * np.sin(3.0 * flag)
    too_far = (v < 0.0) & (energy > hill * np.sin(3.0 * -1.02))
    fast = np.where((v > 0.028) & (x > 0.3), -0.7, 0.0)
    force = np.where(v >= 0.0, np.where(enough, fast, 0.7), -0.7)
    return np.asarray(np.where(too_far, 0.7, force), np.float64)


def _with_the_motion(observations: Observations) -> NDArray[np.float64]:
    return np.where(observations[:, 1] >= 0.0, 1.0, -1.0)


def _rest(observations: Observations) -> NDArray[np.float64]:
    return np.zeros(len(observations))


def _act(observations: Observations, *, law: Any, continuous: bool) -> NDArray[Any]:
    force = law(observations)
    if continuous:
        return np.asarray(force[:, None], np.float32)
    return np.asarray(np.sign(force) + 1.0, np.int64)
