"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.vehicle import (
    crossing,
    cruise,
    hills,
    lane_keeping,
    manoeuvres,
    parking,
    trailer,
)

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "vehicle/lane-straight-v0": lane_keeping.straight,
        "vehicle/lane-curve-v0": lane_keeping.curve,
        "vehicle/lane-crosswind-v0": lane_keeping.crosswind,
        "vehicle/lane-worn-road-v0": lane_keeping.worn_road,
        "vehicle/lane-camera-dropout-v0": lane_keeping.camera_dropout,
        "vehicle/lane-steering-lag-v0": lane_keeping.steering_lag,
        "vehicle/lane-steering-loss-v0": lane_keeping.steering_loss,
        "vehicle/cruise-steady-v0": cruise.steady,
        "vehicle/cruise-cut-in-v0": cruise.cut_in,
        "vehicle/cruise-stop-and-go-v0": cruise.stop_and_go,
        "vehicle/cruise-sensor-delay-v0": cruise.sensor_delay,
        "vehicle/cruise-wet-v0": cruise.wet,
        "vehicle/cruise-truck-v0": cruise.truck,
        "vehicle/brake-standing-car-v0": crossing.standing_car,
        "vehicle/brake-black-ice-v0": crossing.black_ice,
        "vehicle/brake-loss-v0": crossing.brake_fade,
        "vehicle/brake-pedestrian-v0": crossing.pedestrian,
        "vehicle/lane-change-v0": manoeuvres.lane_change,
        "vehicle/overtaking-oncoming-v0": manoeuvres.overtaking,
        "vehicle/intersection-right-of-way-v0": manoeuvres.intersection,
        "vehicle/roundabout-merge-v0": manoeuvres.roundabout,
        "vehicle/parking-perpendicular-v0": parking.perpendicular,
        "vehicle/parking-parallel-v0": parking.parallel,
        "vehicle/trailer-wet-bend-v0": trailer.bend,
        "vehicle/trailer-backing-v0": trailer.backing,
        "vehicle/hill-start-v0": hills.start,
        "vehicle/hill-descent-v0": hills.descent,
    }
)
