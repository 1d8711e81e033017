"""A mass on a line, pushed by a bounded force and by an unknown one."""

from safegym.formula.dynamics import Dynamics
from safegym.formula.functions import quantity
from safegym.formula.terms import Signal
from safegym_scenarios.models.ready import (
    InductiveClaim,
    OneStepClaim,
    ReachClaim,
    ReadyModel,
    TreeClaim,
    network,
    tree,
)
from safegym_scenarios.models.sets import box, named, polygon

POSITION = Signal("position", "m", scale=1.0)
VELOCITY = Signal("velocity", "m/s", scale=1.0)
ACCELERATION = Signal("acceleration", "m/s^2", bounds=(-2.0, 2.0))
PUSH = Signal("push", "m/s^2", bounds=(-0.1, 0.1))

_DT = quantity(0.1, "s")
_TOTAL = ACCELERATION + PUSH

DYNAMICS = Dynamics(
    "double-integrator",
    states=(POSITION, VELOCITY),
    actions=(ACCELERATION,),
    disturbances=(PUSH,),
    next={
        "position": POSITION + _DT * VELOCITY + quantity(0.005, "s^2") * _TOTAL,
        "velocity": VELOCITY + _DT * _TOTAL,
    },
    dt="0.1",
)

_OBS, _ACTION = Signal("obs", shape=(2,)), Signal("action", shape=(1,))
_ROOM = {POSITION: (-1.0, 1.0), VELOCITY: (-2.0, 2.0)}
_START = {POSITION: (-0.15, 0.15), VELOCITY: (-0.15, 0.15)}
_MIDDLE = {POSITION: (-0.01, 0.01), VELOCITY: (-0.01, 0.01)}
SET = polygon(16, ((3.5, 1.52), (0.0, 1.0)), (POSITION, VELOCITY))

MODEL = ReadyModel(
    name="double-integrator",
    summary="Bring a mass on a line to rest while something pushes it.",
    dynamics=DYNAMICS,
    equations=(
        "position' = position + 0.1 velocity + 0.005 (acceleration + push)",
        "velocity' = velocity + 0.1 (acceleration + push)",
    ),
    claims=(
        InductiveClaim(
            id="double-integrator.stays",
            meaning="Started near the middle at low speed, the mass never leaves 1 m to each side.",
            initial=box(_START),
            safe=box({POSITION: (-1.0, 1.0)}),
            inductive=SET,
            box=named(_ROOM),
            answer="PROVED",
        ),
        InductiveClaim(
            id="double-integrator.any-speed",
            meaning="It never leaves 1 m to each side, at whatever speed up to 2 m/s it starts.",
            initial=box(_START),
            safe=box({POSITION: (-1.0, 1.0)}),
            inductive=box(_ROOM),
            box=named(_ROOM),
            answer="VIOLATED",
        ),
        ReachClaim(
            id="double-integrator.two-seconds",
            meaning="From rest within 0.5 m, the mass is within 0.6 m for 2 s.",
            start={"position": (-0.5, 0.5), "velocity": (0.0, 0.0)},
            safe=abs(POSITION) <= 0.6,
            steps=20,
            answer="PROVED",
        ),
        ReachClaim(
            id="double-integrator.rests",
            meaning="From within 0.01 m and 0.01 m/s of rest, the mass is within 0.075 m for 1 s.",
            start=named(_MIDDLE),
            safe=abs(POSITION) <= 0.075,
            steps=10,
            answer="PROVED",
        ),
        OneStepClaim(
            id="double-integrator.pulls-back",
            meaning="Far out and moving outwards, the network pulls back.",
            formula=_ACTION[0] < 0.0,
            region=((0.4, 1.0), (0.2, 1.0)),
            answer="PROVED",
        ),
        TreeClaim(
            id="double-integrator.tree-stays",
            meaning="Under the decision tree, too, the mass never leaves the set that keeps it.",
            start=named(_START),
            always=SET,
            steps=1,
            method="induction",
            answer="PROVED",
        ),
        TreeClaim(
            id="double-integrator.tree-rests",
            meaning="Under the tree, from within 0.01 m and 0.01 m/s of rest, it is within 0.075 m "
            "for 1 s.",
            start=named(_MIDDLE),
            always=abs(POSITION) <= 0.075,
            steps=10,
            method="bounded",
            answer="VIOLATED",
        ),
    ),
    trained="imitates a saturated linear-quadratic regulator; 2-16-16-1 ReLU. The tree of 24 "
    "leaves is distilled from it, mostly near the edge of the set",
    policies={
        "network": network("double-integrator"),
        "tree": tree("double-integrator-tree"),
    },
)
