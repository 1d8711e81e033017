"""Gymnasium's classic control systems with hazards and claims: names classic/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "classic/acrobot-gusts-v0",
    "classic/acrobot-heavy-forearm-v0",
    "classic/acrobot-rough-motor-v0",
    "classic/acrobot-v0",
    "classic/acrobot-weak-motor-v0",
    "classic/cartpole-gusts-v0",
    "classic/cartpole-heavy-pole-v0",
    "classic/cartpole-long-pole-v0",
    "classic/cartpole-sensor-delay-v0",
    "classic/cartpole-sensor-noise-v0",
    "classic/cartpole-sticky-track-v0",
    "classic/cartpole-weak-motor-v0",
    "classic/mountain-car-continuous-sand-v0",
    "classic/mountain-car-continuous-sensor-delay-v0",
    "classic/mountain-car-continuous-v0",
    "classic/mountain-car-continuous-wind-v0",
    "classic/mountain-car-v0",
    "classic/mountain-car-weak-engine-v0",
    "classic/mountain-car-wind-v0",
    "classic/pendulum-dry-bearing-v0",
    "classic/pendulum-heavy-bob-v0",
    "classic/pendulum-sensor-delay-v0",
    "classic/pendulum-weak-motor-v0",
    "classic/pendulum-wind-v0",
)
