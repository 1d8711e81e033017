"""A quadrotor in a vertical plane: two rotors, gravity, and gusts; a step of 0.02 s."""

from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import cos, quantity, sin
from safegym.formula.terms import Signal
from safegym_scenarios.models.ready import OneStepClaim, ReachClaim, ReadyModel, network

SIDE = Signal("side", "m", scale=1.0)
HEIGHT = Signal("height", "m", scale=1.0)
TILT = Signal("tilt", "rad", scale=0.2)
SIDE_SPEED = Signal("side_speed", "m/s", scale=1.0)
CLIMB = Signal("climb", "m/s", scale=1.0)
TILT_SPEED = Signal("tilt_speed", "rad/s", scale=1.0)
LEFT = Signal("left_thrust", "N", bounds=(0.0, 10.0))
RIGHT = Signal("right_thrust", "N", bounds=(0.0, 10.0))
GUST_SIDE = Signal("gust_side", "m/s^2", bounds=(-0.1, 0.1))
GUST_UP = Signal("gust_up", "m/s^2", bounds=(-0.1, 0.1))

MASS, ARM, INERTIA, GRAVITY = 1.0, 0.2, 0.02, 9.81
"""kg; m from the middle to a rotor; kg m^2; m/s^2."""
_DT = quantity(0.02, "s")
_LIFT = (LEFT + RIGHT) / quantity(MASS, "kg")
_TORQUE = quantity(ARM / INERTIA, "rad/kg/m") * (RIGHT - LEFT)

DYNAMICS = Dynamics(
    "quadrotor",
    states=(SIDE, HEIGHT, TILT, SIDE_SPEED, CLIMB, TILT_SPEED),
    actions=(LEFT, RIGHT),
    disturbances=(GUST_SIDE, GUST_UP),
    next={
        "side": SIDE + _DT * SIDE_SPEED,
        "height": HEIGHT + _DT * CLIMB,
        "tilt": TILT + _DT * TILT_SPEED,
        "side_speed": SIDE_SPEED + _DT * (GUST_SIDE - _LIFT * sin(TILT)),
        "climb": CLIMB + _DT * (_LIFT * cos(TILT) - quantity(GRAVITY, "m/s^2") + GUST_UP),
        "tilt_speed": TILT_SPEED + _DT * _TORQUE,
    },
    dt="0.02",
)

_ACTION = Signal("action", shape=(2,))


def _around(size: float, speed: float) -> dict[str, tuple[float, float]]:
    slow = {SIDE: size, HEIGHT: size, TILT: size}
    fast = {SIDE_SPEED: speed, CLIMB: speed, TILT_SPEED: speed}
    return {signal.name: (-limit, limit) for signal, limit in (slow | fast).items()}


MODEL = ReadyModel(
    name="quadrotor",
    summary="Hover a planar quadrotor in gusts with two rotors.",
    dynamics=DYNAMICS,
    equations=(
        "lift = left_thrust + right_thrust (mass 1 kg)",
        "side' = side + 0.02 side_speed; height' = height + 0.02 climb",
        "tilt' = tilt + 0.02 tilt_speed",
        "side_speed' = side_speed + 0.02 (gust_side - lift sin(tilt))",
        "climb' = climb + 0.02 (lift cos(tilt) - 9.81 + gust_up)",
        "tilt_speed' = tilt_speed + 0.2 (right_thrust - left_thrust)",
    ),
    claims=(
        ReachClaim(
            id="quadrotor.hovers",
            meaning="From within 0.03 of rest in every state, it stays within 0.1 m of its height "
            "and 0.1 rad of level for 0.5 s.",
            start=_around(0.03, 0.03),
            safe=(abs(HEIGHT) <= 0.1) & (abs(TILT) <= 0.1),
            steps=25,
            answer="PROVED",
        ),
        ReachClaim(
            id="quadrotor.keeps-its-place",
            meaning="From within 0.03 of rest in every state, it stays within 0.05 m of its place "
            "sideways for 0.5 s.",
            start=_around(0.03, 0.03),
            safe=abs(SIDE) <= 0.05,
            steps=25,
            answer="VIOLATED",
        ),
        OneStepClaim(
            id="quadrotor.catches",
            meaning="Level and falling, it lifts more than its weight.",
            formula=_ACTION[0] + _ACTION[1] > 9.81,
            region=(
                (-0.1, 0.1),
                (-0.1, 0.0),
                (-0.05, 0.05),
                (-0.1, 0.1),
                (-0.8, -0.4),
                (-0.1, 0.1),
            ),
            answer="PROVED",
        ),
    ),
    trained="imitates a saturated linear-quadratic regulator; 6-32-32-2 ReLU",
    policies={"network": network("quadrotor")},
)
