"""Gymnasium's MuJoCo systems stay Gymnasium's, and what is measured of them is what happened."""

from dataclasses import replace

import gymnasium as gym
import mujoco
import numpy as np
import pytest
from safegym_scenarios.mujoco_systems import NAMES, environments
from safegym_scenarios.mujoco_systems.catalogue import SCENARIOS
from safegym_scenarios.mujoco_systems.cheetah import ROBOT as CHEETAH
from safegym_scenarios.mujoco_systems.hopper import ROBOT as HOPPER
from safegym_scenarios.mujoco_systems.measures import (
    Coordinate,
    Effort,
    Energy,
    FloorForce,
    JointMargin,
    Measure,
    Power,
    Travel,
)
from safegym_scenarios.mujoco_systems.reacher import ROBOT as REACHER
from safegym_scenarios.mujoco_systems.surroundings import Setup

from safegym.errors import ScenarioError

SYSTEMS = {
    "Ant": "torso",
    "HalfCheetah": "torso",
    "Hopper": "torso",
    "Humanoid": "torso",
    "HumanoidStandup": "torso",
    "InvertedDoublePendulum": "cart",
    "InvertedPendulum": "cart",
    "Pusher": "object",
    "Reacher": "body1",
    "Swimmer": "torso",
    "Walker2d": "torso",
}


def made(name: str, *measures: Measure):
    return getattr(environments, name)(Setup(40, measures or (Effort(),), SYSTEMS[name]))


def actions(env, count=20):
    env.action_space.seed(3)
    return [env.action_space.sample() for _ in range(count)]


@pytest.mark.parametrize("name", SYSTEMS)
def test_without_a_knob_every_step_is_gymnasiums_own_bit_for_bit(name):
    ours, theirs = made(name, Effort(), FloorForce()), gym.make(f"{name}-v5").unwrapped
    first, second = ours.reset(seed=11)[0], theirs.reset(seed=11)[0]
    assert first.tobytes() == second.tobytes()
    for action in actions(theirs):
        one, other = ours.step(action), theirs.step(action)
        assert one[0].tobytes() == other[0].tobytes()
        assert (float(one[1]), one[2]) == (float(other[1]), other[2])
        if other[2]:
            assert one[4]["terminal"] == "unhealthy"
            break


@pytest.mark.parametrize("asked", ["observation_noise", "action_delay", "payload"])
def test_after_an_episode_with_a_knob_the_next_is_gymnasiums_again(asked):
    from safegym.scenario.spec import Parameter

    knob = Parameter(asked, "1", 0.0, 1.0, 0.0)
    setup = Setup(40, (Effort(),), "torso", faults=(knob,))
    env, fresh = environments.HalfCheetah(setup), gym.make("HalfCheetah-v5").unwrapped
    env.reset(seed=1, options={"parameters": {asked: 1.0}})
    for action in actions(env, 5):
        env.step(action)
    env.reset(seed=2)
    fresh.reset(seed=2)
    for action in actions(env):
        assert env.step(action)[0].tobytes() == fresh.step(action)[0].tobytes()


def test_the_disturbance_seed_decides_the_start_whatever_the_seed():
    env = made("Hopper")
    given = {"disturbance_seed": 5}
    assert np.array_equal(env.reset(seed=1, options=given)[0], env.reset(seed=9, options=given)[0])
    assert not np.array_equal(env.reset(seed=1)[0], env.reset(seed=9)[0])
    with pytest.raises(ScenarioError, match="whole number >= 0"):
        env.reset(seed=1, options={"disturbance_seed": -1})


def test_extremes_and_sums_over_the_physics_steps_are_those_of_a_slow_second_run():
    measures = (Coordinate(1, "min"), JointMargin(), Power(), Energy(), Travel(), FloorForce())
    env = made("HalfCheetah", *measures)
    env.reset(seed=4)
    model = env.model
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = env.data.qpos, env.data.qvel
    mujoco.mj_forward(model, data)
    low, high = model.jnt_range[3:].T
    energy, room = 0.0, np.zeros(6)
    for action in actions(env, 15):
        env.step(action)
        before, heights, margins, powers, forces = data.qpos[0], [], [], [], []
        data.ctrl[:] = action
        for _ in range(env.frame_skip):
            mujoco.mj_step(model, data)
            force = 0.0
            for index in range(data.ncon):
                mujoco.mj_contactForce(model, data, index, room)
                force += room[0]
            heights.append(data.qpos[1])
            margins.append(min((data.qpos[3:] - low).min(), (high - data.qpos[3:]).min()))
            powers.append(np.abs(data.qvel[3:] * model.actuator_gear[:, 0] * action).sum())
            forces.append(force)
        energy += sum(powers) * model.opt.timestep
        speed = (data.qpos[0] - before) / env.dt
        expected = (min(heights), min(margins), max(powers), energy, speed, max(forces))
        assert env.values == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_lost_actuator_gives_nothing_from_its_time_on():
    env = CHEETAH.env(replace(CHEETAH.setup, measures=(Effort(),)))
    env.reset(seed=0, options={"parameters": {"actuator_loss": 1.0, "actuator_loss_time": 0.5}})
    only = np.array([1, 0, 0, 0, 0, 0], np.float32)
    efforts = []
    for _ in range(20):
        env.step(only)
        efforts.append(env.values[0])
    assert efforts == [1.0] * 10 + [0.0] * 10


def test_a_delayed_action_arrives_that_many_steps_later():
    late = CHEETAH.env(CHEETAH.setup)
    late.reset(seed=0, options={"parameters": {"action_delay": 0.1}})
    prompt = CHEETAH.env(CHEETAH.setup)
    prompt.reset(seed=0)
    still = [np.zeros(6, np.float32)] * 2
    moves = actions(prompt, 8)
    for given, arriving in zip(moves, still + moves, strict=False):
        assert np.array_equal(late.step(given)[0], prompt.step(arriving)[0])


def test_a_delayed_observation_is_the_one_seen_before():
    late, prompt = CHEETAH.env(CHEETAH.setup), CHEETAH.env(CHEETAH.setup)
    late.reset(seed=0, options={"parameters": {"observation_delay": 0.05}})
    seen = [prompt.reset(seed=0)[0]]
    for action in actions(prompt, 8):
        found = late.step(action)[0]
        assert np.array_equal(found, seen[-1])
        seen.append(prompt.step(action)[0])


def test_observation_noise_is_drawn_by_the_disturbance_seed_alone():
    env = REACHER.env(REACHER.setup)
    options = {"parameters": {"observation_noise": 0.01}, "disturbance_seed": 3}
    one = env.reset(seed=0, options=options)[0]
    other = env.reset(seed=8, options=options)[0]
    clean = env.reset(seed=0, options={"disturbance_seed": 3})[0]
    assert np.array_equal(one, other)
    assert 0.0 < np.abs(one - clean).max() < 0.06


def test_a_push_is_a_force_on_the_body_for_its_stretch_of_time():
    env = HOPPER.env(HOPPER.setup)
    env.reset(seed=0, options={"disturbances": {"push": [0.0, 10.0, 0.0, 0.0, 0.0, 0.0]}})
    forces = []
    for _ in range(70):
        env.step(np.zeros(3, np.float32))
        forces.append(float(env.data.xfrc_applied[1, 0]))
    first, last = forces.index(10.0), 69 - forces[::-1].index(10.0)
    assert (first, last) == (34, 66)


def test_a_payload_weighs_on_the_floor():
    settled = {}
    for load in (0.0, 4.0):
        from safegym.scenario.spec import Parameter

        knob = Parameter("payload", "kg", load, load)
        setup = Setup(40, (FloorForce(),), "torso", parameters=(knob,))
        env = environments.HumanoidStandup(setup)
        env.reset(seed=0)
        for _ in range(80):
            env.step(np.zeros(17, np.float32))
        settled[load] = env.values[0]
    assert settled[4.0] - settled[0.0] == pytest.approx(4.0 * 9.81, rel=0.1)


def test_the_names_are_those_that_the_catalogue_builds():
    assert set(NAMES) == set(SCENARIOS)
    assert all(SCENARIOS[name]().name == name for name in NAMES)
    assert len(NAMES) == len({SCENARIOS[name]().digest for name in NAMES})


def test_a_model_s_known_warning_is_not_said_and_the_engine_s_handler_is_given_back():
    heard = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        made("HalfCheetah")
        assert heard == []
        gym.make("HalfCheetah-v5")
        assert len(heard) == 1
    finally:
        mujoco.set_mju_user_warning(None)
