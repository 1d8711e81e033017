"""The spacecraft against second opinions: relative motion, momentum, free fall, rotations."""

from math import atan, cos, hypot, sin, sqrt

import mujoco
import numpy as np
import pytest
from safegym_scenarios import SCENARIOS
from safegym_scenarios.spacecraft.craft import MASS, THRUST
from safegym_scenarios.spacecraft.descent import SOLES
from safegym_scenarios.spacecraft.env import ORBIT
from safegym_scenarios.spacecraft.lander import ENGINE, GRAVITY
from safegym_scenarios.spacecraft.rotation import about, turned, vector_of

from safegym.scenario.snapshot import capture, restore


def made(name, **parameters):
    env = SCENARIOS[name]().make_env()
    env.reset(seed=0, options={"parameters": parameters})
    return env


def flown(env, action, steps):
    for _ in range(steps):
        env.step(np.array(action, np.float32))
    return env


def hill(t, place, velocity):
    """The closed form for a circular orbit: x along, y across, z away from the Earth."""
    n, s, c = ORBIT, sin(ORBIT * t), cos(ORBIT * t)
    (x, y, z), (u, v, w) = place, velocity
    along = x - 6.0 * (n * t - s) * z - 2.0 / n * (1.0 - c) * w + (4.0 * s / n - 3.0 * t) * u
    away = (4.0 - 3.0 * c) * z + s / n * w + 2.0 / n * (1.0 - c) * u
    return along, y * c + v * s / n, away


def test_a_drifting_chaser_follows_the_closed_form_of_relative_motion():
    env = made("space/berthing-hold-v0", start_y=0.5, start_z=0.8)
    env.data.qvel[:3] = (-0.02, 0.01, 0.03)
    start, speed = env.here(), tuple(env.data.qvel[:3])
    flown(env, np.zeros(6), 200)
    assert env.here() == pytest.approx(hill(100.0, start, speed), abs=3e-3)
    drift = np.array(env.here()) - np.array(start) - 100.0 * np.array(speed)
    assert abs(drift).max() > 0.1, "the orbit must matter"


def test_impulse_over_mass_is_the_speed_gained():
    env = made("space/berthing-hold-v0", start_turn=0.0)
    flown(env, (0.5, 0, 0, 0, 0, 0), 10)
    assert env.impulse == pytest.approx(0.5 * THRUST * 5.0)
    assert env.data.qvel[0] == pytest.approx(env.impulse / MASS, rel=0.01)


def test_a_lost_thruster_does_not_brake():
    env = made("space/berthing-hold-v0", thruster_loss=1.0, thruster_loss_time=0.0, start_turn=0.0)
    flown(env, (-1, 0, 0, 0, 0, 0), 10)
    assert abs(env.data.qvel[0]) < 0.005
    assert env.impulse == pytest.approx(0.0)


def test_a_turning_ports_velocity_is_the_slope_of_its_place():
    env = made("space/docking-turning-v0", spin=0.009)
    env.move(30.0)
    told = env.goal_speed
    ends = []
    for time in (29.99, 30.01):
        env.move(time)
        ends.append(np.array(env.goal))
    assert told == pytest.approx((ends[1] - ends[0]) / 0.02, abs=1e-6)


def test_rotations_agree_with_the_simulators():
    generator = np.random.default_rng(0)
    for _ in range(20):
        axis = generator.standard_normal(3)
        axis /= np.linalg.norm(axis)
        angle = float(generator.uniform(-3.0, 3.0))
        vector = generator.standard_normal(3)
        found, quaternion = np.zeros(3), np.zeros(4)
        mujoco.mju_axisAngle2Quat(quaternion, axis, angle)
        mujoco.mju_rotVecQuat(found, vector, quaternion)
        mine = about(tuple(axis), angle)
        assert turned(mine, tuple(vector)) == pytest.approx(found)
        assert vector_of(mine) == pytest.approx(axis * angle)


def test_a_lander_with_its_engine_off_falls_freely():
    env = made("space/lander-v0", start_z=40.0)
    flown(env, (-1, 0, 0), 16)
    assert env.data.qvel[2] == pytest.approx(-2.5 - GRAVITY * 4.0)
    assert env.impulse == 0.0


def test_a_lander_hovers_on_its_weight():
    env = made("space/lander-v0")
    speed = float(env.data.qvel[2])
    flown(env, (2.0 * 800.0 * GRAVITY / ENGINE - 1.0, 0, 0), 20)
    assert env.data.qvel[2] == pytest.approx(speed, abs=1e-3)


def test_half_of_the_engine_lost_is_half_of_the_thrust():
    env = made("space/lander-v0", actuator_loss=0.5, actuator_loss_time=0.0)
    flown(env, (1, 0, 0), 4)
    gained = float(env.data.qvel[2]) + 2.5
    assert gained == pytest.approx((0.5 * ENGINE / 800.0 - GRAVITY) * 1.0, rel=1e-3)


def test_propellant_moves_with_the_chaser_as_one_mass():
    env = made("space/slosh-v0", start_turn=0.0)
    flown(env, (1, 0, 0, 0, 0, 0), 10)
    assert env.mass == pytest.approx(MASS + 60.0)
    assert env.data.qvel[0] == pytest.approx(env.impulse / (MASS + 60.0), rel=0.01)


def test_a_snapshot_brings_the_way_round_back():
    env = flown(made("space/fly-around-v0"), (0.2, 0.3, 0, 0, 0, 0), 40)
    kept = capture(env)
    onward = [env.step(np.full(6, 0.1))[0].tobytes() for _ in range(20)]
    env.reset(seed=5)
    restore(env, kept)
    assert [env.step(np.full(6, 0.1))[0].tobytes() for _ in range(20)] == onward


def test_a_leg_that_catches_tips_the_lander_from_1_45_metres_a_second():
    inertia = 500.0 + 800.0 * (1.15**2 + SOLES**2)
    lifted = 800.0 * GRAVITY * (hypot(1.15, SOLES) - SOLES)
    assert sqrt(2.0 * lifted * inertia) / (800.0 * SOLES) == pytest.approx(1.45, abs=0.02)
    assert atan(1.15 / SOLES) == pytest.approx(0.62, abs=0.01)


def test_the_robot_ends_its_flight_at_the_wall_and_at_the_crew_member():
    env = made("space/station-robot-v0", crew_x=0.0, crew_y=0.5, start_turn=0.0)
    names = [signal.name for signal in SCENARIOS["space/station-robot-v0"]().signals]
    crew, wall = names.index("crew_distance"), names.index("wall_distance")
    env.data.qpos[:3], env.data.qvel[:3] = (-1.0, -0.9, 0.0), (0.0, -0.2, 0.0)
    env.step(np.zeros(6, np.float32))
    assert env.signals[wall] == pytest.approx(1.11 - 0.17 - 0.9 - 0.1, abs=2e-3)
    assert env.terminal() == "struck"
    env.reset(seed=0, options={"parameters": {"crew_x": 0.0, "crew_y": 0.5, "crew_drift": 0.0}})
    env.data.qpos[:3] = (0.0, 0.5, 0.6)
    env.step(np.zeros(6, np.float32))
    assert env.signals[crew] == pytest.approx(0.6 - 0.4 - 0.3 - 0.17, abs=2e-3)
    assert env.terminal() == "struck"


def test_the_rings_velocity_is_the_slope_of_its_place():
    env = made("space/docking-v0")
    env.data.qvel[:6] = (0.02, -0.01, 0.03, 0.01, 0.04, -0.03)
    told, start = env.velocity(), np.array(env.ring())
    step = 1e-4
    mujoco.mj_integratePos(env.model, env.data.qpos, env.data.qvel, step)
    assert told == pytest.approx((np.array(env.ring()) - start) / step, abs=1e-5)
