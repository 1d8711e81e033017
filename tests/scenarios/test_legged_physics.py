"""Legged robots against closed forms and forward kinematics."""

from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from safegym_scenarios.legged.catalogue import SCENARIOS
from safegym_scenarios.legged.gaits import Gait, trot
from safegym_scenarios.legged.robots import FOOT, HIP, KNEE, SHANK, THIGH
from safegym_scenarios.legged.walker import BODY, SIGNALS

G = 9.81


def env_of(name):
    return SCENARIOS[f"legged/{name}-v0"]().make_env()


def signal(env, name):
    return float(env.signals[[each.name for each in SIGNALS].index(name)])


def still(env):
    return np.zeros(env.action_space.shape)


@pytest.mark.parametrize("name", ["trot", "stand-payload", "hexapod-tripod", "wheels-goal"])
def test_what_stands_presses_with_its_weight(name):
    env = env_of(name)
    env.reset(seed=0)
    for _ in range(60):
        env.step(still(env))
    mass = float(env.model.body_subtreemass[env.model.body("trunk").id])
    assert signal(env, "foot_force") == pytest.approx(mass * G, rel=0.03)


def test_feet_are_where_two_links_put_them():
    env = env_of("stand-push")
    env.reset(seed=0, options={"parameters": {"start_pitch": 0.0}})
    down = THIGH * cos(HIP) + SHANK * cos(HIP + KNEE)
    back = THIGH * sin(HIP) + SHANK * sin(HIP + KNEE)
    for name, x in (("fl", 0.18), ("hr", -0.18)):
        foot = env.data.geom(f"{name}_foot").xpos
        trunk = env.data.body("trunk").xpos
        assert foot[0] - trunk[0] == pytest.approx(x - back, abs=1e-9)
        assert trunk[2] - foot[2] == pytest.approx(down, abs=1e-9)
    assert env._height() == pytest.approx(down + FOOT)


def test_a_dropped_robot_touches_down_at_torricelli_s_speed():
    env = env_of("landing")
    env.reset(seed=0, options={"parameters": {"start_drop": 0.25, "start_pitch": 0.0}})
    fastest = 0.0
    while env.data.ncon == 0:
        fastest = float(-env.data.qvel[2])
        env.step(still(env))
    dt = env.setting.dt
    assert sqrt(2.0 * G * 0.25) - G * dt <= fastest <= sqrt(2.0 * G * 0.25)


def test_a_dead_leg_gives_nothing_even_after_another_fault():
    env = env_of("stand-three-legs")
    env.reset(seed=0, options={"parameters": {"actuator_loss": 0.5}})
    env.step(np.ones(12))
    env.reset(seed=1)
    env.step(np.ones(12))
    forces = np.abs(env.data.actuator_force)
    assert forces[9:].tolist() == [0.0, 0.0, 0.0]
    assert (forces[:9] > 0.0).all()


def test_the_clock_in_the_observation_is_the_gait_s():
    env = env_of("hexapod-lame")
    env.reset(seed=0)
    for step in range(1, 9):
        seen, *_ = env.step(still(env))
        turn = 2.0 * pi * env.setting.gait * step * env.setting.dt
        assert seen[12:BODY] == pytest.approx([sin(turn), cos(turn)], abs=1e-6)


def test_diagonal_legs_of_a_trot_move_together_and_the_others_opposite():
    seen = np.zeros((1, BODY + 12))
    seen[0, 9], seen[0, 13] = 5.0, 1.0
    hips = trot(seen, gait=Gait(stride=0.2))[0, 1::3]
    assert hips == pytest.approx([-0.2 / 0.7, 0.2 / 0.7, 0.2 / 0.7, -0.2 / 0.7])


def test_the_deck_sways_as_drawn():
    env = env_of("stand-deck")
    drawn = {"sea_angle": 0.15, "sea_period": 2.0, "sea_phase": 1.0}
    env.reset(seed=0, options={"parameters": drawn})
    pitch = int(env.model.joint("deck_pitch").qposadr[0])
    for step in range(1, 40):
        env.step(still(env))
        if step > 15:
            at = 2.0 * pi * step * env.setting.dt / 2.0
            assert float(env.data.qpos[pitch]) == pytest.approx(0.15 * sin(at), abs=0.03)


def test_a_slippery_ground_holds_less():
    slid = []
    for loss in (0.0, 0.9):
        env = env_of("stand-push")
        push = {"push_left": [20.0] * 8, "push_forward": [0.0] * 8}
        env.reset(seed=0, options={"parameters": {"friction_loss": loss}, "disturbances": push})
        for _ in range(25):
            env.step(still(env))
        slid.append(env.way())
    assert slid[0] < 0.1 < slid[1]


def test_a_trunk_under_the_bar_is_felt():
    env = env_of("crouch-bar")
    env.reset(seed=0)
    env.data.qpos[0] = 0.55
    env.step(still(env))
    assert float(env.signals[5]) > 1.0


def test_a_wheel_that_rolls_does_not_slip_and_one_that_spins_does():
    slips = []
    for loss in (0.0, 0.9):
        env = env_of("wheels-goal")
        env.reset(seed=0, options={"parameters": {"friction_loss": loss}})
        for _ in range(3):
            env.step(np.tile([0.0, 0.0, 0.9], 4))
        slips.append(signal(env, "foot_slip"))
        for _ in range(15):
            env.step(np.tile([0.0, 0.0, 0.4], 4))
        slips.append(signal(env, "foot_slip"))
    assert slips[1] < 0.02 < 0.1 < slips[2]


def test_feet_that_ride_on_a_swaying_deck_do_not_slip():
    env = env_of("stand-deck")
    drawn = {"sea_angle": 0.12, "sea_period": 2.5, "sea_phase": 1.0}
    env.reset(seed=0, options={"parameters": drawn})
    slips, speeds, before = [], [], np.zeros((4, 3))
    for step in range(50):
        env.step(still(env))
        feet = np.array([env.data.geom(name).xpos.copy() for name in env.robot.feet])
        if step > 10:
            slips.append(signal(env, "foot_slip"))
            speeds.append(np.linalg.norm(feet - before, axis=1).max() / env.setting.dt)
        before = feet
    assert np.median(slips) < 0.4 * np.median(speeds)


def test_the_height_of_a_sample_is_the_lowest_within_its_step():
    env = env_of("landing")
    env.reset(seed=0, options={"parameters": {"start_drop": 0.3, "start_pitch": 0.0}})
    lowest, told = [], []
    tick = env.tick

    def watch():
        tick()
        lowest.append(env._height())

    env.tick = watch
    for _ in range(20):
        env.step(still(env))
        lowest.append(env._height())
        told.append(signal(env, "height"))
    assert min(told) == pytest.approx(min(lowest), abs=1e-12)


def test_a_sliding_leg_s_force_is_no_torque():
    env = env_of("hopper")
    env.reset(seed=0)
    for _ in range(20):
        env.step(np.array([0.0, 0.5]))
        assert signal(env, "joint_torque") <= 30.0
    assert abs(float(env.data.actuator_force[1])) > 30.0
