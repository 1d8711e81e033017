"""Off-policy runs: plain stable-baselines3 where nothing fails, bit-exact with save_replay."""

import re

import numpy as np
import pytest
import torch
from cart_training import ANGLE, ScriptedGate, cart_spec
from pendulum_training import BOUNDED, CALM, OFF_POLICY, off_settings, pendulum_spec, spec_for

from safegym.errors import GateError, PolicyError
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.gate.penalty import PenaltySettings
from safegym.gate.trainer import events
from safegym.gate.trainer.hook import Hold, NoGate
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.learning import off_policy, off_policy_state
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.vector import make_envs
from safegym.policy.sb3 import load_algorithm, read_checkpoint
from safegym.policy.sb3.checkpoint import REPLAY
from safegym.policy.sb3.folder import folder_digest
from safegym.policy.sb3.tensors import digest_tensors

EXISTS = Claim("cart.exists", always(abs(ANGLE) < 1e6))
HARD = {
    "sac": {"noise": "ornstein-uhlenbeck", "return_steps": 3},
    "td3": {"noise": "normal", "normalise": True, "normalise_reward": True},
    "ddpg": {"noise": "ornstein-uhlenbeck", "gradient_steps": -1},
    "dqn": {"normalise": True, "return_steps": 3},
    "tqc": {"n_quantiles": 5, "normalise_reward": True},
    "qr-dqn": {"n_quantiles": 5},
}
"""Settings of each algorithm that leave more to restore than its defaults do."""


def never_violated(algo: str) -> Claim:
    return EXISTS if spec_for(algo).name == "test/cart" else BOUNDED


def run(out, settings, gate=None, **kwargs):
    heard: list[events.Event] = []
    trainer = Trainer(
        kwargs.pop("spec", None) or spec_for(settings.algo),
        settings,
        out,
        gate or NoGate(),
        listener=heard.append,
        **kwargs,
    )
    return trainer, trainer.run(), heard


def of(heard, kind):
    return [event for event in heard if isinstance(event, kind)]


def weights(path) -> str:
    """Digest of everything in a checkpoint: networks, optimisers, buffer, generators, episodes."""
    return digest_tensors(read_checkpoint(path).tensors)


def cut_at(epoch: int):
    def listen(event):
        if isinstance(event, events.RolloutEnded) and event.epoch == epoch:
            raise KeyboardInterrupt

    return listen


@pytest.mark.parametrize("algo", OFF_POLICY)
def test_with_no_failing_trace_the_weights_are_those_of_the_plain_algorithm(tmp_path, algo):
    settings = off_settings(algo, **HARD[algo])
    claims = (never_violated(algo),)
    _, outcome, heard = run(tmp_path / "r", settings, claims=claims)
    plain = make_learner(settings, make_envs(spec_for(algo), settings, claims).env)
    plain.learn(settings.steps)
    ours = load_algorithm(outcome.checkpoint)
    assert not of(heard, events.PenaltyApplied)
    assert ours.num_timesteps == plain.num_timesteps == 128
    assert ours._n_updates == plain._n_updates > 20
    assert digest_tensors(ours.policy.state_dict()) == digest_tensors(plain.policy.state_dict())
    states, variables = plain._get_torch_save_params()
    for name in [*(name for name in states if name != "policy"), *variables]:
        owner, _, last = name.rpartition(".")
        one, two = (
            getattr(getattr(item, owner) if owner else item, last) for item in (ours, plain)
        )
        same = [item.state_dict() if hasattr(item, "state_dict") else item for item in (one, two)]
        torch.testing.assert_close(*same, rtol=0, atol=0)


@pytest.mark.parametrize("algo", OFF_POLICY)
def test_with_save_replay_a_run_that_was_cut_equals_the_straight_run(tmp_path, algo):
    settings = off_settings(algo, save_replay=True, buffer_size=100, **HARD[algo])
    _, straight, heard = run(tmp_path / "straight", settings, ScriptedGate())
    assert of(heard, events.PenaltyApplied)
    trainer = Trainer(spec_for(algo), settings, tmp_path / "r", ScriptedGate(), listener=cut_at(3))
    assert (trainer.run().status, trainer._epoch) == ("interrupted", 2)
    again: list[events.Event] = []
    outcome = Trainer.resume(
        spec_for(algo), tmp_path / "r", ScriptedGate(), listener=again.append
    ).run()
    (started,) = of(again, events.RunStarted)
    assert started.differences == ()
    assert weights(outcome.checkpoint) == weights(straight.checkpoint)
    assert read_checkpoint(outcome.checkpoint).extra == read_checkpoint(straight.checkpoint).extra


@pytest.mark.parametrize("algo", ["sac", "dqn"])
def test_without_a_stored_buffer_a_resumed_run_says_so_and_fills_it_again(tmp_path, algo):
    settings = off_settings(algo, steps=160)
    trainer = Trainer(spec_for(algo), settings, tmp_path / "r", ScriptedGate(), listener=cut_at(4))
    assert trainer.run().epoch == 3
    before = load_algorithm(trainer._folder.checkpoint(3))
    heard: list[events.Event] = []
    outcome = Trainer.resume(
        spec_for(algo), tmp_path / "r", ScriptedGate(), listener=heard.append
    ).run()
    (started,) = of(heard, events.RunStarted)
    (reason,) = started.differences
    assert "save_replay=False" in reason
    assert "after 32 more steps" in reason
    assert [report.inexact for report in of(heard, events.EpochEnded)] == [(reason,), ()]
    after = load_algorithm(outcome.checkpoint)
    assert outcome.steps == after.num_timesteps == 160
    assert (before._n_updates, after._n_updates) == (16, 24)


def test_a_violation_lowers_the_reward_of_the_action_before_its_settling_sample(tmp_path):
    settings = off_settings("dqn", save_replay=True, steps=64, failing_steps=4)
    _, outcome, heard = run(tmp_path / "r", settings)
    idle = off_settings("dqn", save_replay=True, steps=64, penalty=PenaltySettings(0.0).to_json())
    _, plain, _ = run(tmp_path / "idle", idle)
    lowered = read_checkpoint(outcome.checkpoint).extra_tensor("replay.rewards").numpy()
    raw = read_checkpoint(plain.checkpoint).extra_tensor("replay.rewards").numpy()
    marked = set(_marked(outcome.checkpoint, 2))
    penalties = of(heard, events.PenaltyApplied)
    assert len(penalties) > 2
    assert (raw == 1.0).all()
    for penalty in penalties:
        assert penalty.in_buffer == penalty.size < 0.0
        assert lowered[penalty.row, penalty.slot] == np.float32(1.0 + penalty.size)
        wanted = range(max(penalty.row - 3, penalty.row + 1 - penalty.step), penalty.row + 1)
        assert {(row, penalty.slot) for row in wanted} <= marked
    assert np.count_nonzero(lowered != raw) == len({(p.row, p.slot) for p in penalties})
    assert not _marked(plain.checkpoint, 2)


def _marked(path, slots) -> list[tuple[int, int]]:
    ids = read_checkpoint(path).extra_tensor("replay.failing").tolist()
    return [(number // slots, number % slots) for number in ids]


def test_the_stored_buffer_is_what_the_environments_did(tmp_path):
    """Rebuilt step by step from the traces of the episodes, which the recorder wrote."""
    settings = off_settings("td3", save_replay=True, steps=128)
    traces = {}

    def keep(event):
        if isinstance(event, events.ViolationFound):
            traces[event.slot, event.episode] = event

    Trainer(pendulum_spec(), settings, tmp_path / "r", NoGate(), listener=keep).run()
    stored = read_checkpoint(tmp_path / "r" / "checkpoints" / "epoch-00004")
    rewards = stored.extra_tensor("replay.rewards").numpy()
    assert traces
    for (slot, episode), found in traces.items():
        rows = slice(30 * episode, 30 * episode + 30)
        wanted = found.trace.rewards.astype(np.float32)
        size = -4.0 * min(1.0, max(0.25, -found.margin))
        wanted[found.step - 1] += np.float32(size)
        np.testing.assert_array_equal(rewards[rows, slot], wanted)


def test_a_failing_share_changes_the_weights_and_none_of_it_does_not(tmp_path):
    digests = {
        share: weights(
            run(tmp_path / str(share), off_settings("dqn", failing_share=share))[1].checkpoint
        )
        for share in (0.0, 0.5)
    }
    assert digests[0.0] != digests[0.5]


def test_a_rolled_back_run_keeps_its_buffer_and_takes_the_earlier_weights(tmp_path):
    settings = off_settings("td3", save_replay=True, normalise=True)
    gate = ScriptedGate(kept=[])

    def back(report, freeze):
        gate.kept = [gate.frozen[2]]
        return Hold("rollback", ("worse",), gate.frozen[2])

    gate.script = {2: lambda report, _: gate.kept.append(report.policy_digest) or Hold(), 3: back}
    seen = {}

    def look(event):
        if isinstance(event, events.RolledBack):
            learner = trainer._learner
            seen["weights"] = digest_tensors(learner.algorithm.policy.state_dict())
            seen["rows"] = learner._buffer.rows.added

    trainer = Trainer(pendulum_spec(), settings, tmp_path / "r", gate, listener=look)
    assert trainer.run().status == "finished"
    earlier = load_algorithm(tmp_path / "r" / "checkpoints" / "epoch-00002")
    assert seen["weights"] == digest_tensors(earlier.policy.state_dict())
    assert seen["rows"] == 48


def test_a_buffer_too_small_for_an_episode_is_refused(tmp_path):
    settings = off_settings("sac", buffer_size=58)
    with pytest.raises(GateError, match=r"holds 29 steps of each of 2 environments.*=62 is the"):
        run(tmp_path / "r", settings)


def test_a_buffer_that_an_episode_and_the_rest_of_its_rollout_overfill_is_refused(tmp_path):
    """An episode of 30 steps may end with the first of 8 steps and is judged after the last."""
    settings = off_settings("sac", n_steps=8, buffer_size=72)
    with pytest.raises(GateError, match=r"judged up to 7 steps later.*buffer_size=74 is the least"):
        run(tmp_path / "r", settings)


def test_a_buffer_that_no_file_of_a_checkpoint_holds_is_refused_at_the_start(monkeypatch):
    monkeypatch.setattr(off_policy_state, "MAX_FILE_BYTES", 70_000)
    settings = off_settings("dqn", save_replay=True, steps=256)
    envs = make_envs(cart_spec(horizon=30), settings, ())
    with pytest.raises(GateError, match=r"GiB.*buffer_size=\d+ is the most") as caught:
        off_policy.OffPolicyLearner(settings, envs, horizon=30)
    (most,) = re.findall(r"buffer_size=(\d+)", str(caught.value))
    fits = off_settings("dqn", save_replay=True, steps=256, buffer_size=int(most))
    off_policy.OffPolicyLearner(fits, envs, horizon=30)


def test_only_the_last_of_the_kept_checkpoints_holds_the_replay_buffer(tmp_path):
    gate = ScriptedGate(kept=[])
    gate.script = {2: lambda report, _: gate.kept.append(report.policy_digest) or Hold()}
    _, outcome, heard = run(tmp_path / "r", off_settings("dqn", save_replay=True), gate)
    early, last = sorted((tmp_path / "r" / "checkpoints").iterdir())
    written = {event.path: event.digest for event in of(heard, events.CheckpointWritten)}
    assert [(place / REPLAY).exists() for place in (early, last)] == [False, True]
    assert [folder_digest(place) for place in (early, last)] == [written[early], written[last]]
    assert "extra.replay.rewards" not in read_checkpoint(early).tensors
    assert outcome.checkpoint == last


def test_a_run_whose_replay_buffer_was_deleted_goes_on_and_says_so(tmp_path):
    settings = off_settings("dqn", save_replay=True, steps=96)
    Trainer(spec_for("dqn"), settings, tmp_path / "r", NoGate(), listener=cut_at(3)).run()
    (tmp_path / "r" / "checkpoints" / "epoch-00002" / REPLAY).unlink()
    heard: list[events.Event] = []
    outcome = Trainer.resume(spec_for("dqn"), tmp_path / "r", NoGate(), listener=heard.append).run()
    (started,) = of(heard, events.RunStarted)
    assert "The replay buffer was deleted from the checkpoint" in started.differences[0]
    assert outcome.status == "finished"


def test_a_changed_replay_buffer_is_refused(tmp_path):
    _, outcome, _ = run(tmp_path / "r", off_settings("dqn", save_replay=True, steps=32))
    body = bytearray((outcome.checkpoint / REPLAY).read_bytes())
    body[-1] ^= 1
    (outcome.checkpoint / REPLAY).write_bytes(bytes(body))
    with pytest.raises(PolicyError, match="does not match the digest"):
        read_checkpoint(outcome.checkpoint)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"failing_share": 0.6}, r"failing_share is 0.6; give a share in \[0, 0.5\]"),
        ({"failing_steps": 0}, "failing_steps is 0"),
        ({"noise_sigma": -0.1}, "noise_sigma is -0.1; give a finite number of at least 0"),
        ({"target_policy_noise": -0.1}, "target_policy_noise is -0.1"),
        ({"tau": 2.0}, r"tau is 2.0; give a number in \[0, 1\]"),
        ({"gradient_steps": -3}, "gradient_steps is -3; .* or -1"),
        ({"learning_starts": -5}, "learning_starts is -5"),
        ({"algo": "sac", "ent_coef": "auto_-1"}, "ent_coef is 'auto_-1'"),
        ({"algo": "tqc", "n_quantiles": 2}, "is 2 of n_quantiles=2, which leaves no target"),
        ({"penalty": {"cost_critic": {}}}, "leave cost_critic out"),
    ],
)
def test_bad_off_policy_settings_are_refused(wrong, message):
    with pytest.raises(GateError, match=message):
        off_settings(**{"algo": "td3", **wrong})


def test_a_reward_that_is_not_finite_is_named_with_its_seed(tmp_path):
    def sick():
        env = pendulum_spec().make_env()
        step, count = env.step, [0]

        def broken(action):
            count[0] += 1
            seen, reward, *rest = step(action)
            return seen, float("nan") if count[0] == 40 else reward, *rest

        env.step = broken
        return env

    spec = pendulum_spec(make_env=sick)
    with pytest.raises(GateError, match=r"not finite.*slot \d \(seed"):
        run(tmp_path / "r", off_settings("td3"), spec=spec)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("replay_buffer", "stored replay buffer is malformed"),
        ("action_draws", "stored generator of actions is malformed"),
    ],
)
def test_a_malformed_replay_state_is_refused(tmp_path, part, message):
    settings = off_settings("dqn", save_replay=True, steps=32)
    trainer, outcome, _ = run(tmp_path / "r", settings)
    stored = read_checkpoint(outcome.checkpoint)
    stored.document["extra"]["learner"][part] = {"added": "many"}
    with pytest.raises(PolicyError, match=message):
        trainer._learner.go_on(stored)


def test_a_buffer_of_another_size_is_refused(tmp_path):
    _, outcome, _ = run(tmp_path / "r", off_settings("dqn", save_replay=True, n_envs=2))
    other = off_settings("dqn", save_replay=True, buffer_size=120)
    learner = off_policy.OffPolicyLearner(other, make_envs(cart_spec(horizon=30), other, ()))
    with pytest.raises(PolicyError, match="resume with the run's own settings"):
        learner.go_on(read_checkpoint(outcome.checkpoint))


def test_an_algorithm_that_makes_its_own_buffer_is_refused(monkeypatch):
    class Stubborn:
        replay_buffer = object()

    monkeypatch.setattr(off_policy, "_make_algorithm", lambda settings, envs: Stubborn())
    settings = off_settings("td3")
    with pytest.raises(GateError, match="Stubborn made a object of its own"):
        off_policy.OffPolicyLearner(settings, make_envs(pendulum_spec(), settings, (CALM,)))
