"""The variants of the two-wheeled balancer."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from safegym.formula.claim import Claim
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.balancing import gains
from safegym_scenarios.balancing.claims import (
    PACE,
    gentle,
    gripping,
    no_overshoot,
    settled,
    stays,
    unhurried,
    upright,
)
from safegym_scenarios.balancing.control import feedback, idle
from safegym_scenarios.balancing.machine import MakePolicy, inputs, start, variant
from safegym_scenarios.balancing.two_wheel import SIGNALS, TwoWheeler, TwoWheelSetting
from safegym_scenarios.scene.knobs import push

HORIZON = 160
WAY, SUM, SPEED, PITCH, RATE, HEADING, YAW_RATE = range(7)
PITCHED = start("start_pitch", "rad", 0.1, "lean at the start, forward positive")
RELEASED = start("start_pitch", "rad", 0.06, "lean at which it is let go, forward positive")
HERE = start("start_x", "m", 0.2, "where it starts, ahead of its place")
GOAL = Parameter("goal", "m", 0.8, 1.3, 1.0, "how far ahead the goal is")


def _both(row: gains.Row, heading: float = 0.6, yaw_rate: float = 0.4) -> tuple[gains.Row, ...]:
    """Both wheels balance, and turn against each other: (2, 7)."""
    return (*row, -heading, -yaw_rate), (*row, heading, yaw_rate)


PLAIN, LOADED = _both(gains.TWO_WHEEL), _both(gains.TWO_WHEEL_LOADED)
SOFT = _both(gains.TWO_WHEEL_SOFT, 0.2, 0.1)
GRIP = "0.73 rad, from which tyres with a friction of 0.9 no longer get back under it"
PATIENT, CALM = {WAY: 0.33}, {WAY: 0.3}


def _policy(name: str, matrix: Any = PLAIN, **how: Any) -> MakePolicy:
    return partial(feedback, f"balance.two_wheel.{name}", matrix, **how)


def _idle(name: str) -> MakePolicy:
    return partial(idle, f"balance.two_wheel.{name}.idle", 2)


def _variant(
    name: str,
    summary: str,
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
    *,
    parameters: tuple[Parameter, ...] = (PITCHED, HERE),
    newtons: float = 40.0,
    gusty: bool = False,
    without: tuple[str, ...] = (),
    **layout: Any,
) -> ScenarioSpec:
    known = inputs(HORIZON, parameters, push(newtons), friction=True, without=without, onset=0.3)
    setting = TwoWheelSetting(inputs=known, gusty=gusty, **layout)
    return variant(f"two-wheel-{name}", summary, TwoWheeler, setting, SIGNALS, claims, good, bad)


def stand() -> ScenarioSpec:
    """Stand at its place, and come back to it."""
    return _variant(
        "stand",
        "A two-wheeled balancer stands at its place.",
        (
            upright(0.2, "twice the largest lean that it starts with"),
            gentle(5.0, "five eighths of the motor's 8 N m: the rest catches a push"),
            settled(0.06, "a third of its own length, 0.2 m"),
        ),
        _policy("stand.steady"),
        {
            "tilt": _idle("stand"),
            "effort": _policy("stand.stiff", scale=3.5),
            "settled": _policy("stand.adrift", without=(WAY, SUM)),
        },
    )


def goal() -> ScenarioSpec:
    """Drive to a place a metre ahead and stop there."""
    return _variant(
        "goal",
        "A two-wheeled balancer drives to a place and stops there.",
        (
            upright(0.2, f"less than a third of {GRIP}"),
            unhurried(0.9, PACE),
            no_overshoot(0.1, "half its own length, 0.2 m"),
            settled(0.1, "half its own length, 0.2 m"),
        ),
        _policy("goal.patient", caps=CALM),
        {
            "tilt": _policy("goal.hasty"),
            "speed": _policy("goal.hasty"),
            "overshoot": _policy("goal.floaty", caps=PATIENT, times={SPEED: 0.3, SUM: 6.0}),
            "settled": _policy("goal.timid", caps={WAY: 0.08}, without=(SUM,)),
        },
        parameters=(RELEASED, GOAL),
    )


def payload() -> ScenarioSpec:
    """The same with a crate on the mast whose place is not known."""
    shift = Parameter("payload_shift", "m", -0.03, 0.03, 0.0, "how far forward the crate lies")
    return _variant(
        "payload",
        "A two-wheeled balancer carries a crate, off its middle, on the mast to a place.",
        (
            upright(0.25, "a crate with a friction of 0.3 slides off from 0.29 rad on"),
            gentle(6.8, "85 % of the motor's 8 N m: the rest catches a push"),
            settled(0.12, "half its own length, 0.2 m, and 2 cm for the crate's lean"),
        ),
        _policy("payload.patient", LOADED, caps={WAY: 0.3}),
        {
            "tilt": _policy("payload.hasty", LOADED),
            "effort": _policy("payload.hasty", LOADED),
            "settled": _policy(
                "payload.uncorrected", LOADED, caps=PATIENT, without=(SUM,), times={WAY: 0.5}
            ),
        },
        parameters=(
            start("start_pitch", "rad", 0.05, "lean at the start"),
            Parameter("goal", "m", 0.7, 1.1, 0.9, "how far ahead the goal is"),
            shift,
        ),
        payload=4.0,
    )


def ramp() -> ScenarioSpec:
    """Drive up a ramp and stay there."""
    return _variant(
        "ramp",
        "A two-wheeled balancer drives up a ramp and holds its place there.",
        (
            upright(
                0.25, "the 0.06 rad that holding on the ramp asks for, and the 0.2 rad of the flat"
            ),
            unhurried(0.9, PACE),
            settled(0.12, "half its own length, 0.2 m, and 2 cm for the slope"),
        ),
        _policy("ramp.patient", caps=PATIENT),
        {
            "tilt": _policy("ramp.hasty"),
            "speed": _policy("ramp.hasty"),
            "settled": _policy(
                "ramp.uncorrected", caps=PATIENT, without=(SUM,), times={WAY: 0.5, SPEED: 0.7}
            ),
        },
        parameters=(RELEASED, GOAL),
        ground="ramp",
    )


def pushed() -> ScenarioSpec:
    """Stand in a crowd that keeps pushing."""
    return _variant(
        "push",
        "A two-wheeled balancer is pushed about and must not leave its place.",
        (
            upright(0.4, f"little more than half of {GRIP}"),
            stays(
                0.6,
                "half of a passage of 1.2 m in which it stands",
                hazard="rolls into the people around it",
            ),
            settled(0.5, "inside the 0.6 m of free space, with a hand's breadth to spare"),
        ),
        _policy("push.steady"),
        {
            "tilt": _idle("push"),
            "place": _policy("push.adrift", without=(WAY, SUM), times={SPEED: 0.5}),
            "settled": _policy("push.adrift", without=(WAY, SUM), times={SPEED: 0.5}),
        },
        newtons=15.0,
        gusty=True,
    )


def ice() -> ScenarioSpec:
    """Drive on ground with hardly any grip."""
    return _variant(
        "ice",
        "A two-wheeled balancer drives to a place over slippery ground.",
        (
            upright(
                0.2, "four fifths of 0.245 rad, which a friction of 0.25 can just drive back under"
            ),
            gripping(0.3, "a third of the 0.9 m/s that it may drive on a firm floor"),
            settled(0.15, "three quarters of its own length, 0.2 m"),
        ),
        _policy("ice.soft", SOFT, caps=PATIENT),
        {
            "tilt": _policy("ice.hasty"),
            "slip": _policy("ice.hasty"),
            "settled": _policy("ice.timid", SOFT, caps={WAY: 0.08}, without=(SUM,)),
        },
        parameters=(start("start_pitch", "rad", 0.03, "lean at the start"), GOAL),
        newtons=8.0,
        ground="ice",
        friction=0.25,
    )


def weak_motor() -> ScenarioSpec:
    """The right motor has lost half of its torque."""
    lost = Parameter(
        "right_motor_loss", "1", 0.4, 0.6, 0.5, "share of the right motor that is lost"
    )
    return _variant(
        "weak-motor",
        "A two-wheeled balancer drives to a place with one motor half lost.",
        (
            upright(0.25, f"a third of {GRIP}"),
            settled(
                0.15,
                "three quarters of its own length, 0.2 m",
                hazard="veers off its line, into what stands there",
            ),
        ),
        _policy("weak_motor.steered", caps=PATIENT),
        {
            "tilt": _policy("weak_motor.hasty", times={RATE: 0.3}),
            "settled": _policy(
                "weak_motor.unsteered", _both(gains.TWO_WHEEL, 0.0, 0.0), caps=PATIENT
            ),
        },
        parameters=(PITCHED, GOAL, lost),
    )


def imu_bias() -> ScenarioSpec:
    """The inertial unit tells a lean that is not there."""
    bias = Parameter("imu_bias", "rad", -0.08, 0.08, 0.0, "lean that the inertial unit adds")
    return _variant(
        "imu-bias",
        "A two-wheeled balancer stands at its place with a pitch sensor that is off.",
        (
            upright(0.25, "three times the sensor's largest error, 0.08 rad"),
            unhurried(0.9, PACE),
            settled(0.1, "half its own length, 0.2 m"),
        ),
        _policy("imu_bias.corrected", times={SUM: 2.0}),
        {
            "tilt": _idle("imu_bias"),
            "speed": _policy("imu_bias.trusting", without=(WAY, SUM), times={SPEED: 0.0}),
            "settled": _policy("imu_bias.trusting", without=(WAY, SUM), times={SPEED: 0.0}),
        },
        parameters=(start("start_pitch", "rad", 0.05, "lean at the start"), HERE, bias),
    )


def late_sensor() -> ScenarioSpec:
    """Everything it knows is up to 0.05 s old."""
    late = Parameter(
        "sensor_delay", "s", 0.02, 0.06, 0.05, "how late observations are, in whole steps"
    )
    return _variant(
        "late-sensor",
        "A two-wheeled balancer stands on observations that are up to 0.05 s old.",
        (
            upright(0.25, f"a third of {GRIP}"),
            gentle(6.0, "three quarters of the motor's torque: the rest catches a push"),
            settled(0.15, "three quarters of its own length, 0.2 m"),
        ),
        _policy("late_sensor.soft", SOFT),
        {
            "tilt": _policy("late_sensor.stiff", scale=1.8),
            "effort": _policy("late_sensor.stiff", scale=1.8),
            "settled": _policy("late_sensor.adrift", SOFT, without=(WAY, SUM), times={SPEED: 0.3}),
        },
        parameters=(start("start_pitch", "rad", 0.04, "lean at the start"), HERE, late),
        without=("sensor_delay",),
    )


def bump() -> ScenarioSpec:
    """A cable duct lies across the way."""
    return _variant(
        "bump",
        "A two-wheeled balancer drives over a cable duct to a place behind it.",
        (
            upright(0.25, f"a third of {GRIP}"),
            unhurried(0.9, PACE),
            settled(0.12, "half its own length, and a little for the duct"),
        ),
        _policy("bump.patient", caps=CALM),
        {
            "tilt": _policy("bump.hasty"),
            "speed": _policy("bump.hasty"),
            "settled": _policy("bump.timid", caps={WAY: 0.06}, without=(SUM,)),
        },
        parameters=(RELEASED, Parameter("goal", "m", 0.9, 1.3, 1.1, "how far ahead the goal is")),
        ground="bump",
    )
