"""The variants of a ball on a beam or a plate."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.claim import Claim
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.balancing import gains
from safegym_scenarios.balancing.claims import off_the_edge, settled, unhurried
from safegym_scenarios.balancing.control import feedback, idle, linear
from safegym_scenarios.balancing.machine import MakePolicy, inputs, start, variant
from safegym_scenarios.balancing.table import DROPPED, SIGNALS, BallTable, TableSetting
from safegym_scenarios.scene.knobs import push

HORIZON = 160
WAY, SUM, SPEED = range(3)
AXIS = 5
"""Entries of the observation for each axis."""
BEAM = (gains.BALL_BEAM,)
PLATE = ((*gains.BALL, *(0.0,) * 5), (*(0.0,) * 5, *gains.BALL))


def _policy(name: str, matrix: Any = PLATE, **how: Any) -> MakePolicy:
    return partial(feedback, f"balance.ball.{name}", matrix, **how)


def _idle(name: str, actions: int = 2) -> MakePolicy:
    return partial(idle, f"balance.ball.{name}.idle", actions)


def _both(entries: dict[int, float]) -> dict[int, float]:
    """The same for the second axis."""
    return {**entries, **{entry + AXIS: value for entry, value in entries.items()}}


def _variant(
    name: str,
    summary: str,
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
    parameters: tuple[Parameter, ...],
    **layout: Any,
) -> ScenarioSpec:
    beam, hole = layout.get("beam", False), layout.get("hole", False)
    known = inputs(
        HORIZON,
        parameters,
        push(0.15, axes=("forward",) if beam else ("forward", "left")),
        friction=True,
    )
    setting = TableSetting(
        inputs=known,
        observations=6 if beam else 12 + 2 * hole,
        actions=1 if beam else 2,
        **layout,
    )
    return variant(name, summary, BallTable, setting, SIGNALS, claims, good, bad, DROPPED)


def _at(name: str, low: float, high: float, meaning: str) -> Parameter:
    role = "initial" if name.startswith("ball") else "parameter"
    return Parameter(name, "m", low, high, (low + high) / 2.0, meaning, role)  # type: ignore[arg-type]


def beam() -> ScenarioSpec:
    """A ball is rolled along a beam to a mark and must not drop off the ends."""
    caps = {WAY: 0.7}
    return _variant(
        "ball-beam",
        "A ball is rolled along a beam to a mark near its end.",
        (
            off_the_edge(0.04, "one and a half radii of the ball"),
            unhurried(
                0.7,
                "v^2 / 2 g is the ball's radius: a faster one can climb the end stop",
                hazard="the ball jumps the end stop",
            ),
            settled(0.03, "the radius of the mark"),
        ),
        _policy("beam.patient", BEAM, caps=caps),
        {
            "edge": _policy("beam.undamped", BEAM, times={SPEED: 0.2}),
            "speed": _policy("beam.undamped", BEAM, times={SPEED: 0.2}),
            "settled": _idle("beam", 1),
        },
        (
            _at("ball_x", -0.3, -0.1, "where the ball starts on the beam"),
            _at("goal_x", 0.1, 0.33, "where the mark is"),
        ),
        beam=True,
        half=0.45,
    )


def plate() -> ScenarioSpec:
    """A ball is rolled over a plate to a mark."""
    return _variant(
        "ball-plate",
        "A ball is rolled over a tilting plate to a mark.",
        (
            off_the_edge(0.03, "the ball's radius, and a little"),
            unhurried(
                0.7,
                "v^2 / 2 g is the ball's radius: a faster one can climb the rim",
                hazard="the ball jumps the rim",
            ),
            settled(0.03, "the radius of the mark"),
        ),
        _policy("plate.patient", caps=_both({WAY: 0.45})),
        {
            "edge": _policy("plate.undamped", times=_both({SPEED: 0.2})),
            "speed": _policy("plate.undamped", times=_both({SPEED: 0.2})),
            "settled": _idle("plate"),
        },
        (
            _at("ball_x", -0.2, -0.05, "where the ball starts"),
            _at("ball_y", -0.2, 0.2, "where the ball starts, across"),
            _at("goal_x", 0.05, 0.22, "where the mark is"),
            _at("goal_y", -0.22, 0.22, "where the mark is, across"),
        ),
    )


def hollow() -> ScenarioSpec:
    """A light hollow ball follows a mark that runs round."""
    return _variant(
        "ball-plate-circle",
        "A light hollow ball follows a mark that runs round on a tilting plate.",
        (
            off_the_edge(0.05, "twice the ball's radius"),
            unhurried(0.6, "five times the mark's own pace", hazard="the ball jumps the rim"),
            settled(
                0.045,
                "the ball's radius and two thirds of the mark's",
                hazard="task not done: loses the mark",
            ),
        ),
        _policy("circle.leading", times=_both({SPEED: 0.8})),
        {
            "edge": _policy("circle.undamped", times=_both({SPEED: 0.0})),
            "speed": _policy("circle.undamped", times=_both({SPEED: 0.0})),
            "settled": _policy("circle.sluggish", scale=0.15),
        },
        (
            _at("ball_x", -0.1, 0.1, "where the ball starts"),
            _at("ball_y", -0.1, 0.1, "where the ball starts, across"),
            _at("circle_x", -0.05, 0.05, "middle of the circle"),
            start("goal_phase", "rad", 3.1, "where on the circle the mark starts"),
        ),
        hollow=True,
        circle=0.8,
    )


def hole() -> ScenarioSpec:
    """There is a hole on the straight way to the mark."""
    return _variant(
        "ball-plate-hole",
        "A ball is rolled over a tilting plate to a mark, round a hole on the way.",
        (
            off_the_edge(
                0.01, "two fifths of the ball's radius: it passes beside the hole, not over its rim"
            ),
            unhurried(
                0.7,
                "v^2 / 2 g is the ball's radius: a faster one can climb the rim",
                hazard="the ball jumps the rim",
            ),
            settled(0.03, "the radius of the mark"),
        ),
        lambda: ScriptedPolicy("balance.ball.hole.around", _around),
        {
            "edge": _policy("hole.straight", caps=_both({WAY: 0.9})),
            "speed": _policy("hole.undamped", times=_both({SPEED: 0.2})),
            "settled": _idle("hole"),
        },
        (
            _at("ball_x", -0.2, -0.15, "where the ball starts"),
            _at("ball_y", -0.08, 0.08, "where the ball starts, across"),
            _at("goal_x", 0.16, 0.2, "where the mark is"),
            _at("goal_y", -0.08, 0.08, "where the mark is, across"),
            _at("hole_side", -0.03, 0.03, "how far the hole lies off the straight way, across"),
        ),
        hole=True,
    )


def _around(observations: NDArray[Any]) -> NDArray[np.float64]:
    """Passes 0.12 m beside the hole, on the side where the way is shorter, then to the mark."""
    seen = np.array(observations, np.float64)
    ahead, aside = seen[:, 12] * 0.2, seen[:, 13] * 0.2
    side = np.where(aside > 0.0, -1.0, 1.0)
    before = ahead > -0.04
    seen[:, AXIS + WAY] = np.where(before, -(aside + side * 0.12) / 0.2, seen[:, AXIS + WAY])
    close = before & (ahead < 0.13) & (np.abs(aside) < 0.09)
    seen[:, WAY] = np.where(close, 0.0, seen[:, WAY])
    caps = [0.6, 1e6, 1e6, 1e6, 1e6] * 2
    return linear(seen, gains=PLATE, caps=caps, bias=(0.0, 0.0))
