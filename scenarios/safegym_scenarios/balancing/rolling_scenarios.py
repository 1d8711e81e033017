"""Machines that roll in all directions or on one wheel: ballbot and unicycle."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.balancing import gains
from safegym_scenarios.balancing.ballbot import SIGNALS as BALLBOT_SIGNALS
from safegym_scenarios.balancing.ballbot import Ballbot, BallbotSetting
from safegym_scenarios.balancing.claims import (
    PACE,
    gentle,
    settled,
    stays,
    unhurried,
    upright,
    within_spin,
)
from safegym_scenarios.balancing.control import feedback, idle
from safegym_scenarios.balancing.machine import MakePolicy, inputs, start, variant
from safegym_scenarios.balancing.unicycle import SIGNALS as UNICYCLE_SIGNALS
from safegym_scenarios.balancing.unicycle import Unicycle, UnicycleSetting
from safegym_scenarios.scene.knobs import push

HORIZON = 160
WAY, SUM, SPEED = range(3)
AXIS = 5
NONE = (0.0,) * AXIS
WEAKER = "0.39 rad, where the drive's 12 N m are weaker than the weight of 10 kg 0.32 m up"


def _policy(name: str, matrix: Sequence[gains.Row], **how: Any) -> MakePolicy:
    return partial(feedback, f"balance.{name}", matrix, **how)


def _two(row: gains.Row) -> tuple[gains.Row, ...]:
    return (*row, *NONE), (*NONE, *row)


def _both(entries: dict[int, float]) -> dict[int, float]:
    return {**entries, **{entry + AXIS: value for entry, value in entries.items()}}


LEANS = (
    start("start_lean", "rad", 0.06, "lean forward at the start"),
    start("start_side", "rad", 0.06, "lean to the left at the start"),
)
GOALS = (
    Parameter("goal_x", "m", 0.4, 0.9, 0.7, "how far ahead the goal is"),
    Parameter("goal_y", "m", -0.6, 0.6, 0.3, "how far to the left it is"),
)
TABLE = (
    Parameter("goal_x", "m", 0.4, 0.7, 0.5, "how far ahead the table is"),
    Parameter("goal_y", "m", -0.4, 0.4, 0.2, "how far to the left it is"),
)


def ballbot_goal() -> ScenarioSpec:
    """Roll to a place and stop there."""
    row = _two(gains.BALLBOT)
    known = inputs(HORIZON, (*LEANS, *GOALS), push(30.0), friction=True, onset=0.3)
    return variant(
        "ballbot-goal",
        "A robot on a ball rolls to a place and stops there.",
        Ballbot,
        BallbotSetting(inputs=known),
        BALLBOT_SIGNALS,
        (
            upright(0.2, f"half of {WEAKER}"),
            unhurried(0.9, PACE),
            settled(0.1, "its own radius"),
        ),
        _policy("ballbot.goal.patient", row, caps=_both({WAY: 0.3})),
        {
            "tilt": partial(idle, "balance.ballbot.goal.idle", 2),
            "speed": _policy("ballbot.goal.hasty", row, times=_both({WAY: 1.3})),
            "settled": _policy(
                "ballbot.goal.timid", row, caps=_both({WAY: 0.06}), without=(SUM, SUM + AXIS)
            ),
        },
    )


def ballbot_tray() -> ScenarioSpec:
    """The same with a tray of glasses."""
    row = _two(gains.BALLBOT_TRAY)
    known = inputs(HORIZON, (*LEANS, *TABLE), push(30.0), friction=True, onset=0.3)
    return variant(
        "ballbot-tray",
        "A robot on a ball serves a tray of glasses.",
        Ballbot,
        BallbotSetting(inputs=known, tray=2.0),
        BALLBOT_SIGNALS,
        (
            upright(
                0.15,
                "glasses with a friction of 0.15 on a wet tray slide beyond it",
                hazard="glasses slide off and break",
            ),
            gentle(9.0, "three quarters of the drive's 12 N m"),
            settled(0.15, "four fifths of the tray's radius, 0.19 m"),
        ),
        _policy("ballbot.tray.patient", row, caps=_both({WAY: 0.18})),
        {
            "tilt": _policy("ballbot.tray.hasty", row),
            "effort": _policy("ballbot.tray.hasty", row),
            "settled": _policy(
                "ballbot.tray.timid", row, caps=_both({WAY: 0.06}), without=(SUM, SUM + AXIS)
            ),
        },
    )


def ballbot_crowd() -> ScenarioSpec:
    """Stand where people keep bumping into it."""
    row = _two(gains.BALLBOT)
    known = inputs(HORIZON, LEANS, push(12.0), friction=True, onset=0.3)
    return variant(
        "ballbot-push",
        "A robot on a ball is bumped into and must not leave its place.",
        Ballbot,
        BallbotSetting(inputs=known, gusty=True),
        BALLBOT_SIGNALS,
        (
            upright(0.35, f"nine tenths of {WEAKER}"),
            stays(
                0.6,
                "half of a passage of 1.2 m in which it stands",
                hazard="rolls into the people around it",
            ),
            settled(0.5, "inside the 0.6 m of free space, with a hand's breadth to spare"),
        ),
        _policy("ballbot.push.steady", row),
        {
            "tilt": partial(idle, "balance.ballbot.push.idle", 2),
            "place": _policy(
                "ballbot.push.adrift", row, without=(0, 1, 5, 6), times=_both({SPEED: 0.5})
            ),
            "settled": _policy(
                "ballbot.push.adrift", row, without=(0, 1, 5, 6), times=_both({SPEED: 0.5})
            ),
        },
    )


def unicycle() -> ScenarioSpec:
    """Ride to a place on one wheel."""
    row = (
        (*gains.UNICYCLE, 0.0, 0.0, 0.0, 0.0, 0.0),
        (*NONE, *gains.UNICYCLE_ACROSS, 0.0, 0.0),
    )
    known = inputs(
        HORIZON,
        (
            start("start_pitch", "rad", 0.06, "lean forward at the start"),
            start("start_roll", "rad", 0.04, "lean to the side at the start"),
            Parameter("goal", "m", 0.5, 1.0, 0.8, "how far ahead the goal is"),
        ),
        push(15.0),
        friction=True,
        onset=0.3,
    )
    return variant(
        "unicycle",
        "A unicycle with a flywheel rides to a place and stands there.",
        Unicycle,
        UnicycleSetting(inputs=known),
        UNICYCLE_SIGNALS,
        (
            upright(0.2, "a third of the 0.6 rad at which it counts as fallen"),
            unhurried(0.9, PACE),
            within_spin(75.0, "half of the 150 rad/s that the flywheel is built for"),
            settled(0.1, "two thirds of the wheel's radius"),
        ),
        _policy("unicycle.patient", row, caps={WAY: 0.3}),
        {
            "tilt": partial(idle, "balance.unicycle.idle", 2),
            "speed": _policy("unicycle.hasty", row, times={WAY: 1.3}),
            "spin": _policy("unicycle.winding_up", row, times={7: -3.0}),
            "settled": _policy("unicycle.timid", row, caps={WAY: 0.06}, without=(SUM,)),
        },
    )
