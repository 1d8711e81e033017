"""Gymnasium's systems with knobs: without one they are Gymnasium's own, and each knob does its."""

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from safegym_scenarios.box2d_systems.car_env import Car, make_car
from safegym_scenarios.box2d_systems.engine import bipedal_walker
from safegym_scenarios.box2d_systems.gait import Gait, GaitPolicy
from safegym_scenarios.box2d_systems.lander_env import PAYLOAD, Lander, make_lander, read_lander
from safegym_scenarios.box2d_systems.walker_env import Walker, make_walker, read_walker
from safegym_scenarios.classic_systems.acrobot_env import Acrobot, make_acrobot
from safegym_scenarios.classic_systems.cartpole_env import CartPole, make_cartpole
from safegym_scenarios.classic_systems.mountain_car_env import MountainCar, make_mountain_car
from safegym_scenarios.classic_systems.pendulum_env import Pendulum, make_pendulum

from safegym.errors import ScenarioError

LANDER = "LunarLander-v3"
PAIRS = {
    "CartPole-v1": (partial(make_cartpole, CartPole()), {}),
    "Pendulum-v1": (partial(make_pendulum, Pendulum()), {}),
    "Acrobot-v1": (partial(make_acrobot, Acrobot()), {}),
    "MountainCar-v0": (partial(make_mountain_car, MountainCar()), {}),
    "MountainCarContinuous-v0": (partial(make_mountain_car, MountainCar(continuous=True)), {}),
    LANDER: (partial(make_lander, Lander()), {}),
    LANDER + " ": (partial(make_lander, Lander(continuous=True)), {"continuous": True}),
    "BipedalWalker-v3": (partial(make_walker, Walker()), {}),
    "BipedalWalkerHardcore-v3": (partial(make_walker, Walker(hardcore=True)), {}),
}


def actions_for(space, count=60):
    random = np.random.default_rng(7)
    if isinstance(space, spaces.Discrete):
        return random.integers(space.n, size=count).tolist()
    return random.uniform(space.low, space.high, (count, *space.shape)).astype(np.float32)


def episode(env, actions, seed=3, options=None):
    """Observations and rewards until the actions or the episode end."""
    observations, rewards = [env.reset(seed=seed, options=options)[0].copy()], []
    for action in actions:
        observation, reward, terminated, _, _ = env.step(action)
        observations.append(np.array(observation))
        rewards.append(float(reward))
        if terminated:
            break
    return np.array(observations), rewards


@pytest.mark.parametrize("name", PAIRS)
def test_without_a_knob_every_bit_is_gymnasiums(name):
    make, arguments = PAIRS[name]
    theirs, ours = gym.make(name.strip(), **arguments).unwrapped, make()
    actions = actions_for(ours.action_space)
    for seed in (3, 4):
        expected, rewards = episode(theirs, actions, seed)
        found, paid = episode(ours, actions, seed)
        assert np.array_equal(found, expected)
        assert paid == rewards


def test_the_unseen_car_moves_as_gymnasiums():
    theirs, ours = gym.make("CarRacing-v3").unwrapped, make_car(Car())
    theirs.reset(seed=5)
    ours.reset(seed=5)
    for action in actions_for(ours.action_space, 25):
        theirs.step(action)
        ours.step(action)
        assert tuple(ours.bare.car.hull.position) == tuple(theirs.car.hull.position)


@pytest.mark.parametrize("make", [PAIRS["BipedalWalker-v3"][0], partial(make_car, Car())])
def test_an_environment_that_was_used_before_gives_the_same_episode(make):
    fresh, used = make(), make()
    actions = actions_for(fresh.action_space, 40)
    episode(used, actions, seed=11)
    for one, other in zip(episode(fresh, actions), episode(used, actions), strict=True):
        assert np.array_equal(one, other)


def test_a_late_action_acts_two_steps_later():
    late, prompt = make_pendulum(Pendulum()), make_pendulum(Pendulum())
    actions = actions_for(late.action_space, 20)
    idle = np.zeros((2, 1), np.float32)
    found, _ = episode(late, actions, options={"parameters": {"action_delay": 0.1}})
    expected, _ = episode(prompt, [*idle, *actions[:-2]])
    assert np.array_equal(found, expected)


def test_a_late_reading_is_the_one_of_two_steps_before():
    late, prompt = make_pendulum(Pendulum()), make_pendulum(Pendulum())
    actions = actions_for(late.action_space, 20)
    found, _ = episode(late, actions, options={"parameters": {"sensor_delay": 0.1}})
    expected, _ = episode(prompt, actions)
    assert np.array_equal(found[2:], expected[:-2])
    assert np.array_equal(found[0], expected[0])


def test_a_reading_that_fails_to_come_leaves_the_last_one():
    deaf, whole = make_pendulum(Pendulum()), make_pendulum(Pendulum())
    actions = actions_for(deaf.action_space, 100)
    found, _ = episode(deaf, actions, options={"parameters": {"sensor_dropout": 0.5}})
    truth, _ = episode(whole, actions)
    held = 0
    for step in range(1, len(found)):
        is_new = np.array_equal(found[step], truth[step])
        assert is_new or np.array_equal(found[step], found[step - 1])
        held += not is_new
    assert 30 <= held <= 70


def test_bias_and_noise_are_in_the_scale_of_each_entry_and_leave_the_motion():
    seen, whole = make_acrobot(Acrobot()), make_acrobot(Acrobot())
    actions = actions_for(seen.action_space, 200)
    wrong = {"parameters": {"sensor_bias": 0.05, "sensor_noise": 0.05}}
    found, _ = episode(seen, actions, options=wrong)
    truth, _ = episode(whole, actions)
    assert np.array_equal(seen.bare.state, whole.bare.state)
    error = (found - truth)[:, 4:] / 0.05
    assert error.mean() == pytest.approx(1.0, abs=0.3)
    assert error.std() == pytest.approx(1.0, abs=0.3)


def test_noise_comes_from_the_disturbance_seed():
    env = make_acrobot(Acrobot())
    actions = actions_for(env.action_space, 5)

    def seen(seed):
        knobs = {"parameters": {"sensor_noise": 0.1}, "disturbance_seed": seed}
        return episode(env, actions, options=knobs)[0]

    assert np.array_equal(seen(1), seen(1))
    assert not np.array_equal(seen(1), seen(2))


def test_lost_effort_is_lost_from_its_onset_on():
    env, idle = make_pendulum(Pendulum()), make_pendulum(Pendulum())
    actions = actions_for(env.action_space, 20)
    lost = {"parameters": {"actuator_loss": 1.0, "actuator_loss_time": 0.5}}
    found, _ = episode(env, actions, options=lost)
    still = actions.copy()
    still[10:] = 0.0
    expected, _ = episode(idle, still)
    assert np.array_equal(found, expected)


def test_engines_with_half_their_firings_lost_burn_half():
    env = make_lander(Lander())
    episode(env, [2] * 60, options={"parameters": {"actuator_loss": 0.5}})
    assert env.fuel == pytest.approx(30 * 0.02)


def test_a_push_on_the_cart_is_a_force():
    """An idle motor (all its force lost) and 2 N: the velocity gains force / mass within a step."""
    env = make_cartpole(CartPole())
    start = {name.name: 0.0 for name in env.inputs.parameters}
    options = {
        "parameters": {**start, "actuator_loss": 1.0},
        "disturbances": {"cart_push": [2.0] * 10},
    }
    found, _ = episode(env, [1], options=options)
    pole = 0.1 * 0.5 / 1.1
    turning = -(2.0 / 1.1) / (0.5 * (4.0 / 3.0 - 0.1 / 1.1))
    assert found[1, 1] == pytest.approx(0.02 * (2.0 / 1.1 - pole * turning))


def test_pieces_of_wind_that_a_seed_draws_are_told_and_can_be_given_again():
    env = make_pendulum(Pendulum(gusty=True))
    _, info = env.reset(seed=2)
    pieces = info["disturbances"]["torque"]
    assert len(set(pieces)) == 10
    actions = actions_for(env.action_space, 30)
    drawn, _ = episode(env, actions, seed=2)
    given, _ = episode(env, actions, seed=2, options={"disturbances": {"torque": pieces}})
    assert np.array_equal(drawn, given)


def test_an_option_that_is_not_declared_is_refused_with_one_that_is():
    with pytest.raises(ScenarioError, match="did you mean sensor_noise"):
        make_lander(Lander()).reset(seed=0, options={"parameters": {"sensor_noises": 0.1}})


def test_a_payload_is_carried_where_it_sits():
    env = make_lander(Lander(always=PAYLOAD))
    env.reset(seed=0, options={"parameters": {"payload": 0.6, "payload_offset": 0.03}})
    bare = make_lander(Lander())
    bare.reset(seed=0)
    loaded, empty = env.bare.lander.massData, bare.bare.lander.massData
    assert loaded.mass == pytest.approx(empty.mass + 0.6)
    assert loaded.center[0] * loaded.mass == pytest.approx(0.6 * 0.03, abs=1e-6)


def test_the_first_blow_takes_the_leg_s_own_momentum_and_there_is_none_before():
    env = make_lander(Lander())
    env.reset(seed=0)
    before = read_lander(env)
    while True:
        _, _, terminated, _, _ = env.step(0)
        now = read_lander(env)
        if now[5] or terminated:
            break
        assert now[6] == 0.0
        before = now
    momentum = env.bare.legs[0].mass * before[2]
    assert now[6] == pytest.approx(momentum, rel=0.15)


def test_the_gait_is_gymnasiums_heuristic():
    env, policy = make_walker(Walker()), GaitPolicy("x", Gait())
    theirs = bipedal_walker.BipedalWalkerHeuristics()
    observation, _ = env.reset(seed=1)
    state, starts = None, np.array([True])
    for _ in range(100):
        actions, state = policy.act(observation[None], state, starts)
        starts = np.array([False])
        assert actions[0] == pytest.approx(theirs.step_heuristic(observation), abs=1e-6)
        observation, *_ = env.step(actions[0])
    assert read_walker(env)[2] > 2.0


def test_a_row_of_the_gait_knows_nothing_of_its_neighbours():
    random = np.random.default_rng(0)
    seen = random.normal(size=(12, 3, 24)).astype(np.float32)
    policy = GaitPolicy("x", Gait())
    together, state = [], None
    for step, batch in enumerate(seen):
        actions, state = policy.act(batch, state, np.array([step in (0, 6), step == 0, step == 0]))
        together.append(actions[1])
    state = None
    for step, batch in enumerate(seen):
        actions, state = policy.act(batch[1:2], state, np.array([step == 0]))
        assert np.array_equal(actions[0], together[step])
