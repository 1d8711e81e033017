"""The drone's gusts when they are given, and its failing rotor."""

import numpy as np
import pytest
from safegym_scenarios.drone import corridor
from safegym_scenarios.drone_course import OBSTACLES, Obstacle
from safegym_scenarios.drone_env import CorridorEnv
from safegym_scenarios.drone_flight import MASS, Flight
from safegym_scenarios.drone_gust import LARGEST

from safegym.check.monitor import judge
from safegym.errors import ScenarioError
from safegym.scenario.inputs import options_of
from safegym.scenario.record import record

AWAY = tuple(Obstacle(2.0 + 2.3 * i, -1.2, 0.2, square=bool(i % 2)) for i in range(OBSTACLES))


def pushes(env, steps=200):
    """What pushes the drone during each step, without flying it."""
    return np.array([env._push() for _ in range(steps)])


def test_given_gusts_replace_the_seeds_on_their_channel_alone():
    env = CorridorEnv()
    values = np.linspace(-LARGEST, LARGEST, 10).tolist()
    env.reset(seed=3)
    drawn = pushes(env)
    env.reset(seed=3, options={"disturbances": {"gust_left": values}})
    mixed = pushes(env)
    assert np.array_equal(mixed[:, 0], drawn[:, 0])
    assert np.array_equal(mixed[:, 1], np.repeat(values, 20))
    env.reset(seed=3, options={"disturbances": {"gust_left": values, "gust_forward": values}})
    assert np.array_equal(pushes(env, 210)[:, 0], [*np.repeat(values, 20), *[LARGEST] * 10])


def test_both_channels_at_their_limits_stay_within_what_a_seed_can_draw():
    peak = next(p for p in corridor().parameters if p.name == "gust_peak")
    assert np.hypot(LARGEST, LARGEST) <= peak.high


def test_a_given_gust_is_felt_as_force_over_mass():
    flights = []
    for gust in ((0.0, 0.0), (0.0, 0.2)):
        flight = Flight()
        flight.place(0.0, 1.0, AWAY)
        flight.advance((0.0, 0.0), gust)
        flights.append(flight.velocity[1])
    # the velocity loop has leaned against it for only 0.1 s
    assert flights[1] - flights[0] == pytest.approx(0.2 / MASS * 0.1, rel=0.1)


def test_an_episode_comes_back_from_what_its_trace_tells():
    spec = corridor()
    gusts = {"gust_forward": [0.1, -0.28] * 5, "gust_left": [0.28, -0.1] * 5}
    faults = {"rotor_loss": 0.1, "rotor_loss_time": 2.345}
    first = record(spec, spec.good(), 5, options={"parameters": faults, "disturbances": gusts})
    again = record(spec, spec.good(), 99, options=options_of(first))
    for name, values in first.signals.items():
        assert again.signals[name].tobytes() == values.tobytes()
    assert dict(again.parameters) == dict(first.parameters)


def test_a_rotor_fails_at_its_onset_and_not_before():
    plain, failing = CorridorEnv(), CorridorEnv()
    plain.reset(seed=2)
    failing.reset(seed=2, options={"parameters": {"rotor_loss": 0.4, "rotor_loss_time": 1.05}})
    still = np.zeros(2, np.float32)
    rows = np.array([(plain.step(still)[0], failing.step(still)[0]) for _ in range(15)])
    differs = (rows[:, 0] != rows[:, 1]).any(axis=1)
    assert not differs[:10].any()
    assert differs[10:].all()


def test_a_lost_rotor_breaks_the_good_policys_claims():
    spec = corridor()
    lost = {"parameters": {"rotor_loss": 0.4, "rotor_loss_time": 2.0}}
    trace = record(spec, spec.good(), 0, options=lost)
    assert "violated" in {judge(claim, trace).status for claim in spec.claims}


def test_a_used_environment_forgets_its_fault():
    used = CorridorEnv()
    used.reset(seed=1, options={"parameters": {"rotor_loss": 0.4}})
    for _ in range(5):
        used.step(np.zeros(2, np.float32))
    fresh = CorridorEnv()
    for env in (used, fresh):
        env.reset(seed=1)
    still = np.zeros(2, np.float32)
    assert all(np.array_equal(used.step(still)[0], fresh.step(still)[0]) for _ in range(30))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"disturbances": {"gust": [0.0] * 10}}, r"no disturbance 'gust'; did you mean gust_le"),
        ({"disturbances": {"gust_left": [0.3] * 10}}, r"gust_left\[0\] = 0.3 N lies outside"),
        ({"disturbances": {"gust_left": [0.0] * 9}}, "gust_left has 10 pieces, found 9"),
        ({"parameters": {"rotor_loss": 0.5}}, r"rotor_loss = 0.5 1 lies outside \[0, 0.4\]"),
    ],
)
def test_a_wrong_gust_or_fault_is_refused(options, message):
    with pytest.raises(ScenarioError, match=message):
        CorridorEnv().reset(seed=0, options=options)
