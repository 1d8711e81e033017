"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.process import heat, levels, pressures

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "process/single-tank-v0": levels.single_tank,
        "process/coupled-tanks-v0": levels.coupled_tanks,
        "process/inflow-surge-v0": levels.inflow_surge,
        "process/valve-stiction-v0": levels.valve_stiction,
        "process/sensor-drift-v0": levels.sensor_drift,
        "process/mixing-v0": heat.mixing,
        "process/heating-v0": heat.heating,
        "process/batch-reactor-v0": heat.batch_reactor,
        "process/batch-interlock-v0": heat.interlock,
        "process/pressure-vessel-v0": pressures.pressure_vessel,
        "process/boiler-drum-v0": pressures.boiler_drum,
        "process/pump-cavitation-v0": pressures.pump_cavitation,
        "process/neutralisation-v0": pressures.neutralisation,
    }
)
