"""Mobile bases: names mobile/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "mobile/aisle-v0",
    "mobile/crossing-people-v0",
    "mobile/muted-zone-v0",
    "mobile/scanner-dropout-v0",
    "mobile/omni-crossing-v0",
    "mobile/tug-aisle-v0",
    "mobile/doorway-v0",
    "mobile/odometry-drift-v0",
    "mobile/oncoming-robot-v0",
    "mobile/elevator-v0",
    "mobile/dock-approach-v0",
    "mobile/omni-dock-v0",
    "mobile/tug-pallet-v0",
    "mobile/ramp-v0",
    "mobile/stairs-edge-v0",
    "mobile/follow-person-v0",
    "mobile/tall-load-v0",
    "mobile/loaded-stop-v0",
    "mobile/wet-floor-v0",
    "mobile/motor-loss-v0",
)
