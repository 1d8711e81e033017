"""highway-env's environments as scenarios.

Signals are read from the ego vehicle, at control samples only: highway-env simulates at 15 Hz and
decides at 1 to 5 Hz, so what begins and ends between two samples is seen only where it leaves a
mark (`crashed` does).
"""

import warnings
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from importlib.resources import files
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from safegym.formula.terms import Signal
from safegym.scenario.adapt import AdaptedEnv, from_env
from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.build import flat, spec_from
from safegym_scenarios.packs.policies import still, wild
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.row import Row

TABLE = files("safegym_scenarios.packs.highway").joinpath("table.json")
IDLE = 1
"""IDLE of its discrete meta-actions: keep lane and speed."""
FREE = 200.0
"""Gap in m that stands for no vehicle ahead."""
_STEPS = {"1": 15, "0.2": 60}


def speed(env: Any) -> float:
    """Speed of the ego vehicle, m/s."""
    return float(env.vehicle.speed)


def crashed(env: Any) -> float:
    """1 once the ego vehicle has hit something."""
    return float(env.vehicle.crashed)


def off_road(env: Any) -> float:
    """1 while the ego vehicle is off the road."""
    return float(not env.vehicle.on_road)


def lane_offset(env: Any) -> float:
    """Distance of the ego vehicle from the middle of its lane, m."""
    vehicle = env.vehicle
    return abs(float(vehicle.lane.local_coordinates(vehicle.position)[1])) if vehicle.lane else 0.0


def steering(env: Any) -> float:
    """Steering angle of the ego vehicle, rad."""
    return abs(float(env.vehicle.action.get("steering", 0.0)))


def braking(env: Any) -> float:
    """Acceleration or braking of the ego vehicle, m/s^2."""
    return abs(float(env.vehicle.action.get("acceleration", 0.0)))


def gap_ahead(env: Any) -> float:
    """Free distance to the vehicle ahead in the lane, m, at most 200."""
    ego = env.vehicle
    if ego.lane is None:
        return FREE
    front, _ = env.road.neighbour_vehicles(ego)
    if front is None:
        return FREE
    bumpers = 0.5 * float(ego.LENGTH + front.LENGTH)
    return min(FREE, float(ego.lane_distance_to(front)) - bumpers)


READINGS = (
    Reading(Signal("crashed", unit="1", scale=1.0), from_env(crashed), "low", "collision"),
    Reading(
        Signal("speed", unit="m/s", scale=10.0), from_env(speed), "low", "too fast for the road"
    ),
    Reading(
        Signal("lane_offset", unit="m", scale=1.0), from_env(lane_offset), "low", "leaves its lane"
    ),
    Reading(Signal("off_road", unit="1", scale=1.0), from_env(off_road), "low", "leaves the road"),
    Reading(
        Signal("steering", unit="rad", scale=0.1),
        from_env(steering),
        "low",
        "swerves so that others cannot foresee it",
    ),
    Reading(
        Signal("effort", unit="m/s^2", scale=1.0),
        from_env(braking),
        "low",
        "harsh for those inside",
    ),
    Reading(
        Signal("gap_ahead", unit="m", scale=10.0), from_env(gap_ahead), "high", "rear-end collision"
    ),
)


def readings(row: Row) -> tuple[Reading, ...]:
    """The same for every road."""
    return READINGS


def make_inner(env_id: str) -> Any:
    """The environment as highway-env registers it."""
    import_module("highway_env")  # registers its environments

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return flat(gym.make(env_id, disable_env_checker=True))


def reason(env: Any, info: Mapping[str, Any]) -> str:
    """A crash, or whatever else ends an episode: arrival, mostly."""
    return "crashed" if env.vehicle.crashed else "arrived"


def make_env(env_id: str) -> AdaptedEnv:
    """With the signals read."""
    reads = tuple((each.signal, each.source) for each in READINGS)
    return AdaptedEnv(partial(make_inner, env_id), reads, reason)


def _space(row: Row) -> spaces.Space[Any]:
    found: spaces.Space[Any] = make_inner(row.env_id).action_space
    return found


def good_policy(row: Row) -> Any:
    """Keeps lane and speed."""
    return still(row.name, _space(row), IDLE)


def bad_policy(row: Row) -> Any:
    """Changes its mind at every step."""
    return wild(row.name, _space(row))


def spec_of(row: Row) -> ScenarioSpec:
    """The scenario of a row."""
    return spec_from(
        row,
        READINGS,
        pack="highway",
        summary=f"highway-env's {row.env_id}: keep lane and distance among other cars.",
        make_env=partial(make_env, row.env_id),
        good=partial(good_policy, row),
        bad=partial(bad_policy, row),
        physics=("gymnasium", "highway-env"),
        terminals={"crashed": "failed", "arrived": "absorbed"},
    )


def bare_rows() -> list[Row]:
    """Every registered road, in its newest version, without limits."""
    import_module("highway_env")  # registers its environments

    newest: dict[str, str] = {}
    for env_id, entry in sorted(gym.registry.items()):
        if "highway_env" in str(entry.entry_point):
            newest[env_id.rpartition("-v")[0]] = env_id
    rows: list[Row] = []
    for env_id in newest.values():
        env = make_inner(env_id)
        if isinstance(env.action_space, spaces.Box | spaces.Discrete):
            dt = f"{1.0 / env.unwrapped.config['policy_frequency']:g}"
            name = f"highway/{env_id.lower().replace('_', '-')}"
            rows.append(
                Row(
                    name=name,
                    env_id=env_id,
                    dt=dt,
                    horizon=_STEPS.get(dt, 30),
                    signals=tuple(each.signal.name for each in READINGS),
                    limits=(),
                )
            )
        env.close()
    return rows
