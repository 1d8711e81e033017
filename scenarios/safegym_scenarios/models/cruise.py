"""Adaptive cruise control: keep a time gap to a vehicle ahead whose driver does as they like."""

from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import quantity
from safegym.formula.terms import Signal
from safegym_scenarios.models.ready import (
    InductiveClaim,
    OneStepClaim,
    ReachClaim,
    ReadyModel,
    network,
)
from safegym_scenarios.models.sets import box, named, polygon

ERROR = Signal("gap_error", "m", scale=10.0)
"""Gap less the wanted one."""
RELATIVE = Signal("relative_speed", "m/s", scale=10.0)
"""Speed ahead less the own one; below 0 the gap closes."""
AHEAD = Signal("speed_ahead", "m/s", scale=10.0)
ACCELERATION = Signal("acceleration", "m/s^2", bounds=(-6.0, 3.0))
TARGET = Signal("target_ahead", "m/s", bounds=(16.0, 24.0))
"""What the driver ahead goes for, with a time constant of 8 s."""

SLOWEST, FASTEST = 15.0, 25.0
"""m/s: what the driver ahead may go for."""
STANDSTILL, HEADWAY = 5.0, 1.5
"""Wanted gap: 5 m and 1.5 s of travel."""
SPEED = AHEAD - RELATIVE
GAP = ERROR + quantity(STANDSTILL, "m") + quantity(HEADWAY, "s") * SPEED

_DT = quantity(0.1, "s")
_CHANGE = 0.0125 * (TARGET - AHEAD)

DYNAMICS = Dynamics(
    "cruise",
    states=(ERROR, RELATIVE, AHEAD),
    actions=(ACCELERATION,),
    disturbances=(TARGET,),
    next={
        "gap_error": ERROR + _DT * RELATIVE - quantity(0.1 * HEADWAY, "s^2") * ACCELERATION,
        "relative_speed": RELATIVE + _CHANGE - _DT * ACCELERATION,
        "speed_ahead": AHEAD + _CHANGE,
    },
    observation=(GAP, SPEED, AHEAD),
    dt="0.1",
)

_ACTION = Signal("action", shape=(1,))
_ANY_SPEED = {AHEAD: (SLOWEST, FASTEST)}
_ROOM = {ERROR: (-5.0, 5.0), RELATIVE: (-6.0, 6.0)} | _ANY_SPEED
_START = {ERROR: (-1.0, 1.0), RELATIVE: (-1.0, 1.0)} | _ANY_SPEED
SET = polygon(24, ((0.25, 0.0), (0.0, 0.2)), (ERROR, RELATIVE)) & box(_ANY_SPEED)

MODEL = ReadyModel(
    name="cruise",
    summary="Follow a vehicle at a time gap, whatever speed its driver goes for.",
    dynamics=DYNAMICS,
    equations=(
        "gap_error' = gap_error + 0.1 relative_speed - 0.15 acceleration",
        "relative_speed' = relative_speed + 0.0125 (target_ahead - speed_ahead) - 0.1 acceleration",
        "speed_ahead' = speed_ahead + 0.0125 (target_ahead - speed_ahead)",
        "the policy sees gap = gap_error + 5 + 1.5 speed, speed = speed_ahead - relative_speed, "
        "speed_ahead",
    ),
    claims=(
        InductiveClaim(
            id="cruise.keeps-its-distance",
            meaning="Started close to the wanted gap, it never comes closer than 12 m.",
            initial=box(_START),
            safe=GAP >= 12.0,
            inductive=SET,
            box=named(_ROOM),
            answer="PROVED",
        ),
        ReachClaim(
            id="cruise.closing-in",
            meaning="From over 20 m too close and 9 m/s too fast, it never comes closer than 12 m "
            "in 3 s.",
            start={
                "gap_error": (-25.0, -20.0),
                "relative_speed": (-10.0, -9.0),
                "speed_ahead": (15.0, 16.0),
            },
            safe=GAP >= 12.0,
            steps=30,
            answer="VIOLATED",
        ),
        OneStepClaim(
            id="cruise.never-brakes-late",
            meaning="Close behind and much faster, it brakes with at least 4 m/s2.",
            formula=_ACTION[0] <= -4.0,
            region=((5.0, 15.0), (22.0, 28.0), (15.0, 18.0)),
            answer="PROVED",
        ),
    ),
    trained="imitates a saturated linear-quadratic regulator; 3-16-16-1 ReLU",
    policies={"network": network("cruise")},
)
