"""The arms: kinematics against the engine's, statics against the lever rule, knobs that act."""

import numpy as np
import pytest
from safegym_scenarios.manipulator.carry import HALF, SUCTION
from safegym_scenarios.manipulator.catalogue import SCENARIOS
from safegym_scenarios.manipulator.chain import FIVE, FOUR, PLANAR, SCARA, SEVEN, SIX
from safegym_scenarios.manipulator.planar_variants import joint_targets

from safegym.scenario.signals.engine import mj

ARMS = {
    "arm/planar-reach-v0": PLANAR,
    "arm/scara-pick-v0": SCARA,
    "arm/reach-blocks-v0": FOUR,
    "arm/weak-drive-v0": FIVE,
    "arm/encoder-bias-v0": SIX,
    "arm/elbow-room-v0": SEVEN,
}


def made(name, **options):
    env = SCENARIOS[name]().make_env()
    observation, _ = env.reset(seed=0, options={"parameters": options} if options else None)
    return env, observation


@pytest.mark.parametrize("name", ARMS)
def test_the_tip_is_where_forward_kinematics_says(name):
    env, _ = made(name)
    random = np.random.default_rng(1)
    for _ in range(5):
        low, high = env.model.jnt_range[: env.size].T
        angles = random.uniform(low, high)
        env.data.qpos[: env.size] = angles
        mj.mj_kinematics(env.model, env.data)
        np.testing.assert_allclose(env.place_of_tip, ARMS[name].tip(angles.tolist()), atol=1e-9)


@pytest.mark.parametrize("name", ["arm/reach-blocks-v0", "arm/encoder-bias-v0"])
def test_resolved_joint_speeds_move_the_tip_as_asked(name):
    env, _ = made(name)
    wish = np.array((0.05, -0.04, 0.03))
    speeds = env.resolve(wish)
    before = ARMS[name].tip(env.data.qpos[: env.size].tolist())
    after = ARMS[name].tip((env.data.qpos[: env.size] + 1e-5 * speeds).tolist())
    np.testing.assert_allclose((after - before) / 1e-5, wish, atol=2e-3)


def test_the_elbow_of_seven_joints_swivels_without_moving_the_tip():
    env, _ = made("arm/elbow-room-v0")
    elbow = env.data.xpos[env._elbow].copy()
    speeds = env.resolve(np.zeros(3), 0.3)
    before = SEVEN.tip(env.data.qpos[:7].tolist())
    after = SEVEN.tip((env.data.qpos[:7] + 1e-4 * speeds).tolist())
    assert np.linalg.norm(after - before) / 1e-4 < 0.01 * np.abs(speeds).max()
    env.data.qpos[:7] += 0.1 * speeds
    mj.mj_kinematics(env.model, env.data)
    assert np.linalg.norm(env.data.xpos[env._elbow] - elbow) > 0.001


def test_the_closed_form_of_two_joints_reaches_the_aim():
    env, observation = made("arm/planar-reach-v0")
    ways = joint_targets(observation[None].astype(np.float64))[0]
    reached = PLANAR.tip((env.data.qpos[:2] + ways).tolist())
    np.testing.assert_allclose(reached[:2], env.aim[:2], atol=1e-6)


def test_a_load_at_rest_pulls_at_the_shoulder_with_weight_times_lever():
    env, _ = made("arm/payload-unknown-v0", load=3.0)
    for _ in range(40):
        env.step(np.zeros(3))
    load = env.data.body("load").xpos
    shoulder = env.data.body("link 1").xpos
    lever = float(np.hypot(*(load - shoulder)[:2]))
    assert abs(env.data.actuator_force[1]) == pytest.approx(3.0 * 9.81 * lever, rel=0.05)


def test_brakes_hold_the_arm_that_a_fault_makes_run_away():
    ends = {}
    for brake in (-1.0, 1.0):
        env, _ = made("arm/emergency-stop-v0", fault_time=3.0)
        for _ in range(90):
            env.step(np.array((0.0, 0.0, 0.0, brake)))
        ends[brake] = abs(float(env.data.qvel[0])), abs(float(env.data.qpos[0]))
    assert ends[1.0][0] < 0.01
    assert ends[-1.0][1] > 0.5 + ends[1.0][1]


def test_the_cup_lifts_an_item_and_lets_it_fall():
    spec = SCENARIOS["arm/scara-pick-v0"]()
    env, observation = made("arm/scara-pick-v0")
    policy = spec.good()
    heights = []
    for _ in range(50):
        actions, _ = policy.act(observation[None], None, np.ones(1, np.bool_))
        observation = env.step(actions[0])[0]
        heights.append(float(env.place_of_item[2]))
    lifted = max(heights) - heights[0]
    assert lifted > 0.05
    before = float(env.place_of_item[2])
    env.step(np.array((0.0, 0.0, 0.0, -1.0)))
    for _ in range(10):
        env.step(np.array((0.0, 0.0, 0.0, -1.0)))
    assert float(env.place_of_item[2]) < before - 0.03


@pytest.mark.parametrize(("share", "holds"), [(0.8, True), (1.2, False)])
def test_the_cup_bears_the_pull_that_it_is_made_for_and_no_more(share, holds):
    env, _ = made("arm/scara-pick-v0", item_mass=0.5)
    env.data.qpos[env._free : env._free + 3] = env.place_of_tip - (0.0, 0.0, HALF)
    env.step(np.array((0.0, 0.0, 0.0, 1.0)))
    assert env.held
    env.data.xfrc_applied[env._item][2] = 0.5 * 9.81 - share * SUCTION
    env.pushed, env.disturb = "", lambda pushes: None
    for _ in range(10):
        env.step(np.array((0.0, 0.0, 0.0, 1.0)))
    assert env.held == holds


def test_a_carried_item_hangs_upright_on_the_cup():
    spec = SCENARIOS["arm/warehouse-pick-v0"]()
    for seed in range(3):
        env, policy = spec.make_env(), spec.good()
        observation, _ = env.reset(seed=seed)
        for _ in range(90):
            actions, _ = policy.act(observation[None], None, np.ones(1, np.bool_))
            observation = env.step(actions[0])[0]
            if env.held:
                assert env.data.xmat[env._item][8] > 0.95


def test_biased_encoders_misplace_the_tip_that_is_told_but_not_the_true_one():
    env, biased = made("arm/encoder-bias-v0", encoder_bias=0.06)
    angles = (env.data.qpos[:6] + 0.06).tolist()
    told = 0.5 * biased[:3] + np.array(env.setting.middle)
    np.testing.assert_allclose(told, SIX.tip(angles), atol=1e-5)
    assert np.linalg.norm(told - env.place_of_tip) > 0.02
