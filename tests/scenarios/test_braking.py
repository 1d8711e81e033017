"""The braking vehicle against closed forms of mechanics."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from safegym_scenarios.braking import CLAIMS, braking
from safegym_scenarios.braking_env import BrakingEnv

from safegym.check.monitor import judge
from safegym.errors import ScenarioError
from safegym.scenario.inputs import options_of
from safegym.scenario.record import record

CALM = {"grade": [0.0] * 8, "gust": [0.0] * 8}
NOMINAL = {"start_distance": 60.0, "start_speed": 12.0, "mass": 1500.0, "grip": 1.0}


def drive(action, steps, parameters=None, disturbances=None):
    """Signals (steps + 1, 3) under one action throughout."""
    env = BrakingEnv()
    options = {
        "parameters": {**NOMINAL, **(parameters or {})},
        "disturbances": {**CALM, **(disturbances or {})},
    }
    env.reset(seed=0, options=options)
    rows = [env.signals]
    for _ in range(steps):
        env.step(np.array([action], np.float32))
        rows.append(env.signals)
    return np.array(rows)


def test_it_keeps_gymnasiums_rules():
    check_env(BrakingEnv(), skip_render_check=True)


def test_full_braking_stops_within_v_squared_over_2a():
    distance, speed, deceleration = drive(-1.0, 40).T
    assert deceleration[1:20] == pytest.approx(6.0)
    assert speed[20:] == pytest.approx(0.0)
    assert 60.0 - distance[-1] == pytest.approx(12.0**2 / (2 * 6.0), abs=1e-9)


def test_grade_wind_mass_grip_and_brake_loss_enter_as_newton_says():
    slope = drive(0.0, 1, disturbances={"grade": [0.05] * 8})
    assert slope[1, 2] == pytest.approx(9.81 * 0.05)
    wind = drive(0.0, 1, {"mass": 1200.0}, {"gust": [600.0] * 8})
    assert wind[1, 2] == pytest.approx(-600.0 / 1200.0)
    assert drive(-0.5, 1, {"grip": 0.9})[1, 2] == pytest.approx(0.5 * 6.0 * 0.9)
    assert drive(-1.0, 1, {"brake_loss": 0.25})[1, 2] == pytest.approx(4.5)
    late = drive(-1.0, 4, {"brake_loss": 1.0, "brake_loss_time": 0.15})
    assert late[1:, 2] == pytest.approx([6.0, 3.0, 0.0, 0.0])


def test_a_vehicle_at_rest_does_not_roll_back_but_rolls_downhill_unbraked():
    uphill = drive(-1.0, 60, disturbances={"grade": [0.06] * 8})
    assert uphill[-1, 1] == 0.0
    assert (np.diff(uphill[:, 0]) <= 0.0).all()
    env = BrakingEnv()
    downhill = {**CALM, "grade": [-0.06] * 8}
    env.reset(seed=0, options={"parameters": NOMINAL, "disturbances": downhill})
    for _ in range(40):
        env.step(np.array([-1.0], np.float32))
    assert env.signals[1] == 0.0
    env.step(np.array([0.0], np.float32))
    assert env.signals[1] == pytest.approx(0.1 * 9.81 * 0.06)


def test_a_seed_draws_every_piece_and_the_trace_tells_them_all():
    spec = braking()
    one, two = (record(spec, spec.good(), seed) for seed in (0, 1))
    for trace in (one, two):
        for channel in spec.disturbances:
            values = [trace.parameters[name] for name in channel.piece_names]
            assert all(channel.low <= value <= channel.high for value in values)
            assert len(set(values)) == channel.pieces
    again = record(spec, spec.good(), 1, options=options_of(one))
    assert again.signals["line_distance"].tolist() == one.signals["line_distance"].tolist()


def test_a_given_channel_leaves_the_other_and_the_parameters_to_the_seed():
    spec = braking()
    plain = record(spec, spec.good(), 5).parameters
    given = record(spec, spec.good(), 5, options={"disturbances": {"grade": [0.01] * 8}}).parameters
    changed = {name for name in plain if plain[name] != given[name]}
    assert changed == {f"grade[{piece}]" for piece in range(8)}


WORST = {
    "parameters": {"grip": 0.85, "mass": 1200.0},
    "disturbances": {"grade": [-0.06] * 8, "gust": [600.0] * 8},
}


def test_a_corner_of_what_seeds_draw_breaks_what_they_hardly_ever_break():
    """What a search over declared disturbances is for: 100 seeds show nothing."""
    spec, claim = braking(), CLAIMS[0]
    hasty = spec.baselines["hasty"]()
    assert {judge(claim, record(spec, hasty, seed)).status for seed in range(100)} == {"satisfied"}
    for seed in range(5):
        assert judge(claim, record(spec, hasty, seed, options=WORST)).status == "violated"
        assert judge(claim, record(spec, spec.good(), seed, options=WORST)).status == "satisfied"


def test_lost_brakes_break_the_good_policys_claim():
    spec, claim = braking(), CLAIMS[0]
    lost = {"parameters": {"brake_loss": 0.7, "brake_loss_time": 3.0}}
    assert judge(claim, record(spec, spec.good(), 0, options=lost)).status == "violated"


def test_a_wrong_piece_is_refused():
    with pytest.raises(ScenarioError, match=r"grade\[2\] = 0.2 1 lies outside \[-0.06, 0.06\]"):
        BrakingEnv().reset(options={"disturbances": {"grade": [0, 0, 0.2, 0, 0, 0, 0, 0]}})
