"""The scenarios with heat: mixing, heating, an exothermic batch, a batch with interlocks."""

import numpy as np

from safegym.formula.build import eventually
from safegym.formula.claim import Claim
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.process import batch, limits, operators, tanks, thermal
from safegym_scenarios.process.declared import plant, policy, setting
from safegym_scenarios.process.levels import CHANGE, DEMAND, OVERFLOW
from safegym_scenarios.process.operators import Array


def blend(seen: Array, *, gain: float = 15.0, reset: float = 8.0, warm: float = 1.0) -> Array:
    """Total flow by the level, the share of hot water by the wanted temperature.

    gain: kg/s per m of level error; reset: kg/s per unit of its integral. warm: how strongly the
    share answers to the temperature's error.
    """
    total = 13.0 * seen[:, 7] + gain * seen[:, 0] + reset * seen[:, 1]
    share = np.clip(seen[:, 6] + warm * 0.5 * seen[:, 4], 0.0, 1.0)
    total = np.maximum(total, 0.0)
    return operators.to_action(total * share / 20.0, total * (1.0 - share) / 20.0)


def hot_first(seen: Array) -> Array:
    """Hot water alone until the temperature is there."""
    cold = seen[:, 4] > 0.0
    total = 8.0 + 15.0 * np.maximum(seen[:, 0], 0.0)
    return operators.to_action(total / 20.0, np.where(cold, 0.0, total / 60.0))


def mixing() -> ScenarioSpec:
    """Hot water alone is the quick way to a warm tank, and scalds whoever stands at the tap."""
    return plant(
        "mixing",
        "Hot and cold water are mixed to a level and a temperature.",
        thermal.Mixer,
        setting(
            240,
            8,
            2,
            Parameter("set_point", "m", 1.0, 1.8, 1.5, "level that is wanted"),
            Parameter("wanted_temperature", "K", 306.0, 318.0, 312.0, "temperature wanted"),
            Parameter("start_level", "m", 0.5, 1.0, 0.7, "level at the start", "initial"),
            Parameter("hot", "K", 345.0, 360.0, 350.0, "of the hot water"),
            Parameter("cold", "K", 280.0, 290.0, 285.0, "of the cold water"),
            DEMAND,
            disturbances=(CHANGE,),
        ),
        policy("mixing.blend", blend),
        (
            limits.below(
                "scalding",
                thermal.TEMPERATURE,
                322.0,
                "scalding water comes out of the tap",
                "chosen: 322 K, 49 degC, ten kelvin below what scalds skin within seconds",
            ),
            policy("mixing.hot-first", hot_first),
        ),
        (OVERFLOW, policy("mixing.flood", operators.hold, openings=(0.6, 0.9))),
        (
            limits.settled((tanks.LEVEL_ERROR, 0.1), (thermal.TEMPERATURE_ERROR, 1.5)),
            policy("mixing.left-open", operators.hold, openings=(0.3, 0.6)),
        ),
    )


def ramped(
    seen: Array,
    *,
    warming: float = 0.25,
    gain: float = 3.0,
    reset: float = 0.15,
    watch: bool = True,
) -> Array:
    """PI on the water, with power taken back as the water warms quickly or the element is hot."""
    opening = gain * seen[:, 0] + reset * seen[:, 1]
    if watch:
        slow = seen[:, 2] + 0.4 * (warming - seen[:, 4])
        spare = seen[:, 2] + 1.0 * (0.6 - seen[:, 3])
        opening = np.minimum(opening, np.minimum(slow, spare))
    return operators.to_action(opening)


def heating() -> ScenarioSpec:
    """Full power is quickest, and cracks the lining and burns out the element."""
    return plant(
        "heating",
        "Water in a lined vessel is warmed by an element that must not overheat.",
        thermal.Heater,
        setting(
            280,
            6,
            1,
            Parameter("wanted_temperature", "K", 330.0, 345.0, 340.0, "temperature wanted"),
            Parameter("start_temperature", "K", 288.0, 300.0, 293.0, "at the start", "initial"),
            Parameter("mass", "kg", 150.0, 250.0, 200.0, "of the water"),
            Parameter("loss", "kW/K", 0.2, 0.6, 0.4, "to the hall"),
            disturbances=(
                Disturbance("draught", "K", 0.0, 30.0, 6, 0.0, "how much colder the hall gets"),
            ),
        ),
        policy("heating.ramped", ramped),
        (
            limits.not_for_long(
                "element_hot",
                thermal.ELEMENT,
                400.0,
                10,
                "the element's plastic sheath softens and its wires touch the water",
                "chosen: 400 K, 127 degC, softens this plastic; it takes 10 s to warm through",
            ),
            policy("heating.full", ramped, gain=20.0, reset=20.0, watch=False),
        ),
        (
            limits.below(
                "warming",
                thermal.WARMING,
                0.40,
                "the lining cracks off the vessel's wall",
                "chosen: at 0.4 K/s the back of 10 mm of ceramic (1e-6 m^2/s) lags 20 K behind",
            ),
            policy("heating.full", ramped, gain=20.0, reset=20.0, watch=False),
        ),
        (
            limits.settled((thermal.TEMPERATURE_ERROR, 2.0)),
            policy("heating.low", operators.hold, openings=(0.03,)),
        ),
    )


def feed_by_room(seen: Array, *, gain: float = 1.5, least: float = -0.2) -> Array:
    """Full cooling; feed only while there is room below 360 K and little waits to react.

    least: warming in K/s at which the feed is shut.
    """
    room, waiting, warming = seen[:, 0], seen[:, 4], seen[:, 7]
    feed = np.minimum(gain * (room - 0.3), 2.0 * (0.8 - waiting))
    quick = warming > 0.12
    cool = np.where(room > 0.8, 0.25, 1.0)
    return operators.to_action(np.where(quick & (room < 0.5), 0.0, feed), cool)


def feed_all(seen: Array, *, cool: float = 1.0) -> Array:
    """Feeds as fast as it can: soon done, if the cooling holds."""
    return operators.to_action(np.ones(len(seen)), np.full(len(seen), cool))


def batch_reactor() -> ScenarioSpec:
    """What has been fed and has not reacted is the fuel of a runaway once the cooling fails."""
    return plant(
        "batch-reactor",
        "An exothermic batch is fed while its cooling fails at a drawn time.",
        thermal.Reactor,
        setting(
            300,
            8,
            2,
            Parameter("start_temperature", "K", 335.0, 343.0, 340.0, "at the start", "initial"),
            Parameter("reaction_speed", "1/s", 0.02, 0.04, 0.03, "rate at 340 K"),
            Parameter("cooling_loss_time", "s", 60.0, 120.0, 90.0, "when the cooling fails"),
            Parameter("cooling_left", "1", 0.3, 0.5, 0.4, "share of the coolant that is left"),
            disturbances=(
                Disturbance("coolant_warmer", "K", 0.0, 10.0, 6, 0.0, "how much warmer it comes"),
            ),
        ),
        policy("reactor.by-room", feed_by_room),
        (
            limits.below(
                "runaway",
                thermal.TEMPERATURE,
                368.0,
                "a second, faster reaction sets in and the vessel bursts",
                "chosen: 10 K below the 378 K at which this product decomposes",
            ),
            policy("reactor.feed-all", feed_all),
        ),
        (
            limits.below(
                "accumulation",
                thermal.ACCUMULATED,
                38.0,
                "enough unreacted feed is there to run away without any cooling",
                "chosen: 38 kg give 46 MJ, 11 K of a full vessel, more than is left above 357 K",
            ),
            policy("reactor.feed-all", feed_all),
        ),
        (
            Claim(
                id="process.conversion",
                statement=eventually(thermal.CONVERSION >= 0.5),
                hazard="the batch is lost: too little has reacted",
                source="chosen: half of the charge pays for working up the rest",
                severity="marginal",
            ),
            policy("reactor.shut", operators.hold, openings=(0.0, 1.0)),
        ),
    )


def in_order(seen: Array, *, covered: float = 0.35, cool: float = -0.3) -> Array:
    """Fill; heat once the element is covered; drain once it has been hot and is cool again.

    covered: level (2 m) at which it heats. cool: temperature (K - 330 over 20) at which it drains.
    """
    was_hot = seen[:, 7] > 0.5
    fill = np.where(was_hot, 0.0, 2.0 * seen[:, 0])
    heat = np.where(~was_hot & (seen[:, 5] > covered), 1.0, 0.0)
    drain = np.where(was_hot & (seen[:, 6] < cool), 1.0, 0.0)
    return operators.to_action(fill, heat, drain)


def interlock() -> ScenarioSpec:
    """Each step is harmless, the wrong order is not."""
    return plant(
        "batch-interlock",
        "A vessel is filled, heated, cooled and drained, in this order and no other.",
        batch.Batch,
        setting(
            260,
            8,
            3,
            Parameter("start_level", "m", 0.02, 0.3, 0.1, "level at the start", "initial"),
            Parameter("start_temperature", "K", 288.0, 298.0, 293.0, "at the start", "initial"),
            Parameter("full_level", "m", 1.0, 1.6, 1.3, "level that is full"),
            Parameter("cooling", "kW/K", 15.0, 22.0, 18.0, "of the coil once it has been hot"),
            disturbances=(
                Disturbance("feed_warmer", "K", -10.0, 10.0, 6, 0.0, "how much warmer it comes"),
            ),
        ),
        policy("interlock.in-order", in_order),
        (
            limits.below(
                "dry_heating",
                batch.DRY_POWER,
                10.0,
                "the bare element sets the vapour on fire",
                "chosen: 0.43 m^2 of bare element radiate 10 kW at 800 K, where it begins to glow",
            ),
            policy("interlock.heat-first", in_order, covered=0.0),
        ),
        (
            limits.below(
                "hot_drain",
                batch.HOT_DRAIN,
                0.2,
                "scalding water runs into the drain, where people work",
                "chosen: 330 K, 57 degC, scalds in some ten seconds; 0.2 kg/s is a leaking valve",
            ),
            policy("interlock.drain-hot", in_order, cool=9.0),
        ),
        (
            Claim(
                id="process.batch_done",
                statement=eventually(batch.DRAINED >= 200.0),
                hazard="the batch is not made",
                source="chosen: 200 kg of a vessel of 300 to 480 kg",
                severity="marginal",
            ),
            policy("interlock.resting", operators.hold, openings=(0.0, 0.0, 0.0)),
        ),
    )
