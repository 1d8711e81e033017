"""The classic systems against Gymnasium's own, and their pushes against mechanics."""

import math

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from safegym_scenarios.classic import cartpole, pendulum
from safegym_scenarios.classic_dynamics import cartpole_step, pendulum_step
from safegym_scenarios.classic_env import PushedCartPole, PushedPendulum

from safegym.check.monitor import judge
from safegym.errors import ScenarioError
from safegym.scenario.record import record

PAIRS = {"Pendulum-v1": PushedPendulum, "CartPole-v1": PushedCartPole}
SPECS = {"Pendulum-v1": pendulum, "CartPole-v1": cartpole}


def rollout(env, seed, options=None, steps=200):
    """Observations, rewards and ends of random actions, as bytes where bits count."""
    observation, info = env.reset(seed=seed, options=options)
    generator = np.random.default_rng(seed)
    seen = [observation.tobytes()]
    for _ in range(steps):
        if isinstance(env.action_space, gym.spaces.Discrete):
            action = int(generator.integers(2))
        else:
            action = generator.uniform(-2.5, 2.5, 1).astype(np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        seen.append((observation.tobytes(), float(reward), bool(terminated), truncated))
        if terminated:
            break
    return seen, info, env.unwrapped.state.tobytes()


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", range(5))
def test_without_options_an_episode_is_gymnasiums_bit_for_bit(name, seed):
    theirs, _, their_state = rollout(gym.make(name).unwrapped, seed)
    ours, info, state = rollout(PAIRS[name](), seed)
    assert ours == theirs
    assert state == their_state
    assert set(info) == {"parameters"}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", range(5))
def test_neutral_pushes_change_no_bit(name, seed):
    spec = SPECS[name]()
    neutral = {each.name: [each.neutral] * each.pieces for each in spec.disturbances}
    plain, _, state = rollout(PAIRS[name](), seed)
    pushed, info, same = rollout(PAIRS[name](), seed, {"disturbances": neutral})
    assert pushed == plain
    assert same == state
    assert info["disturbances"] == neutral


@pytest.mark.parametrize("name", PAIRS)
def test_the_start_can_be_set(name):
    spec, env = SPECS[name](), PAIRS[name]()
    wanted = {each.name: 0.5 * each.high for each in spec.parameters}
    _, info = env.reset(seed=0, options={"parameters": wanted})
    assert env.state.tolist() == list(wanted.values())
    assert {key: info["parameters"][key] for key in wanted} == wanted


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore:.*WARN")
def test_it_keeps_gymnasiums_rules(name):
    check_env(PAIRS[name](), skip_render_check=True)


def test_options_of_gymnasiums_own_are_refused_and_the_ones_that_work_named():
    with pytest.raises(ScenarioError, match=r"no option 'x_init'; a reset takes parameters"):
        PushedPendulum().reset(options={"x_init": 0.1})
    with pytest.raises(ScenarioError, match=r"start_angle = 4 rad lies outside \[-3.14159, 3.14"):
        PushedPendulum().reset(options={"parameters": {"start_angle": 4.0}})


def test_an_action_that_is_none_is_refused_under_a_push_too():
    env = PushedCartPole()
    env.reset(seed=0, options={"parameters": {"motor_loss": 0.5}})
    with pytest.raises(ScenarioError, match="Action 2 is not 0 or 1"):
        env.step(2)


def accelerations(state, force, torque):
    """x'' and the pole's from the two Newton-Euler equations, solved as a linear system.

    (M + m) x'' + m l a cos - m l w^2 sin = force;  4/3 m l^2 a + m l x'' cos - m g l sin = torque.
    """
    _, _, angle, rate = state
    m, total, length, g = 0.1, 1.1, 0.5, 9.8
    cosine, sine = math.cos(angle), math.sin(angle)
    matrix = [[total, m * length * cosine], [m * length * cosine, 4 / 3 * m * length**2]]
    right = [force + m * length * rate**2 * sine, torque + m * g * length * sine]
    return np.linalg.solve(matrix, right)


def test_pushes_on_the_cart_pole_obey_its_equations_of_motion():
    generator = np.random.default_rng(1)
    for _ in range(200):
        state = tuple(generator.normal(0, 0.5, 4))
        force, torque = generator.uniform(-13, 13), generator.uniform(-0.05, 0.05)
        after = cartpole_step(np, state, force, torque)
        moving, turning = accelerations(state, force, torque)
        assert (after[1] - state[1]) / 0.02 == pytest.approx(moving, rel=1e-9, abs=1e-9)
        assert (after[3] - state[3]) / 0.02 == pytest.approx(turning, rel=1e-9, abs=1e-9)
        assert after[0] == state[0] + 0.02 * state[1]


def test_a_torque_on_the_pendulum_acts_as_a_motor_of_that_torque_would():
    for angle in (-1.0, 0.3, 2.0):
        by_push = pendulum_step(np, (angle, 0.5), 0.0, 1.0, 0.7)
        by_motor = pendulum_step(np, (angle, 0.5), 0.7, 1.0, 0.0)
        assert by_push == pytest.approx(by_motor, rel=1e-12)


def test_a_push_acts_during_its_stretch_alone():
    spec, env = pendulum(), PushedPendulum()
    pieces = [0.0] * 10
    pieces[3] = 0.5  # 3 s to 4 s: steps 60 to 79
    start = {"start_angle": 0.0, "start_angular_speed": 0.0}
    env.reset(seed=0, options={"parameters": start, "disturbances": {"torque": pieces}})
    speeds = [env.step(np.zeros(1, np.float32))[0][2] for _ in range(100)]
    assert not any(speeds[:60])
    assert speeds[60] == pytest.approx(3 * 0.5 * 0.05)
    assert spec.disturbances[0].piece_at(60, spec.horizon) == 3


def test_a_lost_motor_does_nothing_from_its_onset_on_and_that_step_counts_in_part():
    env = PushedPendulum()
    faults = {"motor_loss": 1.0, "motor_loss_time": 0.125}  # in the middle of step 2
    start = {"start_angle": 0.0, "start_angular_speed": 0.0}
    env.reset(seed=0, options={"parameters": {**faults, **start}})
    gains = []
    before = (0.0, 0.0)
    for _ in range(5):
        env.step(np.array([2.0], np.float32))
        angle, speed = env.state
        gains.append((speed - before[1]) / 0.05 - 15.0 * math.sin(before[0]))
        before = (angle, speed)
    assert gains == pytest.approx([6.0, 6.0, 3.0, 0.0, 0.0], abs=1e-5)


def statuses(spec, policy, options):
    trace = record(spec, policy, 0, options=options)
    return {claim.id: judge(claim, trace).status for claim in spec.claims}


def test_a_fault_of_the_motor_breaks_the_good_policys_claims():
    spec = cartpole()
    whole = statuses(spec, spec.good(), None)
    broken = statuses(spec, spec.good(), {"parameters": {"motor_loss": 1.0}})
    assert set(whole.values()) == {"satisfied"}
    assert broken["cartpole.pole"] == "violated"
    late = {"parameters": {"motor_loss": 1.0, "motor_loss_time": 9.9}}
    assert statuses(spec, spec.good(), late)["cartpole.pole"] == "satisfied"
