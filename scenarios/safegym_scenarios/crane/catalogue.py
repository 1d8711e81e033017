"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.crane import variants, workplaces

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "crane/gantry-transfer-v0": variants.gantry_transfer,
        "crane/wind-v0": variants.wind,
        "crane/unknown-payload-v0": variants.unknown_payload,
        "crane/double-pendulum-v0": variants.double_pendulum,
        "crane/tower-slew-v0": variants.tower_slew,
        "crane/luffing-v0": variants.luffing,
        "crane/sway-sensor-dropout-v0": variants.sway_dropout,
        "crane/hoist-over-stack-v0": workplaces.hoist_over,
        "crane/people-below-v0": workplaces.people_below,
        "crane/overload-stop-v0": workplaces.overload_stop,
        "crane/snagged-load-v0": workplaces.snagged_load,
        "crane/emergency-stop-v0": workplaces.emergency_stop,
        "crane/trolley-brake-loss-v0": workplaces.brake_loss,
        "crane/ship-to-shore-v0": workplaces.ship_to_shore,
        "crane/soft-landing-v0": workplaces.soft_landing,
    }
)
