"""Arms of two to seven joints: names arm/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "arm/conveyor-pick-v0",
    "arm/elbow-room-v0",
    "arm/emergency-stop-v0",
    "arm/encoder-bias-v0",
    "arm/handover-v0",
    "arm/human-separation-v0",
    "arm/joint-limits-v0",
    "arm/moving-obstacle-v0",
    "arm/payload-unknown-v0",
    "arm/peg-insertion-v0",
    "arm/planar-reach-v0",
    "arm/planar-wall-v0",
    "arm/reach-blocks-v0",
    "arm/scara-pick-v0",
    "arm/soft-contact-v0",
    "arm/stacked-boxes-v0",
    "arm/stiff-contact-v0",
    "arm/warehouse-pick-v0",
    "arm/weak-drive-v0",
    "arm/wipe-v0",
)
