"""Cranes: pendulum period, rope, contact and their own knobs, held against closed forms."""

from math import pi, sqrt

import numpy as np
import pytest

from safegym.scenario.record import record
from safegym.scenario.registry import find

G = 9.81


def made(name):
    env = find(f"crane/{name}-v0").make_env().unwrapped
    return env, np.zeros(env.action_space.shape)


def test_a_load_swings_with_the_period_of_a_pendulum_of_rope_and_half_its_height():
    env, still = made("gantry-transfer")
    env.reset(seed=0, options={"parameters": {"start_sway": 0.03, "rope": 9.0, "goal": 8.0}})
    leans = []
    for _ in range(200):
        env.step(still)
        leans.append(env.lean()[0])
    ups = [k for k in range(1, 200) if leans[k - 1] < 0.0 <= leans[k]]
    period = 0.1 * (ups[-1] - ups[0]) / (len(ups) - 1)
    length = float(env.data.qpos[env._at[2]]) + 1.0
    assert period == pytest.approx(2 * pi * sqrt(length / G), rel=0.05)


def test_a_hanging_load_pulls_with_its_weight():
    env, still = made("unknown-payload")
    env.reset(seed=0, options={"parameters": {"load_mass": 7000.0, "start_sway": 0.0}})
    for _ in range(30):
        env.step(still)
    assert env.tension() == pytest.approx(7.0 * G, rel=0.02)


def test_a_trolley_that_accelerates_leans_the_rope_by_twice_a_over_g_at_most():
    env, _ = made("gantry-transfer")
    env.reset(seed=0, options={"parameters": {"start": -9.0, "start_sway": 0.0, "rope": 9.0}})
    leans = []
    for k in range(40):
        env.step(np.array([0.5 if k < 40 else 0.0]))
        leans.append(abs(env.lean()[0]))
    assert max(leans) == pytest.approx(2 * 0.5 / G, rel=0.25)


def test_a_rope_on_a_grounded_load_is_slack_and_never_pushes():
    env, still = made("overload-stop")
    env.reset(seed=0)
    for _ in range(20):
        env.step(still)
        assert env.tension() == 0.0
        assert abs(env.lifted()) < 0.01


def test_a_snagged_load_gets_no_higher_than_its_chain():
    env, _ = made("snagged-load")
    env.reset(seed=0, options={"parameters": {"snag_height": 1.2}})
    highest = 0.0
    for _ in range(120):
        env.step(np.array([-0.3]))
        highest = max(highest, env.lifted())
    assert 1.1 < highest < 1.45


def test_a_heaving_deck_is_a_sine_and_its_speed_the_derivative():
    env, still = made("ship-to-shore")
    options = {"parameters": {"heave": 0.5, "period": 7.0, "phase": 1.0}}
    env.reset(seed=0, options=options)
    heights = []
    for _ in range(70):
        env.step(still)
        heights.append(env.deck()[0])
        assert float(env.data.qpos[env._deck]) == pytest.approx(env.deck()[0], abs=0.02)
    assert max(heights) - min(heights) == pytest.approx(1.0, rel=0.02)
    before = env.deck()
    env.step(still)
    slope = (env.deck()[0] - before[0]) / 0.1
    assert slope == pytest.approx((env.deck()[1] + before[1]) / 2.0, abs=0.01)


def test_a_weaker_brake_runs_further():
    spec = find("crane/trolley-brake-loss-v0")
    ends = []
    for left in (0.1, 0.3):
        options = {"parameters": {"brake_left": left, "rail_slope": 0.02}}
        trace = record(spec, spec.bad["crane.overrun"](), 3, options=options)
        ends.append(float(trace.signals["overrun"].max()))
    assert ends[0] > ends[1] + 0.2


def test_a_person_walks_only_once_the_load_is_near():
    env, still = made("people-below")
    env.reset(seed=0)
    for _ in range(20):
        env.step(still)
    assert env.person[2] == 0.0
    for _ in range(110):
        env.step(np.array([0.3]))
    assert env.person[2] > 0.0
