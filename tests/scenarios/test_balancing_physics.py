"""Balancing machines against closed forms, and their gains found a second time."""

from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from safegym_scenarios.balancing import gains
from safegym_scenarios.balancing.ballbot import Ballbot, BallbotSetting
from safegym_scenarios.balancing.cart import Cart, CartSetting
from safegym_scenarios.balancing.catalogue import SCENARIOS
from safegym_scenarios.balancing.furuta import Furuta, FurutaSetting
from safegym_scenarios.balancing.machine import inputs, start
from safegym_scenarios.balancing.reaction import ReactionSetting, ReactionWheels
from safegym_scenarios.balancing.table import BALL, BallTable, TableSetting
from safegym_scenarios.balancing.two_wheel import TwoWheeler, TwoWheelSetting
from scipy.linalg import solve_discrete_are

G = 9.81


def env_of(name):
    return SCENARIOS[f"balance/{name}-v0"]().make_env()


def known(*names):
    return inputs(100, [start(name, "1", 0.05, "at the start") for name in names], ())


def jiggle(env, rng, dofs, wound):
    for dof in dofs:
        env.data.qvel[dof] = rng.uniform(-0.1, 0.1)
    if wound == "one":
        env._wound = rng.uniform(-0.05, 0.05)
    if wound == "two":
        env._wound[0] = rng.uniform(-0.02, 0.02)


def regulator(env, combine, count, dofs, wound, weights, cost, size):
    """Gain of the discrete regulator on a least-squares model of one control step."""
    rng, before, after = np.random.default_rng(0), [], []
    combine = np.asarray(combine, float)
    for seed in range(80):
        drawn = {
            each.name: 0.2 * rng.uniform(each.low, each.high)
            for each in env.setting.inputs.parameters
        }
        env.reset(seed=seed, options={"parameters": drawn})
        jiggle(env, rng, dofs, wound)
        for _ in range(rng.integers(2, 4)):
            env.step(combine * size * rng.standard_normal())
        seen, pull = np.array(env.observe())[:count], size * rng.standard_normal()
        env.step(combine * pull)
        before.append([*seen, pull, 1.0])
        after.append(np.array(env.observe())[:count])
    fitted, *_ = np.linalg.lstsq(np.array(before), np.array(after), rcond=None)
    a, b = fitted[:count].T, fitted[count : count + 1].T
    p = solve_discrete_are(a, b, np.diag(weights), np.diag([cost]))
    return np.linalg.solve(np.diag([cost]) + b.T @ p @ b, b.T @ p @ a)[0]


WHEELED = (4, 2, 0.5, 2, 0.3)
ROLLING, LEANING = known("ball_x", "ball_y", "goal_x"), known("start_lean", "start_rate")
MACHINES = [
    (lambda: TwoWheeler(TwoWheelSetting(inputs=known("start_pitch", "start_x"))),
     (1, 1), (0, 4), "one", WHEELED, 3, 0.05, gains.TWO_WHEEL),
    (lambda: Cart(CartSetting(inputs=known("start_angle", "start_x"), observations=6)),
     (1,), (0, 1), "one", (3, 1, 0.3, 0.5, 0.2), 2, 0.02, gains.CART),
    (lambda: BallTable(TableSetting(inputs=ROLLING, observations=12, actions=2)),
     (1, 0), (0, 2), "two", (2, 0.5, 0.4, 0.02, 0.02), 0.6, 0.2, gains.BALL),
    (lambda: Furuta(FurutaSetting(inputs=known("start_angle", "start_arm"))),
     (1,), (0, 1), "one", (2, 1, 0.3, 0.3, 0.2), 3, 0.03, gains.FURUTA),
    (lambda: ReactionWheels(ReactionSetting(inputs=LEANING, observations=3, actions=1)),
     (1,), (0,), "", (1, 0.3, 0.6), 1, 0.05, gains.WHEEL_POLE),
    (lambda: Ballbot(BallbotSetting(inputs=known("start_lean", "start_side"))),
     (1, 0), (0, 4), "two", WHEELED, 4, 0.05, gains.BALLBOT),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "combine", "dofs", "wound", "weights", "cost", "size", "shipped"), MACHINES
)
def test_the_shipped_gains_are_the_regulator_s(
    make, combine, dofs, wound, weights, cost, size, shipped
):
    found = regulator(make(), combine, len(shipped), dofs, wound, weights, cost, size)
    assert found == pytest.approx(np.array(shipped), rel=0.1, abs=0.1)


def test_a_pole_on_a_hinge_falls_at_the_rate_of_the_closed_form():
    """lambda^2 = g sum(m l) / (I + sum(m l^2)); its flywheel turns freely and takes no part."""
    env = env_of("flywheel-pole")
    env.reset(seed=0, options={"parameters": {"start_lean": 0.001, "start_rate": 0.0}})
    rod = 0.4 * ((0.3**2 + 0.03**2) / 12.0 + 0.15**2)
    rate = sqrt(G * (0.4 * 0.15 + 0.5 * 0.3) / (rod + 0.5 * 0.3**2))
    angles = []
    for _ in range(30):
        env.step(np.zeros(1))
        angles.append(float(env.data.qpos[0]))
    expected = 0.001 * np.cosh(rate * env.setting.dt * np.arange(1, 31))
    assert angles == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(("hollow", "share"), [(False, 5.0 / 7.0), (True, 3.0 / 5.0)])
def test_a_ball_rolls_down_a_tilted_plate_as_its_inertia_says(hollow, share):
    setting = TableSetting(
        inputs=known("ball_x", "goal_x"),
        observations=6,
        actions=1,
        beam=True,
        half=2.0,
        hollow=hollow,
    )
    env = BallTable(setting)
    env.reset(seed=0, options={"parameters": {"ball_x": 0.0, "goal_x": 0.0}})
    tilt = 0.1
    env.model.actuator_gainprm[:] = 0.0
    env.model.actuator_biasprm[:] = 0.0
    env.model.dof_damping[0] = 1e6  # a plate that stays
    env.data.qpos[0] = tilt
    first = env._address
    along = (0.006 + BALL) * sin(tilt)
    env.data.qpos[first : first + 3] = (along, 0.0, 0.6 + (0.006 + BALL) * cos(tilt))
    speeds = []
    for _ in range(20):
        env.step(np.zeros(1))
        speeds.append(float(env.data.qvel[env._dof]))
    slope = (speeds[-1] - speeds[5]) / (14 * env.setting.dt)
    assert slope == pytest.approx(share * G * sin(tilt) * cos(tilt), rel=0.04)


def test_a_crate_moves_the_balance_by_its_moment():
    env = env_of("two-wheel-payload")
    heights = []
    for shift in (-0.03, 0.03):
        env.reset(seed=0, options={"parameters": {"payload_shift": shift, "start_pitch": 0.0}})
        body = env.model.body("chassis").id
        heights.append(float(env.data.subtree_com[body][0]))
    mass = float(env.model.body_subtreemass[env.model.body("chassis").id])
    assert heights[1] - heights[0] == pytest.approx(4.0 * 0.06 / mass)


def test_a_half_lost_motor_gives_half():
    env = env_of("two-wheel-weak-motor")
    env.reset(seed=0, options={"parameters": {"right_motor_loss": 0.5}})
    env.step(np.full(2, 0.4))
    left, right = env.data.actuator_force
    assert right == pytest.approx(0.5 * left)


def test_a_biased_inertial_unit_tells_the_lean_and_its_bias():
    env = env_of("two-wheel-imu-bias")
    told = []
    for bias in (0.0, 0.06):
        seen, _ = env.reset(seed=0, options={"parameters": {"imu_bias": bias, "start_pitch": 0.03}})
        told.append(0.3 * float(seen[3]))
    assert told == pytest.approx([0.03, 0.09], abs=1e-6)


def test_the_deck_follows_the_swell():
    env = env_of("deck-pole")
    swell = {"sea_angle": 0.15, "sea_period": 2.0, "sea_phase": 0.4}
    env.reset(seed=0, options={"parameters": swell})
    for step in range(1, 80):
        env.step(np.zeros(1))
        if env.terminal():
            break
        at = 2.0 * pi * step * env.setting.dt / 2.0 + 0.4
        assert float(env.data.qpos[0]) == pytest.approx(0.15 * sin(at), abs=0.004)


def test_the_ball_in_the_hole_ends_the_episode():
    env = env_of("ball-plate-hole")
    env.reset(seed=0)
    first = env._address
    env.data.qpos[first : first + 2] = env._hole
    _, reward, terminated, _, info = env.step(np.zeros(2))
    assert (terminated, info["terminal"], reward) == (True, "dropped", -10.0)


@pytest.mark.parametrize(("name", "friction"), [("two-wheel-ice", 0.25), ("two-wheel-stand", 0.9)])
def test_tyres_grip_the_ground_as_declared(name, friction):
    env = env_of(name)
    env.reset(seed=0)
    env.step(np.zeros(2))
    assert env.data.ncon > 0
    assert env.data.contact.friction[:, 0] == pytest.approx(friction)


@pytest.mark.parametrize("start_x", [-0.15, 0.15])
def test_overshoot_is_negative_on_the_way_from_either_side(start_x):
    env = env_of("two-wheel-stand")
    names = [each.name for each in SCENARIOS["balance/two-wheel-stand-v0"]().signals]
    env.reset(seed=0, options={"parameters": {"start_x": start_x, "start_pitch": 0.0}})
    assert float(env.signals[names.index("overshoot")]) == pytest.approx(-0.15)
