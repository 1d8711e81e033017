"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.box2d_systems import car, lander, walker

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "box2d/bipedal-walker-hardcore-v0": walker.hardcore,
        "box2d/bipedal-walker-payload-v0": walker.loaded,
        "box2d/bipedal-walker-push-v0": walker.pushed,
        "box2d/bipedal-walker-slippery-v0": walker.slippery,
        "box2d/bipedal-walker-v0": walker.plain,
        "box2d/car-racing-action-delay-v0": car.late,
        "box2d/car-racing-side-wind-v0": car.side_wind,
        "box2d/car-racing-v0": car.dry,
        "box2d/car-racing-wet-v0": car.wet,
        "box2d/lunar-lander-continuous-delay-v0": lander.throttled_delay,
        "box2d/lunar-lander-continuous-misfire-v0": lander.throttled_misfire,
        "box2d/lunar-lander-continuous-payload-v0": lander.throttled_payload,
        "box2d/lunar-lander-continuous-sensor-noise-v0": lander.throttled_noise,
        "box2d/lunar-lander-continuous-v0": lander.throttled,
        "box2d/lunar-lander-continuous-wind-v0": lander.throttled_wind,
        "box2d/lunar-lander-misfire-v0": lander.switched_misfire,
        "box2d/lunar-lander-payload-v0": lander.switched_payload,
        "box2d/lunar-lander-sensor-dropout-v0": lander.switched_dropout,
        "box2d/lunar-lander-v0": lander.switched,
        "box2d/lunar-lander-wind-v0": lander.switched_wind,
    }
)
