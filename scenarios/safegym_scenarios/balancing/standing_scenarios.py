"""Machines that stand on one spot: rotary pendulum, flywheels, a ship's deck, a balance board."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.balancing import gains
from safegym_scenarios.balancing.board import SIGNALS as BOARD_SIGNALS
from safegym_scenarios.balancing.board import Board, BoardSetting
from safegym_scenarios.balancing.claims import (
    ends,
    gentle,
    keeps,
    on_track,
    settled,
    settled_upright,
    upright,
    within_spin,
)
from safegym_scenarios.balancing.control import feedback, idle
from safegym_scenarios.balancing.deck import SIGNALS as DECK_SIGNALS
from safegym_scenarios.balancing.deck import STOP_MARGIN as FOOT_MARGIN
from safegym_scenarios.balancing.deck import Deck, DeckSetting
from safegym_scenarios.balancing.furuta import (
    ARM_RATE,
    GOAL_ANGLE,
    STOP_MARGIN,
    Furuta,
    FurutaSetting,
)
from safegym_scenarios.balancing.furuta import SIGNALS as FURUTA_SIGNALS
from safegym_scenarios.balancing.machine import MakePolicy, inputs, start, variant
from safegym_scenarios.balancing.measures import FORCE
from safegym_scenarios.balancing.reaction import SIGNALS as REACTION_SIGNALS
from safegym_scenarios.balancing.reaction import ReactionSetting, ReactionWheels
from safegym_scenarios.scene.knobs import push

HORIZON = 140
FORWARD = ("forward",)


def _policy(name: str, matrix: Sequence[gains.Row], **how: Any) -> MakePolicy:
    return partial(feedback, f"balance.{name}", matrix, **how)


def _idle(name: str, actions: int = 1) -> MakePolicy:
    return partial(idle, f"balance.{name}.idle", actions)


def furuta_stand() -> ScenarioSpec:
    """Keep the pole up, and the arm where it is."""
    row = (gains.FURUTA,)
    known = inputs(
        HORIZON,
        (
            start("start_angle", "rad", 0.1, "lean of the pole"),
            start("start_arm", "rad", 0.4, "angle of the arm"),
        ),
        push(0.3),
        onset=0.3,
    )
    return variant(
        "furuta-stand",
        "A rotary pendulum keeps its pole up and its arm at its place.",
        Furuta,
        FurutaSetting(inputs=known),
        FURUTA_SIGNALS,
        (
            upright(
                0.2,
                "twice the largest lean that it starts with",
                hazard="the pole falls and whips round",
            ),
            keeps(
                "arm",
                ARM_RATE <= 6.0,
                "the arm strikes a hand",
                "1.3 m/s at the tip of the 0.22 m arm, a walking person's pace",
            ),
            ends(
                GOAL_ANGLE <= 0.15,
                "task not done: the arm never comes to rest",
                "a third of where it starts",
            ),
        ),
        _policy("furuta.stand.steady", row),
        {
            "tilt": _idle("furuta.stand"),
            "arm": _policy("furuta.stand.stiff", row, scale=3.0),
            "settled": _policy("furuta.stand.adrift", row, without=(0, 1)),
        },
    )


def furuta_turn() -> ScenarioSpec:
    """Carry a loaded pole round to another angle, short of where the cable ends."""
    row = (gains.FURUTA_LOADED,)
    known = inputs(
        HORIZON,
        (
            start("start_angle", "rad", 0.05, "lean of the pole"),
            Parameter("goal", "rad", 0.9, 1.6, 1.2, "angle that the arm has to take"),
        ),
        push(0.3),
        onset=0.3,
    )
    return variant(
        "furuta-turn",
        "A rotary pendulum turns its arm, with a loaded pole up, close to the end of its cable.",
        Furuta,
        FurutaSetting(inputs=known, top=0.15),
        FURUTA_SIGNALS,
        (
            upright(
                0.3,
                "little less than half of the 0.7 rad at which the pole is lost",
                hazard="the loaded pole falls and whips round",
            ),
            keeps(
                "stop",
                STOP_MARGIN >= 0.1,
                "the arm tears its cable",
                "the cable's slack, 6 degrees",
            ),
            gentle(1.2, "four fifths of the motor's 1.5 N m"),
            ends(GOAL_ANGLE <= 0.15, "task not done: the arm never arrives", "a tenth of the way"),
        ),
        _policy("furuta.turn.patient", row, caps={0: 0.6}),
        {
            "tilt": _policy("furuta.turn.hasty", row, times={0: 2.0}, scale=1.3),
            "stop": _policy("furuta.turn.floaty", row, times={2: 0.6, 1: 8.0}),
            "effort": _policy("furuta.turn.hasty", row, times={0: 2.0}, scale=1.3),
            "settled": _policy("furuta.turn.timid", row, caps={0: 0.1}, without=(1,)),
        },
    )


def _reaction(
    name: str,
    summary: str,
    form: str,
    torque: float,
    spin: float,
    matrix: Sequence[gains.Row],
    leaning: float,
    newtons: float,
    *,
    weaker: str,
    share: str,
    weight: float = 0.0,
    rates: tuple[int, ...] = (1,),
    spins: tuple[int, ...] = (2,),
) -> ScenarioSpec:
    corner, actions = form == "corner", len(matrix)
    parameters = [
        start("start_lean", "rad", leaning, "lean at the start"),
        start("start_rate", "rad/s", 0.2, "rate at the start"),
    ]
    if corner:
        parameters.append(start("start_side", "rad", leaning, "lean to the side at the start"))
    if weight:
        parameters.append(
            Parameter("weight_place", "m", -0.02, 0.02, 0.0, "where the weight is stuck on")
        )
    known = inputs(
        HORIZON, parameters, push(newtons, axes=("forward", "left") if corner else FORWARD)
    )
    key = name.replace("-", "_")
    return variant(
        name,
        summary,
        ReactionWheels,
        ReactionSetting(
            inputs=known, observations=8 if corner else 3, actions=actions, form=form, weight=weight
        ),
        REACTION_SIGNALS,
        (
            upright(
                0.25,
                weaker,
                hazard="falls onto its flywheels",
            ),
            gentle(torque, "four fifths of the motor's own limit: the rest catches a push"),
            within_spin(spin, f"{share} rad/s that a flywheel is built for"),
            settled_upright(0.04, "a sixth of the 0.25 rad that it may lean on the way"),
        ),
        _policy(f"{key}.steady", matrix),
        {
            "tilt": _idle(key, actions),
            "effort": _policy(f"{key}.stiff", matrix, scale=5.0),
            "spin": _policy(f"{key}.winding_up", matrix, times=dict.fromkeys(spins, -1.0)),
            "settled": _policy(f"{key}.undamped", matrix, without=rates),
        },
    )


def flywheel_pole() -> ScenarioSpec:
    """A pole that its flywheel keeps up."""
    return _reaction(
        "flywheel-pole", "A pole on a hinge keeps itself up by a flywheel.", "pole", 0.8, 40.0,
        (gains.WHEEL_POLE,), 0.06, 1.0, share="a third of the 120",
        weaker="half of 0.5 rad, where 1 N m no longer holds the weight's 2.06 N m",
    )  # fmt: skip


def cube_edge() -> ScenarioSpec:
    """A cube that stands on an edge, with a weight stuck on somewhere."""
    return _reaction(
        "cube-edge", "A cube with a flywheel stands on its edge, a weight stuck to one side.",
        "edge", 0.48, 100.0, (gains.WHEEL_EDGE,), 0.06, 0.6, weight=0.15,
        share="half of the 200",
        weaker="three fifths of 0.4 rad, where 0.6 N m no longer hold the weight's 1.55 N m",
    )  # fmt: skip


def cube_corner() -> ScenarioSpec:
    """A cube that stands on a corner by three flywheels."""
    return _reaction(
        "cube-corner", "A cube stands on its corner by three flywheels.", "corner", 0.4, 100.0,
        gains.WHEEL_CORNER, 0.05, 0.5, rates=(2, 3, 4), spins=(5, 6, 7),
        share="half of the 200",
        weaker="nine tenths of 0.29 rad, where 0.71 N m no longer hold the weight's 2.49 N m",
    )  # fmt: skip


def deck() -> ScenarioSpec:
    """A pole on a ship's deck in a swell."""
    row = (gains.DECK[0], gains.DECK[1], 0.0, 0.0, 0.0, gains.DECK[2])
    known = inputs(
        HORIZON,
        (
            start("start_lean", "rad", 0.06, "lean at the start"),
            Parameter(
                "sea_angle", "rad", 0.08, 0.16, 0.12, "how far the ship rolls to either side"
            ),
            Parameter("sea_period", "s", 2.0, 3.5, 2.5, "period of the swell"),
            Parameter("sea_phase", "rad", 0.0, 6.28, 0.0, "where in the swell it starts"),
        ),
        push(15.0, axes=FORWARD),
    )
    return variant(
        "deck-pole",
        "A loaded pole stands on the deck of a rolling ship.",
        Deck,
        DeckSetting(inputs=known),
        DECK_SIGNALS,
        (
            upright(
                0.2,
                "two fifths of the 0.5 rad at which the pole is lost",
                hazard="falls on the deck's crew",
            ),
            gentle(45.0, "three quarters of the motor's 60 N m"),
            keeps(
                "stop",
                FOOT_MARGIN >= 0.25,
                "the foot's joint breaks at its stop",
                "two fifths of its range",
            ),
            settled_upright(0.06, "half of the 0.12 rad that the ship itself usually rolls"),
        ),
        _policy("deck.level", (row,)),
        {
            "tilt": _idle("deck"),
            "effort": _policy("deck.stiff", (row,), scale=6.0),
            "stop": _idle("deck"),
            "settled": _policy("deck.riding", ((0.3, 0.35, 0.0, 0.0, 1.2, 0.0),)),
        },
    )


def board() -> ScenarioSpec:
    """A plank on a loose roller, balanced by a weight that slides along it."""
    row = (gains.BOARD,)
    known = inputs(
        HORIZON,
        (
            start("start_angle", "rad", 0.03, "angle of the plank"),
            start("start_weight", "m", 0.02, "place of the weight on the plank"),
        ),
        push(3.0, axes=FORWARD),
        friction=True,
    )
    return variant(
        "board",
        "A weight slides along a plank to keep it level on a loose roller.",
        Board,
        BoardSetting(inputs=known),
        BOARD_SIGNALS,
        (
            upright(
                0.2,
                "half of the 0.38 rad at which the plank's end strikes the floor",
                hazard="the plank's end strikes a foot",
            ),
            on_track(
                0.1, "a quarter of the rail's half, 0.38 m", hazard="the weight flies off the rail"
            ),
            gentle(45.0, "three quarters of the drive's 60 N", FORCE),
            settled(0.1, "the roller's radius, 0.09 m", hazard="task not done: rolls away"),
        ),
        _policy("board.steady", row),
        {
            "tilt": _idle("board"),
            "track": _policy("board.late", row, times={2: 0.3, 3: 0.3}),
            "effort": _policy("board.stiff", row, scale=6.0),
            "settled": _policy("board.adrift", row, times={0: 0.0}),
        },
    )
