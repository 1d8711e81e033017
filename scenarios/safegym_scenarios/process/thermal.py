"""Plants with heat: mixing, heating, an exothermic batch, a heated batch with interlocks.

Temperatures in K, powers in kW, masses in kg. Water: 4.18 kJ/(kg K). Energy balances over the
liquid, which is well mixed.
"""

from collections.abc import Sequence
from math import exp
from typing import Any, ClassVar

from safegym.formula.terms import Signal
from safegym_scenarios.process.environment import Plant, State
from safegym_scenarios.process.pictures import (
    column,
    pipe,
    plant_scene,
    rising,
    tank,
    valve,
)
from safegym_scenarios.process.tanks import DENSITY, HIGHEST, LEVEL, LEVEL_ERROR, RIM, orifice

HEAT = 4.18
"""Specific heat of water, kJ/(kg K)."""
BOILING = 373.15
"""K, of water in an open vessel."""
EVAPORATION = 2257.0
"""kJ that a kg of boiling water takes up as it becomes steam."""
TEMPERATURE = Signal("temperature", unit="K", scale=2.0, hold="max")
"""Largest temperature of the liquid over the control step, K."""
TEMPERATURE_ERROR = Signal("temperature_error", unit="K", scale=1.0)
"""How far the temperature is from its set point, K, without sign."""
ELEMENT = Signal("element_temperature", unit="K", scale=5.0, hold="max")
"""Temperature of the heating element, K."""
WARMING = Signal("warming_rate", unit="K/s", scale=0.1, hold="max")
"""How fast the liquid warms up, K/s."""

CONVERSION = Signal("conversion", unit="1", scale=0.05)
"""Share of the whole charge that has reacted."""
ACCUMULATED = Signal("accumulated", unit="kg", scale=5.0, hold="max")
"""What has been fed and has not reacted yet, kg."""


def shade(temperature: float, low: float = 280.0, high: float = 380.0) -> float:
    """Share of a thermometer's scale."""
    return (temperature - low) / (high - low)


class Mixer(Plant):
    """Hot and cold water are mixed; level and temperature are wanted.

    Inputs: hot and cold valve. State: level, temperature. Observed: level error (m), its integral,
    both valves, temperature error (20 K), level (2 m), set point of the temperature above the cold
    water's, as a share of the hot water's; demand.
    """

    measures: ClassVar[tuple[Signal, ...]] = (
        LEVEL,
        HIGHEST,
        TEMPERATURE,
        LEVEL_ERROR,
        TEMPERATURE_ERROR,
    )
    AREA: ClassVar[float] = 0.6
    OUTLET: ClassVar[float] = 0.003
    MOST: ClassVar[float] = 20.0

    @staticmethod
    def build(setting: Any) -> str:
        """One tank, two inlets, a thermometer."""
        world = (
            tank(1, 0.0, radius=0.44, mark=2.7)
            + pipe((-3.5, 0, 3.4), (-0.2, 0, 3.4), (-0.2, 0, 3.05), material="red")
            + pipe((3.5, 0, 3.4), (0.2, 0, 3.4), (0.2, 0, 3.05), material="blue")
            + valve("hot", -1.5, 3.4)
            + valve("cold", 1.5, 3.4)
            + pipe((0.4, 0, 0.2), (3, 0, 0.2))
            + column(2, -1.7)
        )
        return plant_scene("mixer", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """Level and temperature."""
        self.set_point, self.wanted = values["set_point"], values["wanted_temperature"]
        self.hot, self.cold = values["hot"], values["cold"]
        self.demand = values["demand"]
        return [values["start_level"], self.cold + 8.0]

    def inputs_at_start(self) -> Sequence[float]:
        """A trickle of both."""
        return 0.2, 0.2

    def limits(self, state: State) -> State:
        """A film of water always stays, and nothing above the rim."""
        return [min(RIM, max(0.01, state[0])), state[1]]

    def rates(self, state: State) -> State:
        """Mass and energy balance."""
        level, temperature = state
        hot, cold = (self.MOST * each for each in self.inputs)
        out = orifice(self.OUTLET * (self.demand + self.push("demand_change")), level)
        held = DENSITY * self.AREA * level
        gain = hot * (self.hot - temperature) + cold * (self.cold - temperature)
        return [(hot + cold - out) / (DENSITY * self.AREA), gain / held]

    def error(self) -> float:
        """Of the level, m."""
        return self.set_point - self.state[0]

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        level, temperature = self.state
        return {
            "level": level,
            "highest_level": level,
            "temperature": temperature,
            "level_error": abs(self.set_point - level),
            "temperature_error": abs(self.wanted - temperature),
        }

    def observe(self) -> Sequence[float]:
        """See the class."""
        level, temperature = self.state
        share = (self.wanted - self.cold) / (self.hot - self.cold)
        off = (self.wanted - temperature) / 20.0
        return self.error(), self.integral, *self.inputs, off, level / 2.0, share, self.demand

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """Level and thermometer."""
        return (0.0, 0.0, self.state[0]), rising(-1.7, shade(self.state[1]))

    def show(self) -> None:
        """And the stems."""
        super().show()
        for name, opening in zip(("hot", "cold"), self.inputs, strict=True):
            stem = self.model.body(name).mocapid[0]
            self.data.mocap_pos[stem, 2] = 3.55 + 0.15 * opening


class Heater(Plant):
    """An element warms a lined vessel of water; the element is hotter than the water.

    Water that boils gets no hotter: the steam condenses above it and runs back.

    Input: heating power. State: element, water (K). Observed: error of the water (50 K), its
    integral, power, element above the water (100 K), warming (1 K/s), water (K - 320 over 50).
    """

    measures: ClassVar[tuple[Signal, ...]] = (TEMPERATURE, ELEMENT, WARMING, TEMPERATURE_ERROR)
    reset_time: ClassVar[float] = 60.0
    POWER: ClassVar[float] = 400.0
    """kW."""
    PASSED: ClassVar[float] = 4.0
    """kW/K from the element to the water."""
    STORED: ClassVar[float] = 25.0
    """kJ/K of the element."""

    @staticmethod
    def build(setting: Any) -> str:
        """A vessel with an element below and two thermometers."""
        world = (
            tank(1, 0.0, radius=0.7, height=2.0)
            + "".join(
                f'<geom class="look" type="capsule" size="0.05" fromto="-0.5 {y} {z} 0.5 {y} {z}" '
                'material="hazard"/>'
                for y, z in ((-0.3, 0.25), (0, 0.35), (0.3, 0.25))
            )
            + column(2, -1.6, colour="red")
            + column(3, 1.6, colour="orange")
        )
        return plant_scene("heater", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """Everything as cold as the water."""
        self.wanted, self.mass = values["wanted_temperature"], values["mass"]
        self.loss = values["loss"]
        cold = values["start_temperature"]
        return [cold, cold]

    def rates(self, state: State) -> State:
        """Two energy balances; the hall has 290 K."""
        element, water = state
        passed = self.PASSED * (element - water)
        lost = self.loss * (water - 290.0 + self.push("draught"))
        gain = passed - lost if water < BOILING else min(0.0, passed - lost)
        return [
            (self.POWER * self.inputs[0] - passed) / self.STORED,
            gain / (HEAT * self.mass),
        ]

    def error(self) -> float:
        """Of the water, in 50 K."""
        return (self.wanted - self.state[1]) / 50.0

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        element, water = self.state
        return {
            "temperature": water,
            "element_temperature": element,
            "warming_rate": self.rates(self.state)[1],
            "temperature_error": abs(self.wanted - water),
        }

    def observe(self) -> Sequence[float]:
        """See the class."""
        element, water = self.state
        warming = self.rates(self.state)[1]
        above = (element - water) / 100.0
        return (
            self.error(),
            self.integral,
            self.inputs[0],
            above,
            warming,
            (water - 320.0) / 50.0,
        )

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """Vessel and thermometers."""
        element, water = self.state
        return (
            (0.0, 0.0, 1.5),
            rising(-1.6, shade(water)),
            rising(1.6, shade(element, high=500.0)),
        )


class Reactor(Plant):
    """A semi-batch reactor: what is fed reacts, the faster the hotter, and gives off heat.

    First order in what is there, with an Arrhenius rate; the jacket's cooling fails to a share at a
    drawn time. Inputs: feed and coolant. State: temperature, jacket (K), unreacted, reacted (kg).
    Observed: room below 360 K (20 K), its integral, feed and coolant, unreacted (50 kg), jacket
    below the liquid (50 K), share of the charge that is fed, warming (1 K/s).
    """

    measures: ClassVar[tuple[Signal, ...]] = (TEMPERATURE, ACCUMULATED, CONVERSION)
    CHARGE: ClassVar[float] = 200.0
    """kg that are to react."""
    FEED: ClassVar[float] = 2.0
    """kg/s at most."""
    SOLVENT: ClassVar[float] = 800.0
    RELEASED: ClassVar[float] = 1200.0
    """kJ/kg."""
    COLD: ClassVar[float] = 288.0

    @staticmethod
    def build(setting: Any) -> str:
        """A jacketed vessel, a feed tank, a thermometer."""
        world = (
            '<geom class="look" type="cylinder" size="0.95 0.9" pos="0 0 1" '
            'rgba="0.5 0.7 0.9 0.2"/>'
            + tank(1, 0.0, radius=0.8, height=2.4, colour="0.75 0.35 0.25 0.9")
            + '<geom class="look" type="cylinder" size="0.05 1.2" pos="0 0 1.9" material="metal"/>'
            '<geom class="look" type="box" size="0.4 0.06 0.06" pos="0 0 0.75" material="metal"/>'
            '<geom class="look" type="cylinder" size="0.2 0.25" pos="0 0 3.1" material="blue"/>'
            + tank(2, -2.5, radius=0.4, height=1.8, colour="0.93 0.75 0.2 0.9")
            + pipe((-2.1, 0, 0.2), (-1.6, 0, 0.2), (-1.6, 0, 2.7), (-0.4, 0, 2.7), (-0.4, 0, 2.4))
            + pipe((1, 0, 0.4), (3.5, 0, 0.4), material="blue")
            + pipe((1, 0, 1.7), (3.5, 0, 1.7), material="blue")
            + valve("coolant", 2.2, 0.4)
            + column(3, 1.6)
        )
        return plant_scene("reactor", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """Warm solvent, nothing fed."""
        self.speed = values["reaction_speed"]
        self.trouble = [values["cooling_loss_time"], values["cooling_left"]]
        warm = values["start_temperature"]
        return [warm, warm - 5.0, 0.0, 0.0]

    def inputs_at_start(self) -> Sequence[float]:
        """No feed, half cooling."""
        return 0.0, 0.5

    def cooling(self) -> float:
        """Share of the coolant that flows."""
        began, left = self.trouble
        return left if self.clock >= began else 1.0

    def rates(self, state: State) -> State:
        """Mass balance of what reacts, energy balances of liquid and jacket."""
        hot, jacket, there, done = state
        feed = self.FEED * self.inputs[0] if there + done < self.CHARGE else 0.0
        reacting = self.speed * exp(-6000.0 * (1.0 / hot - 1.0 / 340.0)) * there
        mass = self.SOLVENT + there + done
        given = 6.0 * (hot - jacket)
        gain = reacting * self.RELEASED - given + feed * HEAT * (295.0 - hot)
        flow = 6.0 * self.inputs[1] * self.cooling()
        warmer = given - flow * HEAT * (jacket - self.COLD - self.push("coolant_warmer"))
        return [gain / (HEAT * mass), warmer / (HEAT * 150.0), feed - reacting, reacting]

    def error(self) -> float:
        """Room below 360 K, in 20 K."""
        return (360.0 - self.state[0]) / 20.0

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        hot, _, there, done = self.state
        return {"temperature": hot, "accumulated": there, "conversion": done / self.CHARGE}

    def observe(self) -> Sequence[float]:
        """See the class."""
        hot, jacket, there, done = self.state
        fed = (there + done) / self.CHARGE
        warming = self.rates(self.state)[0]
        below = (hot - jacket) / 50.0
        return (
            self.error(),
            self.integral,
            *self.inputs,
            there / 50.0,
            below,
            fed,
            warming,
        )

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """Reactor, feed tank, thermometer."""
        hot, _, there, done = self.state
        left = 1.0 - (there + done) / self.CHARGE
        return (
            (0.0, 0.0, 1.3 + 0.4 * (1.0 - left)),
            (-2.5, 0.0, 1.5 * left),
            rising(1.6, shade(hot, 320.0, 380.0)),
        )
