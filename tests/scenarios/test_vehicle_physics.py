"""The vehicle family against textbook answers: stopping distance, steady turns, slopes, paths."""

from math import cos, hypot, sin

import numpy as np
import pytest
from safegym_scenarios.vehicle import NAMES
from safegym_scenarios.vehicle.catalogue import SCENARIOS
from safegym_scenarios.vehicle.path import Path
from safegym_scenarios.vehicle.tyres import GRAVITY, Car, wheels

from safegym.scenario.fingerprint import source_files


def driven(name, action, steps, seed=0, **parameters):
    env = SCENARIOS[name]().make_env()
    env.reset(seed=seed, options={"parameters": parameters})
    for _ in range(steps):
        env.step(np.asarray(action, float))
    return env


def test_names_and_catalogue_agree():
    assert len(NAMES) == len(set(NAMES)) >= 17
    assert set(NAMES) == set(SCENARIOS)


def test_a_path_agrees_with_summing_small_steps():
    path = Path(((10.0, 0.0), (20.0, 0.05), (15.0, -0.1)), x=1.0, y=-2.0, heading=0.3)
    x, y, heading, step = 1.0, -2.0, 0.3, 1e-3
    for k in range(45_000):
        curvature = 0.0 if k < 10_000 else 0.05 if k < 30_000 else -0.1
        middle = heading + 0.5 * curvature * step
        x, y, heading = x + step * cos(middle), y + step * sin(middle), heading + curvature * step
    end = path.at(45.0)
    assert (end.x, end.y, end.heading) == pytest.approx((x, y, heading), abs=1e-6)
    along, left, _ = path.nearest(x - sin(heading) * 0.7, y + cos(heading) * 0.7, 43.0)
    assert (along, left) == pytest.approx((45.0, 0.7), abs=1e-3)


@pytest.mark.parametrize("grip", [0.85, 1.0])
def test_full_braking_takes_the_distance_of_v_squared_over_twice_the_deceleration(grip):
    env = driven("vehicle/lane-straight-v0", (0.0, -1.0), 1, start_speed=24.0, grip=grip)
    speeds, places = [], []
    while env.forward > 0.5:
        env.step(np.array([0.0, -1.0]))
        speeds.append(env.forward)
        places.append(float(env.data.qpos[0]))
    a = min(9.0, grip * GRAVITY)
    slow = next(k for k, v in enumerate(speeds) if v < 20.0)
    covered = places[-1] - places[slow]
    expected = (speeds[slow] ** 2 - speeds[-1] ** 2) / (2.0 * a)
    assert covered == pytest.approx(expected, rel=0.03)


def test_a_steady_turn_follows_the_understeer_gradient():
    car = Car()
    env = driven(
        "vehicle/lane-straight-v0", (0.05, 0.0), 1, start_speed=22.0, start_heading=0.0, grip=1.0
    )
    for _ in range(25):
        env.step(np.array([0.05, 0.02]))
    speed, angle = env.forward, env.angle
    base = car.wheelbase
    gradient = car.mass / base * (car.rear / car.front_stiffness - car.front / car.rear_stiffness)
    assert env.turning == pytest.approx(speed * angle / (base + gradient * speed**2), rel=0.05)


def test_tyres_never_give_more_than_friction():
    car, random = Car(), np.random.default_rng(0)
    for _ in range(500):
        v, u, r, angle, pull = random.uniform(-1, 1, 5) * (30, 10, 2, 0.6, 20_000)
        found = wheels(car, v, u, r, angle, pull, 0.5)
        most = car.mass * GRAVITY * 0.5
        assert hypot(found.along, found.across) <= 1.2 * most
        assert abs(wheels(car, v, u, r, 0.0, 0.0, 0.5).across) <= most + 1e-6


def test_a_parked_car_turns_about_its_rear_axle_on_the_radius_of_its_wheel_angle():
    env = driven("vehicle/parking-perpendicular-v0", (0.6, 0.15), 30, grip=1.0)
    yaw, x, y = (float(env.data.qpos[k]) for k in (2, 0, 1))
    for _ in range(10):
        env.step(np.array([0.6, 0.05]))
    turned = float(env.data.qpos[2]) - yaw
    moved = hypot(float(env.data.qpos[0]) - x, float(env.data.qpos[1]) - y)
    rear = Car().wheelbase / np.tan(env.angle)
    middle = hypot(rear, Car().rear)
    assert moved / (2.0 * sin(turned / 2.0)) == pytest.approx(middle, rel=0.05)


def test_a_car_without_brakes_rolls_down_the_slope_it_stands_on():
    env = driven("vehicle/hill-start-v0", (0.0, 0.0), 20, slope=0.12)
    assert env.along == pytest.approx(-0.5 * GRAVITY * sin(0.12) * 2.0**2, rel=0.03)


def test_brakes_hold_on_the_steepest_slope():
    env = driven("vehicle/hill-start-v0", (0.0, -0.5), 40, slope=0.15)
    assert abs(env.forward) < 0.08


def test_hot_brakes_fade():
    env = SCENARIOS["vehicle/hill-descent-v0"]().make_env()
    env.reset(seed=0)
    env.heat = 100.0
    assert env._fade() == 1.0
    env.heat = 500.0
    assert env._fade() == pytest.approx(0.2)


def test_a_trailer_without_brakes_pushes_its_tractor_on():
    def held(share):
        options = {"trailer_brake": share, "start_speed": 12.0, "grip": 0.45}
        return driven("vehicle/trailer-wet-bend-v0", (0.0, -0.3), 20, **options).forward

    assert held(0.3) < held(0.0) - 0.5


@pytest.mark.parametrize("name", ["vehicle/trailer-wet-bend-v0", "vehicle/cruise-steady-v0"])
def test_the_deceleration_told_is_the_loss_of_speed_pushes_and_trailers_included(name):
    spec = SCENARIOS[name]()
    env = spec.make_env()
    push = {"push_forward": [3000.0] * 8}
    env.reset(seed=0, options={"disturbances": push, "parameters": {"start_heading": 0.0}})
    told = [signal.name for signal in spec.signals].index("deceleration")
    for _ in range(10):
        before = env.forward
        env.step(np.array([0.0, -0.3]))
    assert env.signals[told] == pytest.approx((before - env.forward) / 0.1, rel=0.15)


def test_a_car_that_slides_sideways_is_as_fast_as_it_slides():
    spec = SCENARIOS["vehicle/lane-straight-v0"]()
    env = spec.make_env()
    env.reset(seed=0, options={"parameters": {"start_speed": 22.0, "start_heading": 0.0}})
    env.data.qvel[:2] = 0.0, 20.0
    env.step(np.zeros(2))
    told = dict(zip((signal.name for signal in spec.signals), env.signals, strict=True))
    assert told["speed"] > 18.0
    assert told["overspeed"] == pytest.approx(told["speed"] - 27.0)


def test_a_trailer_in_reverse_folds_by_itself_and_straightens_forwards():
    env = SCENARIOS["vehicle/trailer-backing-v0"]().make_env()
    env.reset(seed=0, options={"parameters": {"start_offset": 0.0, "start_heading": 0.0}})
    env.data.qpos[3] = 0.05
    for _ in range(60):
        env.step(np.array([0.0, 0.3]))
    assert abs(float(env.data.qpos[3])) > 0.1


def test_lost_effort_is_lost_at_the_wheels():
    whole = driven("vehicle/lane-straight-v0", (0.0, -0.5), 20, start_speed=24.0)
    half = driven("vehicle/lane-straight-v0", (0.0, -0.5), 20, start_speed=24.0, actuator_loss=0.5)
    lost = (24.0 - half.forward) / (24.0 - whole.forward)
    assert lost == pytest.approx(0.5, abs=0.08)


def test_the_script_of_the_others_is_in_the_digest():
    files = [path.name for path in source_files(SCENARIOS["vehicle/cruise-wet-v0"]())]
    assert "scripts.py" in files
