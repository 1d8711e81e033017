"""A vehicle that keeps its lane at a constant speed by turning, on a road that pushes it aside."""

from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import quantity, sin
from safegym.formula.terms import Signal
from safegym_scenarios.models.ready import (
    InductiveClaim,
    OneStepClaim,
    ReachClaim,
    ReadyModel,
    network,
)
from safegym_scenarios.models.sets import box, named, polygon

OFFSET = Signal("lane_offset", "m", scale=1.0)
HEADING = Signal("heading", "rad", scale=0.2)
TURN = Signal("turn_rate", "rad/s", bounds=(-0.6, 0.6))
SLIDE = Signal("slide", "m/s", bounds=(-0.1, 0.1))
SWAY = Signal("sway", "rad/s", bounds=(-0.02, 0.02))

SPEED = 10.0
"""m/s, constant."""
_DT = quantity(0.05, "s")

DYNAMICS = Dynamics(
    "unicycle",
    states=(OFFSET, HEADING),
    actions=(TURN,),
    disturbances=(SLIDE, SWAY),
    next={
        "lane_offset": OFFSET + _DT * (quantity(SPEED, "m/s") * sin(HEADING) + SLIDE),
        "heading": HEADING + _DT * (TURN + SWAY),
    },
    dt="0.05",
)

_ACTION = Signal("action", shape=(1,))
_ROOM = {OFFSET: (-1.3, 1.3), HEADING: (-0.35, 0.35)}
SET = polygon(16, ((1.31, 3.67), (0.0, 3.34)), (OFFSET, HEADING))

MODEL = ReadyModel(
    name="unicycle",
    summary="Keep the lane at 10 m/s by turning, on a road that pushes aside.",
    dynamics=DYNAMICS,
    equations=(
        "lane_offset' = lane_offset + 0.05 (10 sin(heading) + slide)",
        "heading' = heading + 0.05 (turn_rate + sway)",
    ),
    claims=(
        InductiveClaim(
            id="unicycle.keeps-lane",
            meaning="Started near the lane's middle, it stays within 1.25 m of it for ever.",
            initial=box({OFFSET: (-0.3, 0.3), HEADING: (-0.05, 0.05)}),
            safe=abs(OFFSET) <= 1.25,
            inductive=SET,
            box=named(_ROOM),
            answer="PROVED",
        ),
        ReachClaim(
            id="unicycle.steep",
            meaning="From 1 m off and 0.3 rad askew, it stays within 1.25 m of the middle for 1 s.",
            start={"lane_offset": (-1.0, 1.0), "heading": (-0.3, 0.3)},
            safe=abs(OFFSET) <= 1.25,
            steps=20,
            answer="VIOLATED",
        ),
        OneStepClaim(
            id="unicycle.turns-back",
            meaning="Off to the left and heading further left, it turns right.",
            formula=_ACTION[0] < 0.0,
            region=((0.5, 1.25), (0.05, 0.3)),
            answer="PROVED",
        ),
    ),
    trained="imitates a saturated linear-quadratic regulator; 2-16-16-1 ReLU",
    policies={"network": network("unicycle")},
)
