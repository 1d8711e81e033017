"""A heated batch whose steps must come in order. Temperatures in K, powers in kW, masses in kg."""

from collections.abc import Sequence
from typing import Any, ClassVar

from safegym.formula.terms import Signal
from safegym_scenarios.process.environment import Plant, State
from safegym_scenarios.process.pictures import column, pipe, plant_scene, rising, tank, valve
from safegym_scenarios.process.tanks import DENSITY, LEVEL, orifice
from safegym_scenarios.process.thermal import BOILING, EVAPORATION, HEAT, TEMPERATURE, shade

DRY_POWER = Signal("dry_power", unit="kW", scale=5.0, hold="max")
"""Heating power while the element is not covered, kW."""
HOT_DRAIN = Signal("hot_drain", unit="kg/s", scale=0.5, hold="max")
"""What is drained while it is hotter than 330 K, kg/s."""
DRAINED = Signal("drained", unit="kg", scale=50.0)
"""What was drained after it had been hot, kg."""


class Batch(Plant):
    """Fill, heat, let cool, drain; doing it out of order boils dry or drains hot.

    Inputs: filling valve, heater, drain. State: level, temperature, drained mass. The plant
    computer latches `phase`: 0 to fill and heat, 1 once it was at 350 K. Observed: room to the full
    level (m), integral, three inputs, level (2 m), temperature (K - 330 over 20), phase.
    """

    measures: ClassVar[tuple[Signal, ...]] = (LEVEL, TEMPERATURE, DRY_POWER, HOT_DRAIN, DRAINED)
    travel: ClassVar[float] = 0.5
    AREA: ClassVar[float] = 0.3
    POWER: ClassVar[float] = 900.0
    COVERED: ClassVar[float] = 0.5
    HOT: ClassVar[float] = 330.0

    @staticmethod
    def build(setting: Any) -> str:
        """A vessel with an element, an inlet, a drain."""
        world = (
            tank(1, 0.0, radius=0.31, height=2.4, mark=0.5)
            + '<geom class="look" type="capsule" size="0.05" fromto="-0.2 0 0.3 0.2 0 0.3" '
            'material="hazard"/>'
            + pipe((-3, 0, 2.8), (-0.1, 0, 2.8), (-0.1, 0, 2.45))
            + valve("inlet", -1.3, 2.8)
            + pipe((0.3, 0, 0.15), (3, 0, 0.15))
            + valve("drain", 1.4, 0.15)
            + column(2, -1.3)
        )
        return plant_scene("batch", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """Nearly empty and cold."""
        self.phase = 0.0
        self.full, self.cooling = values["full_level"], values["cooling"]
        return [values["start_level"], values["start_temperature"], 0.0]

    def limits(self, state: State) -> State:
        """A film of water always stays, and nothing above the rim."""
        return [min(2.4, max(0.02, state[0])), *state[1:]]

    def rates(self, state: State) -> State:
        """Mass and energy balance; the coil works against the hall's 290 K; hotter water boils."""
        level, hot, _ = state
        held = DENSITY * self.AREA * level
        feed = 12.0 * self.inputs[0]
        out = orifice(0.004 * self.inputs[2], level - 0.02)
        heat = self.POWER * self.inputs[1] * min(1.0, level / self.COVERED)
        lost = self.cooling * (hot - 290.0) * min(1.0, level) * self.phase
        gain = heat - lost + feed * HEAT * (295.0 + self.push("feed_warmer") - hot)
        flow = out if self.phase else 0.0
        steam = max(0.0, gain) / EVAPORATION if hot >= BOILING else 0.0
        gain = min(0.0, gain) if hot >= BOILING else gain
        return [(feed - out - steam) / (DENSITY * self.AREA), gain / (HEAT * held), flow]

    def progress(self) -> None:
        """Latch that it was hot."""
        if self.state[1] >= 350.0:
            self.phase = 1.0
        super().progress()

    def error(self) -> float:
        """Room to the full level, m."""
        return self.full - self.state[0]

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        level, hot, drained = self.state
        out = orifice(0.004 * self.inputs[2], level - 0.02)
        return {
            "level": level,
            "temperature": hot,
            "dry_power": self.POWER * self.inputs[1] if level < self.COVERED else 0.0,
            "hot_drain": out if hot > self.HOT else 0.0,
            "drained": drained,
        }

    def observe(self) -> Sequence[float]:
        """See the class."""
        level, hot, _ = self.state
        return (
            self.error(),
            self.integral,
            *self.inputs,
            level / 2.0,
            (hot - 330.0) / 20.0,
            self.phase,
        )

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """Level and thermometer."""
        return (0.0, 0.0, self.state[0]), rising(-1.3, shade(self.state[1]))
