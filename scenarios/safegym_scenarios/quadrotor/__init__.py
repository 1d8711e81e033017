"""Quadrotors: names drone/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "drone/pillars-v0",
    "drone/gap-v0",
    "drone/window-v0",
    "drone/power-line-v0",
    "drone/shaft-v0",
    "drone/slalom-v0",
    "drone/girder-v0",
    "drone/trees-v0",
    "drone/wall-inspection-v0",
    "drone/pipe-inspection-v0",
    "drone/geofence-v0",
    "drone/ceiling-v0",
    "drone/low-pass-v0",
    "drone/range-dropout-v0",
    "drone/position-bias-v0",
    "drone/follow-v0",
    "drone/people-v0",
    "drone/hover-gusts-v0",
    "drone/hover-motor-loss-v0",
    "drone/hexarotor-out-v0",
    "drone/slung-load-v0",
    "drone/heavy-load-v0",
    "drone/load-drop-v0",
    "drone/landing-v0",
    "drone/landing-moving-v0",
    "drone/landing-deck-v0",
)
