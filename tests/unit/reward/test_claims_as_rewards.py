"""A claim compiled to a reward: its verdict is paid where it settles, its robustness guides."""

import numpy as np
import pytest
from reward_worlds import ANGLE, ARRIVES, CART, UPRIGHT, cart_spec, episode

import safegym as sg
from safegym.check.monitor import settling
from safegym.errors import FormulaError, ScenarioError
from safegym.formula.build import always, eventually, fraction, mean, prob
from safegym.formula.claim import Claim
from safegym.gate.reward import ClaimProgress, ClaimVerdict, Potential, Reward, claim_reward
from safegym.scenario.wrap import recorded

X, Y = CART[0], CART[1]
CLAIMS = [
    UPRIGHT,
    ARRIVES,
    Claim("cart.soon", eventually(X > 0.01, within="0.2")),
    Claim("cart.holds", eventually(always(abs(Y) < 0.5, window=("0", "0.1")))),
    Claim("cart.until", (abs(ANGLE) < 0.1).until(X > 0.02)),
    Claim("cart.both", UPRIGHT.property & ARRIVES.property),
    Claim("cart.rarely", prob(eventually(abs(Y) > 0.8)) < 0.1),
    Claim("cart.given", prob(always(abs(ANGLE) < 0.15), given=always(abs(X) < 0.3)) >= 0.9),
    Claim("cart.share", fraction(abs(ANGLE) < 0.05) >= 0.5),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_verdict_is_paid_once_where_the_whole_trace_says_that_it_settled(claim):
    env = recorded(cart_spec(reward=Reward((ClaimVerdict("v", claim, kept=3.0, broken=-2.0),))))
    seen = set()
    for seed in range(30):
        paid, _ = episode(env, seed)
        trace = env.trace
        status = sg.check(claim, trace).status
        worth = {"satisfied": 3.0, "violated": -2.0, "inconclusive": 0.0}[status]
        steps = np.flatnonzero(paid)
        where = settling(claim, trace)
        if (where is not None and where.step == 0) or status == "inconclusive":
            assert not len(steps)
            continue
        if len(steps) == 0:  # kept from sample 0 on, before any action
            first = sg.Trace.from_arrays(
                {name: values[:1] for name, values in trace.signals.items()},
                dt=trace.clock.dt,
                end="interrupted",
                horizon=trace.horizon,
            )
            assert sg.check(claim, first).status == "satisfied"
            continue
        assert list(paid[steps]) == [worth]
        if where is not None:
            assert steps[0] + 1 == where.step
        seen.add(status)
    assert seen, "no episode settled after sample 0"


def test_a_verdict_that_only_the_end_decides_is_paid_at_the_end_alone():
    env = recorded(cart_spec(reward=Reward((ClaimVerdict("v", ARRIVES, broken=-2.0),)), horizon=8))
    for seed in range(10):
        paid, _ = episode(env, seed)
        if sg.check(ARRIVES, env.trace).status == "violated":
            assert list(np.flatnonzero(paid)) == [len(paid) - 1]


def test_a_claim_is_taken_apart_into_its_verdict_and_potentials():
    both = Claim("cart.both", always((abs(ANGLE) < 0.1) & (abs(X) < 0.5)) & ARRIVES.property)
    verdict, *guides = claim_reward(both, broken=-5.0, guidance=2.0, cap=0.5)
    assert verdict == ClaimVerdict("cart.both", both, 0.0, -5.0)
    assert guides == [
        Potential("cart.both.guide", abs(ANGLE) < 0.1, 2.0, 0.5),
        Potential("cart.both.guide.2", abs(X) < 0.5, 2.0, 0.5),
        Potential("cart.both.guide.3", X > 0.05, 2.0, 0.5),
    ]
    assert claim_reward(both, guidance=0.0) == (ClaimVerdict("cart.both", both),)


def test_what_reads_more_than_one_sample_is_guided_by_the_episode_so_far():
    claim = CLAIMS[4]
    _, guide = claim_reward(claim)
    assert isinstance(guide, ClaimProgress)
    assert guide.claim.statement == claim.property


def test_a_claim_about_a_mean_has_no_reward():
    about = Claim("cart.mean", mean(fraction(abs(ANGLE) < 0.1)) >= 0.9)
    with pytest.raises(FormulaError, match="mean over episodes"):
        claim_reward(about)
    with pytest.raises(ScenarioError, match=r"has the claim .*; write Claim"):
        claim_reward(UPRIGHT.property)
    issues = list(cart_spec(reward=Reward((ClaimVerdict("v", about),))).validate())
    assert any("cannot follow its claim" in issue for issue in issues)
