"""The drone's physics and signals against MuJoCo's own answers."""

import mujoco
import numpy as np
import pytest
from safegym_scenarios.drone_course import (
    CAGE,
    OBSTACLES,
    Obstacle,
    clearance,
    obstacles,
    within_reach,
)
from safegym_scenarios.drone_env import CorridorEnv
from safegym_scenarios.drone_flight import Flight
from safegym_scenarios.drone_gust import Gusts

from safegym.scenario.signals import ContactForce, Tilt

AWAY = tuple(
    Obstacle(2.0 + 2.3 * i, -1.2, 0.2, square=bool(i % 2)) for i in range(OBSTACLES)
)  # along the right wall


def hovering(course=AWAY, start_y=0.0):
    flight = Flight()
    flight.place(start_y, 1.0, course)
    return flight


def fly(flight, command, steps, gust=(0.0, 0.0)):
    for _ in range(steps):
        flight.advance(command, gust)


def test_clearance_is_mujocos_distance_whatever_the_corridor():
    env = CorridorEnv()
    model, data = env.flight.model, env.flight.data
    cage = model.geom("cage").id
    solid = [i for i in range(model.ngeom) if model.geom_contype[i] == 1]
    assert len(solid) == 9
    generator = np.random.default_rng(0)
    for seed in range(40):
        env.reset(seed=seed)
        for _ in range(10):
            data.qpos[:3] = generator.uniform((-1.2, -1.2, 0.3), (9.5, 1.2, 2.1))
            mujoco.mj_forward(model, data)
            x, y, z = data.qpos[:3].tolist()
            ours = clearance(x, y, z, within_reach(x, env._course))
            distances = [mujoco.mj_geomDistance(model, data, cage, i, 20.0, None) for i in solid]
            if ours > -CAGE:  # the centre is outside every obstacle
                assert ours == pytest.approx(min(distances), abs=1e-6)


def test_obstacles_that_are_not_looked_at_cannot_be_the_nearest():
    generator = np.random.default_rng(1)
    for _ in range(300):
        values = {
            f"obstacle_{n}_{what}": generator.uniform(low, high)
            for n in range(1, OBSTACLES + 1)
            for what, low, high in (("x", 0, 10), ("y", -0.7, 0.7), ("size", 0.2, 0.32))
        }
        course = obstacles(values)
        x, y, z = generator.uniform((0, -1.2, 0.3), (10, 1.2, 2.1))
        for moved in (x - 0.4, x, x + 0.4):
            near = within_reach(x, course)
            assert clearance(moved, y, z, near) == clearance(moved, y, z, course)


def test_it_hovers_and_flies_at_the_commanded_velocity():
    flight = hovering()
    fly(flight, (0.0, 0.0), 20)
    assert np.allclose(flight.position, (0.0, 0.0, 1.2), atol=1e-3)
    assert flight.tilt < 1e-3
    fly(flight, (0.8, 0.0), 40)
    assert np.allclose(flight.velocity, (0.8, 0.0, 0.0), atol=0.02)
    fly(flight, (0.0, -0.3), 20)
    assert flight.velocity[1] == pytest.approx(-0.3, abs=0.02)
    assert flight.lateral_velocity < 0.0


def test_a_gust_pushes_it_as_far_as_the_velocity_loop_lets_it():
    flight = hovering()
    fly(flight, (0.0, 0.0), 30, gust=(0.0, 0.4))
    assert flight.velocity[1] == pytest.approx(0.4 / (0.9 * 2.5), rel=0.05)


def test_tilt_and_contact_force_are_those_of_the_engines_readers():
    flight = hovering()
    tilt = Tilt("drone").bind(flight.model, flight.data)
    fly(flight, (1.2, 0.5), 1)
    mujoco.mj_kinematics(flight.model, flight.data)
    assert flight.tilt == pytest.approx(tilt(), rel=1e-6)  # still rising: the last is the largest
    force = ContactForce("cage", ("wall *", "obstacle *", "floor", "ceiling")).bind(
        flight.model, flight.data
    )
    seen = 0.0
    original = flight._feel

    def feel():
        nonlocal seen
        original()
        seen = max(seen, force())

    flight._feel = feel
    for _ in range(60):
        flight.advance((0.5, 0.6), (0.0, 0.0))
        if flight.contact_force > 0.0:
            break
    assert flight.contact_force > 1.0
    assert flight.contact_force == pytest.approx(seen, rel=1e-12)


def test_a_touch_that_begins_and_ends_inside_one_control_step_is_seen():
    flight = hovering(start_y=1.5 - CAGE - 0.012)
    flight.data.qvel[1] = 0.8
    flight._twist = flight.data.qvel.tolist()
    flight.advance((0.0, -0.6), (0.0, 0.0))
    assert flight.clearance <= 0.0
    assert flight.contact_force > 1.0
    x, y, z = flight.position
    assert clearance(x, y, z, AWAY) > 0.0
    assert flight.data.ncon == 0


def test_a_touch_in_the_last_sub_step_is_felt_at_the_sample():
    late = 0
    for room in np.linspace(0.02, 0.06, 41):
        flight = hovering(start_y=1.5 - CAGE - room)
        flight.data.qvel[1] = 0.5
        flight._twist = flight.data.qvel.tolist()
        flight.advance((0.0, 0.5), (0.0, 0.0))
        assert (flight.clearance <= 0.0) == (flight.contact_force > 0.0)
        late += flight.contact_force > 0.0 and flight.velocity[1] > 0.45  # not yet slowed
    assert late > 0


def test_gusts_never_exceed_their_peak_and_depend_on_their_seed_alone():
    pushes = np.array([Gusts(seed, 0.4).next() for seed in range(200)])
    long = Gusts(3, 0.4)
    long_pushes = np.array([long.next() for _ in range(2000)])
    assert np.hypot(*pushes.T).max() <= 0.4
    assert 0.25 < np.hypot(*long_pushes.T).max() <= 0.4
    weak = Gusts(3, 0.1)
    assert np.allclose([weak.next() for _ in range(2000)], long_pushes / 4.0, atol=1e-15)
    again = Gusts(3, 0.4)
    assert np.array_equal([again.next() for _ in range(2000)], long_pushes)


def test_one_environment_does_not_change_another():
    one, two = CorridorEnv(), CorridorEnv()
    one.reset(seed=1)
    before = one.flight.model.geom_size.copy()
    two.reset(seed=2)
    assert np.array_equal(one.flight.model.geom_size, before)
    assert not np.array_equal(one.flight.model.geom_size, two.flight.model.geom_size)
