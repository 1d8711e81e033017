"""The variants of the cart with poles."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from safegym.formula.claim import Claim
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.balancing import gains
from safegym_scenarios.balancing.cart import SIGNALS, Cart, CartSetting
from safegym_scenarios.balancing.claims import (
    gentle,
    no_overshoot,
    on_track,
    settled,
    unhurried,
    upright,
)
from safegym_scenarios.balancing.control import feedback, idle
from safegym_scenarios.balancing.machine import TERMINALS, MakePolicy, inputs, start, variant
from safegym_scenarios.balancing.measures import FORCE
from safegym_scenarios.scene.knobs import push

HORIZON = 160
WAY, SUM, SPEED = range(3)
START_X = start("start_x", "m", 0.2, "place of the cart at the start")
ANGLE = start("start_angle", "rad", 0.05, "lean of the poles at the start")
GOAL = Parameter("goal", "m", 0.3, 0.7, 0.5, "place of the goal on the track")


def _policy(name: str, row: gains.Row, **how: Any) -> MakePolicy:
    return partial(feedback, f"balance.cart.{name}", (row,), **how)


def _idle(name: str) -> MakePolicy:
    return partial(idle, f"balance.cart.{name}.idle", 1)


def _variant(
    name: str,
    summary: str,
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
    *,
    parameters: tuple[Parameter, ...] = (START_X, ANGLE, GOAL),
    newtons: float = 5.0,
    lengths: tuple[float, ...] = (0.6,),
    **layout: Any,
) -> ScenarioSpec:
    """Nothing of it slides on a floor: no fault of friction."""
    known = inputs(HORIZON, parameters, push(newtons, axes=("forward",)), onset=0.3)
    setting = CartSetting(
        inputs=known, observations=4 + 2 * len(lengths), lengths=lengths, fall=1.0, **layout
    )
    ends: dict[str, Any] = {**TERMINALS, "track_end": "failed"}
    return variant(f"cart-{name}", summary, Cart, setting, SIGNALS, claims, good, bad, ends)


def pole() -> ScenarioSpec:
    """One pole, carried to a place near the end of the track."""
    patient = {WAY: 0.35}
    return _variant(
        "pole",
        "A cart carries a pole to a place near the end of its track.",
        (
            upright(0.25, "a quarter of the 1 rad at which the pole is lost"),
            on_track(
                0.05,
                "three times the 1.8 cm in which the drive's 40 N stops 1.74 kg from 0.9 m/s",
                hazard="hits the buffer, and the pole is thrown",
            ),
            unhurried(
                0.9,
                "1.74 kg then bring 0.7 J, as a book that drops by a hand's breadth",
                hazard="hits a hand on the track too fast to be felt coming",
            ),
            settled(0.06, "a quarter of the cart, 0.24 m"),
        ),
        _policy("pole.patient", gains.CART, caps=patient),
        {
            "tilt": _idle("pole"),
            "track": _policy("pole.floaty", gains.CART, times={SPEED: 0.25, SUM: 5.0}),
            "speed": _policy("pole.floaty", gains.CART, times={SPEED: 0.25, SUM: 5.0}),
            "settled": _policy("pole.timid", gains.CART, caps={WAY: 0.05}, without=(SUM,)),
        },
    )


def load() -> ScenarioSpec:
    """A crate on top of the pole."""
    return _variant(
        "load",
        "A cart carries a crate on top of a pole to a place.",
        (
            upright(0.25, "a crate with a friction of 0.3 slides off from 0.29 rad on"),
            gentle(30.0, "three quarters of the drive's 40 N: the rest catches a push", FORCE),
            settled(0.06, "a quarter of the cart, 0.24 m"),
        ),
        _policy("load.patient", gains.CART_LOADED, caps={WAY: 0.3}),
        {
            "tilt": _policy("load.hasty", gains.CART_LOADED, scale=1.3, times={WAY: 2.2}),
            "effort": _policy("load.hasty", gains.CART_LOADED, scale=1.3, times={WAY: 2.2}),
            "settled": _policy("load.timid", gains.CART_LOADED, caps={WAY: 0.05}, without=(SUM,)),
        },
        top=1.5,
    )


def beside() -> ScenarioSpec:
    """A long and a short pole beside each other."""
    return _variant(
        "two-poles",
        "A cart balances a long and a short pole beside each other.",
        (
            upright(0.35, "little more than a third of the 1 rad at which a pole is lost"),
            gentle(15.0, "three eighths of the drive's 40 N: the rest catches a push", FORCE),
            settled(0.12, "the cart's own half width"),
        ),
        _policy("two_poles.both", gains.CART_BESIDE),
        {
            "tilt": _policy("two_poles.long_only", (*gains.CART, 0.0, 0.0)),
            "effort": _policy("two_poles.long_only", (*gains.CART, 0.0, 0.0)),
            "settled": _policy(
                "two_poles.adrift", gains.CART_BESIDE, without=(WAY, SUM), times={SPEED: 0.7}
            ),
        },
        parameters=(START_X, start("start_angle", "rad", 0.02, "lean of both poles at the start")),
        lengths=(0.9, 0.3),
        newtons=2.0,
    )


def row() -> ScenarioSpec:
    """A pole that stands on a pole."""
    return _variant(
        "double-pole",
        "A cart balances a pole that stands on another pole.",
        (
            upright(0.3, "three tenths of the 1 rad at which a pole is lost"),
            gentle(15.0, "three eighths of the drive's 40 N: the rest catches a push", FORCE),
            settled(0.12, "the cart's own half width"),
        ),
        _policy("double_pole.both", gains.CART_ROW),
        {
            "tilt": _policy("double_pole.undamped", gains.CART_ROW, without=(5, 6)),
            "effort": _policy("double_pole.undamped", gains.CART_ROW, without=(5, 6)),
            "settled": _policy(
                "double_pole.adrift", gains.CART_ROW, without=(WAY, SUM), times={SPEED: 0.7}
            ),
        },
        parameters=(START_X, start("start_angle", "rad", 0.015, "lean of both poles at the start")),
        lengths=(0.4, 0.5),
        row=True,
        newtons=2.0,
    )


def slope() -> ScenarioSpec:
    """The track climbs: the drive has to hold the cart too."""
    return _variant(
        "slope",
        "A cart carries a pole up a sloping track and holds it there.",
        (
            upright(0.25, "a quarter of the 1 rad at which the pole is lost"),
            no_overshoot(
                0.14,
                "half of the cart, 0.12 m, and 2 cm",
                hazard="hits what stands behind the goal",
            ),
            settled(0.06, "a quarter of the cart, 0.24 m"),
        ),
        _policy("slope.patient", gains.CART, caps={WAY: 0.35}, times={SUM: 1.5}),
        {
            "tilt": _idle("slope"),
            "overshoot": _policy("slope.floaty", gains.CART, times={SPEED: 0.35, SUM: 4.0}),
            "settled": _policy(
                "slope.uncorrected", gains.CART, caps={WAY: 0.35}, without=(SUM,), times={WAY: 0.4}
            ),
        },
        tilted=0.12,
    )
