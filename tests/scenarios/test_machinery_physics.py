"""The machines against closed forms: resonance, braking way, free acceleration, weight."""

import numpy as np
import pytest
from safegym_scenarios.machinery.catalogue import SCENARIOS


def made(name, **parameters):
    env = SCENARIOS[name]().make_env()
    env.reset(seed=0, options={"parameters": parameters})
    return env


def test_the_spindle_s_foot_swings_at_the_square_root_of_stiffness_over_mass():
    env = made("machine/spindle-v0", stiffness=16000.0)
    env.data.qpos[0] = 0.002
    places = []
    for _ in range(200):
        env.model.opt.timestep = 0.002
        env.stepper.substeps = 1
        env.step(np.zeros(1))
        places.append(float(env.data.qpos[0]))
    crossings = np.flatnonzero(np.diff(np.sign(places)))
    period = 2.0 * np.mean(np.diff(crossings)) * 0.002
    assert 2.0 * np.pi / period == pytest.approx((16000.0 / 13.0) ** 0.5, rel=0.03)


def test_a_spindle_swings_most_near_the_critical_speed():
    spec = SCENARIOS["machine/spindle-v0"]()

    def swing(policy):
        env = made("machine/spindle-v0", stiffness=16000.0, unbalance=0.0045)
        observation = env._seen()
        largest = []
        for _ in range(80):
            actions, _ = policy.act(observation[None], None, np.ones(1, np.bool_))
            observation = env.step(np.clip(actions[0], -1, 1))[0]
            largest.append(float(env.stepper.values[2]))
        return max(largest[40:])

    lingering = spec.bad["machine.spindle_vibration"]()
    assert swing(lingering) > 3.0 * swing(spec.good())


def test_a_box_on_a_belt_slides_where_the_belt_brakes_harder_than_friction():
    def slide(deceleration):
        env = made("machine/conveyor-stop-v0", box_mass=5.0, box_grip=0.4)
        env.data.qvel[:] = 0.0
        for _ in range(40):
            env.step(np.array((0.1,)))
        before = env._slide()
        moved = 30.0 + 5.0
        for _ in range(8):
            env.step(np.array((-deceleration * moved / 400.0,)))
        return env._slide() - before

    assert slide(0.5 * 0.4 * 9.81) < 0.003
    assert slide(2.0 * 0.4 * 9.81) > 0.01


def test_the_lift_with_half_its_load_stands_in_balance_and_accelerates_as_one_mass():
    env = made("machine/lift-v0", load=200.0)
    for _ in range(5):
        env.step(np.zeros(1))
    assert abs(env.speed) < 1e-6
    env.step(np.array((0.2,)))
    mass = 600.0 + 200.0 + 800.0
    assert env.speed / 0.04 == pytest.approx(0.2 * 4000.0 / mass, rel=0.02)


def test_the_rope_weighs_the_load_as_it_leaves_the_ground():
    spec = SCENARIOS["machine/hoist-overload-v0"]()
    env = made("machine/hoist-overload-v0", load=200.0)
    observation, policy = env._seen(), spec.good()
    for _ in range(100):
        actions, _ = policy.act(observation[None], None, np.ones(1, np.bool_))
        observation = env.step(actions[0])[0]
    assert env.at > 0.05
    ramp = 5 * 0.01 * 6000.0  # what the rope gains while the load comes off the ground
    assert 200.0 * 9.81 <= env._weighed <= 200.0 * 9.81 + ramp


def test_a_part_stays_on_the_turntable_up_to_the_speed_that_friction_allows():
    def shift(speed):
        env = made("machine/turntable-v0", part_grip=0.4, part_radius=0.25)
        part = env.model.joint("part")
        env.data.qvel[env._v] = speed
        first = int(part.dofadr[0])
        env.data.qvel[first : first + 6] = (0.0, speed * 0.25, 0.0, 0.0, 0.0, speed)
        for _ in range(12):
            env.step(np.zeros(1))
        return env._shift()

    limit = (0.4 * 9.81 / 0.25) ** 0.5
    assert shift(0.7 * limit) < 0.01
    assert shift(1.5 * limit) > 0.05
