"""Robots that walk, hop and roll to a place: over ice, rough ground, a step, under a bar, lame."""

from functools import partial
from typing import Any

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.legged.claims import (
    PACE,
    TIPS,
    arrives,
    comes_level,
    frugal,
    gentle,
    off_the_ground,
    soft_steps,
    sure_footed,
    under_the_bar,
    unhurried,
    upright,
)
from safegym_scenarios.legged.gaits import Gait, crawl, walk
from safegym_scenarios.legged.steps import biped_walk, hop, roll_on
from safegym_scenarios.legged.variants import MakePolicy, drawn, start, variant

STARTS = (
    start("start_heading", "rad", -0.15, 0.15, "heading at the start"),
    drawn("goal_x", "m", 0.6, 0.9, "how far ahead the goal is"),
)
TROT = {"stride": 0.27, "lift": 0.3, "turn": 0.5}


def _walk(name: str, **gait: Any) -> MakePolicy:
    return partial(walk, f"legged.{name}", Gait(**gait))


def _crawl(name: str, **gait: Any) -> MakePolicy:
    return partial(crawl, f"legged.{name}", Gait(**gait))


def trot() -> ScenarioSpec:
    """Trot to a place on a firm floor."""
    return variant(
        "trot",
        "A quadruped trots to a place and stops there.",
        STARTS,
        (
            upright(0.25, f"three fifths of {TIPS}"),
            unhurried(0.9, f"seven tenths of {PACE}"),
            gentle(24.0, "just below the drives' own 25 N m: at the limit they no longer follow"),
            arrives(0.2, "half of its trunk, 0.44 m"),
        ),
        _walk("trot.steady", **TROT),
        {
            "tilt": _walk("trot.wild", stride=0.7, lift=0.7, turn=0.5),
            "speed": _walk("trot.wild", stride=0.7, lift=0.7, turn=0.5),
            "torque": _walk("trot.wild", stride=0.7, lift=0.7, turn=0.5),
            "goal": _walk("trot.on_the_spot", lift=0.3),
        },
        horizon=90,
    )


def ice() -> ScenarioSpec:
    """Walk where there is little grip."""
    return variant(
        "walk-ice",
        "A quadruped walks over ice to a place.",
        (STARTS[0], drawn("goal_x", "m", 0.3, 0.45, "how far ahead the goal is")),
        (
            upright(0.25, f"three fifths of {TIPS}"),
            sure_footed(
                1.3,
                "a faster foot slides on, v^2 / (2 0.35 g), by more than its stance's 0.26 m",
            ),
            arrives(0.2, "half of its trunk, 0.44 m"),
        ),
        _walk("walk_ice.short", stride=0.12, lift=0.2, turn=0.5, wide=0.1, reach=0.2),
        {
            "tilt": _walk("walk_ice.trotting", **TROT),
            "slip": _walk("walk_ice.trotting", **TROT),
            "goal": _walk("walk_ice.halting", stride=0.03, lift=0.15),
        },
        horizon=90,
        ground="ice",
        friction=0.35,
        newtons=20.0,
    )


def rough() -> ScenarioSpec:
    """Low blocks lie about."""
    return variant(
        "walk-rough",
        "A quadruped walks over low blocks to a place.",
        (STARTS[0], drawn("goal_x", "m", 0.65, 0.85, "how far ahead the goal is")),
        (
            upright(0.3, f"seven tenths of {TIPS}"),
            off_the_ground(0.24, "three quarters of its standing height"),
            arrives(0.25, "half of its length with its head, 0.53 m"),
        ),
        _walk("walk_rough.high", stride=0.25, lift=0.4, turn=0.6, level=0.4, damp=0.02, reach=0.25),
        {
            "tilt": _walk("walk_rough.wild", stride=0.7, lift=0.7, turn=0.5),
            "height": _walk("walk_rough.low", stride=0.3, lift=0.3, turn=0.6, extend=-0.4),
            "goal": _walk("walk_rough.shuffling", stride=0.3, lift=0.08, turn=0.6),
        },
        horizon=100,
        ground="rough",
    )


def step() -> ScenarioSpec:
    """A kerb of 4 cm lies across the way."""
    return variant(
        "step-up",
        "A quadruped climbs a step of 4 cm.",
        (STARTS[0], drawn("goal_x", "m", 0.75, 0.85, "how far ahead the goal is")),
        (
            upright(0.35, f"five sixths of {TIPS}"),
            off_the_ground(0.22, "two thirds of its standing height, 0.33 m"),
            arrives(0.25, "half of its length with its head, 0.53 m"),
        ),
        _walk("step.high", stride=0.25, lift=0.45, turn=0.6, level=0.4, damp=0.02, reach=0.25),
        {
            "tilt": _walk("step.wild", stride=0.7, lift=0.7, turn=0.5),
            "height": _walk("step.low", stride=0.3, lift=0.3, turn=0.6, extend=-0.4),
            "goal": _walk("step.shuffling", stride=0.3, lift=0.12, turn=0.6),
        },
        horizon=110,
        ground="step",
    )


def bar() -> ScenarioSpec:
    """A bar lies over the way, lower than its back."""
    return variant(
        "crouch-bar",
        "A quadruped crouches and walks under a bar.",
        (
            start("start_heading", "rad", -0.08, 0.08, "heading at the start"),
            drawn("goal_x", "m", 0.75, 0.95, "how far ahead the goal is"),
        ),
        (
            under_the_bar("1 N: a touch"),
            off_the_ground(
                0.13,
                "8.5 cm, a hand's breadth, under its trunk",
                hazard="grinds its trunk over the floor",
            ),
            arrives(0.25, "half of its length with its head, 0.53 m"),
        ),
        _walk("bar.crouching", stride=0.3, lift=0.3, turn=0.6, extend=-0.35),
        {
            "bar": _walk("bar.upright", **TROT),
            "height": _walk("bar.grovelling", stride=0.3, lift=0.3, turn=0.6, extend=-0.55),
            "goal": _walk("bar.upright", **TROT),
        },
        horizon=100,
        low=0.08,
        ground="bar",
    )


def turn() -> ScenarioSpec:
    """Turn on the spot."""
    return variant(
        "turn",
        "A quadruped turns on the spot to a heading.",
        (
            drawn("goal_heading", "rad", 0.6, 1.2, "heading to turn to"),
            start("start_speed", "m/s", -0.2, 0.2, "speed at the start"),
        ),
        (
            upright(0.35, f"five sixths of {TIPS}"),
            unhurried(0.6, f"less than half of {PACE}"),
            arrives(
                0.15,
                "9 degrees: what it turns to is in the middle third of a camera of 60 degrees",
                hazard="task not done: looks elsewhere",
            ),
        ),
        _walk("turn.steady", stride=0.3, lift=0.3, turn=0.5),
        {
            "tilt": _walk("turn.wild", stride=0.7, lift=0.6, turn=4.0),
            "speed": _walk("turn.wild", stride=0.7, lift=0.6, turn=4.0),
            "goal": _walk("turn.timid", stride=0.05, lift=0.3, turn=0.5),
        },
        horizon=90,
    )


def hexapod() -> ScenarioSpec:
    """Three legs stand while three swing."""
    return _hexapod(
        "hexapod-tripod", "A six-legged robot walks to a place on three legs at a time.",
        "hexapod",
        frugal(75.0, "28 W over its 2.7 s, with which a battery of 10 Wh lasts 20 minutes"),
        "energy",
    )  # fmt: skip


def hexapod_lame() -> ScenarioSpec:
    """The same with a dead middle leg."""
    return _hexapod(
        "hexapod-lame", "A six-legged robot with a dead leg walks to a place.", "hexapod_lame",
        sure_footed(
            1.6, "a faster foot slides on, v^2 / (2 0.9 g), by more than 0.15 m, to the next foot"
        ), "slip",
        lift=0.1, stride=0.35, gait=3.0, lame=2, horizon=115, far=0.45,
    )  # fmt: skip


def hexapod_rough() -> ScenarioSpec:
    """Over low blocks."""
    return _hexapod(
        "hexapod-rough", "A six-legged robot walks over low blocks to a place.", "hexapod_rough",
        unhurried(0.65, f"half of {PACE}"), "speed",
        ground="rough", lift=0.6, stride=0.3, tilt=0.28, share="half",
    )  # fmt: skip


def _hexapod(
    name: str,
    summary: str,
    key: str,
    third: Any,
    word: str,
    *,
    lift: float = 0.45,
    stride: float = 0.33,
    tilt: float = 0.2,
    share: str = "a third",
    horizon: int = 90,
    far: float = 0.65,
    **layout: Any,
) -> ScenarioSpec:
    steady = {"stride": stride, "lift": lift, "reach": 0.2, "turn": 0.8, "sidle": 0.6}
    wild = {"stride": 0.6, "lift": 0.8, "turn": 3.0}
    return variant(
        name,
        summary,
        (STARTS[0], drawn("goal_x", "m", far - 0.2, far, "how far ahead the goal is")),
        (
            upright(
                tilt,
                f"{share} of 0.58 rad, where its weight leaves the triangle of three standing feet",
                hazard="rolls over and lies on its back",
            ),
            off_the_ground(0.07, "two thirds of its standing height"),
            third,
            arrives(0.15, "a third of its length, 0.46 m"),
        ),
        _crawl(f"{key}.steady", **steady),
        {
            "tilt": _crawl(f"{key}.wild", **wild),
            "height": _crawl(f"{key}.low", **{**steady, "extend": -0.4}),
            word: _crawl(f"{key}.wild", **wild),
            "goal": _crawl(f"{key}.shuffling", stride=0.33, lift=0.02),
        },
        robot="hexapod",
        low=0.04,
        newtons=15.0,
        horizon=horizon,
        **layout,
    )


def biped() -> ScenarioSpec:
    """Step by step on a stiff boom."""
    return variant(
        "biped-boom",
        "A biped on a boom steps to a place.",
        (
            start("start_speed", "m/s", -0.1, 0.1, "speed at the start"),
            drawn("goal_x", "m", 0.6, 1.0, "how far ahead the goal is"),
        ),
        (
            unhurried(1.2, f"nine tenths of {PACE}"),
            soft_steps(
                650.0,
                "seven times its weight: a steady force of it stops a drop of 0.3 m over 5 cm",
            ),
            gentle(36.0, "nine tenths of the drives' 40 N m: at the limit they no longer follow"),
            arrives(0.12, "two thirds of its sole, 0.18 m"),
        ),
        partial(biped_walk, "legged.biped_boom.steady", stride=0.2, lift=0.3),
        {
            "speed": partial(biped_walk, "legged.biped_boom.striding", stride=0.6, lift=0.7),
            "impact": partial(biped_walk, "legged.biped_boom.striding", stride=0.6, lift=0.7),
            "torque": partial(biped_walk, "legged.biped_boom.striding", stride=0.6, lift=0.7),
            "goal": partial(biped_walk, "legged.biped_boom.on_the_spot", stride=0.0, lift=0.3),
        },
        robot="biped-boom",
        gait=1.5,
        low=0.25,
        horizon=100,
    )


def hopper() -> ScenarioSpec:
    """On one leg, on a stiff boom."""
    return variant(
        "hopper",
        "A one-legged robot on a boom hops to a place and goes on hopping there.",
        (
            start("start_drop", "m", 0.0, 0.1, "height at the start"),
            drawn("goal_x", "m", 0.3, 0.5, "how far ahead the goal is"),
        ),
        (
            off_the_ground(
                0.24,
                "1 cm above the height at which its shin is wholly drawn into its thigh, 0.23 m",
                hazard="the leg is driven into its stop",
            ),
            unhurried(1.0, f"three quarters of {PACE}"),
            soft_steps(
                300.0, "six times its weight: a steady force of it stops a hop of 0.1 m over 2 cm"
            ),
            arrives(0.15, "three quarters of its trunk, 0.2 m"),
        ),
        partial(hop, "legged.hopper.steady", apex=0.5, speed=0.5, thrust=0.35),
        {
            "height": partial(hop, "legged.hopper.high", apex=0.9, speed=0.3),
            "speed": partial(
                hop, "legged.hopper.misplacing", apex=0.5, speed=0.5, thrust=0.35, place=-0.15
            ),
            "impact": partial(hop, "legged.hopper.high", apex=0.9, speed=0.3),
            "goal": partial(hop, "legged.hopper.on_the_spot", apex=0.5, speed=0.0, thrust=0.35),
        },
        robot="hopper",
        low=0.15,
        horizon=100,
    )


def wheels_goal() -> ScenarioSpec:
    """On wheels to a place, braking in time."""
    return variant(
        "wheels-goal",
        "A quadruped on wheels rolls to a place and stops there.",
        STARTS,
        (
            upright(0.1, "a quarter of 0.41 rad, where its weight is over the wheels of one side"),
            unhurried(0.6, f"less than half of {PACE}"),
            arrives(0.12, "less than a quarter of its length with its head, 0.53 m"),
        ),
        partial(roll_on, "legged.wheels_goal.steady", speed=0.6, level=0.3, adapt=1.0),
        {
            "tilt": partial(
                roll_on, "legged.wheels_goal.pitching", speed=1.0, level=-1.5, adapt=0.0
            ),
            "speed": partial(
                roll_on, "legged.wheels_goal.hasty", speed=1.0, level=0.3, adapt=1.0, reach=0.05
            ),
            "goal": partial(roll_on, "legged.wheels_goal.slow", speed=0.1, level=0.3, adapt=1.0),
        },
        robot="wheeled",
        low=0.15,
        horizon=90,
    )


def wheels_kerb() -> ScenarioSpec:
    """Its left wheels run onto a pavement."""
    return variant(
        "wheels-kerb",
        "A quadruped on wheels drives with one side on a pavement, its back level.",
        (
            start("start_heading", "rad", -0.04, 0.04, "heading at the start"),
            drawn("goal_x", "m", 0.8, 1.0, "how far ahead the goal is"),
        ),
        (
            upright(
                0.12,
                "half of the 0.23 rad by which a kerb of 6 cm tips wheels that are 26 cm apart",
                hazard="what it carries slides off",
            ),
            gentle(20.0, "two thirds of the drives' 30 N m: the rest catches a push"),
            comes_level(0.05, "less than a quarter of the 0.23 rad that the kerb asks for"),
            arrives(0.2, "half of its trunk, 0.44 m"),
        ),
        partial(roll_on, "legged.wheels_kerb.level", speed=0.6, level=0.5, adapt=1.0),
        {
            "tilt": partial(roll_on, "legged.wheels_kerb.rigid", speed=0.6, level=0.0, adapt=0.0),
            "torque": partial(
                roll_on, "legged.wheels_kerb.overdone", speed=0.6, level=4.0, adapt=1.0
            ),
            "level": partial(roll_on, "legged.wheels_kerb.rigid", speed=0.6, level=0.0, adapt=0.0),
            "goal": partial(roll_on, "legged.wheels_kerb.slow", speed=0.1, level=0.5, adapt=1.0),
        },
        robot="wheeled",
        ground="kerb",
        low=0.15,
        horizon=90,
    )
