"""The grippers: Coulomb's law decides what holds, and sensors fail as declared."""

import numpy as np
import pytest
from safegym_scenarios.gripper.catalogue import SCENARIOS
from safegym_scenarios.gripper.hand import FORCE


def lifted_height(name, grip, steps=75, **parameters):
    """How high the item is in the end when the good policy's grip is replaced."""
    spec = SCENARIOS[name]()
    env, policy = spec.make_env(), spec.good()
    observation, _ = env.reset(seed=0, options={"parameters": parameters})
    for _ in range(steps):
        actions, _ = policy.act(observation[None], None, np.ones(1, np.bool_))
        action = np.array(actions[0])
        if action[2] > 0.0:
            action[2] = grip
        observation = env.step(action)[0]
    return float(env.place_of_item[2] - env._stood), env


@pytest.mark.parametrize(("share", "holds"), [(1.5, True), (0.6, False)])
def test_two_fingers_hold_what_friction_can_bear(share, holds):
    mass, friction = 0.5, 0.2
    needed = mass * 9.81 / (2.0 * friction)
    height, _ = lifted_height(
        "gripper/slippery-v0", share * needed / FORCE, item_mass=mass, item_grip=friction
    )
    assert (height > 0.05) == holds


def test_the_fingers_press_with_twice_the_force_of_one():
    _, env = lifted_height("gripper/fragile-v0", 0.2, item_mass=0.1)
    assert float(env.stepper.values[1]) == pytest.approx(2 * 0.2 * FORCE, rel=0.05)


def test_fingers_close_alike():
    _, env = lifted_height("gripper/three-finger-v0", 0.28)
    fingers = env.data.qpos[2:5]
    assert np.ptp(fingers) < 0.002


def test_what_slides_through_the_fingers_counts_though_it_is_never_lifted():
    spec = SCENARIOS["gripper/heavy-v0"]()
    env, policy = spec.make_env(), spec.bad["gripper.heavy_slip"]()
    told = {"item_mass": 3.0, "item_grip": 0.6}
    observation, _ = env.reset(seed=0, options={"parameters": told})
    for _ in range(75):
        actions, _ = policy.act(observation[None], None, np.ones(1, np.bool_))
        observation = env.step(actions[0])[0]
    assert not env._lifted
    assert float(env.stepper.values[3]) > 0.006


def test_touch_drops_out_with_the_declared_chance():
    spec = SCENARIOS["gripper/tactile-dropout-v0"]()
    env, policy = spec.make_env(), spec.good()
    observation, _ = env.reset(seed=1, options={"parameters": {"touch_dropout": 0.4}})
    felt = []
    for _ in range(300):
        actions, _ = policy.act(observation[None], None, np.ones(1, np.bool_))
        observation = env.step(actions[0])[0]
        if env.stepper.values[1] > 1.0:
            felt.append(float(observation[9]))
    assert np.mean(np.array(felt) == 0.0) == pytest.approx(0.4, abs=0.1)
