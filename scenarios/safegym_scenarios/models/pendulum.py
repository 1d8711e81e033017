"""Gymnasium's pendulum, near upright, with an unknown torque from outside."""

import math

from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import cos, maximum, minimum, quantity, sin
from safegym.formula.terms import Signal
from safegym_scenarios.models.ready import (
    InductiveClaim,
    OneStepClaim,
    ReachClaim,
    ReadyModel,
    network,
)
from safegym_scenarios.models.sets import box, named, polygon

ANGLE = Signal("angle", "rad", scale=1.0)
SPEED = Signal("angular_speed", "rad/s", scale=1.0)
MOTOR = Signal("motor", "N*m", bounds=(-2.0, 2.0))
TORQUE = Signal("torque", "N*m", bounds=(-0.1, 0.1))

_DT = quantity(0.05, "s")
_TURNING = quantity(15.0, "rad/s^2") * sin(ANGLE) + quantity(3.0, "rad/s^2/N/m") * (MOTOR + TORQUE)
_FREE = SPEED + _DT * _TURNING
_CLIP = quantity(8.0, "rad/s")
_NEXT_SPEED = maximum(minimum(_FREE, _CLIP), -_CLIP)

DYNAMICS = Dynamics(
    "pendulum",
    states=(ANGLE, SPEED),
    actions=(MOTOR,),
    disturbances=(TORQUE,),
    next={"angle": ANGLE + _DT * _NEXT_SPEED, "angular_speed": _NEXT_SPEED},
    observation=(cos(ANGLE), sin(ANGLE), SPEED),
    dt="0.05",
)

_ACTION = Signal("action", shape=(1,))
_ROOM = {ANGLE: (-0.25, 0.25), SPEED: (-1.2, 1.2)}
SET = polygon(16, ((11.0, 0.84), (0.0, 1.0)), (ANGLE, SPEED))

MODEL = ReadyModel(
    name="pendulum",
    summary="Hold a pendulum upright with a motor too weak to lift it from far.",
    dynamics=DYNAMICS,
    equations=(
        "angular_speed' = clip(angular_speed + 0.05 (15 sin(angle) + 3 (motor + torque)), -8, 8)",
        "angle' = angle + 0.05 angular_speed'",
        "the policy sees cos(angle), sin(angle), angular_speed",
    ),
    claims=(
        InductiveClaim(
            id="pendulum.held",
            meaning="Started near upright, it stays within 0.25 rad of upright for ever.",
            initial=box({ANGLE: (-0.05, 0.05), SPEED: (-0.2, 0.2)}),
            safe=abs(ANGLE) <= 0.25,
            inductive=SET,
            box=named(_ROOM),
            answer="PROVED",
        ),
        ReachClaim(
            id="pendulum.far",
            meaning="From up to 0.6 rad off, it never falls past 1 rad within 1.5 s.",
            start={"angle": (-0.6, 0.6), "angular_speed": (-0.5, 0.5)},
            safe=abs(ANGLE) <= 1.0,
            steps=30,
            answer="VIOLATED",
        ),
        OneStepClaim(
            id="pendulum.pushes-up",
            meaning="Leaning by 0.1 rad to 0.3 rad and falling, the motor pushes back.",
            formula=_ACTION[0] < -0.5,
            region=(
                (math.cos(0.3), math.cos(0.1)),
                (math.sin(0.1), math.sin(0.3)),
                (0.0, 1.0),
            ),
            answer="PROVED",
        ),
    ),
    trained="imitates a saturated linear-quadratic regulator; 3-16-16-1 Tanh",
    policies={"network": network("pendulum")},
    scenario="classic/pendulum-v0",
    start={"angle": "start_angle", "angular_speed": "start_angular_speed"},
)
