"""The cost critic: advantages by closed form, idle where no cost occurs, stored and rolled back."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cart_training import ANGLE, ScriptedGate, cart_spec, small_settings
from gymnasium import spaces
from stable_baselines3.common.buffers import RolloutBuffer

from safegym.errors import PolicyError
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.gate.penalty import PenaltySettings
from safegym.gate.trainer import correction, events
from safegym.gate.trainer.cost.advantage import combined, cost_advantages
from safegym.gate.trainer.cost.correction import apply_costs
from safegym.gate.trainer.cost.critic import CostLearner, CostRollout
from safegym.gate.trainer.hook import Hold, NoGate
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.vector import make_envs
from safegym.gate.weighting import PID, CostCritic, Weights
from safegym.policy.sb3 import load_algorithm, read_checkpoint
from safegym.policy.sb3.tensors import digest_tensors

SPACE = spaces.Box(-1.0, 1.0, (3,))
STEPS, ENVS = 12, 2
CRITIC = CostCritic(net_arch=(8,))


def filled_buffer(gae_lambda, seed=0) -> RolloutBuffer:
    random = np.random.default_rng(seed)
    buffer = RolloutBuffer(
        STEPS, SPACE, spaces.Discrete(2), gae_lambda=gae_lambda, gamma=0.9, n_envs=ENVS
    )
    for step in range(STEPS):
        buffer.add(
            random.uniform(-1, 1, (ENVS, 3)).astype(np.float32),
            np.zeros((ENVS, 1)),
            random.normal(size=ENVS),
            np.array([step in (0, 5), step in (0, 9)]),
            torch.from_numpy(random.normal(size=ENVS).astype(np.float32)),
            torch.zeros(ENVS),
        )
    return buffer


def learner(claims=("a", "b"), **more) -> CostLearner:
    fields = {"gamma": 0.9, "gae_lambda": 0.8, "batch_size": 8, "seed": 3}
    return CostLearner(CRITIC, SPACE, claims, **{**fields, **more})


def rollout(buffer, costs, **more) -> CostRollout:
    last = np.zeros((ENVS, 3), dtype=np.float32)
    fields = {"last_observations": last, "last_dones": np.array([False, True]), **more}
    return CostRollout(buffer.observations, costs, buffer.episode_starts, **fields)


def some_costs() -> np.ndarray:
    costs = np.zeros((STEPS, ENVS, 2), dtype=np.float32)
    costs[4, 0, 0], costs[8, 1, 1], costs[11, 0, 1] = 1.0, 2.0, 0.5
    return costs


@pytest.mark.parametrize("gae_lambda", [0.0, 0.8, 1.0])
def test_cost_advantages_are_those_of_a_rollout_buffer_for_each_claim(gae_lambda):
    random = np.random.default_rng(1)
    costs = random.uniform(0, 1, (STEPS, ENVS, 2)).astype(np.float32)
    values = random.normal(size=costs.shape).astype(np.float32)
    last = random.normal(size=(ENVS, 2)).astype(np.float32)
    dones = np.array([True, False])
    buffer = filled_buffer(gae_lambda)
    found = cost_advantages(costs, values, last, buffer.episode_starts, dones, 0.9, gae_lambda)
    for claim in range(2):
        buffer.rewards, buffer.values = costs[..., claim], values[..., claim]
        buffer.compute_returns_and_advantage(torch.from_numpy(last[:, claim]), dones)
        np.testing.assert_allclose(found[..., claim], buffer.advantages, rtol=1e-6, atol=1e-6)


def test_combined_advantages_are_the_reward_s_minus_the_weighted_costs():
    rewards = np.array([[1.0, -2.0]], dtype=np.float32)
    costs = np.array([[[1.0, 0.0], [2.0, 4.0]]], dtype=np.float32)
    plain = combined(rewards, costs, [3.0, 0.5], rescale=False)
    assert plain.tolist() == [[-2.0, -10.0]]
    assert combined(rewards, costs, [3.0, 0.5], rescale=True) == pytest.approx(plain / 4.5)
    assert combined(rewards, np.zeros_like(costs), [3.0, 0.5], rescale=True) is rewards


def test_without_discount_in_lambda_both_ways_of_penalising_agree_before_anything_is_learned():
    """A critic that says 0 and lambda = 1: what is taken from rewards is taken from advantages."""
    chosen = PenaltySettings(weight=2.0, cost_critic=CostCritic(net_arch=(8,), rescale=False))
    claims = (Claim("a", always(ANGLE < 1)), Claim("b", always(ANGLE < 2)))
    due = [
        events.PenaltyApplied("a", "", 0, 0, 4, 3, -1.0, -2.0, -2.0, cost=2.0),
        events.PenaltyApplied("b", "", 1, 0, 4, 8, -1.0, -0.5, -0.5, cost=0.5),
    ]
    lowered, joined = filled_buffer(1.0), filled_buffer(1.0)
    probe = SimpleNamespace(
        scales=[], timeouts=[], last_values=torch.zeros(ENVS), last_dones=np.array([False, True])
    )
    joined.compute_returns_and_advantage(probe.last_values, probe.last_dones)
    rewards, returns = joined.rewards.copy(), joined.returns.copy()
    correction.apply(due, lowered, probe, None)
    applied = apply_costs(
        due,
        joined,
        probe,
        np.zeros((ENVS, 3), dtype=np.float32),
        None,
        CostLearner(
            chosen.cost_critic, SPACE, "ab", gamma=0.9, gae_lambda=1.0, batch_size=8, seed=0
        ),
        Weights(claims, chosen),
    )
    np.testing.assert_allclose(joined.advantages, lowered.advantages, rtol=1e-5, atol=1e-5)
    assert np.array_equal(joined.rewards, rewards)
    assert np.array_equal(joined.returns, returns)
    assert [(item.in_buffer, item.in_costs) for item in applied] == [(0.0, 2.0), (0.0, 0.5)]


def test_a_time_out_is_bootstrapped_with_the_cost_that_was_to_come():
    critic = learner()
    torch.nn.init.ones_(critic._net._layers[-1].bias)  # the net now says about 1 everywhere
    buffer, costs = filled_buffer(0.8), np.zeros((STEPS, ENVS, 2), dtype=np.float32)
    plain = critic.advantages(rollout(buffer, costs))
    last = np.full(3, 0.5, dtype=np.float32)
    booted = critic.advantages(rollout(buffer, costs, timeouts=[(4, 0, last)]))
    extra = 0.9 * critic._values(last[None])[0]
    np.testing.assert_allclose(booted[4, 0] - plain[4, 0], extra, rtol=1e-5)
    assert np.array_equal(booted[5:], plain[5:])
    assert not costs.any()


def test_a_critic_that_saw_no_cost_says_exactly_zero_and_touches_no_global_generator():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    critic = learner()
    for _ in range(3):
        found = critic.advantages(
            rollout(filled_buffer(0.8), np.zeros((STEPS, ENVS, 2), dtype=np.float32))
        )
        critic.fit()
        assert not found.any()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_critic_learns_the_costs_that_it_is_shown():
    critic, buffer = learner(), filled_buffer(0.8)
    costs = some_costs()
    losses = []
    for _ in range(60):
        critic.advantages(rollout(buffer, costs))
        losses.append(critic.fit())
    assert losses[-1] < 0.2 * losses[0]
    assert critic.fit() is None


def test_a_critic_goes_on_from_its_state_bit_for_bit():
    first, costs = learner(), some_costs()
    first.advantages(rollout(filled_buffer(0.8), costs))
    first.fit()
    again = learner(seed=99)
    again.restore(first.state())
    for critic in (first, again):
        critic.advantages(rollout(filled_buffer(0.8, seed=2), costs))
        critic.fit()
    assert digest_tensors(again.state()) == digest_tensors(first.state())


def test_a_state_of_other_claims_is_refused():
    with pytest.raises(PolicyError, match="cost critic does not fit these claims"):
        learner().restore(learner(claims=("a",)).state())
    with pytest.raises(PolicyError, match="cost critic does not fit these claims"):
        learner().restore({})


def run(out, chosen, gate=None, claims=None, listener=events.ignore):
    trainer = Trainer(cart_spec(), chosen, out, gate or NoGate(), claims=claims, listener=listener)
    return trainer, trainer.run()


def critic_settings(**changes):
    penalty = PenaltySettings(adapt=PID(), cost_critic=CRITIC)
    return small_settings(penalty=penalty, **changes)


@pytest.mark.parametrize("normalise", [False, True])
def test_with_no_cost_the_weights_are_those_of_plain_ppo(tmp_path, normalise):
    true = Claim("cart.exists", always(abs(ANGLE) < 1e6))
    penalty = PenaltySettings(adapt=PID(), ends=True, cost_critic=CRITIC)
    chosen = small_settings(penalty=penalty, normalise=normalise, normalise_reward=normalise)
    _, outcome = run(tmp_path / "r", chosen, claims=(true,))
    plain = make_learner(chosen, make_envs(cart_spec(), chosen, (true,)).env)
    plain.learn(chosen.steps)
    ours = load_algorithm(outcome.checkpoint)
    assert digest_tensors(ours.policy.state_dict()) == digest_tensors(plain.policy.state_dict())


@pytest.mark.parametrize("normalise", [False, True])
def test_rewards_stay_and_costs_are_logged_in_the_rewards_scale(tmp_path, normalise):
    heard = []

    def listen(event):
        if isinstance(event, events.PenaltyApplied):
            probe = trainer._learner._probe
            heard.append((event, probe.scales[event.row] if probe.scales else 1.0))
        if isinstance(event, events.RolloutEnded) and not normalise:
            ended = {(d.last_row, s.slot) for s in trainer._envs.slots for d in s.finished}
            rewards = trainer._learner.algorithm.rollout_buffer.rewards
            assert {float(r) for at, r in np.ndenumerate(rewards) if at not in ended} == {1.0}

    chosen = critic_settings(normalise_reward=normalise)
    trainer = Trainer(cart_spec(), chosen, tmp_path / "r", NoGate(), listener=listen)
    trainer.run()
    assert heard
    for event, scale in heard:
        assert (event.in_buffer, event.in_costs) == (0.0, min(event.cost / scale, 10.0))


@pytest.mark.parametrize("normalise", [False, True])
def test_a_run_that_adapts_ends_and_criticises_resumes_bit_for_bit(tmp_path, normalise):
    penalty = PenaltySettings(adapt=PID(), ends=True, cost_critic=CRITIC)
    chosen = small_settings(penalty=penalty, normalise=normalise, normalise_reward=normalise)
    _, straight = run(tmp_path / "straight", chosen)

    def cut(event):
        if isinstance(event, events.RolloutEnded) and event.epoch == 3:
            raise KeyboardInterrupt

    run(tmp_path / "cut", chosen, listener=cut)
    outcome = Trainer.resume(cart_spec(), tmp_path / "cut", NoGate()).run()
    one, other = read_checkpoint(straight.checkpoint), read_checkpoint(outcome.checkpoint)
    assert digest_tensors(other.tensors) == digest_tensors(one.tensors)
    assert other.extra == one.extra
    assert any(name.startswith("extra.cost.adam") for name in one.tensors)
    assert one.extra["weights"]["controllers"]


def test_a_rollback_takes_the_cost_critic_back_too(tmp_path):
    gate = ScriptedGate()

    def keep(report, freeze):
        gate.kept.append(report.policy_digest)
        return Hold()

    gate.script[1] = keep
    gate.script[3] = lambda report, freeze: Hold("rollback", ("degraded",), gate.kept[0])
    seen = []

    def look(event):
        if isinstance(event, events.RolledBack):
            seen.append(digest_tensors(trainer._learner._critic.state()))

    trainer = Trainer(cart_spec(), critic_settings(), tmp_path / "r", gate, listener=look)
    trainer.run()
    kept = read_checkpoint(tmp_path / "r" / "checkpoints" / "epoch-00001").extra_tensors
    stored = {name: value for name, value in kept.items() if name.startswith("cost.")}
    assert seen == [digest_tensors(stored)]
