"""Terms pay what they say, name themselves when they cannot, and change nothing but the reward."""

import pickle
import re
from dataclasses import replace
from functools import partial
from math import inf, nan, pi

import numpy as np
import pytest
from reward_worlds import (
    ANGLE,
    ARRIVES,
    CART,
    UPRIGHT,
    cart_spec,
    episode,
    random_world,
    world_spec,
)

import safegym as sg
from safegym.check.monitor import satisfaction
from safegym.errors import ScenarioError, UnsupportedError
from safegym.formula import functions
from safegym.formula.build import always
from safegym.formula.terms import Signal
from safegym.gate.reward import (
    ClaimProgress,
    ClaimVerdict,
    Computed,
    Dense,
    Effort,
    Ending,
    EnvironmentReward,
    Potential,
    Reward,
    Sparse,
    breakdown,
    claim_reward,
)
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.campaign import Campaign
from safegym.scenario.fingerprint import source_files
from safegym.scenario.reward_terms import PlainMeter, PlainTerm
from safegym.scenario.reward_values import margin_of, truth_of, value_of
from safegym.scenario.rollouts.refusals import rollout_of
from safegym.scenario.snapshot import capture, restore
from safegym.scenario.wrap import recorded

X, Y = CART[0], CART[1]
LEVEL, FAR, FAST = abs(ANGLE) < 0.1, X > 0.02, Y * Y >= 0.04
NOT_FINITE = functions.sqrt(functions.quantity(-1.0, "m^2") - X * X)


def last_speed(sample):
    return abs(float(sample["cart"][1]))


def writes(sample):
    sample["cart"][0] = 0.0
    return 0.0


def broken(sample):
    raise KeyError("speed")


EVERY_TERM = (
    EnvironmentReward(weight=0.5),
    Dense("speed", Y, weight=-2.0, low=-0.1, high=0.3),
    Dense("level", LEVEL, weight=0.25, high=0.8),
    Sparse("far", FAR, 3.0),
    Sparse("first", FAST, 5.0, once=True),
    Ending("fallen", -7.0, "terminated"),
    Effort("push", 0.1),
    Effort("jerk", 0.2, change=True),
    Computed("computed", last_speed, 0.3),
    Potential("near", X, weight=4.0, cap=0.1),
    ClaimProgress("progress", ARRIVES),
    *claim_reward(UPRIGHT, kept=1.0, broken=-2.0),
)


@pytest.fixture
def spec():
    return cart_spec(reward=Reward(EVERY_TERM))


def test_each_term_pays_its_closed_form(spec):
    env = recorded(spec)
    for seed in range(6):
        rewards, infos = episode(env, seed)
        trace = env.trace
        angle, (x, y) = trace.signals["angle"], trace.signals["cart"].T
        paid = {
            name: np.array([info["rewards"][name] for info in infos])
            for name in infos[0]["rewards"]
        }
        taken = trace.actions.astype(float).ravel()
        end = np.zeros(len(rewards))
        end[-1] = trace.end.kind == "failed"
        phi = 4.0 * np.clip(x, -0.1, 0.1)
        after = np.where(end, 0.0, phi[1:])
        first = np.cumsum(y[1:] ** 2 >= 0.04) == 1
        first &= y[1:] ** 2 >= 0.04
        expected = {
            "environment": 0.5 * np.ones(len(rewards)),
            "speed": -2.0 * np.clip(y[1:], -0.1, 0.3),
            "level": 0.25 * np.minimum((0.1 - abs(angle[1:])) / 0.1, 0.8),
            "far": 3.0 * (x[1:] > 0.02),
            "first": 5.0 * (np.cumsum(first) == 1) * first,
            "fallen": -7.0 * end,
            "push": -0.1 * taken**2,
            "jerk": -0.2 * np.diff(taken, prepend=taken[0]) ** 2,
            "computed": 0.3 * abs(y[1:]),
            "near": 0.99 * after - phi[:-1],
        }
        for name, values in expected.items():
            assert np.allclose(paid[name], values, atol=1e-12), name
        assert np.allclose(rewards, sum(paid.values()))
        assert infos[-1]["reward_totals"] == pytest.approx({n: v.sum() for n, v in paid.items()})


def test_what_a_trace_tells_of_each_term_is_what_the_terms_paid(spec):
    env = recorded(spec)
    for seed in range(4):
        _, infos = episode(env, seed)
        table = breakdown(spec, env.trace)
        for name in infos[0]["rewards"]:
            assert np.allclose(table[name], [info["rewards"][name] for info in infos]), name


def test_another_reward_is_another_scenario_with_the_same_physics(spec):
    plain = cart_spec()
    assert len({plain.digest, spec.digest}) == 2
    one, other = recorded(plain), recorded(spec)
    for seed in range(3):
        own, _ = episode(one, seed)
        declared, _ = episode(other, seed)
        assert len(own) == len(declared)
        assert not np.array_equal(own, declared)
        for name, values in one.trace.signals.items():
            assert np.array_equal(values, other.trace.signals[name])
        assert one.trace.end == other.trace.end


@pytest.mark.parametrize(
    "change",
    [
        Dense("speed", Y, weight=-2.0),
        Dense("speed", X, weight=-1.0),
        Dense("pace", Y, weight=-1.0),
        Dense("speed", Y, weight=-1.0, high=1.0),
        Potential("speed", Y, weight=-1.0),
    ],
    ids=["weight", "value", "name", "limit", "kind"],
)
def test_every_number_of_a_term_is_in_the_digest(change):
    base = cart_spec(reward=Reward((Dense("speed", Y, weight=-1.0),)))
    assert cart_spec(reward=Reward((Dense("speed", Y, weight=-1.0),))).digest == base.digest
    assert cart_spec(reward=Reward((change,))).digest != base.digest


def test_the_discount_is_in_the_digest_where_something_is_shaped():
    shaped = [cart_spec(reward=Reward((Potential("p", X),), gamma=g)).digest for g in (0.9, 0.99)]
    plain = [cart_spec(reward=Reward((Dense("p", X),), gamma=g)).digest for g in (0.9, 0.99)]
    assert len(set(shaped)) == 2
    assert len(set(plain)) == 1


def test_the_file_of_a_computed_term_is_part_of_the_scenario():
    files = [
        path.name for path in source_files(cart_spec(reward=Reward((Computed("c", last_speed),))))
    ]
    assert "test_reward_terms.py" in files
    assert "test_reward_terms.py" not in [path.name for path in source_files(cart_spec())]


class Bonus(PlainTerm):
    """A term of the user's own, who forgot to name its code."""

    name = "bonus"

    def declared(self):
        return ["bonus"]

    def issues(self, spec):
        return iter(())

    def meter(self, spec, gamma):
        return Paid()


class OtherBonus(Bonus):
    """Pays otherwise, and declares the same."""


class Paid(PlainMeter):
    def pay(self, step):
        return 2.0


def test_the_class_of_a_term_of_ones_own_and_its_file_are_part_of_the_scenario():
    own, other = (cart_spec(reward=Reward((term(),))) for term in (Bonus, OtherBonus))
    assert "test_reward_terms.py" in [path.name for path in source_files(own)]
    assert own.digest != other.digest
    rewards, _ = episode(recorded(own), 3)
    assert set(rewards) == {2.0}


FORMULAS = [
    LEVEL,
    LEVEL & FAR,
    LEVEL | ~FAST,
    LEVEL.implies(FAR),
    LEVEL.iff(FAST),
    FAR.xor(LEVEL),
    ~(LEVEL & FAR & ~FAST),
    (functions.norm(CART) < 0.3).scaled(0.5),
    functions.maximum(X, Y, X - Y) >= 0.1,
    functions.minimum(CART) <= X * 2.0,
    functions.sqrt(X * X + Y * Y) > -X,
    (functions.sin(ANGLE) + functions.cos(ANGLE))
    > functions.exp(ANGLE / functions.quantity(1.0, "rad")) - 0.5,
]


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_a_formula_of_the_present_is_worth_what_the_monitor_says(formula):
    rng = np.random.default_rng(1)
    angle, cart = rng.normal(scale=0.2, size=200), rng.normal(scale=0.3, size=(200, 2))
    trace = sg.Trace.from_arrays({"angle": angle, "cart": cart}, dt="0.02")
    spec = cart_spec()
    truth = truth_of(formula, spec)
    rows = list(zip(angle, cart, strict=True))
    met, _ = satisfaction(formula, trace)
    assert [truth(row) for row in rows] == list(met)
    if sg.check(formula, trace).robustness is not None:
        low, _ = sg.robustness(formula, trace)
        margin = margin_of(formula, spec)
        assert np.allclose([margin(row) for row in rows], low, rtol=1e-13, atol=1e-15)


def test_a_term_is_worth_its_value_and_nan_where_it_has_none():
    spec = cart_spec()
    row = (0.25, np.array([3.0, -2.0]))
    assert value_of(-ANGLE * 2.0, spec)(row) == -0.5
    assert value_of(functions.norm(CART) + abs(Y), spec)(row) == np.hypot(3.0, 2.0) + 2.0
    assert value_of(X * Y / 4.0, spec)(row) == -1.5
    assert np.isnan(value_of(NOT_FINITE, spec)(row))
    assert np.isnan(value_of(functions.maximum(X, NOT_FINITE), spec)(row))
    assert np.isnan(value_of(functions.exp(ANGLE * functions.quantity(1e6, "1/rad")), spec)(row))


@pytest.mark.parametrize(
    ("term", "said"),
    [
        (Dense("grip", NOT_FINITE), "Reward term 'grip' of .* is nan at step 1 .* seed 5"),
        (Computed("tip", broken), "Reward term 'tip' of .* raised KeyError: 'speed' at step 1"),
        (Potential("lift", NOT_FINITE), "Reward term 'lift' .* is nan at step 1 .* seed 5"),
    ],
    ids=["dense", "computed", "potential"],
)
def test_a_reward_that_is_not_finite_is_refused_by_the_terms_name(term, said):
    env = recorded(cart_spec(reward=Reward((EnvironmentReward(), term))))
    env.reset(seed=5)
    with pytest.raises(ScenarioError, match=said):
        env.step(0)


def test_the_environments_own_nan_is_refused_by_name():
    moves, pays, ends, heights = random_world(np.random.default_rng(0))
    spec = world_spec(
        moves, tuple((nan,) * 3 for _ in pays), ends, heights, Reward((EnvironmentReward(),))
    )
    env = recorded(spec)
    env.reset(seed=0)
    with pytest.raises(ScenarioError, match="Reward term 'environment' of test/world-v0 is nan"):
        env.step(0)


def test_a_campaign_counts_an_episode_without_a_reward_as_interrupted_and_says_which_term():
    spec = cart_spec(reward=Reward((Dense("grip", NOT_FINITE),)))
    policy = ScriptedPolicy("left", lambda seen: np.zeros(len(seen), np.int64))
    with Campaign(spec, policy, seed_of=lambda index: index, tail=0, episodes=1) as campaign:
        [(_, trace)] = list(campaign)
    assert trace.end.kind == "interrupted"
    assert "Reward term 'grip'" in trace.end.reason


OTHER = Signal("speed", "m/s")


@pytest.mark.parametrize(
    ("term", "said"),
    [
        (Dense("a", OTHER), "Term a reads signal 'speed'; the scenario records angle, cart"),
        (Dense("a", Signal("angle", "deg")), "reads 'angle' in deg .* records it in rad"),
        (Dense("a", CART), "the vector cart; pay for a component or its norm"),
        (Dense("a", X, weight=inf), "Term a has weight=inf"),
        (Dense("a", X, low=1.0, high=0.0), "low=1.0 above high=0.0"),
        (Dense("a", always(LEVEL)), "ClaimVerdict or ClaimProgress"),
        (Sparse("a", always(LEVEL), 1.0), "formula without time words"),
        (Ending("a", 1.0, "fallen"), "waits for the end 'fallen'; .* are 'terminated'"),
        (Potential("a", X, cap=0.0), "Term a has cap=0.0"),
        (ClaimProgress("a", UPRIGHT, cap=-1.0), "Term a has cap=-1.0"),
        (
            ClaimVerdict("a", sg.Claim("cart.soon", sg.eventually(FAR, within="0.03"))),
            "Term a cannot follow its claim",
        ),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else "",
)
def test_a_term_that_does_not_fit_is_refused_before_anything_runs(term, said):
    spec = cart_spec(reward=Reward((term,)))
    assert any(re.search(said, issue) for issue in spec.validate())
    with pytest.raises(ScenarioError, match=said):
        recorded(spec)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Reward(()), "needs a term"),
        (lambda: Reward((EnvironmentReward(), EnvironmentReward())), "two terms|Two terms"),
        (lambda: Reward((EnvironmentReward("Ü"),)), "is called 'Ü'"),
        (lambda: Dense("a", 3.0), "Reward term a has the value 3.0"),
        (lambda: Sparse("a", "far", 1.0), "Reward term a has the value 'far'"),
        (lambda: ClaimProgress("a", "upright"), "write Claim"),
        (lambda: Reward(("speed",)), "'speed' is no term of a reward"),
        (lambda: Reward((EnvironmentReward,)), "is no term of a reward"),
        (lambda: Reward(EnvironmentReward()), "no sequence of terms"),
        (lambda: Reward((EnvironmentReward(3),)), "is called 3"),
        (lambda: Dense("a", X, weight="2"), "weight='2'; give a number"),
        (lambda: Dense("a", X, low="2"), "low='2'; give a number"),
        (lambda: Sparse("a", FAR, None), "amount=None; give a number"),
        (lambda: Ending("a", None), "amount=None; give a number"),
        (lambda: Ending("a", 1.0, None), "reason=None; give a declared terminal"),
        (lambda: Effort("a", weight=10**400), "weight=1000.*; give a number"),
        (lambda: Potential("a", X, cap="1"), "cap='1'; give a number"),
        (lambda: ClaimVerdict("a", UPRIGHT, kept=None), "kept=None; give a number"),
        (lambda: ClaimProgress("a", UPRIGHT, cap=None), "cap=None; give a number"),
        (lambda: Computed("a", 3.0), "is computed by 3.0; .* write def"),
        (lambda: cart_spec(reward=(EnvironmentReward(),)), "write reward=Reward"),
        (lambda: Reward((EnvironmentReward(),), gamma=0.0), "gamma=0.0"),
        (lambda: Reward((EnvironmentReward(),), gamma=pi), "in \\(0, 1\\]"),
    ],
)
def test_what_is_no_term_or_no_reward_is_refused_at_once(make, said):
    with pytest.raises(ScenarioError, match=said):
        make()


def test_two_functions_without_a_name_cannot_pass_for_one_another():
    """One file, one name, two rewards: the digest would be the same."""
    for unnamed in (lambda sample: 1.0, partial(lambda sample, by: by, by=2.0)):
        with pytest.raises(ScenarioError, match="tells the functions of a file apart by name"):
            Computed("c", unnamed)


def test_a_computed_term_cannot_write_what_the_reader_handed_out():
    env = recorded(cart_spec(reward=Reward((Computed("c", writes),))))
    env.reset(seed=1)
    with pytest.raises(ScenarioError, match=r"term 'c' .* raised ValueError: .* read-only"):
        env.step(0)


def test_a_rewarded_scenario_crosses_to_workers_and_is_refused_by_rollouts(spec):
    assert pickle.loads(pickle.dumps(spec.reward)) == spec.reward
    with pytest.raises(ScenarioError, match="declares a reward of its own"):
        rollout_of(replace(spec, rollout=object()))
    with pytest.raises(UnsupportedError, match="reads more than the present sample"):
        truth_of(always(LEVEL), spec)


def test_a_snapshot_takes_along_what_the_terms_remember(spec):
    env = recorded(spec)
    env.reset(seed=2)
    for action in (0, 1, 1):
        env.step(action)
    kept = capture(env)
    first = [env.step(action)[1] for action in (1, 0, 1, 1, 0, 0)]
    restore(env, kept)
    assert [env.step(action)[1] for action in (1, 0, 1, 1, 0, 0)] == first
