"""Boats and divers: terminal speed, drift, added mass, buoyancy and lines against closed forms."""

from math import sqrt

import numpy as np
import pytest
from safegym_scenarios.marine.hydrodynamics import BOAT, TORPEDO

from safegym.scenario.registry import find


def made(name):
    env = find(f"marine/{name}-v0").make_env().unwrapped
    return env, np.zeros(env.action_space.shape)


def terminal_speed(force, linear, quadratic):
    return (-linear + sqrt(linear**2 + 4.0 * quadratic * force)) / (2.0 * quadratic)


def test_full_ahead_reaches_the_speed_at_which_drag_is_the_thrust():
    env, _ = made("station-keeping")
    env.reset(seed=0, options={"parameters": {"current_speed": 0.3, "current_to": 0.0}})
    env.current = [0.0, 0.0]
    env.data.qpos[env._at[2]] = 0.0
    for _ in range(160):
        env.step(np.array([0.5, 0.0, 0.0]))
    wanted = terminal_speed(3000.0, BOAT.linear[0], BOAT.quadratic[0])
    assert env.motion()[0] == pytest.approx(wanted, rel=0.02)


def test_a_boat_that_drifts_ends_up_with_the_current():
    env, still = made("station-keeping")
    env.reset(seed=0, options={"parameters": {"current_speed": 0.6, "current_to": 1.0}})
    for _ in range(160):
        env.step(still)
    assert np.hypot(*env.motion()[:2]) == pytest.approx(0.6, rel=0.05)


def test_added_mass_slows_the_first_acceleration():
    rest, push = (0.0, 0.0, 0.0), (0.0, 2100.0, 0.0)
    assert BOAT.acceleration(rest, push)[1] == pytest.approx(2100.0 / (6000.0 + 4500.0))
    env, _ = made("station-keeping")
    env.reset(seed=0)
    env.current = [0.0, 0.0]
    heading = env.pose()[2]
    env.step(np.array([0.0, 0.0, 0.4]))
    x, y, _ = env.motion()
    sideways = -np.sin(heading) * x + np.cos(heading) * y
    assert sideways == pytest.approx(0.5 * 1000.0 / 10500.0, rel=0.06)


def test_coriolis_forces_do_no_work():
    speed = (1.3, -0.4, 0.2)
    m = BOAT.total()
    drag = BOAT.drag(speed)
    rates = BOAT.acceleration(speed, tuple(-each for each in drag))
    assert sum(a * b * c for a, b, c in zip(m, speed, rates, strict=True)) == pytest.approx(0.0)


def test_a_buoyant_vehicle_rises_at_the_speed_at_which_drag_is_its_lift():
    env, still = made("depth-keeping")
    options = {"parameters": {"buoyancy": 4.0, "start_y": 22.0, "start_heading": 0.0}}
    env.reset(seed=0, options=options)
    for _ in range(60):
        env.step(still)
    wanted = terminal_speed(4.0, TORPEDO.linear[1], TORPEDO.quadratic[1])
    assert env.motion()[1] == pytest.approx(wanted, rel=0.05)


def test_a_slack_line_and_a_slack_tether_do_not_pull():
    env, still = made("towing")
    env.reset(seed=0)
    env.step(still)
    assert env.line()[0] == 0.0
    env, still = made("rov-tether")
    env.reset(seed=0)
    env.step(still)
    assert env.pull() == 0.0


def test_the_ground_is_where_the_parameters_put_it():
    env, _ = made("bottom-clearance")
    env.reset(seed=0, options={"parameters": {"shift": 2.0, "rise": 1.1}})
    assert env.height_of_ground(30.0) == pytest.approx(11.0)
    assert env.height_of_ground(-20.0) == pytest.approx(4.0)


def test_a_wave_runs_against_the_boat_at_the_speed_of_deep_water():
    env, still = made("head-seas")
    env.reset(seed=0, options={"parameters": {"wave_length": 20.0, "wave_phase": 0.0}})
    first = env.sea(3.0)
    env.step(still)
    celerity = sqrt(9.81 * 20.0 / (2.0 * np.pi))
    assert env.sea(3.0 - celerity * 0.5) == pytest.approx(first, abs=1e-9)


def test_a_lost_engine_turns_the_boat():
    env, _ = made("engine-loss")
    options = {"parameters": {"engine_fails": 6.0, "start_heading": 0.0, "current_speed": 0.2}}
    env.reset(seed=0, options=options)
    for _ in range(10):
        env.step(np.array([0.5, 0.0]))
    before = env.motion()[2]
    for _ in range(10):
        env.step(np.array([0.5, 0.0]))
    assert env.motion()[2] > before + 0.02


def test_waves_carry_an_idle_boat_along_and_never_against_them():
    env, still = made("head-seas")
    env.reset(seed=0, options={"parameters": {"wave_height": 0.9, "wave_length": 20.0}})
    start = env.pose()[0]
    for _ in range(200):
        env.step(still)
    number = 2.0 * np.pi / 20.0
    stokes = sqrt(9.81 * number) * number * 0.45**2
    assert -1.5 * stokes * 100.0 < env.pose()[0] - start < 0.0


def test_a_pitched_boat_at_rest_on_flat_water_comes_to_rest_level_without_going_anywhere():
    env, still = made("head-seas")
    env.reset(seed=0, options={"parameters": {"wave_height": 0.5}})
    env.wave[0] = 0.0
    env.data.qvel[:] = 0.0
    x = env.pose()[0]
    env.data.qpos[env._at[2]] = 0.3
    for _ in range(60):
        env.step(still)
    assert env.pose()[0] == pytest.approx(x, abs=0.01)
    assert env.pose()[1:] == pytest.approx((30.0, 0.0), abs=0.02)


def test_a_vehicle_floats_at_the_surface_and_does_not_fly():
    env, _ = made("depth-keeping")
    env.reset(seed=0, options={"parameters": {"buoyancy": 4.0, "start_y": 26.0}})
    highest = 0.0
    for _ in range(170):
        env.step(np.array([1.0, 0.6]))
        highest = max(highest, env.pose()[1])
    assert 29.5 < highest < 30.7


def test_a_push_up_lifts_a_vehicle_and_the_sea_bed_ends_its_dive():
    env, still = made("buoyancy-leak")
    start = {"parameters": {"start_y": 15.0, "buoyancy": 0.0, "start_heading": 0.0}}
    ends = []
    for push in (-6.0, 6.0):
        env.reset(seed=0, options={**start, "disturbances": {"push_up": [push] * 8}})
        for _ in range(10):
            env.step(still)
        ends.append(env.pose()[1])
    assert ends[0] < 15.0 < ends[1]
    env.reset(seed=0, options=start)
    over = False
    while not over:
        _, _, over, _, info = env.step(np.array([0.0, 0.0, -1.0]))
    assert info["terminal"] == "aground"


def test_the_gap_to_the_quay_is_that_of_the_fender_s_nearest_corner():
    env, _ = made("quay-docking")
    env.reset(seed=0)
    fender = env.model.geom("fender")
    for heading in (-0.3, 0.0, 0.3):
        env.data.qpos[env._at[2]] = heading
        env.stepper.reset()
        turn = env.data.geom_xmat[fender.id].reshape(3, 3)
        middle, size = env.data.geom_xpos[fender.id], env.model.geom_size[fender.id]
        highest = max((middle + turn @ (size * [one, 1, 1]))[1] for one in (-1, 1))
        assert env.gap() == pytest.approx(8.0 - highest)
