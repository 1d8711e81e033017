"""Road vehicles: names vehicle/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "vehicle/lane-straight-v0",
    "vehicle/lane-curve-v0",
    "vehicle/lane-crosswind-v0",
    "vehicle/lane-worn-road-v0",
    "vehicle/lane-camera-dropout-v0",
    "vehicle/lane-steering-lag-v0",
    "vehicle/lane-steering-loss-v0",
    "vehicle/lane-change-v0",
    "vehicle/cruise-steady-v0",
    "vehicle/cruise-cut-in-v0",
    "vehicle/cruise-stop-and-go-v0",
    "vehicle/cruise-sensor-delay-v0",
    "vehicle/cruise-wet-v0",
    "vehicle/cruise-truck-v0",
    "vehicle/brake-standing-car-v0",
    "vehicle/brake-black-ice-v0",
    "vehicle/brake-loss-v0",
    "vehicle/brake-pedestrian-v0",
    "vehicle/overtaking-oncoming-v0",
    "vehicle/intersection-right-of-way-v0",
    "vehicle/roundabout-merge-v0",
    "vehicle/parking-perpendicular-v0",
    "vehicle/parking-parallel-v0",
    "vehicle/trailer-wet-bend-v0",
    "vehicle/trailer-backing-v0",
    "vehicle/hill-start-v0",
    "vehicle/hill-descent-v0",
)
