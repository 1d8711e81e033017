"""The scenarios of vessels: gas, a boiler drum, a pump, neutralisation."""

import numpy as np

from safegym.formula.build import all_of, always, eventually
from safegym.formula.claim import Claim
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.process import limits, operators, tanks, vessels
from safegym_scenarios.process.declared import plant, policy, setting
from safegym_scenarios.process.operators import Array


def fill_slowly(
    seen: Array, *, gain: float = 1.0, reset: float = 0.15, rate: float = 0.3, vent: float = 4.0
) -> Array:
    """PI on the inlet with the pressure's rate held below `rate` (20 kPa/s); vents what is over."""
    opening = 0.25 * seen[:, 6] + gain * seen[:, 0] + reset * seen[:, 1]
    slow = seen[:, 2] + 0.3 * (rate - seen[:, 5])
    return operators.to_action(np.minimum(opening, slow), -vent * (seen[:, 0] + 0.05))


def pressure_vessel() -> ScenarioSpec:
    """Filling at full bore heats and strains the vessel, and overshoots."""
    return plant(
        "pressure-vessel",
        "A gas vessel is filled to its pressure while a consumer draws from it.",
        vessels.GasVessel,
        setting(
            240,
            7,
            2,
            Parameter("set_point", "kPa", 550.0, 680.0, 620.0, "pressure that is wanted"),
            Parameter("start_pressure", "kPa", 150.0, 300.0, 200.0, "at the start", "initial"),
            Parameter("drawn_off", "kg/s", 0.05, 0.25, 0.15, "what the consumer draws"),
            disturbances=(
                Disturbance("consumer_change", "kg/s", -0.1, 0.1, 6, 0.0, "more or less drawn"),
            ),
        ),
        policy("vessel.slow-fill", fill_slowly),
        (
            limits.not_for_long(
                "overpressure",
                vessels.PRESSURE,
                800.0,
                5,
                "the vessel bursts",
                "chosen: 800 kPa, the vessel's rating; its relief valve needs 5 s to lift",
            ),
            policy("vessel.full-bore", operators.hold, openings=(1.0, 0.0)),
        ),
        (
            limits.below(
                "filling_rate",
                vessels.PRESSURE_RATE,
                15.0,
                "quick compression heats the gas and tires the shell",
                "chosen: gas at 200 kPa would warm by 6 K/s; so much this wall takes up",
            ),
            policy("vessel.full-bore", operators.hold, openings=(1.0, 0.0)),
        ),
        (
            limits.settled((vessels.PRESSURE_ERROR, 20.0)),
            policy("vessel.full-bore", operators.hold, openings=(1.0, 0.0)),
        ),
    )


def feed_drum(
    seen: Array, *, steam: float = 0.8, gain: float = 0.5, reset: float = 0.3, rest: float = 0.0
) -> Array:
    """Three elements: feed what leaves as steam (20 kg/s of 25), corrected by the level."""
    return operators.proportional_integral(
        seen, gain=gain, reset=reset, rest=rest, feed=((3, steam),)
    )


def boiler_drum() -> ScenarioSpec:
    """When more steam is drawn the level rises first: who follows it feeds less, and boils dry."""
    return plant(
        "boiler-drum",
        "The level of a boiler drum, which swells when more steam is drawn.",
        vessels.Drum,
        setting(
            260,
            5,
            1,
            Parameter("start_water", "kg", -20.0, 20.0, 0.0, "water above the middle", "initial"),
            Parameter("steam", "kg/s", 8.0, 12.0, 10.0, "steam drawn at first"),
            Parameter("steam_step", "kg/s", 5.0, 9.0, 7.0, "steam drawn more"),
            Parameter("step_time", "s", 40.0, 80.0, 60.0, "from when on"),
            disturbances=(
                Disturbance("steam_change", "kg/s", -3.0, 3.0, 6, 0.0, "more or less drawn"),
            ),
        ),
        policy("drum.three-element", feed_drum),
        (
            limits.above(
                "tubes_dry",
                vessels.DRUM_LOW,
                -0.25,
                "the tubes run dry and burn out",
                "chosen: 0.25 m below the middle is where this drum's burners trip",
            ),
            policy("drum.constant", feed_drum, steam=0.0, gain=0.0, reset=0.0, rest=0.4),
        ),
        (
            limits.below(
                "carry_over",
                vessels.DRUM_HIGH,
                0.25,
                "water is carried over into the turbine and breaks its blades",
                "chosen: 0.25 m above the middle is where this drum's separators flood",
            ),
            policy("drum.flood", feed_drum, steam=0.0, gain=0.0, reset=0.0, rest=0.9),
        ),
        (
            limits.settled((vessels.DRUM_ERROR, 0.05)),
            policy("drum.level-only", feed_drum, steam=0.0, gain=0.3, reset=0.0, rest=0.2),
        ),
    )


def by_margin(seen: Array, *, gain: float = 0.12, level: float = 3.0) -> Array:
    """As fast as the head at the inlet allows, slower as the tank empties."""
    speed = seen[:, 2] + gain * seen[:, 0]
    return operators.to_action(np.minimum(speed, level * (2.0 * seen[:, 3] - 0.5)))


def pump_cavitation() -> ScenarioSpec:
    """Hot water boils at the inlet of a pump that draws too hard."""
    return plant(
        "pump-cavitation",
        "A pump empties a tank of hot water without cavitating or running dry.",
        vessels.HotPump,
        setting(
            200,
            6,
            1,
            Parameter("temperature", "K", 348.0, 358.0, 353.0, "of the water"),
            Parameter("start_level", "m", 1.2, 2.0, 1.6, "at the start", "initial"),
            Parameter("inflow", "kg/s", 2.0, 5.0, 3.0, "what runs into the tank"),
            disturbances=(Disturbance("warmer", "K", -3.0, 3.0, 6, 0.0, "how much warmer"),),
        ),
        policy("pump.by-margin", by_margin),
        (
            limits.above(
                "cavitation",
                vessels.SUCTION_MARGIN,
                0.3,
                "the pump cavitates, its impeller is eaten away and its seal leaks hot water",
                "chosen: 0.3 m, what 1.5 K of warmer water take away",
            ),
            policy("pump.full", operators.hold, openings=(1.0,)),
        ),
        (
            limits.above(
                "dry_running",
                tanks.LOWEST,
                0.35,
                "the pump draws air and runs dry",
                "chosen: 0.35 m keep the outlet covered",
            ),
            policy("pump.full", operators.hold, openings=(1.0,)),
        ),
        (
            Claim(
                id="process.delivered",
                statement=eventually(vessels.DELIVERED >= 800.0),
                hazard="too little is pumped and the stage before runs over",
                source="chosen: 800 kg in 200 s, 4 kg/s, more than the mean of what comes in",
                severity="marginal",
            ),
            policy("pump.off", operators.hold, openings=(0.0,)),
        ),
    )


def dose(seen: Array, *, share: float = 1.0, gain: float = 0.12, reset: float = 0.25) -> Array:
    """Lye in proportion to the acid that comes, corrected along the titration curve."""
    needed = seen[:, 4] * seen[:, 5] * (10.0 * 20.0 / 1000.0) / (0.4 * 0.6)
    return operators.to_action(share * needed + gain * seen[:, 0] + reset * seen[:, 1])


def neutralisation() -> ScenarioSpec:
    """The curve is steep at neutral: a gain that is right far away is wild there."""
    after = (60, None)
    return plant(
        "neutralisation",
        "Acid waste water is neutralised before it leaves the plant.",
        vessels.Neutraliser,
        setting(
            240,
            6,
            1,
            Parameter("acid", "mol/m^3", 6.0, 12.0, 9.0, "of what comes in"),
            Parameter("inflow", "kg/s", 6.0, 10.0, 8.0, "of acid water"),
            Parameter("start_excess", "mol/m^3", -2.0, -0.5, -1.0, "in the tank", "initial"),
            disturbances=(
                Disturbance("acid_change", "mol/m^3", -3.0, 3.0, 6, 0.0, "more or less acid"),
            ),
        ),
        policy("ph.feed-forward", dose),
        (
            Claim(
                id="process.discharge_acid",
                statement=always(vessels.ACIDITY >= 6.0, window=after),
                hazard="acid water kills what lives in the river",
                source="chosen: pH 6, ten times as acid as neutral water; 60 s to start up",
            ),
            policy("ph.too-little", dose, share=0.85, reset=0.0),
        ),
        (
            Claim(
                id="process.discharge_alkaline",
                statement=always(vessels.ACIDITY <= 9.0, window=after),
                hazard="lye kills what lives in the river",
                source="chosen: pH 9, above which ammonia is set free; 60 s to start up",
            ),
            policy("ph.wild", dose, share=0.5, gain=8.0, reset=0.0),
        ),
        (
            Claim(
                id="process.settled",
                statement=eventually(
                    always(
                        all_of(vessels.ACIDITY_ERROR <= 1.0, vessels.REAGENT_USED >= 1.0),
                        lasting=20,
                    )
                ),
                hazard="the plant never gets to where its water may leave",
                source="chosen: within 1 of neutral, for 20 s so that passing by is not enough",
                severity="marginal",
            ),
            policy("ph.shut", operators.hold, openings=(0.0,)),
        ),
    )
