"""Plants: balances against closed forms, and the knobs of their own."""

from math import exp, sqrt

import numpy as np
import pytest

from safegym.scenario.registry import find


def made(name):
    return find(f"process/{name}-v0").make_env().unwrapped


def shut(env):
    return -np.ones(env.action_space.shape)


def test_a_tank_drains_by_torricellis_law():
    env = made("single-tank")
    env.reset(seed=0, options={"parameters": {"start_level": 1.4, "demand": 1.0}})
    env.inputs = [0.0]
    for _ in range(60):
        env.step(shut(env))
    root = sqrt(1.4) - 0.003 * sqrt(2.0 * 9.81) * 60.0 / 2.0
    assert env.state[0] == pytest.approx(root**2, rel=1e-4)


def test_an_empty_tank_stays_empty():
    env = made("single-tank")
    env.reset(seed=0)
    for _ in range(400):
        env.step(shut(env))
    assert 0.0 <= env.state[0] < 0.01


def test_two_tanks_keep_what_flows_between_them():
    env = made("coupled-tanks")
    env.reset(seed=0)
    env.inputs, env.demand = [0.0], 0.0
    held = sum(env.state)
    for _ in range(100):
        env.step(shut(env))
    assert sum(env.state) == pytest.approx(held, rel=1e-9)
    assert env.state[0] == pytest.approx(env.state[1], abs=0.02)


def test_mixed_water_has_the_mean_temperature_of_what_flows_in():
    env = made("mixing")
    env.reset(seed=0, options={"parameters": {"hot": 350.0, "cold": 290.0, "demand": 0.8}})
    for _ in range(900):
        env.step(np.array([-0.6, -0.4]))
    assert env.state[1] == pytest.approx((2 * 350.0 + 3 * 290.0) / 5.0, abs=0.1)


def test_a_heated_vessel_settles_where_loss_is_power():
    env = made("heating")
    env.reset(seed=0, options={"parameters": {"loss": 0.6, "mass": 150.0}})
    for _ in range(8000):
        env.tick()
        env.inputs = [0.05]
        env.asked = [0.05]
    assert env.state[1] == pytest.approx(290.0 + 20.0 / 0.6 * (1.0 - exp(-1.9)), abs=3.0)


def test_gas_in_a_closed_vessel_follows_its_law():
    env = made("pressure-vessel")
    env.reset(seed=0, options={"parameters": {"start_pressure": 200.0}})
    env.inputs, env.drawn_off = [0.3, 0.0], 0.0
    rate = env.rates([200.0])[0]
    assert rate == pytest.approx(0.287 * 300.0 / 2.0 * 1.2 * 0.3 * sqrt(0.8))


def test_a_drum_swells_before_it_sinks():
    env = made("boiler-drum")
    options = {
        "parameters": {"start_water": 0.0, "steam": 10.0, "steam_step": 7.0, "step_time": 40.0}
    }
    env.reset(seed=0, options=options)
    hold = np.array([2.0 * 10.0 / 25.0 - 1.0])
    levels = []
    for _ in range(100):
        env.step(hold)
        levels.append(env.level())
    assert levels[44] > levels[38] + 0.005
    assert levels[-1] == pytest.approx(0.02 * 7.0 - 7.0 * 60.0 / 800.0, abs=0.01)


def test_water_boils_at_one_atmosphere_at_100_degrees():
    env = made("pump-cavitation")
    env.reset(seed=0)
    env.hot = 373.15
    assert env.vapour_pressure() == pytest.approx(101.3, rel=0.01)


def test_the_neutral_point_is_ph_7_and_the_curve_is_odd():
    env = made("neutralisation")
    env.reset(seed=0)
    env.state = [0.0, 0.0, 0.0]
    assert env.acidity() == 7.0
    env.state[0] = 1.0
    up = env.acidity()
    env.state[0] = -1.0
    assert up + env.acidity() == pytest.approx(14.0)


def test_a_reactor_gives_off_the_heat_of_what_reacts():
    env = made("batch-reactor")
    env.reset(seed=0)
    env.inputs = [0.0, 0.0]
    idle = env.rates([340.0, 340.0, 0.0, 0.0])[0]
    busy = env.rates([340.0, 340.0, 20.0, 0.0])
    assert idle == pytest.approx(0.0)
    assert busy[0] * 4.18 * 820.0 == pytest.approx(1200.0 * busy[3], rel=1e-6)
    assert busy[3] == pytest.approx(env.speed * 20.0)


def test_heun_is_of_second_order():
    finals = []
    for step in (2.0, 1.0, 0.5):
        env = made("single-tank")
        env.reset(seed=0, options={"parameters": {"start_level": 1.4, "demand": 1.0}})
        level = [1.4]
        env.inputs = [0.0]
        for _ in range(round(60.0 / step)):
            first = env.rates(level)
            second = env.rates([level[0] + step * first[0]])
            level = [level[0] + 0.5 * step * (first[0] + second[0])]
        finals.append(level[0])
    exact = (sqrt(1.4) - 0.003 * sqrt(2.0 * 9.81) * 60.0 / 2.0) ** 2
    assert abs(finals[-1] - exact) < 1e-5
    assert abs(finals[0] - exact) >= abs(finals[1] - exact)


def test_a_sticking_valve_moves_only_beyond_its_stiction():
    env = made("valve-stiction")
    env.reset(seed=0, options={"parameters": {"stiction": 0.1}})
    env.step(np.array([0.1]))
    assert env.inputs[0] == 0.5
    env.step(np.array([0.4]))
    assert env.inputs[0] == pytest.approx(0.7)
    assert env.moved == pytest.approx(0.2)


def test_a_drifting_sensor_is_off_by_its_rate_times_the_time():
    env = made("sensor-drift")
    env.reset(seed=0, options={"parameters": {"drift": -0.01}})
    for _ in range(50):
        env.step(np.zeros(1))
    assert env.measured() - env.state[0] == pytest.approx(-0.5)


def test_a_tank_holds_no_more_than_up_to_its_rim():
    for name, entry in (("single-tank", 0), ("coupled-tanks", 0), ("mixing", 0)):
        env = made(name)
        env.reset(seed=0)
        for _ in range(240):
            env.step(-shut(env))
        assert env.state[entry] == pytest.approx(3.0, abs=0.05)


def test_water_gets_no_hotter_than_it_boils_and_goes_off_as_steam():
    env = made("batch-interlock")
    env.reset(seed=0, options={"parameters": {"start_level": 0.3}})
    levels = []
    for _ in range(250):
        env.phase = 0.0
        env.step(np.array([-1.0, 1.0, -1.0]))
        levels.append(env.state[0])
    assert env.state[1] == pytest.approx(373.15, abs=1.0)
    boiled_off = exp(-100.0 * 900.0 / (0.5 * 2257.0 * 300.0))
    assert levels[240] == pytest.approx(levels[140] * boiled_off, rel=1e-3)


def test_a_vent_empties_a_vessel_down_to_the_air_outside():
    env = made("pressure-vessel")
    env.reset(seed=0)
    env.drawn_off = 0.0
    for _ in range(200):
        env.step(np.array([-1.0, 1.0]))
    assert env.state[0] == pytest.approx(101.3, abs=0.5)


def test_a_pumped_tank_loses_what_the_pump_delivers():
    env = made("pump-cavitation")
    env.reset(seed=0, options={"parameters": {"start_level": 2.0, "inflow": 2.0}})
    for _ in range(100):
        env.step(np.array([-0.2]))
    level, delivered = env.state
    assert 1000.0 * (2.0 - level) == pytest.approx(delivered - 2.0 * 100.0, rel=1e-9)
