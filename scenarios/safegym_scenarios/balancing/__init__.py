"""Balancing robots: names balance/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "balance/two-wheel-stand-v0",
    "balance/two-wheel-goal-v0",
    "balance/two-wheel-payload-v0",
    "balance/two-wheel-ramp-v0",
    "balance/two-wheel-push-v0",
    "balance/two-wheel-ice-v0",
    "balance/two-wheel-weak-motor-v0",
    "balance/two-wheel-imu-bias-v0",
    "balance/two-wheel-late-sensor-v0",
    "balance/two-wheel-bump-v0",
    "balance/cart-pole-v0",
    "balance/cart-load-v0",
    "balance/cart-two-poles-v0",
    "balance/cart-double-pole-v0",
    "balance/cart-slope-v0",
    "balance/ball-beam-v0",
    "balance/ball-plate-v0",
    "balance/ball-plate-circle-v0",
    "balance/ball-plate-hole-v0",
    "balance/furuta-stand-v0",
    "balance/furuta-turn-v0",
    "balance/flywheel-pole-v0",
    "balance/cube-edge-v0",
    "balance/cube-corner-v0",
    "balance/deck-pole-v0",
    "balance/board-v0",
    "balance/ballbot-goal-v0",
    "balance/ballbot-tray-v0",
    "balance/ballbot-push-v0",
    "balance/unicycle-v0",
)
