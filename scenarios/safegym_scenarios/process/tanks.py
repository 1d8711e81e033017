"""Plants of tanks: what flows in less what flows out, by Torricelli's law through an orifice.

Levels in m, flows in kg/s, of water (1000 kg/m^3). Areas in m^2.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any, ClassVar

from safegym.formula.terms import Signal
from safegym_scenarios.process.environment import GRAVITY, Plant, State
from safegym_scenarios.process.pictures import pipe, plant_scene, pump, tank, valve

DENSITY = 1000.0
RIM = 3.0
"""Height of the tanks, m: what comes in beyond it runs over."""
LEVEL = Signal("level", unit="m", scale=0.2)
"""Level in the tank, m."""
HIGHEST = Signal("highest_level", unit="m", scale=0.2, hold="max")
"""Largest level over the control step, m."""
LOWEST = Signal("lowest_level", unit="m", scale=0.2, hold="min")
"""Smallest level over the control step, m."""
LEVEL_ERROR = Signal("level_error", unit="m", scale=0.1)
"""How far the level is from its set point, m, without sign."""
FIRST_LEVEL = Signal("first_level", unit="m", scale=0.2, hold="max")
"""Level in the first of two tanks, m."""
OVERSHOOT = Signal("overshoot", unit="m", scale=0.1, hold="max")
"""How far the level is above its set point, m; negative below."""
SENSOR_ERROR = Signal("sensor_error", unit="m", scale=0.2)
"""What a sensor says less the level, m."""
OUTFLOW = Signal("outflow", unit="kg/s", scale=2.0)
"""What leaves the tank, kg/s."""
FLOW_CHANGE = Signal("flow_change", unit="kg/s^2", scale=0.2)
"""Change of the outflow over a control step, per s, kg/s^2, without sign."""
VALVE_TRAVEL = Signal("valve_travel", unit="1", scale=0.5)
"""Way that the valve has gone so far, in strokes from shut to open."""


def orifice(area: float, level: float) -> float:
    """Flow in kg/s out of a hole of `area` m^2 under `level` m of water (Torricelli)."""
    return DENSITY * area * sqrt(2.0 * GRAVITY * level) if level > 0.0 else 0.0


class Tank(Plant):
    """One tank, a valve at the inlet, an orifice at the outlet.

    Parameters: set_point, start_level (m), demand (share of the outlet that is open). Observed:
    error (m), its integral, valve, level and set point (2 m).
    """

    measures: ClassVar[tuple[Signal, ...]] = (LEVEL, HIGHEST, LOWEST, LEVEL_ERROR, OUTFLOW)
    AREA: ClassVar[float] = 1.0
    OUTLET: ClassVar[float] = 0.003
    MOST: ClassVar[float] = 30.0
    """kg/s through the open valve."""

    @staticmethod
    def build(setting: Any) -> str:
        """A tank between two pipes."""
        world = (
            tank(1, 0.0, radius=0.56, mark=2.7)
            + pipe((-3.5, 0, 3.4), (-0.3, 0, 3.4), (-0.3, 0, 3.05))
            + valve("valve", -1.6, 3.4)
            + pipe((0.5, 0, 0.2), (3.0, 0, 0.2))
            + valve("outlet", 1.6, 0.2)
        )
        return plant_scene("tank", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """The level."""
        self.set_point = values["set_point"]
        self.demand = values["demand"]
        return [values["start_level"]]

    def inputs_at_start(self) -> Sequence[float]:
        """Half open."""
        return (0.5,)

    def limits(self, state: State) -> State:
        """Nothing below the floor, nothing above the rim."""
        return [min(RIM, max(0.0, state[0])), *state[1:]]

    def inflow(self) -> float:
        """kg/s."""
        return self.MOST * self.inputs[0]

    def outflow(self, level: float) -> float:
        """kg/s."""
        open_share = min(1.5, max(0.0, self.demand + self.push("demand_change")))
        return orifice(self.OUTLET * open_share, level)

    def rates(self, state: State) -> State:
        """Mass balance."""
        return [(self.inflow() - self.outflow(state[0])) / (DENSITY * self.AREA)]

    def error(self) -> float:
        """Set point less level, m."""
        return self.set_point - self.state[0]

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        level = self.state[0]
        return {
            "level": level,
            "highest_level": level,
            "lowest_level": level,
            "level_error": abs(self.set_point - level),
            "outflow": self.outflow(level),
        }

    def observe(self) -> Sequence[float]:
        """See the class."""
        return (
            self.error(),
            self.integral,
            self.inputs[0],
            self.state[0] / 2.0,
            self.set_point / 2.0,
        )

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """The level."""
        return ((0.0, 0.0, self.state[0]),)

    def show(self) -> None:
        """Level and valve stem."""
        super().show()
        stem = self.model.body("valve").mocapid[0]
        self.data.mocap_pos[stem, 2] = 3.55 + 0.15 * self.inputs[0]


class StickyTank(Tank):
    """The inlet valve sticks: it moves only when it is asked for more than `stiction` of a stroke.

    Observed beyond `Tank`: what the valve was asked for.
    """

    measures: ClassVar[tuple[Signal, ...]] = (LEVEL, LEVEL_ERROR, VALVE_TRAVEL)

    def begin(self, values: dict[str, float]) -> State:
        """And the stiction."""
        self.stiction = values["stiction"]
        self.moved = 0.0
        return super().begin(values)

    def tick(self) -> None:
        """The stem stays where it is, or slips all the way to what is asked."""
        at, to = self.inputs[0], self.asked[0]
        slipped = to if abs(to - at) > self.stiction else at
        self.moved += abs(slipped - at)
        self.inputs[0] = self.asked[0] = slipped
        super().tick()
        self.asked[0] = to

    def gauges(self) -> dict[str, float]:
        """And the valve's travel."""
        return {**super().gauges(), "valve_travel": self.moved}

    def observe(self) -> Sequence[float]:
        """See the class."""
        return (*super().observe(), self.asked[0])


class DriftingTank(Tank):
    """Two level sensors: one that drifts by `drift` m/s, one that is right but noisy.

    Error and integral come from the one that drifts. Observed beyond `Tank`: the noisy one (2 m).
    """

    measures: ClassVar[tuple[Signal, ...]] = (*Tank.measures, SENSOR_ERROR)

    def gauges(self) -> dict[str, float]:
        """And how far off the drifting sensor is."""
        return {**super().gauges(), "sensor_error": self.drift * self.clock}

    def begin(self, values: dict[str, float]) -> State:
        """And the drift."""
        self.drift = values["drift"]
        self.ripple = values["ripple"]
        return super().begin(values)

    def measured(self) -> float:
        """What the drifting sensor says, m."""
        return self.state[0] + self.drift * self.clock

    def error(self) -> float:
        """By the sensor that drifts."""
        return self.set_point - self.measured()

    def observe(self) -> Sequence[float]:
        """See the class."""
        noise = self.ripple * float(self.np_random.standard_normal())
        error, integral, position, _, wanted = super().observe()
        return error, integral, position, self.measured() / 2.0, wanted, (self.state[0] + noise) / 2


class SurgeTank(Tank):
    """The inflow surges at a drawn time; the valve is at the outlet.

    Observed: error (m), its integral, valve, level (2 m), inflow and outflow (20 kg/s).
    """

    measures: ClassVar[tuple[Signal, ...]] = (HIGHEST, LOWEST, LEVEL_ERROR, OUTFLOW)
    told: ClassVar[tuple[Signal, ...]] = (FLOW_CHANGE,)
    travel: ClassVar[float] = 0.1

    def begin(self, values: dict[str, float]) -> State:
        """The surge to come."""
        self.surge = [values["surge_time"], values["surge"], values["surge_length"]]
        self.base = values["base_flow"]
        self.set_point, self.demand = 1.4, 1.0
        self.last: float = self.base
        self.change: float = 0.0
        return [values["start_level"]]

    def inflow(self) -> float:
        """kg/s."""
        began, more, lasts = self.surge
        raining = began <= self.clock < began + lasts
        return max(0.0, self.base + (more if raining else 0.0) + self.push("inflow_change"))

    def outflow(self, level: float) -> float:
        """kg/s: a pump behind the valve, which an empty tank gives nothing."""
        return self.MOST * self.inputs[0] if level > 0.01 else 0.0

    def progress(self) -> None:
        """And note how the outflow changed."""
        super().progress()
        now = self.outflow(self.state[0])
        self.change, self.last = abs(now - self.last) / self.setting.dt, now

    def task_signals(self) -> tuple[float, ...]:
        """The change of the outflow."""
        return (self.change,)

    def place(self, values: dict[str, float]) -> None:
        """The valve passes on what comes in; nothing changes yet."""
        super().place(values)
        self.inputs[0] = self.asked[0] = self.base / self.MOST
        self.last, self.change = self.base, 0.0

    def observe(self) -> Sequence[float]:
        """See the class."""
        level = self.state[0]
        return (
            self.error(),
            self.integral,
            self.inputs[0],
            level / 2.0,
            self.inflow() / 20.0,
            self.outflow(level) / 20.0,
        )


class TwoTanks(Plant):
    """A pump fills the first tank, which runs into the second; the second's level is wanted.

    Observed: error of the second (m), its integral, pump, levels one and two (2 m), set point.
    """

    measures: ClassVar[tuple[Signal, ...]] = (LEVEL, FIRST_LEVEL, OVERSHOOT, LEVEL_ERROR)
    reset_time: ClassVar[float] = 60.0
    AREA: ClassVar[float] = 0.6
    BETWEEN: ClassVar[float] = 0.004
    OUTLET: ClassVar[float] = 0.003
    MOST: ClassVar[float] = 35.0

    @staticmethod
    def build(setting: Any) -> str:
        """Two tanks side by side."""
        world = (
            tank(1, -1.3, radius=0.44, mark=2.8)
            + tank(2, 1.3, radius=0.44)
            + pipe((-0.9, 0, 0.2), (0.9, 0, 0.2))
            + pipe((1.7, 0, 0.2), (3.4, 0, 0.2))
            + pipe((-3.6, 0, 0.3), (-3, 0, 0.3), (-3, 0, 3.3), (-1.5, 0, 3.3), (-1.5, 0, 3.05))
            + pump(-3.0, 0.3)
            + valve("valve", 2.6, 0.2)
        )
        return plant_scene("two tanks", setting, world)

    def begin(self, values: dict[str, float]) -> State:
        """Both levels."""
        self.set_point, self.demand = values["set_point"], values["demand"]
        return [values["start_level"] + 0.3, values["start_level"]]

    def inputs_at_start(self) -> Sequence[float]:
        """Half speed."""
        return (0.5,)

    def limits(self, state: State) -> State:
        """Nothing below the floor, nothing above the rim."""
        return [min(RIM, max(0.0, level)) for level in state]

    def rates(self, state: State) -> State:
        """Mass balances; water runs from the higher level to the lower."""
        one, two = state
        over = orifice(self.BETWEEN, one - two) - orifice(self.BETWEEN, two - one)
        out = orifice(self.OUTLET * (self.demand + self.push("demand_change")), two)
        scale = DENSITY * self.AREA
        return [(self.MOST * self.inputs[0] - over) / scale, (over - out) / scale]

    def error(self) -> float:
        """Of the second level, m."""
        return self.set_point - self.state[1]

    def gauges(self) -> dict[str, float]:
        """See `measures`."""
        one, two = self.state
        return {
            "level": two,
            "first_level": one,
            "overshoot": two - self.set_point,
            "level_error": abs(self.set_point - two),
        }

    def observe(self) -> Sequence[float]:
        """See the class."""
        one, two = self.state
        return self.error(), self.integral, self.inputs[0], one / 2, two / 2, self.set_point / 2

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """Both."""
        one, two = self.state
        return (-1.3, 0.0, one), (1.3, 0.0, two)
