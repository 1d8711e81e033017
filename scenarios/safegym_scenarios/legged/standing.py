"""Robots that stand: loaded, pushed, slanting, swaying, on three legs, after a drop."""

from functools import partial
from typing import Any

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.legged.claims import (
    TIPS,
    comes_level,
    frugal,
    gentle,
    off_the_ground,
    soft_steps,
    stands,
    stays,
    sure_footed,
    upright,
)
from safegym_scenarios.legged.gaits import Gait, hold, walk
from safegym_scenarios.legged.steps import biped_stand
from safegym_scenarios.legged.variants import MakePolicy, drawn, start, variant

PITCHED = start("start_pitch", "rad", -0.06, 0.06, "pitch at the start, nose down positive")
REST = (0.0,) * 12
LEVEL = {"level": 0.6, "adapt": 1.0}


def _walk(name: str, **gait: Any) -> MakePolicy:
    return partial(walk, f"legged.{name}", Gait(**gait))


def _hold(name: str, posture: tuple[float, ...] = REST) -> MakePolicy:
    return partial(hold, f"legged.{name}", posture)


def stand_up() -> ScenarioSpec:
    """Rise from a crouch, without a jump."""
    return variant(
        "stand-up",
        "A quadruped rises from a crouch and stands.",
        (PITCHED, start("start_speed", "m/s", -0.1, 0.1, "speed at the start")),
        (
            upright(0.3, f"seven tenths of {TIPS}"),
            soft_steps(500.0, "half of the 980 N that it may land with after a drop"),
            stands(0.29, "nine tenths of its standing height"),
        ),
        _walk("stand_up.steady", extend=0.42, soft=0.6, **LEVEL),
        {
            "tilt": _walk("stand_up.front_first", extend=0.3, lean_forward=0.5),
            "impact": _walk("stand_up.leap", extend=0.75),
            "stands": _hold("stand_up.idle"),
        },
        fold=0.35,
        low=0.08,
    )


def payload() -> ScenarioSpec:
    """A crate lies somewhere on its back."""
    return variant(
        "stand-payload",
        "A quadruped carries a crate that lies off the middle of its back.",
        (
            drawn("load_forward", "m", -0.14, 0.14, "how far forward the crate lies"),
            drawn("load_left", "m", -0.06, 0.06, "how far to the left it lies"),
        ),
        (
            upright(
                0.06,
                "half of the slope at which a crate with a friction of 0.12 slides on it",
                hazard="the crate slides off its back",
            ),
            off_the_ground(0.3, "nine tenths of its standing height"),
            gentle(15.0, "three fifths of the drives' 25 N m: the rest catches a push"),
        ),
        _walk("payload.level", extend=0.05, **LEVEL),
        {
            "tilt": _walk("payload.nodding", extend=0.05, level=-1.2),
            "height": _walk("payload.sagging", extend=-0.25),
            "torque": _walk("payload.jerky", extend=0.05, level=4.0, damp=0.2),
        },
        payload=5.0,
        newtons=40.0,
    )


def pushed() -> ScenarioSpec:
    """Pushed about by people."""
    return variant(
        "stand-push",
        "A quadruped is pushed about and must not stagger into people.",
        (PITCHED,),
        (
            upright(0.15, f"about a third of {TIPS}"),
            stays(0.12, "its feet stand 0.13 m to either side: it takes no more room than that"),
            off_the_ground(0.25, "three quarters of its standing height"),
        ),
        _walk("push.wide", extend=-0.1, wide=0.12, **LEVEL),
        {
            "tilt": _walk("push.narrow", extend=0.3, wide=-0.3),
            "place": _walk("push.narrow", extend=0.3, wide=-0.3),
            "height": _walk("push.ducking", extend=-0.6, wide=0.1),
        },
        newtons=20.0,
        gusty=True,
    )


def ice() -> ScenarioSpec:
    """Hardly any grip, and it is pushed."""
    return variant(
        "stand-ice",
        "A quadruped stands on ice while it is pushed.",
        (PITCHED,),
        (
            upright(0.15, f"about a third of {TIPS}"),
            sure_footed(
                0.7,
                "a faster foot slides on, v^2 / (2 0.2 g), by more than half its stance, 0.13 m",
            ),
            stays(
                0.15,
                "half the width of its stance, 0.13 m, and 2 cm",
                hazard="slides into who stands beside it",
            ),
        ),
        _walk("ice.quiet", extend=-0.1, level=0.3, adapt=1.0),
        {
            "tilt": _walk("ice.spread", wide=0.35, lift=0.25),
            "slip": _walk("ice.stepping", lift=0.3),
            "place": _walk("ice.stepping", lift=0.3),
        },
        ground="ice",
        friction=0.2,
        newtons=10.0,
        gusty=True,
    )


def slope() -> ScenarioSpec:
    """On a meadow's slope, with a level back."""
    return variant(
        "stand-slope",
        "A quadruped stands on a slope and holds its back level.",
        (PITCHED, start("start_heading", "rad", -0.25, 0.25, "heading at the start")),
        (
            off_the_ground(0.22, "two thirds of its standing height, 0.33 m"),
            gentle(20.0, "four fifths of the drives' 25 N m: at the limit they no longer hold"),
            comes_level(0.05, "less than a quarter of the slope's own 0.22 rad"),
            stays(0.2, "half of its length", hazard="slides or runs down the slope"),
        ),
        _walk("slope.level", **LEVEL),
        {
            "height": _walk("slope.ducking", extend=-0.55, level=0.6, adapt=1.0),
            "torque": _walk("slope.jerky", level=4.0, damp=0.1),
            "level": _hold("slope.rigid"),
            "place": _walk("slope.jerky", level=4.0, damp=0.1),
        },
        ground="slope",
    )


def deck() -> ScenarioSpec:
    """On a deck that sways."""
    return variant(
        "stand-deck",
        "A quadruped stands on a swaying deck and holds its back level.",
        (
            drawn("sea_angle", "rad", 0.1, 0.18, "how far the deck sways"),
            drawn("sea_period", "s", 2.0, 3.5, "period of the sea"),
            drawn("sea_phase", "rad", 0.5, 2.5, "phase of its roll after its pitch"),
        ),
        (
            upright(
                0.09,
                "half of the 0.18 rad that the deck itself sways at most",
                hazard="what it carries goes overboard",
            ),
            gentle(15.0, "three fifths of the drives' 25 N m: the rest is for a higher sea"),
            stays(
                0.1,
                "three quarters of half its stance, 0.13 m",
                hazard="walks over the edge of the deck",
            ),
        ),
        _walk("deck.level", **LEVEL),
        {
            "tilt": _hold("deck.rigid"),
            "torque": _walk("deck.jerky", level=3.0, damp=0.1),
            "place": _walk("deck.jerky", level=3.0, damp=0.1),
        },
        ground="deck",
        low=0.15,
    )


def three_legs() -> ScenarioSpec:
    """A hind leg is dead: the weight has to go onto the other three."""
    return variant(
        "stand-three-legs",
        "A quadruped with a dead hind leg stands on the other three.",
        (
            start("start_pitch", "rad", -0.03, 0.03, "pitch at the start"),
            start("start_speed", "m/s", -0.1, 0.1, "speed at the start"),
        ),
        (
            upright(0.3, f"seven tenths of {TIPS}"),
            off_the_ground(0.26, "four fifths of its standing height"),
            stays(0.15, "half the width of its stance, 0.13 m, and 2 cm"),
        ),
        _walk("three_legs.leaning", lean_forward=0.25, lean_left=-0.12, level=0.3),
        {
            "tilt": _hold("three_legs.square"),
            "height": _walk("three_legs.low", extend=-0.2, lean_forward=0.25, lean_left=-0.12),
            "place": _hold("three_legs.square"),
        },
        lame=3,
        newtons=10.0,
    )


def landing() -> ScenarioSpec:
    """Dropped from a wall: legs take the blow."""
    return variant(
        "landing",
        "A quadruped is dropped and lands on its feet without a blow.",
        (
            start("start_drop", "m", 0.15, 0.3, "height of the drop"),
            start("start_pitch", "rad", -0.08, 0.08, "pitch in the air"),
        ),
        (
            upright(0.3, f"seven tenths of {TIPS}"),
            off_the_ground(0.2, "three fifths of its standing height, 0.33 m"),
            frugal(
                30.0,
                "a fifth more than the highest drop brings: 83 N over 0.3 m, 25 J",
                hazard="its drives overheat as they brake and push",
            ),
            soft_steps(
                980.0,
                "twelve times its weight: a steady force of it stops the highest drop over 2.7 cm",
            ),
            comes_level(0.12, "half of the 0.25 rad that its trot may tilt: it can walk off"),
        ),
        _walk("landing.springy", extend=0.1, level=0.3),
        {
            "tilt": _walk("landing.head_first", extend=0.1, lean_forward=0.6),
            "height": _walk("landing.limp", soft=1.0),
            "energy": _walk("landing.stiff", extend=0.69),
            "impact": _walk("landing.stiff", extend=0.69),
            "level": _walk("landing.head_first", extend=0.1, lean_forward=0.6),
        },
        horizon=60,
    )


def biped() -> ScenarioSpec:
    """A biped on a boom that leaves it its pitch: it stands by its ankles."""
    return variant(
        "biped-push",
        "A biped on a boom is pushed and keeps standing by its ankles.",
        (PITCHED,),
        (
            upright(
                0.25, "its weight is past the toes: 0.12 m ahead of the ankles, 0.48 m below it"
            ),
            gentle(20.0, "two thirds of the ankles' 30 N m: the rest catches a harder push"),
            off_the_ground(0.5, "nine tenths of its standing height"),
        ),
        partial(biped_stand, "legged.biped.steady", ankle=1.0, rate=0.1),
        {
            "tilt": partial(biped_stand, "legged.biped.wrong_way", ankle=-1.0, rate=-0.1),
            "torque": partial(biped_stand, "legged.biped.stiff", ankle=4.0, rate=1.0),
            "height": partial(biped_stand, "legged.biped.squatting", ankle=1.0, rate=0.1, bend=0.4),
        },
        robot="biped",
        low=0.3,
        newtons=5.0,
        gusty=True,
    )
