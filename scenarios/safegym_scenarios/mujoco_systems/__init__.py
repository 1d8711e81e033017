"""Gymnasium's MuJoCo systems with hazards and claims: names mujoco/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

OF_MODULE: dict[str, tuple[str, ...]] = {
    "ant": (
        "ant-stand",
        "ant-stand-lame-leg",
        "ant-stand-payload",
        "ant-stand-pushed",
        "ant-stand-slippery-floor",
    ),
    "cheetah": (
        "half-cheetah",
        "half-cheetah-headwind",
        "half-cheetah-payload",
        "half-cheetah-pushed",
        "half-cheetah-slippery-floor",
        "half-cheetah-uphill",
        "half-cheetah-weak-thigh",
    ),
    "double_pendulum": (
        "inverted-double-pendulum",
        "inverted-double-pendulum-loaded",
        "inverted-double-pendulum-pushed",
        "inverted-double-pendulum-sticking-rail",
        "inverted-double-pendulum-weak-drive",
    ),
    "hopper": (
        "hopper-stand",
        "hopper-stand-payload",
        "hopper-stand-pushed",
        "hopper-stand-slippery-floor",
    ),
    "humanoid": (
        "humanoid-brace",
        "humanoid-brace-payload",
        "humanoid-brace-pushed",
        "humanoid-brace-weak-knee",
    ),
    "pendulum": (
        "inverted-pendulum",
        "inverted-pendulum-late-sensor",
        "inverted-pendulum-loaded",
        "inverted-pendulum-pushed",
        "inverted-pendulum-sloping-rail",
        "inverted-pendulum-sticking-rail",
    ),
    "pusher": (
        "pusher",
        "pusher-weak-arm",
        "pusher-late-sensor",
        "pusher-sticking-joints",
    ),
    "reacher": (
        "reacher",
        "reacher-late-sensor",
        "reacher-sticking-joints",
        "reacher-weak-elbow",
    ),
    "sit_up": (
        "humanoid-sit-up",
        "humanoid-sit-up-payload",
        "humanoid-sit-up-weak-abdomen",
    ),
    "swimmer": (
        "swimmer",
        "swimmer-current",
        "swimmer-thick-medium",
        "swimmer-weak-joint",
    ),
    "walker": (
        "walker-stand",
        "walker-stand-payload",
        "walker-stand-pushed",
        "walker-stand-slippery-floor",
    ),
}
"""Module of this package -> the scenarios that it builds, without family and version."""

NAMES: tuple[str, ...] = tuple(
    sorted(f"mujoco/{name}-v0" for names in OF_MODULE.values() for name in names)
)
