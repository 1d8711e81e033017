"""The mobile family against textbook answers: stopping, tipping, slopes, drift, rays."""

from math import cos, hypot, pi, sin

import numpy as np
import pytest
from safegym_scenarios.mobile_base import NAMES
from safegym_scenarios.mobile_base.catalogue import SCENARIOS
from safegym_scenarios.mobile_base.drives import GRAVITY, Base, driven
from safegym_scenarios.mobile_base.lidar import Box, free_ahead, outside
from safegym_scenarios.mobile_base.route import Route

from safegym.scenario.fingerprint import source_files
from safegym.scenario.record import record


def made(name, seed=0, **parameters):
    env = SCENARIOS[name]().make_env()
    env.reset(seed=seed, options={"parameters": parameters})
    return env


def straight(**more):
    return {"start_offset": 0.0, "start_heading": 0.0, **more}


def test_names_and_catalogue_agree():
    assert len(NAMES) == len(set(NAMES)) >= 16
    assert set(NAMES) == set(SCENARIOS)


def test_a_commanded_speed_is_reached_and_a_commanded_spin_too():
    env = made("mobile/crossing-people-v0", **straight())
    for _ in range(15):
        env.step(np.array([0.5, 0.0]))
    assert env.ahead == pytest.approx(0.5 * 1.6, abs=0.05)
    env = made("mobile/aisle-v0", **straight())
    for _ in range(10):
        env.step(np.array([0.0, 0.5]))
    assert env.spin == pytest.approx(0.9, rel=0.05)


def test_friction_and_motors_bound_what_a_base_can_do():
    random = np.random.default_rng(0)
    for kind in ("two_wheels", "omni", "tug"):
        base = Base(kind=kind)
        load = base.mass * GRAVITY
        for grip in (0.1, 0.8):
            for _ in range(100):
                now, goal = random.uniform(-2.0, 2.0, (2, 3)).tolist()
                push = driven(base, tuple(now), tuple(goal), load, grip, 1.0, 1.0)
                most = min(base.motor * base.mass, grip * load)
                assert abs(push.along) <= most + 1e-9
                assert abs(push.across) <= grip * load + 1e-9
        stopped = driven(base, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), load, 0.8, 0.0, 0.0)
        assert stopped.along == 0.0


def test_on_a_wet_floor_a_stop_takes_v_squared_over_twice_the_friction():
    env = made("mobile/wet-floor-v0", **straight(wet_grip=0.15, grip=0.8))
    env.data.qpos[0], env.data.qvel[0] = 3.5, 1.2
    start = 3.5
    for _ in range(20):
        env.step(np.zeros(2))
    friction = 0.15 * 0.8 + 0.03  # of the wheels on the wet floor, and rolling resistance
    expected = 1.2**2 / (2.0 * friction * GRAVITY)
    assert float(env.data.qpos[0]) - start == pytest.approx(expected, rel=0.12)


def test_a_tall_box_tips_where_gravity_times_width_over_height_says():
    """A steady acceleration below g * width / height leaves it standing, one above does not."""

    def tilt(acceleration):
        env = made("mobile/tall-load-v0", **straight(load_ahead=0.0, load_left=0.0, grip=0.9))
        speed, worst = 0.0, 0.0
        for _ in range(9):
            speed += acceleration * 0.1
            env.step(np.array([speed / 1.6, 0.0]))
            worst = max(worst, env.signals[0])
        return worst

    limit = GRAVITY * 0.3 / 1.6
    assert tilt(0.7 * limit) < 0.02
    assert tilt(1.8 * limit) > 0.1


def test_a_base_that_lets_go_rolls_down_a_ramp_and_not_on_the_level():
    for place, slope in ((4.0, 0.12), (6.0, 0.0)):
        env = made("mobile/ramp-v0", **straight(steep=1.0, actuator_loss=1.0))
        env.data.qpos[0] = place
        for _ in range(15):
            env.step(np.zeros(2))
        rolled = place - float(env.data.qpos[0])
        expected = 0.5 * (slope - 0.03) * GRAVITY * 1.5**2 if slope else 0.0
        assert rolled == pytest.approx(expected, rel=0.12, abs=0.01)


def test_odometry_drifts_by_so_much_a_metre():
    env = made("mobile/odometry-drift-v0", **straight(odometry_drift=0.05))
    for _ in range(30):
        env.step(np.array([0.5, 0.0]))
    driven_m = hypot(*(float(v) for v in env.data.qpos[:2]))
    error = env.guess[2] - float(env.data.qpos[2])
    assert error == pytest.approx(0.05 * driven_m, rel=0.02)


def test_a_lost_motor_turns_the_base_to_its_side():
    whole = made("mobile/motor-loss-v0", **straight(motor_loss=0.4, motor_loss_time=4.0))
    lost = made("mobile/motor-loss-v0", **straight(motor_loss=0.6, motor_loss_time=1.0))
    for env in (whole, lost):
        for k in range(20):
            env.step(np.array([min(0.7, 0.05 * k), 0.0]))
    assert abs(float(whole.data.qpos[2])) < 1e-3 < 0.01 < float(lost.data.qpos[2])


def test_rays_meet_boxes_where_marching_meets_them():
    random = np.random.default_rng(1)
    boxes = [Box(*random.uniform(-2, 2, 2), *random.uniform(0.1, 0.6, 2)) for _ in range(4)]
    for _ in range(40):
        x, y, angle = *random.uniform(-3, 3, 2), random.uniform(-pi, pi)
        if min(outside(box, x, y) for box in boxes) <= 0.0:
            continue
        steps = np.arange(0.0, 3.0, 0.004)
        met = next(
            (
                s
                for s in steps
                if min(outside(b, x + s * cos(angle), y + s * sin(angle)) for b in boxes) <= 0.0
            ),
            3.0,
        )
        assert free_ahead(boxes, x, y, angle, 3.0) == pytest.approx(met, abs=0.02)


def test_a_route_is_as_long_as_its_legs_and_finds_points_beside_it():
    route = Route(((0.0, 0.0), (3.0, 0.0), (3.0, 4.0)))
    assert route.length == 7.0
    assert route.at(5.0)[:2] == pytest.approx((3.0, 2.0))
    assert route.nearest(2.6, 2.0, 4.5) == pytest.approx((5.0, 0.4))


def test_the_scanner_tells_nothing_in_the_muted_passage():
    spec = SCENARIOS["mobile/muted-zone-v0"]()
    env = spec.make_env()
    env.reset(seed=0)
    env.data.qpos[0] = 4.0
    for _ in range(3):
        seen = env.step(np.zeros(2))[0]
    assert seen[13] == 1.0
    assert seen[8:11].tolist() == [1.0, 1.0, 1.0]


def test_a_base_that_follows_is_as_fast_as_whom_it_follows():
    spec = SCENARIOS["mobile/follow-person-v0"]()
    slow, fast = (
        record(spec, spec.good(), 0, options={"parameters": {"walk_one": speed}})
        for speed in (0.6, 0.9)
    )
    assert max(slow.signals["speed"]) < max(fast.signals["speed"])


def test_the_script_of_the_others_is_in_the_digest():
    files = [path.name for path in source_files(SCENARIOS["mobile/crossing-people-v0"]())]
    assert "aisles.py" in files
