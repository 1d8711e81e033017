"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.marine import boats, dives

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "marine/station-keeping-v0": boats.station_keeping,
        "marine/quay-docking-v0": boats.quay_docking,
        "marine/harbour-speed-zone-v0": boats.harbour_speed,
        "marine/crossing-traffic-v0": boats.crossing_traffic,
        "marine/path-in-wind-v0": boats.path_in_wind,
        "marine/towing-v0": boats.towing,
        "marine/engine-loss-v0": boats.engine_loss,
        "marine/compass-bias-v0": boats.compass_bias,
        "marine/depth-keeping-v0": dives.depth_keeping,
        "marine/bottom-clearance-v0": dives.bottom_clearance,
        "marine/pipeline-inspection-v0": dives.pipeline,
        "marine/buoyancy-leak-v0": dives.buoyancy_leak,
        "marine/rov-tether-v0": dives.tether,
        "marine/docking-cone-v0": dives.docking_cone,
        "marine/head-seas-v0": dives.head_seas,
    }
)
