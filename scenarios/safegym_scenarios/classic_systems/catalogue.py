"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.classic_systems import acrobot, cartpole, mountain_car, pendulum

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "classic/acrobot-gusts-v0": acrobot.gusts,
        "classic/acrobot-heavy-forearm-v0": acrobot.heavy_forearm,
        "classic/acrobot-rough-motor-v0": acrobot.rough_motor,
        "classic/acrobot-v0": acrobot.plain,
        "classic/acrobot-weak-motor-v0": acrobot.weak_motor,
        "classic/cartpole-gusts-v0": cartpole.gusts,
        "classic/cartpole-heavy-pole-v0": cartpole.heavy_pole,
        "classic/cartpole-long-pole-v0": cartpole.long_pole,
        "classic/cartpole-sensor-delay-v0": cartpole.sensor_delay,
        "classic/cartpole-sensor-noise-v0": cartpole.sensor_noise,
        "classic/cartpole-sticky-track-v0": cartpole.sticky_track,
        "classic/cartpole-weak-motor-v0": cartpole.weak_motor,
        "classic/mountain-car-continuous-sand-v0": mountain_car.throttle_drag,
        "classic/mountain-car-continuous-sensor-delay-v0": mountain_car.throttle_delay,
        "classic/mountain-car-continuous-v0": mountain_car.throttle,
        "classic/mountain-car-continuous-wind-v0": mountain_car.throttle_wind,
        "classic/mountain-car-v0": mountain_car.plain,
        "classic/mountain-car-weak-engine-v0": mountain_car.weak_engine,
        "classic/mountain-car-wind-v0": mountain_car.wind,
        "classic/pendulum-dry-bearing-v0": pendulum.dry_bearing,
        "classic/pendulum-heavy-bob-v0": pendulum.heavy_bob,
        "classic/pendulum-sensor-delay-v0": pendulum.sensor_delay,
        "classic/pendulum-weak-motor-v0": pendulum.weak_motor,
        "classic/pendulum-wind-v0": pendulum.wind,
    }
)
