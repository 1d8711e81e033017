"""A few scenarios in depth: sound, repeatable, and told apart by their own control policies.

`test_library_verified.py` says the same of all, by the code that `safegym scenarios verify` runs.
These tests are a second opinion on that code.
"""

import functools

import gymnasium as gym
import numpy as np
import pytest
from looked_into import DEEP

from safegym.check.monitor import judge
from safegym.check.tail import tail_steps
from safegym.formula.rewrite import to_steps
from safegym.scenario.campaign import Campaign
from safegym.scenario.determinism import check_determinism
from safegym.scenario.fingerprint import source_files
from safegym.scenario.registry import find, names, packs
from safegym.scenario.wrap import make

PAIRS = [(name, claim) for name in DEEP for claim in find(name).bad]
SEEDS = 20

every = pytest.mark.parametrize("name", DEEP)


@functools.cache
def episodes(name, which):
    """Twenty episodes of the good policy, or of the one that violates a claim, with their tail."""
    spec = find(name)
    policy = (spec.good if which == "good" else spec.bad[which])()
    tail = max(
        tail_steps(to_steps(claim.property, spec.clock.dt, rounding=claim.rounding), spec.horizon)
        for claim in spec.claims
    )
    with Campaign(
        spec, policy, seed_of=lambda index: index, tail=tail, copies=SEEDS, episodes=SEEDS
    ) as campaign:
        return [trace for _, trace in campaign]


def test_every_pack_loads():
    assert [pack.problem for pack in packs() if pack.problem] == []
    assert set(DEEP) <= set(names("core"))


@every
def test_the_declaration_is_sound(name):
    assert find(name).validate() == []


@every
def test_a_scenario_on_mujoco_has_its_model_in_the_digest(name):
    spec = find(name)
    files = {path.suffix for path in source_files(spec)}
    assert ".py" in files
    assert (".xml" in files) == ("mujoco" in spec.physics)


@every
def test_it_can_be_made_reset_and_stepped(name):
    env = make(name)
    observation, _ = env.reset(seed=2**63 - 1)  # the largest seed that a campaign gives
    assert env.observation_space.contains(observation)
    env.action_space.seed(0)
    observation, reward, *_ = env.step(env.action_space.sample())
    assert env.observation_space.contains(observation)
    assert np.isfinite(float(reward))
    assert not isinstance(env.env, gym.wrappers.TimeLimit)
    env.close()


@every
@pytest.mark.slow
def test_the_good_policy_keeps_every_claim_on_19_of_20_seeds(name):
    traces = episodes(name, "good")
    for claim in find(name).claims:
        verdicts = [judge(claim, trace).status for trace in traces]
        assert verdicts.count("satisfied") >= 19, (claim.id, verdicts)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "claim_id"), PAIRS)
def test_each_bad_policy_violates_its_claim_within_20_seeds(name, claim_id):
    (claim,) = (claim for claim in find(name).claims if claim.id == claim_id)
    verdicts = [judge(claim, trace).status for trace in episodes(name, claim_id)]
    assert "violated" in verdicts, verdicts


@every
def test_a_seed_decides_the_episode(name):
    spec = find(name)
    assert check_determinism(spec, spec.good(), seeds=(0, 1)) == ()


@every
@pytest.mark.slow
def test_signals_are_those_declared_finite_and_shaped(name):
    spec = find(name)
    for trace in episodes(name, "good"):
        assert list(trace.signals) == [signal.name for signal in spec.signals]
        for signal in spec.signals:
            values = trace.signals[signal.name]
            assert values.shape == (trace.steps + 1, *signal.shape)
            assert np.isfinite(values).all()
            if signal.bounds is not None:
                assert values.min() >= signal.bounds[0]
                assert values.max() <= signal.bounds[1]


@every
@pytest.mark.slow
def test_parameters_that_a_seed_draws_are_recorded_and_in_range(name):
    spec = find(name)
    for trace in episodes(name, "good"):
        for parameter in spec.parameters:
            assert parameter.low <= trace.parameters[parameter.name] <= parameter.high


@every
def test_other_seeds_give_other_episodes(name):
    spec = find(name)
    with Campaign(spec, spec.good(), seed_of=lambda i: i, tail=0, copies=2, episodes=2) as campaign:
        (_, one), (_, two) = campaign
    assert one.digest != two.digest
    assert any(one.signals[name].tolist() != two.signals[name].tolist() for name in one.signals)
