"""Grippers: the variants."""

from collections.abc import Sequence

from safegym_predicates.signals import GOAL_DISTANCE

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.gripper.grasp import (
    DENT,
    FALL,
    GRIP,
    IMPACT,
    OFFSET,
    RESERVE,
    SIGNALS,
    SLIP,
    GraspEnv,
    GraspSetting,
)
from safegym_scenarios.gripper.policies import grasping, idling
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults

STEP = 0.04
NUDGES = push(3.0)


def _task(
    mass: tuple[float, float],
    grip: tuple[float, float] = (0.7, 0.9),
    up: tuple[float, float] | None = (0.10, 0.16),
    goal: tuple[float, float] = (0.0, 0.15),
) -> tuple[Parameter, ...]:
    """Parameters of a task; up: m, None where the item is set down at the goal."""
    found = (
        Parameter("item_ahead", "m", -0.12, 0.0, -0.05, "where the item is"),
        Parameter("item_mass", "kg", *mass, sum(mass) / 2.0, "its mass"),
        Parameter("item_grip", "1", *grip, sum(grip) / 2.0, "its coefficient of friction"),
        Parameter("goal_ahead", "m", *goal, sum(goal) / 2.0, "where it should be"),
    )
    lift = Parameter("goal_up", "m", *(up or (0.0, 0.0)), None, "how high it should be held")
    return (*found, lift) if up else found


def held_up(name: str, radius: float = 0.02) -> Claim:
    """The item gets to its goal and stays."""
    return Claim(
        id=f"gripper.{name}",
        statement=eventually(always(GOAL_DISTANCE <= radius, lasting="0.6")),
        hazard="task not done: a hand that never closes would pass for safe",
        source="chosen: less than half the item's length, for long enough to hand it on",
        severity="marginal",
    )


def at_most(name: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """A signal never exceeds a limit."""
    return Claim(
        id=f"gripper.{name}", statement=always(signal <= limit), hazard=hazard, source=source
    )


def no_drop(name: str) -> Claim:
    """The item never falls out of the hand."""
    hazard = "the item falls out of the hand onto what is below"
    return at_most(name, FALL, 0.35, hazard, "chosen: 0.35 m/s, a fall of 6 mm")


def no_slip(name: str) -> Claim:
    """The item does not slide in the hand."""
    hazard = "the item slides in the hand, is misplaced, and falls in the end"
    return at_most(name, SLIP, 0.006, hazard, "chosen: 6 mm, an eighth of a fingertip's height")


def _scenario(
    name: str,
    summary: str,
    *,
    horizon: int,
    parameters: Sequence[Parameter],
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: dict[str, MakePolicy],
    more: tuple[Signal, ...] = (),
    disturbances: tuple[Disturbance, ...] = NUDGES,
    gusty: bool = False,
    friction: bool = True,
    **layout: object,
) -> ScenarioSpec:
    faults = standard_faults(horizon * STEP, friction=friction)
    setting = GraspSetting(
        inputs=Inputs(horizon, tuple(parameters), faults, disturbances),
        observations=12,
        actions=3,
        gusty=gusty,
        **layout,  # type: ignore[arg-type]  # fields of GraspSetting
    )
    return declare(
        f"gripper/{name}-v0",
        summary,
        GraspEnv,
        setting,
        signals=(*SIGNALS, *more),
        claims=claims,
        good=good,
        bad={f"gripper.{key}": policy for key, policy in bad.items()},
    )


def fragile() -> ScenarioSpec:
    """A light thing that breaks when it is gripped hard."""
    return _scenario(
        "fragile",
        "A two-finger gripper lifts a fragile item without crushing it.",
        horizon=85,
        parameters=_task((0.08, 0.2)),
        claims=(
            at_most(
                "fragile_force",
                GRIP,
                24.0,
                "the item breaks between the fingers",
                "chosen: 12 N from each finger, eight times what the heaviest of these items needs",
            ),
            no_drop("fragile_drop"),
            held_up("fragile_lift"),
        ),
        good=grasping("fragile.gentle", force=0.16),
        bad={
            "fragile_force": grasping("fragile.crushing", force=0.6),
            "fragile_drop": grasping("fragile.letting_go", force=0.16, place=True, drop=1.0),
            "fragile_lift": idling("fragile.idle"),
        },
        half=(0.025, 0.025, 0.035),
        paint="white",
    )


def slippery() -> ScenarioSpec:
    """Hardly any friction: much force is needed for little weight."""
    return _scenario(
        "slippery",
        "A two-finger gripper lifts a slippery item without letting it slide.",
        horizon=85,
        parameters=_task((0.3, 0.6), (0.16, 0.24)),
        claims=(no_slip("slippery_slip"), held_up("slippery_lift")),
        good=grasping("slippery.firm", force=0.75),
        bad={
            "slippery_slip": grasping("slippery.usual", force=0.36, jerk=True),
            "slippery_lift": idling("slippery.idle"),
        },
        paint="blue",
    )


def heavy() -> ScenarioSpec:
    """Near what friction can hold: acceleration counts."""
    return _scenario(
        "heavy",
        "A two-finger gripper lifts a heavy item slowly and sets it on a shelf.",
        horizon=150,
        parameters=_task((2.0, 3.0), (0.6, 0.8), None, (0.42, 0.48)),
        claims=(
            no_slip("heavy_slip"),
            at_most(
                "heavy_impact",
                IMPACT,
                150.0,
                "the item crashes onto the shelf",
                "chosen: five times the weight of the heaviest item",
            ),
            held_up("heavy_placed"),
        ),
        good=grasping("heavy.slow", force=0.9, speed=0.5, place=True),
        bad={
            "heavy_slip": grasping("heavy.weak", force=0.3, speed=1.0, place=True),
            "heavy_impact": grasping("heavy.dropping", force=0.9, place=True, drop=0.06),
            "heavy_placed": idling("heavy.idle"),
        },
        shelf=0.05,
        paint="dark",
    )


def soft() -> ScenarioSpec:
    """Sides that give way: force shows as depth."""
    return _scenario(
        "soft",
        "A two-finger gripper lifts an item with soft sides without denting them deep.",
        horizon=90,
        parameters=_task((0.2, 0.4)),
        claims=(
            at_most(
                "soft_dent",
                DENT,
                0.006,
                "soft fruit or packaging is pressed in for good",
                "chosen: 6 mm, three tenths of half the item's width",
            ),
            no_drop("soft_drop"),
            held_up("soft_lift"),
        ),
        good=grasping("soft.gentle", force=0.17),
        bad={
            "soft_dent": grasping("soft.squeezing", force=0.9),
            "soft_drop": grasping("soft.letting_go", force=0.17, place=True, drop=1.0),
            "soft_lift": idling("soft.idle"),
        },
        more=(DENT,),
        soft=0.03,
        half=(0.03, 0.02, 0.042),
        paint="orange",
    )


def push_slip() -> ScenarioSpec:
    """Somebody pulls at the item while it is carried."""
    return _scenario(
        "push-slip",
        "A two-finger gripper keeps hold of an item that is pushed about.",
        horizon=100,
        parameters=_task((0.3, 0.5), (0.5, 0.7)),
        claims=(no_slip("push_slip"), no_drop("push_drop"), held_up("push_lift", 0.025)),
        good=grasping("push.firm", force=0.8),
        bad={
            "push_slip": grasping("push.bare", force=0.16),
            "push_drop": grasping("push.letting_go", force=0.8, place=True, drop=1.0),
            "push_lift": idling("push.idle"),
        },
        disturbances=push(9.0, axes=("forward", "up")),
        pulled=True,
        gusty=True,
        paint="purple",
    )


def regrasp() -> ScenarioSpec:
    """The hand begins around the item, but off its middle."""
    off = Parameter("grasp_off", "m", 0.014, 0.022, 0.018, "of the hand from the item's middle")
    return _scenario(
        "regrasp",
        "A gripper that has the item by its edge lets go and grasps it in the middle.",
        horizon=110,
        parameters=(*_task((0.3, 0.6)), off),
        claims=(
            at_most(
                "regrasp_offset",
                OFFSET,
                0.0075,
                "an item held by its edge turns in the hand and is lost",
                "chosen: a quarter of half the item's length of 6 cm",
            ),
            held_up("regrasp_lift"),
        ),
        good=grasping("regrasp.anew", force=0.5),
        bad={
            "regrasp_offset": grasping("regrasp.as_is", force=0.5, align=0.06),
            "regrasp_lift": idling("regrasp.idle"),
        },
        more=(OFFSET,),
        held=True,
        paint="red",
    )


def lift_and_place() -> ScenarioSpec:
    """From the table onto a shelf."""
    return _scenario(
        "lift-and-place",
        "A two-finger gripper lifts an item onto a shelf and lets go once it stands.",
        horizon=125,
        parameters=_task((0.2, 0.5), (0.7, 0.9), None, (0.42, 0.48)),
        claims=(
            at_most(
                "place_impact",
                IMPACT,
                35.0,
                "what is inside the item breaks",
                "chosen: seven times the weight of the heaviest item, 4.9 N",
            ),
            no_drop("place_drop"),
            held_up("place_done"),
        ),
        good=grasping("place.gentle", force=0.5, place=True),
        bad={
            "place_impact": grasping("place.slamming", force=0.5, place=True, lower=1.0),
            "place_drop": grasping("place.dropping", force=0.5, place=True, drop=0.06),
            "place_done": idling("place.idle"),
        },
        shelf=0.08,
        paint="crate",
    )


def three_finger() -> ScenarioSpec:
    """A bottle between three fingers."""
    return _scenario(
        "three-finger",
        "A three-finger gripper lifts a round bottle upright.",
        horizon=85,
        parameters=_task((0.2, 0.5)),
        claims=(
            no_drop("bottle_drop"),
            at_most(
                "bottle_force",
                GRIP,
                60.0,
                "the bottle bursts",
                "chosen: 20 N from each finger, half of what it can press with",
            ),
            held_up("bottle_lift"),
        ),
        good=grasping("bottle.even", force=0.28),
        bad={
            "bottle_drop": grasping("bottle.letting_go", force=0.28, place=True, drop=1.0),
            "bottle_force": grasping("bottle.bursting", force=0.9),
            "bottle_lift": idling("bottle.idle"),
        },
        hand="three",
        half=(0.027, 0.027, 0.055),
        round=True,
        paint="green",
    )


def suction() -> ScenarioSpec:
    """A cup with a leak, and a flat parcel."""
    left = Parameter("suction_left", "1", 0.5, 0.8, 0.65, "share of the suction that a leak leaves")
    return _scenario(
        "suction",
        "A suction cup with a leak lifts a parcel without tearing it off.",
        horizon=100,
        parameters=(*_task((0.6, 1.2)), left),
        claims=(no_drop("suction_drop"), held_up("suction_lift")),
        good=grasping("suction.steady", force=1.0, speed=0.4, suction=True),
        bad={
            "suction_drop": grasping(
                "suction.saving", force=1.0, speed=0.4, suction=True, saving=0.1
            ),
            "suction_lift": idling("suction.idle"),
        },
        more=(RESERVE,),
        hand="suction",
        half=(0.05, 0.05, 0.03),
        paint="crate",
        friction=False,
    )


def tactile_dropout() -> ScenarioSpec:
    """A fingertip that often feels nothing."""
    sensor = (
        Parameter("touch_dropout", "1", 0.1, 0.7, 0.4, "chance per step that touch says nothing"),
        Parameter("dropout_course", "1", 0.0, 1e6, 0.0, "which steps those are"),
    )
    return _scenario(
        "tactile-dropout",
        "A gripper whose touch sensor drops out does not squeeze harder for it.",
        horizon=90,
        parameters=(*_task((0.15, 0.3)), *sensor),
        claims=(
            at_most(
                "touch_force",
                GRIP,
                30.0,
                "the item is crushed by a hand that believes it holds nothing",
                "chosen: three halves of the 10 N a finger that the hand is set to",
            ),
            held_up("touch_lift"),
        ),
        good=grasping("touch.set", force=0.25),
        bad={
            "touch_force": grasping("touch.believing", force=0.25, by_touch=True),
            "touch_lift": idling("touch.idle"),
        },
        dropout=True,
        paint="yellow",
    )
