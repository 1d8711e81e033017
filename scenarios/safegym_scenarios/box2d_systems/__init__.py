"""Gymnasium's Box2D systems with hazards and claims: names box2d/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "box2d/bipedal-walker-hardcore-v0",
    "box2d/bipedal-walker-payload-v0",
    "box2d/bipedal-walker-push-v0",
    "box2d/bipedal-walker-slippery-v0",
    "box2d/bipedal-walker-v0",
    "box2d/car-racing-action-delay-v0",
    "box2d/car-racing-side-wind-v0",
    "box2d/car-racing-v0",
    "box2d/car-racing-wet-v0",
    "box2d/lunar-lander-continuous-delay-v0",
    "box2d/lunar-lander-continuous-misfire-v0",
    "box2d/lunar-lander-continuous-payload-v0",
    "box2d/lunar-lander-continuous-sensor-noise-v0",
    "box2d/lunar-lander-continuous-v0",
    "box2d/lunar-lander-continuous-wind-v0",
    "box2d/lunar-lander-misfire-v0",
    "box2d/lunar-lander-payload-v0",
    "box2d/lunar-lander-sensor-dropout-v0",
    "box2d/lunar-lander-v0",
    "box2d/lunar-lander-wind-v0",
)
