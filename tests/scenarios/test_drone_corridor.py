"""The corridor scenarios: seeds, parameters, the residual, and what their policies do."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from safegym_scenarios.drone import CLAIMS, corridor, corridor_direct
from safegym_scenarios.drone_course import FAULTS, FRONT, OBSTACLES, PARAMETERS, Obstacle
from safegym_scenarios.drone_env import CorridorEnv
from safegym_scenarios.drone_guidance import ahead, gap_target
from safegym_scenarios.drone_view import FORWARD, RESIDUAL, SIDE, command, decode

from safegym.check.monitor import judge
from safegym.errors import ScenarioError
from safegym.scenario.record import record

MODES = ("residual", "direct")
SPECS = (corridor, corridor_direct)


def rollout(env, seed, steps=40, options=None):
    observation, info = env.reset(seed=seed, options=options)
    actions = np.random.default_rng(seed).uniform(-1, 1, (steps, 2)).astype(np.float32)
    seen = [(observation.tobytes(), env.signals, 0.0)]
    for action in actions:
        observation, reward, terminated, _, _ = env.step(action)
        seen.append((observation.tobytes(), env.signals, reward))
        if terminated:
            break
    return seen, info


@pytest.mark.parametrize("mode", MODES)
def test_it_keeps_gymnasiums_rules(mode):
    check_env(CorridorEnv(mode), skip_render_check=True)


@pytest.mark.parametrize("mode", MODES)
def test_a_seed_decides_an_episode_bit_for_bit_even_in_a_used_environment(mode):
    used = CorridorEnv(mode)
    rollout(used, 5)
    for seed in (0, 1):
        fresh, info = rollout(CorridorEnv(mode), seed)
        again, same = rollout(used, seed)
        assert fresh == again
        assert info == same


def test_parameters_and_disturbance_seed_replay_an_episode():
    first, info = rollout(CorridorEnv(), 11)
    _, other = rollout(CorridorEnv(), 12)
    assert info != other
    replayed, same = rollout(CorridorEnv(), 11, options=info)
    assert same == info
    assert replayed == first
    replay = CorridorEnv()
    replay.reset(seed=99, options=info)
    assert replay.signals == first[0][1]


def test_overriding_one_parameter_leaves_the_others_as_they_were():
    _, plain = CorridorEnv().reset(seed=4)
    _, calm = CorridorEnv().reset(seed=4, options={"parameters": {"gust_peak": 0.0}})
    changed = {n for n, v in plain["parameters"].items() if calm["parameters"][n] != v}
    assert changed == {"gust_peak"}
    assert calm["disturbance_seed"] == plain["disturbance_seed"]
    declared = {parameter.name for parameter in (*PARAMETERS, *FAULTS)}
    assert set(plain["parameters"]) == declared
    assert all(plain["parameters"][fault.name] == fault.default for fault in FAULTS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameters": {"gust_peek": 0.1}}, "no parameter 'gust_peek'; did you mean gust_peak"),
        ({"parameters": {"gust_peak": 0.5}}, r"gust_peak = 0.5 N lies outside \[0, 0.4\] N"),
        ({"parameters": {"gust_peak": float("nan")}}, "gust_peak = nan N lies outside"),
        ({"disturbance_seed": -1}, "disturbance_seed must be a whole number >= 0, found -1"),
        ({"disturbance_seed": 1.5}, "disturbance_seed must be a whole number >= 0, found 1.5"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    with pytest.raises(ScenarioError, match=message):
        CorridorEnv().reset(seed=0, options=options)


def test_the_residual_is_at_most_half_of_the_range_of_speeds():
    assert RESIDUAL[0] <= (FORWARD[1] - 0.0) / 2.0
    assert RESIDUAL[1] <= SIDE / 2.0
    for action in np.random.default_rng(0).uniform(-1, 1, (200, 2)).tolist():
        proposal = (0.5, -0.2)
        forward, left = command("residual", tuple(action), proposal)
        assert abs(forward - proposal[0]) <= RESIDUAL[0] + 1e-12
        assert abs(left - proposal[1]) <= RESIDUAL[1] + 1e-12
        for mode in MODES:
            forward, left = command(mode, tuple(action), proposal)
            assert FORWARD[0] <= forward <= FORWARD[1]
            assert -SIDE <= left <= SIDE


def test_the_observation_says_where_things_are():
    env = CorridorEnv()
    observation, info = env.reset(seed=8)
    values = info["parameters"]
    view = decode(observation[None])
    y = values["start_y"]
    assert view.y[0] == pytest.approx(y, abs=1e-6)
    assert view.near[0] == pytest.approx(values["obstacle_1_x"] - values["obstacle_1_size"])
    assert view.left[0] == pytest.approx(values["obstacle_1_y"] + values["obstacle_1_size"] - y)
    assert view.right[0] == pytest.approx(values["obstacle_1_y"] - values["obstacle_1_size"] - y)
    assert view.goal[0] == 2.0


def test_the_guidance_takes_the_wider_gap_and_lets_go_of_what_is_passed():
    obstacle = Obstacle(2.0, 0.5, 0.3, square=False)
    assert gap_target(obstacle, 0.4) == pytest.approx(0.2 - 0.24 - 0.2)
    assert gap_target(obstacle, -0.5) == -0.5
    course = (obstacle, Obstacle(4.0, -0.5, 0.3, square=True))
    assert ahead(2.5, course)[0] is obstacle
    assert ahead(2.6, course)[0] is course[1]
    assert gap_target(ahead(5.0, course)[0], 0.7) == 0.0


def test_a_parked_drone_stays_parked_so_that_its_last_sample_may_be_held():
    spec = corridor()
    env, good = spec.make_env(), spec.good()
    for seed in range(3):
        observation, _ = env.reset(seed=seed, options={"parameters": {"gust_peak": 0.4}})
        for _ in range(spec.horizon):
            action, _ = good.act(observation[None], None, np.array([False]))
            observation, _, terminated, _, info = env.step(action[0])
            if terminated:
                break
        assert info == {"terminal": "goal"}
        for _ in range(50):
            action, _ = good.act(observation[None], None, np.array([False]))
            observation, *_ = env.step(action[0])
            _, force, lateral, tilt, distance, _ = env.signals
            assert force == 0.0
            assert abs(lateral) < 0.5
            assert tilt < 0.3
            assert distance < 0.3


def test_hitting_the_far_wall_ends_the_episode_as_a_collision():
    env = CorridorEnv("direct")
    clear = {f"obstacle_{n}_y": 0.7 for n in range(1, OBSTACLES + 1)} | {
        "start_y": -0.6,
        "gust_peak": 0.0,
    }
    env.reset(seed=0, options={"parameters": clear})
    for _ in range(200):
        _, reward, terminated, truncated, info = env.step(np.array([1.0, 0.0], np.float32))
        if terminated:
            break
    assert info == {"terminal": "collision"}
    assert not truncated
    assert reward < -20.0
    assert env.flight.position[0] > FRONT - 0.4
    assert env.signals[1] > 1.0


@pytest.mark.parametrize("make", SPECS)
def test_the_good_policy_keeps_every_claim(make):
    spec = make()
    assert spec.validate() == []
    for seed in range(3):
        trace = record(spec, spec.good(), seed)
        assert trace.end.kind == "absorbed"
        assert [judge(claim, trace).status for claim in CLAIMS] == ["satisfied"] * 4


@pytest.mark.parametrize("make", SPECS)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_each_bad_policy_breaks_its_claim(make, claim):
    spec = make()
    policy = spec.bad[claim.id]()
    found = [judge(claim, record(spec, policy, seed)).status for seed in range(4)]
    assert "violated" in found


def test_the_two_scenarios_have_their_own_digests():
    one, two = corridor(), corridor_direct()
    assert one.digest == corridor().digest
    assert one.digest != two.digest


def test_the_guidance_alone_is_a_baseline_that_breaks_claims():
    spec = corridor()
    policy = spec.baselines["guidance"]()
    statuses = {
        judge(claim, record(spec, policy, seed)).status for seed in range(12) for claim in CLAIMS
    }
    assert "violated" in statuses


def test_it_renders_only_when_asked():
    env = CorridorEnv()
    env.reset(seed=0)
    assert isinstance(env, gym.Env)
    assert env.render() is None
    env.close()
