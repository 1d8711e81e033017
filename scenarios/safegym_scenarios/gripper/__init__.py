"""Grippers: names gripper/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "gripper/fragile-v0",
    "gripper/heavy-v0",
    "gripper/lift-and-place-v0",
    "gripper/push-slip-v0",
    "gripper/regrasp-v0",
    "gripper/slippery-v0",
    "gripper/soft-v0",
    "gripper/suction-v0",
    "gripper/tactile-dropout-v0",
    "gripper/three-finger-v0",
)
