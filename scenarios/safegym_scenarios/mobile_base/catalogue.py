"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.mobile_base import aisles, loads, rooms

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "mobile/aisle-v0": aisles.aisle,
        "mobile/crossing-people-v0": aisles.crossing_people,
        "mobile/muted-zone-v0": aisles.muted_zone,
        "mobile/scanner-dropout-v0": aisles.scanner_dropout,
        "mobile/omni-crossing-v0": aisles.omni_crossing,
        "mobile/tug-aisle-v0": aisles.tug_aisle,
        "mobile/doorway-v0": rooms.doorway,
        "mobile/odometry-drift-v0": rooms.odometry,
        "mobile/oncoming-robot-v0": rooms.oncoming,
        "mobile/elevator-v0": rooms.elevator,
        "mobile/dock-approach-v0": rooms.dock,
        "mobile/omni-dock-v0": rooms.omni_dock,
        "mobile/tug-pallet-v0": rooms.pallet,
        "mobile/ramp-v0": rooms.ramp,
        "mobile/stairs-edge-v0": rooms.stairs,
        "mobile/follow-person-v0": rooms.follow,
        "mobile/tall-load-v0": loads.tall_load,
        "mobile/loaded-stop-v0": loads.emergency_stop,
        "mobile/wet-floor-v0": loads.wet_floor,
        "mobile/motor-loss-v0": loads.motor_loss,
    }
)
