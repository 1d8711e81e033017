"""Plants under pressure or with chemistry: a gas vessel, a boiler drum, a pump, neutralisation.

Pressures in kPa, temperatures in K, flows in kg/s, concentrations in mol/m^3.
"""

from collections.abc import Sequence
from math import asinh, exp, log, sqrt
from typing import Any, ClassVar

from safegym.formula.terms import Signal
from safegym_scenarios.process.environment import GRAVITY, Plant, State
from safegym_scenarios.process.pictures import column, pipe, plant_scene, pump, rising, tank, valve
from safegym_scenarios.process.tanks import DENSITY, LOWEST

AIR = 101.3
"""Pressure of the air outside, kPa."""
PRESSURE = Signal("pressure", unit="kPa", scale=20.0, hold="max")
"""Largest pressure over the control step, kPa, absolute."""
PRESSURE_ERROR = Signal("pressure_error", unit="kPa", scale=10.0)
"""How far the pressure is from its set point, kPa, without sign."""
PRESSURE_RATE = Signal("pressure_rate", unit="kPa/s", scale=2.0, hold="max")
"""How fast the pressure rises, kPa/s."""
DRUM_HIGH = Signal("drum_high", unit="m", scale=0.05, hold="max")
"""Largest drum level over the control step, from the middle, m."""
DRUM_LOW = Signal("drum_low", unit="m", scale=0.05, hold="min")
"""Smallest drum level over the control step, from the middle, m."""
DRUM_ERROR = Signal("drum_error", unit="m", scale=0.02)
"""How far the drum's level is from the middle, m, without sign."""
SUCTION_MARGIN = Signal("suction_margin", unit="m", scale=0.5, hold="min")
"""Net positive suction head that there is, less what the pump needs, m."""
DELIVERED = Signal("delivered", unit="kg", scale=100.0)
"""What has been pumped so far, kg."""
ACIDITY = Signal("ph", unit="1", scale=0.5)
"""pH of what leaves the tank."""
ACIDITY_ERROR = Signal("ph_error", unit="1", scale=0.2)
"""How far the pH is from 7, without sign."""
REAGENT_USED = Signal("reagent_used", unit="kg", scale=5.0)
"""Reagent fed so far, kg."""


class GasVessel(Plant):
    """An isothermal vessel of gas: dp/dt = R T / V times what comes in less what goes out.

    Inputs: inlet and vent valve. Observed: error (200 kPa), its integral, both valves, pressure
    (800 kPa), its rate (20 kPa/s), what the consumer draws (0.3 kg/s).
    """

    measures: ClassVar[tuple[Signal, ...]] = (PRESSURE, PRESSURE_RATE, PRESSURE_ERROR)
    reset_time: ClassVar[float] = 40.0
    SUPPLY: ClassVar[float] = 1000.0
    PER_KG: ClassVar[float] = 43.05
    """kPa that a kg makes: 0.287 kJ/(kg K) times 300 K over 2 m^3."""

    @staticmethod
    def build(setting: Any) -> str:
        """A lying vessel, two valves, a gauge."""
        world = (
            '<geom class="look" type="capsule" size="0.75" fromto="-1 0 1.3 1 0 1.3" '
            'material="white"/>'
            '<geom class="look" type="box" size="0.15 0.6 0.35" pos="-0.8 0 0.35" material="dark"/>'
            '<geom class="look" type="box" size="0.15 0.6 0.35" pos="0.8 0 0.35" material="dark"/>'
            + pipe((-4, 0, 1.3), (-1.7, 0, 1.3), material="yellow")
            + valve("inlet", -2.6, 1.3)
            + pipe((0, 0, 2), (0, 0, 3.6))
            + valve("vent", 0, 2.6)
            + pipe((1.7, 0, 1.3), (4, 0, 1.3), material="yellow")
            + column(1, 2.6)
        )
        return plant_scene("gas vessel", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """The pressure."""
        self.wanted, self.drawn_off = values["set_point"], values["drawn_off"]
        return [values["start_pressure"]]

    def consumer(self) -> float:
        """kg/s."""
        return max(0.0, self.drawn_off + self.push("consumer_change"))

    def rates(self, state: State) -> State:
        """Mass balance; the vent blows into the air."""
        pressure = state[0]
        drop = max(0.0, 1.0 - pressure / self.SUPPLY)
        come = 1.2 * self.inputs[0] * sqrt(drop)
        over = max(0.0, 1.0 - AIR / pressure) if pressure > 0.0 else 0.0
        vented = 0.8 * self.inputs[1] * pressure / 800.0 * sqrt(over)
        gone = vented + self.consumer() * min(1.0, max(0.0, pressure) / 200.0)
        return [self.PER_KG * (come - gone)]

    def error(self) -> float:
        """Of the pressure, in 200 kPa."""
        return (self.wanted - self.state[0]) / 200.0

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        pressure = self.state[0]
        return {
            "pressure": pressure,
            "pressure_rate": self.rates(self.state)[0],
            "pressure_error": abs(self.wanted - pressure),
        }

    def observe(self) -> Sequence[float]:
        """See the class."""
        rate = self.rates(self.state)[0] / 20.0
        return (
            self.error(),
            self.integral,
            *self.inputs,
            self.state[0] / 800.0,
            rate,
            self.consumer() / 0.3,
        )

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """The gauge: full scale is 1000 kPa, the mark 800."""
        return (rising(2.6, self.state[0] / 1000.0),)


class Drum(Plant):
    """A boiler drum: steam that is drawn lowers the pressure, bubbles swell, the level rises first.

    State: water above the middle (kg), swell (m). A first-order lag of 8 s takes the swell to
    0.02 m per kg/s of steam above 10 kg/s. At 0.6 m from the middle the drum is full (the rest
    leaves with the steam) or empty (no steam). Input: feed water. Observed: level error (0.2 m),
    its integral, feed valve, steam (20 kg/s), level (0.2 m).
    """

    measures: ClassVar[tuple[Signal, ...]] = (DRUM_HIGH, DRUM_LOW, DRUM_ERROR)
    reset_time: ClassVar[float] = 60.0
    PER_KG: ClassVar[float] = 1.0 / 800.0
    HALF: ClassVar[float] = 0.6
    """m from the middle to the drum's top and bottom."""
    MOST: ClassVar[float] = 25.0

    @staticmethod
    def build(setting: Any) -> str:
        """A drum above its tubes, a gauge glass."""
        tubes = "".join(
            f'<geom class="look" type="capsule" size="0.06" fromto="{x} 0 0.2 {x} 0 2.1" '
            'material="orange"/>'
            for x in (-0.9, -0.6, -0.3, 0, 0.3, 0.6, 0.9)
        )
        world = (
            '<geom class="look" type="capsule" size="0.6" fromto="-1.1 0 2.6 1.1 0 2.6" '
            'material="metal"/>'
            + '<geom class="look" type="box" size="1.3 0.6 0.2" pos="0 0 0.2" material="hazard"/>'
            + tubes
            + pipe((0, 0, 3.2), (0, 0, 3.7), (4, 0, 3.7))
            + pipe((-4, 0, 2.6), (-1.6, 0, 2.6), material="blue")
            + valve("feed", -2.6, 2.6)
            + column(1, 2.4, colour="blue")
        )
        return plant_scene("boiler drum", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """At its middle, in balance."""
        self.steps_of_steam = [values["steam"], values["steam_step"], values["step_time"]]
        return [values["start_water"], 0.02 * (values["steam"] - 10.0)]

    def inputs_at_start(self) -> Sequence[float]:
        """About in balance."""
        return (0.4,)

    def limits(self, state: State) -> State:
        """Between empty and full."""
        most = self.HALF / self.PER_KG
        return [min(most, max(-most, state[0])), state[1]]

    def steam(self) -> float:
        """kg/s that leave the drum."""
        base, step, at = self.steps_of_steam
        return max(0.0, base + (step if self.clock >= at else 0.0) + self.push("steam_change"))

    def rates(self, state: State) -> State:
        """Mass balance, and the swell."""
        steam = self.steam()
        return [self.MOST * self.inputs[0] - steam, (0.02 * (steam - 10.0) - state[1]) / 8.0]

    def level(self) -> float:
        """From the middle, m."""
        return self.PER_KG * self.state[0] + self.state[1]

    def error(self) -> float:
        """In 0.2 m."""
        return -self.level() / 0.2

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        level = self.level()
        return {"drum_high": level, "drum_low": level, "drum_error": abs(level)}

    def observe(self) -> Sequence[float]:
        """See the class."""
        return self.error(), self.integral, self.inputs[0], self.steam() / 20.0, self.level() / 0.2

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """The gauge glass, half full in the middle."""
        return (rising(2.4, 0.5 + self.level()),)


class HotPump(Plant):
    """A pump draws hot water from a low tank: the faster, the less head is left at its inlet.

    What there is: (air less vapour pressure) over density and gravity, plus the level, less the
    suction pipe's loss. What it needs grows with the flow. Vapour pressure by Antoine's equation.
    Input: speed. State: level, pumped mass. Observed: margin less 1 m (2 m), its integral, speed,
    level (2 m), flow (20 kg/s), temperature (K - 345 over 15).
    """

    measures: ClassVar[tuple[Signal, ...]] = (SUCTION_MARGIN, LOWEST, DELIVERED)
    AREA: ClassVar[float] = 1.0
    MOST: ClassVar[float] = 20.0

    @staticmethod
    def build(setting: Any) -> str:
        """Tank, suction pipe, pump, riser."""
        world = (
            tank(1, -1.4, radius=0.56, height=2.5, mark=0.4, colour="0.75 0.35 0.25 0.9")
            + pipe((-0.9, 0, 0.2), (0.7, 0, 0.2), radius=0.1)
            + pump(0.9, 0.25)
            + pipe((1.1, 0, 0.25), (1.8, 0, 0.25), (1.8, 0, 3.4), (4, 0, 3.4))
            + pipe((-4, 0, 2.9), (-1.5, 0, 2.9), (-1.5, 0, 2.55), material="red")
            + column(2, 2.7, colour="blue")
        )
        return plant_scene("hot pump", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """Full enough, nothing pumped."""
        self.hot, self.inlet = values["temperature"], values["inflow"]
        return [values["start_level"], 0.0]

    def limits(self, state: State) -> State:
        """Nothing below the floor, nothing above the rim."""
        return [min(2.5, max(0.0, state[0])), state[1]]

    def flow(self, level: float) -> float:
        """kg/s that the pump draws."""
        return self.MOST * self.inputs[0] * min(1.0, level / 0.1)

    def vapour_pressure(self) -> float:
        """Of water, kPa (Antoine, 1 to 100 degC)."""
        celsius = self.hot + self.push("warmer") - 273.15
        return float(10.0 ** (8.07131 - 1730.63 / (233.426 + celsius))) * 0.133322

    def margin(self, level: float) -> float:
        """Head that there is less what the pump needs, m."""
        flow = self.flow(level)
        head = (AIR - self.vapour_pressure()) / GRAVITY + level
        return head - 0.012 * flow**2 - (2.0 + 0.018 * flow**2)

    def rates(self, state: State) -> State:
        """Mass balance; a cavitating pump gives less."""
        level = state[0]
        flow = self.flow(level) * (1.0 if self.margin(level) > 0.0 else 0.5)
        return [(self.inlet - flow) / (DENSITY * self.AREA), flow]

    def error(self) -> float:
        """Margin beyond 1 m, in 2 m."""
        return (self.margin(self.state[0]) - 1.0) / 2.0

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        level, delivered = self.state
        return {
            "suction_margin": self.margin(level),
            "lowest_level": level,
            "delivered": delivered,
        }

    def observe(self) -> Sequence[float]:
        """See the class."""
        hot = (self.hot + self.push("warmer") - 345.0) / 15.0
        return (
            self.error(),
            self.integral,
            self.inputs[0],
            self.state[0] / 2.0,
            self.flow(self.state[0]) / 20.0,
            hot,
        )

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """Level and the margin's gauge."""
        level = self.state[0]
        return (-1.4, 0.0, level), rising(2.7, self.margin(level) / 10.0)


class Neutraliser(Plant):
    """Acid water is neutralised with lye in a stirred tank.

    State: excess of base (mol/m^3), lye used (kg), effect of the lye after mixing (mol/s). The pH
    is 7 + asinh(excess / (2 s)) / ln 10, with s = 0.01 mol/m^3 in place of the 1e-4 of pure water:
    a titration curve that a weak buffer softens. Observed: curve position asinh(excess / 2 s) over
    10 with the sign of an error, its integral, lye valve, pH less 7 (5), inflow (10 kg/s), acid
    (20 mol/m^3).
    """

    measures: ClassVar[tuple[Signal, ...]] = (ACIDITY, ACIDITY_ERROR, REAGENT_USED)
    reset_time: ClassVar[float] = 60.0
    VOLUME: ClassVar[float] = 0.5
    SOFT: ClassVar[float] = 0.01
    STRENGTH: ClassVar[float] = 0.4
    """mol of base in a kg of lye."""
    MOST: ClassVar[float] = 0.6
    """kg/s of lye."""

    @staticmethod
    def build(setting: Any) -> str:
        """A stirred tank, acid from the left, lye from above."""
        world = (
            tank(1, 0.0, radius=0.6, height=2.0, colour="0.35 0.65 0.45 0.85")
            + '<geom class="look" type="cylinder" size="0.04 1" pos="0 0 1.4" material="metal"/>'
            '<geom class="look" type="box" size="0.3 0.05 0.05" pos="0 0 0.45" material="metal"/>'
            '<geom class="look" type="cylinder" size="0.18 0.22" pos="0 0 2.6" material="blue"/>'
            + tank(2, 2.4, radius=0.4, height=1.5, colour="0.47 0.33 0.68 0.9")
            + pipe((2.4, 0, 1.5), (2.4, 0, 2.5), (0.35, 0, 2.5), (0.35, 0, 2.0))
            + valve("lye", 1.4, 2.5)
            + pipe((-4, 0, 2.3), (-0.3, 0, 2.3), (-0.3, 0, 2.0), material="yellow")
            + pipe((-0.55, 0, 0.2), (-4, 0, 0.2))
            + column(3, -1.5, colour="purple")
        )
        return plant_scene("neutralisation", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """Already near neutral."""
        self.acid, self.feed = values["acid"], values["inflow"]
        return [values["start_excess"], 0.0, 0.0]

    def strength(self) -> float:
        """Of the acid that comes in, mol/m^3."""
        return self.acid + self.push("acid_change")

    def rates(self, state: State) -> State:
        """Balance of charge; the lye takes 3 s to mix in."""
        excess, _, mixed = state
        through = self.feed / DENSITY
        lye = self.MOST * self.inputs[0]
        give = lye * self.STRENGTH
        out = through + lye / DENSITY
        change = (mixed - through * self.strength() - out * excess) / self.VOLUME
        return [change, lye, (give - mixed) / 3.0]

    def curve(self) -> float:
        """asinh(excess / 2 s)."""
        return asinh(self.state[0] / (2.0 * self.SOFT))

    def acidity(self) -> float:
        """The pH of the tank."""
        return 7.0 + self.curve() / log(10.0)

    def error(self) -> float:
        """Positive where lye is lacking."""
        return -self.curve() / 10.0

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        acidity = self.acidity()
        return {"ph": acidity, "ph_error": abs(acidity - 7.0), "reagent_used": self.state[1]}

    def observe(self) -> Sequence[float]:
        """See the class."""
        return (
            self.error(),
            self.integral,
            self.inputs[0],
            (self.acidity() - 7.0) / 5.0,
            self.feed / 10.0,
            self.strength() / 20.0,
        )

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """Tank, lye, pH gauge."""
        left = 1.2 * exp(-self.state[1] / 100.0)
        return (0.0, 0.0, 1.5), (2.4, 0.0, left), rising(-1.5, self.acidity() / 14.0)
