"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.spacecraft import attitude, cabin, docking, lander, proximity

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "space/docking-v0": docking.in_cone,
        "space/docking-turning-v0": docking.turning,
        "space/docking-thruster-loss-v0": docking.weak_thruster,
        "space/docking-plume-v0": docking.plume,
        "space/fly-around-v0": proximity.fly_around,
        "space/berthing-hold-v0": proximity.hold,
        "space/inspection-v0": proximity.inspect,
        "space/abort-v0": proximity.abort,
        "space/slosh-v0": proximity.slosh,
        "space/lander-v0": lander.on_pad,
        "space/lander-divert-v0": lander.diverted,
        "space/lander-slope-v0": lander.on_slope,
        "space/station-robot-v0": cabin.past_crew,
        "space/slew-sun-v0": attitude.past_sun,
        "space/detumble-v0": attitude.tumbling,
        "space/slew-panels-v0": attitude.with_panels,
    }
)
