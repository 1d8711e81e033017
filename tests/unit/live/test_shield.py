"""The runtime shield: who acts, what the trace tells, and what is refused."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from safegym.check.dispatch import check
from safegym.check.shield import guard_of, shielded
from safegym.errors import PolicyError, ScenarioError, TraceError, UnitError, UnsupportedError
from safegym.formula.build import always, eventually, fraction, never, once
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import PolicyCard
from safegym.scenario.registry import find

POLE = "classic/cartpole-v0"
ANGLE, POSITION = Signal("pole_angle", unit="rad"), Signal("cart_position", unit="m")
UPRIGHT = abs(ANGLE) <= 0.05


def run(env, seed, steps=200):
    """Pushes to the right for ever; returns the infos."""
    _, info = env.reset(seed=seed)
    infos = [info]
    for _ in range(steps):
        *_, terminated, truncated, info = env.step(1)
        infos.append(info)
        if terminated or truncated:
            break
    return infos


def test_a_shield_keeps_up_a_pole_that_the_policy_alone_lets_fall():
    good = find(POLE).good()
    bare = shielded(POLE, good, guard=UPRIGHT | ~UPRIGHT)
    safe = shielded(POLE, good, guard=abs(ANGLE) <= 0.02)
    assert len(run(bare, 3)) < 30
    assert len(run(safe, 3, steps=500)) == 501
    standing = always(abs(ANGLE) <= 0.2)
    assert check(standing, bare.env.trace).status == "violated"
    assert check(standing, safe.env.trace).status != "violated"


def test_the_fallback_acts_exactly_where_the_guard_does_not_hold():
    env = shielded(POLE, lambda observation: 0, guard=UPRIGHT)
    infos = run(env, 0)
    trace = env.trace
    angle = trace.signals["pole_angle"]
    for k, info in enumerate(infos):
        assert info["shield"]["active"] == (abs(angle[k]) > 0.05)
        assert info["shield"]["margin"] == 0.05 - abs(angle[k])
    np.testing.assert_array_equal(
        trace.actions, [0 if info["shield"]["active"] else 1 for info in infos[:-1]]
    )


def test_the_trace_tells_where_the_shield_took_over_and_gave_back():
    env = shielded(POLE, find(POLE).good(), guard=UPRIGHT)
    infos = run(env, 1)
    active = [info["shield"]["active"] for info in infos]
    changes = [k for k in range(1, len(active) - 1) if active[k] != active[k - 1]]
    events = [event for event in env.trace.events if event.kind == "shield"]
    assert changes
    assert [event.step for event in events] == changes
    assert events[0].detail.startswith("took over: `abs(pole_angle) <= 0.05` (margin -")
    assert events[1].detail == "gave back"


def test_the_shield_stays_up_for_its_hold_and_counts_its_steps():
    env = shielded(POLE, find(POLE).good(), guard=UPRIGHT, hold=7)
    active = [info["shield"]["active"] for info in run(env, 1)]
    first = active.index(True)
    assert all(active[first : first + 7])
    env = shielded(POLE, find(POLE).good(), guard=UPRIGHT)
    infos = run(env, 1)
    assert infos[-1]["shield"]["steps"] == sum(i["shield"]["active"] for i in infos[:-1])


def test_a_margin_asks_the_guard_to_hold_by_that_much():
    env = shielded(POLE, find(POLE).good(), guard=UPRIGHT, margin=0.02)
    for info in run(env, 2):
        assert info["shield"]["active"] == (info["shield"]["margin"] < 0.02)


def test_a_guard_may_remember_the_past():
    env = shielded(POLE, lambda observation: 0, guard=~once(~UPRIGHT, within="0.1"))
    active = [info["shield"]["active"] for info in run(env, 0)]
    outside = np.abs(env.trace.signals["pole_angle"]) > 0.05
    assert active == [bool(outside[max(0, k - 5) : k + 1].any()) for k in range(len(active))]


@pytest.mark.parametrize("guard", [always(UPRIGHT), eventually(UPRIGHT, within=1), never(UPRIGHT)])
def test_a_guard_that_looks_ahead_is_refused(guard):
    with pytest.raises(UnsupportedError, match=r"looks ahead, and a shield decides now; use the"):
        shielded(POLE, lambda observation: 0, guard=guard)


def test_a_margin_without_comparable_margins_is_refused():
    mixed = (abs(ANGLE) <= 0.1) & (abs(POSITION) <= 1.0)
    with pytest.raises(UnsupportedError, match=r"margin=0.5 was asked of the guard .* scale"):
        shielded(POLE, lambda observation: 0, guard=mixed, margin=0.5)
    assert shielded(POLE, lambda observation: 0, guard=mixed).reset(seed=0)[1]["shield"] == {
        "active": False,
        "margin": None,
        "steps": 0,
    }


@pytest.mark.parametrize("numbers", [{"margin": -1.0}, {"margin": np.nan}, {"hold": 0}])
def test_numbers_that_mean_nothing_are_refused(numbers):
    with pytest.raises(ScenarioError, match="A shield"):
        shielded(POLE, lambda observation: 0, guard=UPRIGHT, **numbers)


def test_the_default_guard_is_what_the_claims_ask_of_each_sample():
    assert str(guard_of(find("drone/corridor-v0"))) == (
        "(contact_force < 1) and (abs(lateral_velocity) <= 0.5) and (tilt <= 0.3)"
    )


@pytest.mark.filterwarnings("ignore:.*WARN")
def test_a_shielded_environment_passes_gymnasiums_own_checker():
    check_env(shielded(POLE, lambda observation: 0, guard=UPRIGHT), skip_render_check=True)


DEGREES = Signal("pole_angle", unit="deg")


def test_a_guard_in_another_unit_is_judged_on_converted_samples():
    radians = shielded(POLE, lambda observation: 0, guard=UPRIGHT)
    degrees = shielded(POLE, lambda observation: 0, guard=abs(DEGREES) <= np.rad2deg(0.05))
    wanted = [info["shield"]["active"] for info in run(radians, 0)]
    assert [info["shield"]["active"] for info in run(degrees, 0)] == wanted
    assert True in wanted
    with pytest.raises(UnitError, match="recorded in rad"):
        shielded(POLE, lambda observation: 0, guard=Signal("pole_angle", unit="m") <= 1)


@pytest.mark.parametrize(
    ("guard", "told"),
    [
        (fraction(UPRIGHT) >= 0.5, "is a share of an episode's samples"),
        (Claim(id="pole", statement=always(UPRIGHT)), "A guard is a formula"),
        ("pole_angle < 1", "A guard is a formula"),
    ],
)
def test_what_is_no_guard_is_refused(guard, told):
    with pytest.raises(UnsupportedError, match=told):
        shielded(POLE, lambda observation: 0, guard=guard)


@pytest.mark.parametrize(
    "numbers",
    [{"hold": "2"}, {"hold": 1.5}, {"hold": np.nan}, {"hold": True}, {"margin": "0.1"}],
)
def test_what_is_no_number_is_refused(numbers):
    with pytest.raises(ScenarioError, match="A shield"):
        shielded(POLE, lambda observation: 0, guard=UPRIGHT, **numbers)


@pytest.mark.parametrize("action", [7, -1, 0.5, None, "left", np.nan])
def test_a_fallback_that_chooses_no_action_is_named(action):
    env = shielded(POLE, lambda observation: action, guard=~UPRIGHT & UPRIGHT)
    env.reset(seed=0)
    with pytest.raises(PolicyError, match=r"fallback chose .* no action of Discrete"):
        env.step(1)


def test_no_action_is_let_through_after_a_sample_that_cannot_be_judged():
    env = shielded(POLE, lambda observation: 0, guard=UPRIGHT)
    env.reset(seed=0)
    inner = env.unwrapped
    inner.state = np.array([0.0, 0.0, np.nan, 0.0])
    with pytest.raises(TraceError, match="not finite"):
        env.step(1)
    with pytest.raises(TraceError, match="No episode is open"):
        env.step(1)
    assert env.trace.end.kind == "interrupted"


class Counting:
    """A policy whose state counts its steps since it began."""

    card = PolicyCard("counting", "unknown:counting", "foreign")

    def __init__(self):
        self.seen = []

    def act(self, observations, state, starts):
        now = 0 if starts[0] else state + 1
        self.seen.append(now)
        return np.zeros(len(observations), dtype=int), now


def test_a_fallback_with_a_state_begins_anew_each_time_it_takes_over():
    policy = Counting()
    env = shielded(POLE, policy, guard=UPRIGHT)
    active = [info["shield"]["active"] for info in run(env, 0)][:-1]
    wanted, count = [], 0
    for now in active:
        if now:
            wanted.append(count)
        count = count + 1 if now else 0
    assert policy.seen == wanted
    assert wanted.count(0) > 1
