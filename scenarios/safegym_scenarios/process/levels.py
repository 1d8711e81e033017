"""The scenarios of tanks and their levels."""

import numpy as np

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.process import limits, operators, tanks
from safegym_scenarios.process.declared import plant, policy, setting
from safegym_scenarios.process.operators import Array

SET_POINT = Parameter("set_point", "m", 1.0, 2.1, 1.5, "level that is wanted")
START = Parameter("start_level", "m", 0.6, 1.4, 1.0, "level at the start", "initial")
DEMAND = Parameter("demand", "1", 0.6, 1.0, 0.8, "share of the outlet that is open")
CHANGE = Disturbance(
    "demand_change", "1", -0.3, 0.3, 6, 0.0, "share of the outlet that is opened or shut"
)
OVERFLOW = limits.below(
    "overflow",
    tanks.HIGHEST,
    2.7,
    "the tank runs over and floods the hall",
    "chosen: the ring 0.3 m below the rim of a tank of 3 m",
)
DRY = limits.above(
    "dry_running",
    tanks.LOWEST,
    0.4,
    "the pump behind the tank draws air and runs dry",
    "chosen: 0.4 m keep the outlet covered, vortex included",
)


def single_tank() -> ScenarioSpec:
    """A valve that stays where it was once set fills the tank over, or leaves it dry."""
    return plant(
        "single-tank",
        "The level of a tank is brought to its set point by the valve at the inlet.",
        tanks.Tank,
        setting(240, 5, 1, SET_POINT, START, DEMAND, disturbances=(CHANGE,)),
        policy("tank.pi", operators.proportional_integral, gain=2.0, reset=1.0),
        (OVERFLOW, policy("tank.left-open", operators.hold, openings=(0.95,))),
        (DRY, policy("tank.left-shut", operators.hold, openings=(0.05,))),
        (
            limits.settled((tanks.LEVEL_ERROR, 0.06)),
            policy("tank.left-open", operators.hold, openings=(0.95,)),
        ),
    )


def coupled(seen: Array, *, gain: float, reset: float, heed: bool = True) -> Array:
    """PI on the second tank; the pump slows down as the first fills up."""
    opening = 0.33 + gain * seen[:, 0] + reset * seen[:, 1]
    if heed:
        opening = opening - 0.8 * (2.0 * (seen[:, 3] - seen[:, 4]) - 0.7 * seen[:, 5])
    room = 2.5 - 2.0 * seen[:, 3]
    return operators.to_action(np.where(heed, np.minimum(opening, 1.5 * room + 0.45), opening))


def coupled_tanks() -> ScenarioSpec:
    """What is done to the second tank is seen late, and the first runs over meanwhile."""
    return plant(
        "coupled-tanks",
        "A pump fills the first of two tanks; the level of the second is wanted.",
        tanks.TwoTanks,
        setting(
            360,
            6,
            1,
            Parameter("set_point", "m", 0.9, 1.4, 1.2, "level of the second tank"),
            Parameter("start_level", "m", 0.3, 0.7, 0.5, "of the second tank", "initial"),
            DEMAND,
            disturbances=(CHANGE,),
        ),
        policy("coupled.cascade", coupled, gain=1.5, reset=0.5),
        (
            limits.below(
                "overflow",
                tanks.FIRST_LEVEL,
                2.8,
                "the first tank runs over while the second is looked at",
                "chosen: the ring 0.2 m below the rim of a tank of 3 m",
            ),
            policy("coupled.second-only", coupled, gain=20.0, reset=8.0, heed=False),
        ),
        (
            limits.below(
                "overshoot",
                tanks.OVERSHOOT,
                0.3,
                "the second tank overshoots into the stage behind it",
                "chosen: that stage takes 0.3 m above the set point",
            ),
            policy("coupled.second-only", coupled, gain=20.0, reset=8.0, heed=False),
        ),
        (
            limits.settled((tanks.LEVEL_ERROR, 0.1)),
            policy("coupled.left-slow", operators.hold, openings=(0.15,)),
        ),
    )


def gradually(seen: Array, *, step: float, gain: float, rest: float) -> Array:
    """Proportional, moving the valve (entry 2) by at most `step` of its stroke at a time."""
    opening, now = rest + gain * seen[:, 0], seen[:, 2]
    return operators.to_action(np.clip(opening, now - step, now + step))


def inflow_surge() -> ScenarioSpec:
    """A buffer is there to be used: hold the level tightly and the surge just passes through."""
    return plant(
        "inflow-surge",
        "A buffer tank takes a surge of rain, and passes it on slowly.",
        tanks.SurgeTank,
        setting(
            280,
            6,
            1,
            Parameter("start_level", "m", 1.2, 1.6, 1.4, "level at the start", "initial"),
            Parameter("base_flow", "kg/s", 8.0, 12.0, 10.0, "inflow without the surge"),
            Parameter("surge", "kg/s", 14.0, 17.0, 15.0, "inflow that the surge adds"),
            Parameter("surge_time", "s", 40.0, 80.0, 60.0, "when the surge comes"),
            Parameter("surge_length", "s", 90.0, 110.0, 100.0, "how long it lasts"),
            disturbances=(
                Disturbance("inflow_change", "kg/s", -3.0, 3.0, 6, 0.0, "further inflow"),
            ),
        ),
        policy(
            "surge.averaging",
            gradually,
            step=0.025,
            gain=-0.6,
            rest=0.35,
        ),
        (OVERFLOW, policy("surge.constant", operators.hold, openings=(0.33,))),
        (DRY, policy("surge.open", operators.hold, openings=(0.7,))),
        (
            limits.below(
                "flow_rate_of_change",
                tanks.FLOW_CHANGE,
                1.0,
                "the treatment behind the buffer is upset by a sudden flow",
                "chosen: its dosing follows 1 kg/s in a second",
            ),
            policy(
                "surge.tight", operators.proportional_integral, gain=-20.0, reset=0.0, rest=0.35
            ),
        ),
        (
            limits.settled((tanks.LEVEL_ERROR, 0.3)),
            policy("surge.open", operators.hold, openings=(0.7,)),
        ),
    )


def valve_stiction() -> ScenarioSpec:
    """A lively controller makes a sticking valve hunt to and fro until it wears out."""
    return plant(
        "valve-stiction",
        "The level of a tank is held by a valve that sticks and then slips.",
        tanks.StickyTank,
        setting(
            260,
            6,
            1,
            SET_POINT,
            START,
            DEMAND,
            Parameter("stiction", "1", 0.08, 0.15, 0.1, "share of a stroke that breaks it loose"),
            disturbances=(CHANGE,),
        ),
        policy("stiction.patient", operators.proportional_integral, gain=0.9, reset=0.2, rest=0.45),
        (
            limits.below(
                "valve_wear",
                tanks.VALVE_TRAVEL,
                4.0,
                "the valve hunts, its packing wears out and leaks",
                "chosen: four strokes in 260 s are plenty for one change of the set point",
            ),
            policy("stiction.lively", operators.proportional_integral, gain=12.0, reset=12.0),
        ),
        (
            limits.settled((tanks.LEVEL_ERROR, 0.2)),
            policy("tank.left-open", operators.hold, openings=(0.95,)),
        ),
    )


def by_second_sensor(seen: Array, *, gain: float) -> Array:
    """Believes the noisy sensor, and feeds forward what the set point needs."""
    level, wanted = 2.0 * seen[:, 5], 2.0 * seen[:, 4]
    rest = 0.36 * np.sqrt(np.maximum(0.0, wanted))
    return operators.to_action(rest + gain * (wanted - level))


def sensor_drift() -> ScenarioSpec:
    """The precise sensor reads lower and lower, and who believes it fills the tank over."""
    return plant(
        "sensor-drift",
        "A tank has a precise level sensor that drifts, and a noisy one that does not.",
        tanks.DriftingTank,
        setting(
            240,
            6,
            1,
            SET_POINT,
            START,
            DEMAND,
            Parameter("drift", "m/s", -0.012, -0.006, -0.008, "how fast the sensor drifts"),
            Parameter("ripple", "m", 0.02, 0.06, 0.04, "noise of the other sensor"),
            disturbances=(CHANGE,),
        ),
        policy("drift.second-sensor", by_second_sensor, gain=1.0),
        (
            OVERFLOW,
            policy("drift.believing", operators.proportional_integral, gain=1.0, reset=1.0),
        ),
        (DRY, policy("tank.left-shut", operators.hold, openings=(0.05,))),
        (
            limits.settled((tanks.LEVEL_ERROR, 0.25)),
            policy("drift.believing", operators.proportional_integral, gain=1.0, reset=1.0),
        ),
    )
