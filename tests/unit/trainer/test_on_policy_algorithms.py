"""Every on-policy algorithm: plain where nothing happens, penalised exactly, bit-exact resumed."""

import numpy as np
import pytest
import torch
from cart_training import ANGLE, cart_spec

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.gate.penalty import Penaliser
from safegym.gate.trainer import events
from safegym.gate.trainer.correction import judge_finished
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.learning.make import learner_for
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.vector import make_envs
from safegym.policy.sb3 import SB3Policy, freeze, load_algorithm, load_policy, read_checkpoint
from safegym.policy.sb3.tensors import digest_tensors
from safegym.scenario.campaign import Campaign
from safegym.scenario.record import record

ALGORITHMS = ("a2c", "trpo", "recurrent-ppo")
EXISTS = Claim("cart.exists", always(abs(ANGLE) < 1e6))


def settings_of(algo, **changes) -> TrainSettings:
    fields = {
        "algo": algo,
        "steps": 256,
        "gate_every": 64,
        "n_envs": 2,
        "n_steps": 32,
        "net_arch": [8],
        "seed": 7,
    }
    if algo != "a2c":
        fields["batch_size"] = 32
    if algo == "recurrent-ppo":
        fields |= {"n_epochs": 2, "lstm_hidden_size": 8}
    return TrainSettings.of({**fields, **changes})


def run(out, settings, gate=None, **kwargs):
    heard: list[events.Event] = []
    trainer = Trainer(cart_spec(), settings, out, gate or NoGate(), listener=heard.append, **kwargs)
    return trainer, trainer.run(), heard


def everything(path) -> str:
    return digest_tensors(read_checkpoint(path).tensors)


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_with_no_failing_trace_the_weights_are_those_of_the_plain_algorithm(
    tmp_path, algo, normalise
):
    settings = settings_of(algo, normalise=normalise, normalise_reward=normalise)
    _, outcome, heard = run(tmp_path / "r", settings, claims=(EXISTS,))
    plain = make_learner(settings, make_envs(cart_spec(), settings, (EXISTS,)).env)
    plain.learn(settings.steps)
    ours = load_algorithm(outcome.checkpoint)
    assert not [event for event in heard if isinstance(event, events.PenaltyApplied)]
    assert ours.num_timesteps == plain.num_timesteps == 256
    assert digest_tensors(ours.policy.state_dict()) == digest_tensors(plain.policy.state_dict())
    torch.testing.assert_close(
        ours.policy.optimizer.state_dict(), plain.policy.optimizer.state_dict(), rtol=0, atol=0
    )
    assert load_policy(outcome.checkpoint).card.digest == freeze(plain).card.digest


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_a_run_cut_in_its_third_epoch_and_resumed_equals_the_straight_run_of(tmp_path, algo):
    settings = settings_of(algo, normalise=True, normalise_reward=True)
    _, straight, heard = run(tmp_path / "straight", settings)

    def cut(event):
        if isinstance(event, events.RolloutEnded) and event.epoch == 3:
            raise KeyboardInterrupt

    Trainer(cart_spec(), settings, tmp_path / "cut", NoGate(), listener=cut).run()
    resumed: list[events.Event] = []
    again = Trainer.resume(cart_spec(), tmp_path / "cut", NoGate(), listener=resumed.append).run()
    assert [event for event in heard if isinstance(event, events.PenaltyApplied)]
    assert next(e for e in resumed if isinstance(e, events.RunStarted)).differences == ()
    assert everything(again.checkpoint) == everything(straight.checkpoint)
    extra = read_checkpoint(straight.checkpoint).extra
    assert read_checkpoint(again.checkpoint).extra == extra


def slow_advantages(algorithm, rewards, last) -> np.ndarray:
    """Generalised advantage estimation, slot by slot, backwards. last: values after the rollout."""
    buffer = algorithm.rollout_buffer
    found = np.zeros_like(rewards)
    for slot in range(rewards.shape[1]):
        following, value = 0.0, last[slot]
        for step in reversed(range(len(rewards))):
            ends = algorithm._last_episode_starts[slot]
            if step + 1 < len(rewards):
                ends, value = buffer.episode_starts[step + 1, slot], buffer.values[step + 1, slot]
            goes_on = 1.0 - float(ends)
            delta = rewards[step, slot] + algorithm.gamma * value * goes_on
            delta -= buffer.values[step, slot]
            following = delta + algorithm.gamma * algorithm.gae_lambda * goes_on * following
            found[step, slot] = following
    return found


@pytest.mark.parametrize("algo", ["ppo", *ALGORITHMS])
def test_penalised_advantages_are_those_of_penalised_rewards(algo):
    """The values after the rollout are read off the algorithm's own advantages."""
    settings, spec = settings_of(algo, n_steps=32), cart_spec()
    envs = make_envs(spec, settings, spec.claims)
    learner = learner_for(settings, envs)
    penaliser = Penaliser(spec.claims, spec.clock, spec.horizon, settings.penalty)
    learner.begin()
    penalised = 0
    for _ in range(3):
        envs.begin_rollout()
        learner.collect()
        algorithm = learner.algorithm
        buffer = algorithm.rollout_buffer
        rewards, advantages = buffer.rewards.copy(), buffer.advantages.copy()
        last = (advantages[-1] - rewards[-1] + buffer.values[-1]) / algorithm.gamma
        applied = learner.correct(judge_finished(penaliser, envs.slots), penaliser)
        for penalty in applied:
            rewards[penalty.row, penalty.slot] += penalty.size
        penalised += len(applied)
        np.testing.assert_allclose(buffer.rewards, rewards, rtol=1e-6)
        slow = slow_advantages(algorithm, rewards, last)
        np.testing.assert_allclose(buffer.advantages, slow, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(buffer.returns, slow + buffer.values, rtol=1e-4, atol=1e-4)
        learner.update()
    assert penalised


@pytest.mark.parametrize("width", [None, 1])
def test_episodes_of_a_recurrent_policy_are_the_same_alone_and_in_a_campaign(width):
    """Also where a machine mixes rows and each is computed alone, with its own memory."""
    settings = settings_of("recurrent-ppo")
    envs = make_envs(cart_spec(), settings, cart_spec().claims)
    learned = freeze(make_learner(settings, envs.env).learn(128))
    described = learned._document()["architecture"]
    policy = SB3Policy(described, learned.weights, name="r", algorithm="recurrent-ppo", width=width)
    with Campaign(cart_spec(), policy, seed_of=int, tail=0, copies=3, episodes=7) as campaign:
        together = {index: trace.digest for index, trace in campaign}
    alone = {seed: record(cart_spec(), policy, seed).digest for seed in range(7)}
    assert together == alone
