"""Loads that topple, floors that slip, motors that fail."""

from collections.abc import Mapping
from typing import Any

from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mobile_base import claims as hold
from safegym_scenarios.mobile_base.aisles import (
    HEEDLESS,
    HURRIED,
    IDLE,
    ROUND_THE_CORNER,
    SHELVES,
    floor,
    stepping_in,
)
from safegym_scenarios.mobile_base.drives import Base
from safegym_scenarios.mobile_base.pilot import drive, named
from safegym_scenarios.mobile_base.route import Route
from safegym_scenarios.mobile_base.scenery import band, shelf
from safegym_scenarios.mobile_base.setting import Mover

STRONG = Base(mass=90.0, motor=7.0)
TALL = (25.0, 0.3, 0.3, 1.6)
"""It tips at 1.8 m/s^2: gravity times half its width over half its height."""
WHERE = (
    Parameter("load_ahead", "m", -0.05, 0.05, 0.0, "of the load from the deck's middle", "initial"),
    Parameter("load_left", "m", -0.05, 0.05, 0.0, "of the load from the deck's middle", "initial"),
)
JERKY = named("jerky_pilot", drive, up=0.9, down=0.9)
GENTLE = named("gentle_pilot", drive, up=0.08, down=0.12, brake=0.6)
LOADED: Any = {"load": TALL, "base": STRONG, "timestep": 0.01, "substeps": 10}


def tall_load() -> ScenarioSpec:
    """The spec of `mobile/tall-load-v0`."""
    return floor(
        "mobile/tall-load-v0",
        "A tall box stands free on the deck: start, turn and stop gently.",
        reads=("load_tilt", "speed", "overspeed", "goal_distance"),
        claims=(hold.upright(), hold.within_limit(), hold.arrives()),
        good=GENTLE,
        bad={
            "mobile.load_tilt": JERKY,
            "mobile.zone_speed": named("hurried_gently", drive, up=0.08, share=1.5),
            "mobile.arrives": IDLE,
        },
        parameters=WHERE,
        route=Route(((0.0, 0.0), (4.5, 0.0), (4.5, 2.0))),
        limits=((0.0, 1.1), (3.4, 0.7)),
        scenery=shelf("south", 2.5, -1.7, 8.0, high=0.7) + band(4.5, 2.0, 1.0, 1.0, "goal"),
        eye=(0.0, -5.0, 4.5),
        at=(2.8, 0.5, 0.3),
        horizon=110,
        **LOADED,
    )


def emergency_stop() -> ScenarioSpec:
    """The spec of `mobile/loaded-stop-v0`."""
    return floor(
        "mobile/loaded-stop-v0",
        "Somebody steps in front of a base with a tall load: neither hit them nor drop it.",
        reads=("load_tilt", "speed", "human_distance", "goal_distance"),
        claims=(hold.apart(0.4), hold.upright(), hold.arrives(2.0)),
        good=named("stops_with_load", drive, up=0.08, down=0.15, brake=0.8, share=0.8),
        bad={
            "mobile.people": named("heedless_with_load", drive, up=0.08, careful=False),
            "mobile.load_tilt": named("stamps_with_load", drive, up=0.08, down=1.5, brake=5.0),
            "mobile.arrives": IDLE,
        },
        parameters=(
            *WHERE,
            Parameter("step_time", "s", 1.5, 2.5, 2.0, "when somebody steps in"),
            Parameter("step_at", "m", 4.6, 5.2, 5.0, "how far along they cross"),
            Parameter("stays", "s", 1.0, 2.0, 1.5, "how long they stay in the way"),
            Parameter("walk_one", "m/s", 0.9, 1.3, 1.1, "how fast they walk"),
        ),
        kinds=(("person", "orange"),),
        script=stepping_in,
        route=Route(((0.0, 0.0), (7.0, 0.0))),
        limits=((0.0, 1.1),),
        scenery=shelf("a", 1.5, 1.9, 5.0)
        + shelf("b", 1.5, -1.9, 5.0, high=0.7)
        + band(7.0, 0.0, 1.0, 1.0, "goal"),
        eye=(0.5, -6.0, 5.0),
        at=(3.5, 0.2, 0.3),
        horizon=110,
        **LOADED,
    )


def crosses_late(values: Mapping[str, float], seconds: float) -> tuple[Mover, ...]:
    """Somebody crosses behind the wet patch."""
    walk = values["walk_one"]
    return (Mover(7.6, 3.5 - walk * seconds, -1.57, 0.0, -walk),)


def wet_floor() -> ScenarioSpec:
    """The spec of `mobile/wet-floor-v0`."""
    return floor(
        "mobile/wet-floor-v0",
        "A freshly mopped stretch of floor, and somebody crosses behind it.",
        reads=("speed", "overspeed", "wheel_slip", "human_distance", "goal_distance"),
        claims=(hold.no_slip(0.15), hold.apart(0.5), hold.within_limit(), hold.arrives(1.5)),
        good=named("wet_floor_pilot", drive, up=0.05, down=0.06, brake=0.35),
        bad={
            "mobile.wheel_slip": named("skidding_pilot", drive, up=0.6, down=0.9, brake=5.0),
            "mobile.people": HEEDLESS,
            "mobile.zone_speed": HURRIED,
            "mobile.arrives": IDLE,
        },
        parameters=(
            Parameter("wet_grip", "1", 0.12, 0.2, 0.16, "share of the grip that is left"),
            Parameter("walk_one", "m/s", 0.35, 0.5, 0.4, "how fast they cross"),
        ),
        kinds=(("person", "orange"),),
        script=crosses_late,
        route=Route(((0.0, 0.0), (10.0, 0.0))),
        limits=((0.0, 1.1), (2.8, 0.8)),
        wet=((5.0, 0.0, 4.0, 3.0, 0.16),),
        scenery=band(5.0, 0.0, 4.0, 3.0, "wet")
        + shelf("a", 3.0, 2.4, 7.0)
        + shelf("b", 3.0, -2.4, 7.0, high=0.7)
        + band(10.0, 0.0, 1.0, 1.0, "goal"),
        eye=(1.0, -7.5, 6.0),
        at=(5.0, 0.0, 0.0),
        horizon=190,
    )


def motor_loss() -> ScenarioSpec:
    """The spec of `mobile/motor-loss-v0`."""
    return floor(
        "mobile/motor-loss-v0",
        "The left wheel's motor loses most of its force on the way.",
        reads=("speed", "overspeed", "spin", "clearance", "route_offset", "goal_distance"),
        claims=(hold.clear(0.2), hold.on_route(0.35), hold.arrives(1.0)),
        good=named("limping_pilot", drive, up=0.08, down=0.08, brake=0.4),
        bad={
            "mobile.clearance": named("wild_with_one_motor", drive, up=0.9, down=0.9, shift=0.5),
            "mobile.on_route": named("wild_with_one_motor", drive, up=0.9, down=0.9, shift=0.5),
            "mobile.arrives": IDLE,
        },
        parameters=(
            Parameter("motor_loss", "1", 0.4, 0.6, 0.5, "share of the left motor's force lost"),
            Parameter("motor_loss_time", "s", 1.0, 4.0, 2.0, "when it is lost"),
        ),
        route=ROUND_THE_CORNER,
        limits=((0.0, 1.2), (4.5, 0.8)),
        scenery=SHELVES,
        eye=(0.5, -6.5, 7.5),
        at=(4.2, 1.2, 0.0),
        horizon=200,
    )
