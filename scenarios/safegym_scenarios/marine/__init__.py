"""Boats and underwater vehicles: names marine/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "marine/station-keeping-v0",
    "marine/quay-docking-v0",
    "marine/harbour-speed-zone-v0",
    "marine/crossing-traffic-v0",
    "marine/path-in-wind-v0",
    "marine/towing-v0",
    "marine/engine-loss-v0",
    "marine/compass-bias-v0",
    "marine/depth-keeping-v0",
    "marine/bottom-clearance-v0",
    "marine/pipeline-inspection-v0",
    "marine/buoyancy-leak-v0",
    "marine/rov-tether-v0",
    "marine/docking-cone-v0",
    "marine/head-seas-v0",
)
