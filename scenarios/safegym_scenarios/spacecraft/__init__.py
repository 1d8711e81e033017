"""Spacecraft that meet and dock: names space/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "space/docking-v0",
    "space/docking-turning-v0",
    "space/docking-thruster-loss-v0",
    "space/docking-plume-v0",
    "space/fly-around-v0",
    "space/berthing-hold-v0",
    "space/inspection-v0",
    "space/abort-v0",
    "space/slosh-v0",
    "space/lander-v0",
    "space/lander-divert-v0",
    "space/lander-slope-v0",
    "space/station-robot-v0",
    "space/slew-sun-v0",
    "space/detumble-v0",
    "space/slew-panels-v0",
)
