"""The loop: plain PPO where nothing happens, bit-exact after a resume, obedient to gates."""

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from cart_training import ANGLE, UPRIGHT, ScriptedGate, cart_spec, idle_settings, small_settings

from safegym.errors import GateError, PolicyError, RunFolderError
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.gate.trainer import events
from safegym.gate.trainer.hook import Hold, NoGate
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.vector import make_envs
from safegym.policy.sb3 import freeze, load_algorithm, load_policy, read_checkpoint
from safegym.policy.sb3.tensors import digest_tensors


def weights(path: Path) -> str:
    """Digest of weights, optimiser, normaliser, generators and open episodes."""
    return digest_tensors(read_checkpoint(path).tensors)


def run(out, settings, gate=None, spec=None, **kwargs):
    heard: list[events.Event] = []
    trainer = Trainer(
        spec or cart_spec(), settings, out, gate or NoGate(), listener=heard.append, **kwargs
    )
    return trainer, trainer.run(), heard


def resume(out, gate=None, spec=None, listener=events.ignore):
    return Trainer.resume(spec or cart_spec(), out, gate or NoGate(), listener=listener).run()


def of(heard, kind):
    return [event for event in heard if isinstance(event, kind)]


@pytest.mark.parametrize("normalise", [False, True])
def test_with_penalty_and_replay_idle_the_weights_are_those_of_plain_ppo(tmp_path, normalise):
    settings = idle_settings(normalise=normalise, normalise_reward=normalise)
    _, outcome, _ = run(tmp_path / "r", settings)
    plain = make_learner(settings, make_envs(cart_spec(), settings, cart_spec().claims).env)
    plain.learn(settings.steps)
    ours = load_algorithm(outcome.checkpoint)
    assert ours.num_timesteps == plain.num_timesteps == 256
    assert digest_tensors(ours.policy.state_dict()) == digest_tensors(plain.policy.state_dict())
    torch.testing.assert_close(
        ours.policy.optimizer.state_dict(), plain.policy.optimizer.state_dict(), rtol=0, atol=0
    )


def test_with_no_failing_trace_the_weights_are_those_of_plain_ppo(tmp_path):
    always_true = Claim("cart.exists", always(abs(ANGLE) < 1e6))
    settings = small_settings()
    _, outcome, heard = run(tmp_path / "r", settings, claims=(always_true,))
    plain = make_learner(settings, make_envs(cart_spec(), settings, (always_true,)).env)
    plain.learn(settings.steps)
    assert not of(heard, events.PenaltyApplied)
    assert load_policy(outcome.checkpoint).card.digest == freeze(plain).card.digest


def test_a_penalty_changes_the_weights(tmp_path):
    _, idle, _ = run(tmp_path / "idle", idle_settings())
    _, penalised, heard = run(tmp_path / "on", small_settings())
    assert of(heard, events.PenaltyApplied)
    assert load_policy(idle.checkpoint).card.digest != load_policy(penalised.checkpoint).card.digest


@pytest.mark.parametrize("normalise", [False, True])
def test_a_run_cut_after_two_epochs_and_resumed_equals_the_straight_run(tmp_path, normalise):
    settings = small_settings(normalise=normalise, normalise_reward=normalise)
    _, straight, _ = run(tmp_path / "straight", settings, ScriptedGate())

    class Cut(ScriptedGate):
        def after_epoch(self, report, freeze):
            if report.epoch == 3:
                raise KeyboardInterrupt
            return super().after_epoch(report, freeze)

    _, cut, _ = run(tmp_path / "cut", settings, Cut())
    assert (cut.status, cut.epoch) == ("interrupted", 3)
    second = ScriptedGate()
    outcome = resume(tmp_path / "cut", second)
    assert second.asked == [3, 4]
    assert second.memory == 4
    assert outcome.status == straight.status == "finished"
    assert weights(outcome.checkpoint) == weights(straight.checkpoint)
    assert read_checkpoint(outcome.checkpoint).extra == read_checkpoint(straight.checkpoint).extra


def test_a_decision_that_came_back_is_not_asked_for_twice(tmp_path):
    class CutInRollout(ScriptedGate):
        pass

    settings = small_settings()
    straight_gate = ScriptedGate()
    _, straight, _ = run(tmp_path / "straight", settings, straight_gate)

    def cut(event):
        if isinstance(event, events.RolloutEnded) and event.epoch == 3:
            raise KeyboardInterrupt

    gate = CutInRollout()
    outcome = Trainer(cart_spec(), settings, tmp_path / "r", gate, listener=cut).run()
    assert (outcome.status, outcome.epoch, gate.asked) == ("interrupted", 2, [1, 2])
    assert str(tmp_path / "r") in outcome.resume
    second = ScriptedGate()
    outcome = resume(tmp_path / "r", second)
    assert second.asked == [3, 4]
    assert second.memory == straight_gate.memory == 4
    assert weights(outcome.checkpoint) == weights(straight.checkpoint)


def test_a_run_killed_before_its_first_epoch_resumes_from_the_start(tmp_path):
    settings = small_settings()
    _, straight, _ = run(tmp_path / "straight", settings)

    def cut(event):
        if isinstance(event, events.RolloutEnded):
            raise KeyboardInterrupt

    Trainer(cart_spec(), settings, tmp_path / "r", NoGate(), listener=cut).run()
    assert weights(resume(tmp_path / "r").checkpoint) == weights(straight.checkpoint)


def test_a_run_killed_before_its_first_checkpoint_begins_anew(tmp_path):
    _, straight, _ = run(tmp_path / "straight", small_settings())

    def cut(event):
        raise KeyboardInterrupt

    outcome = Trainer(cart_spec(), small_settings(), tmp_path / "r", NoGate(), listener=cut)
    with pytest.raises(KeyboardInterrupt):
        outcome.run()
    gate = ScriptedGate()
    gate.restore = lambda state, load: gate.asked.append(dict(state))
    assert weights(resume(tmp_path / "r", gate).checkpoint) == weights(straight.checkpoint)
    assert gate.asked == [{}, 1, 2, 3, 4]


def test_a_finished_run_resumes_to_the_same_outcome(tmp_path):
    _, first, _ = run(tmp_path / "r", small_settings())
    before = weights(first.checkpoint)
    assert resume(tmp_path / "r") == first
    assert weights(first.checkpoint) == before


def test_what_a_gate_draws_does_not_disturb_training(tmp_path):
    _, without, _ = run(tmp_path / "a", small_settings(), NoGate())
    _, with_draws, _ = run(tmp_path / "b", small_settings(), ScriptedGate())
    assert weights(without.checkpoint) == weights(with_draws.checkpoint)


def test_the_gate_is_asked_after_every_epoch_and_once_at_the_end(
    tmp_path,
):
    gate = ScriptedGate()
    _, outcome, heard = run(tmp_path / "r", small_settings(), gate)
    assert gate.asked == [1, 2, 3, 4]
    assert gate.ended == [4]
    assert (outcome.status, outcome.steps, outcome.reasons) == ("finished", 256, ("steps used up",))
    reports = of(heard, events.EpochEnded)
    assert [report.steps for report in reports] == [64, 128, 192, 256]
    assert [report.policy_digest for report in reports] == list(gate.frozen.values())
    assert len(set(gate.frozen.values())) == 4


def test_a_last_epoch_may_be_short(tmp_path):
    gate = ScriptedGate()
    _, outcome, _ = run(tmp_path / "r", small_settings(steps=200, gate_every=128), gate)
    assert (gate.asked, outcome.steps) == ([1, 2], 256)


def test_a_promotion_ends_the_run_with_the_promoted_checkpoint(tmp_path):
    gate = ScriptedGate(
        {2: lambda report, _: Hold("promote", ("certified",), report.policy_digest)}
    )
    _, outcome, _ = run(tmp_path / "r", small_settings(), gate)
    assert (outcome.status, outcome.epoch) == ("promoted", 2)
    assert load_policy(outcome.checkpoint).card.digest == outcome.policy_digest == gate.frozen[2]


def test_training_may_go_on_after_a_promotion(tmp_path):
    gate = ScriptedGate(
        {2: lambda report, _: Hold("promote", ("certified",), report.policy_digest)}
    )
    _, outcome, _ = run(tmp_path / "r", small_settings(stop_when_promoted=False), gate)
    assert gate.asked == [1, 2, 3, 4]
    assert outcome.status == "finished"


def test_a_stop_ends_the_run(tmp_path):
    gate = ScriptedGate({1: Hold("stop", ("keeps degrading",))})
    _, outcome, heard = run(tmp_path / "r", small_settings(), gate)
    assert (outcome.status, outcome.epoch, outcome.reasons) == ("stopped", 1, ("keeps degrading",))
    assert of(heard, events.RunEnded)[0].status == "stopped"


def test_an_unknown_action_is_refused(tmp_path):
    with pytest.raises(GateError, match="answered 'ship'; the actions are promote"):
        run(tmp_path / "r", small_settings(), ScriptedGate({1: Hold("ship")}))


def rollback_gate(**kwargs):
    gate = ScriptedGate(**kwargs)

    def keep(report, freeze):
        gate.kept.append(report.policy_digest)
        return Hold()

    gate.script[1] = keep
    gate.script[3] = lambda report, freeze: Hold("rollback", ("degraded",), gate.kept[0])
    return gate


@pytest.mark.parametrize("normalise", [False, True])
def test_a_rollback_restores_what_was_learned_and_goes_on(tmp_path, normalise):
    gate = rollback_gate()
    seen = []

    def look(event):
        if isinstance(event, events.RolledBack):
            seen.append(digest_tensors(trainer._learner.algorithm.policy.state_dict()))

    settings = small_settings(normalise=normalise, normalise_reward=normalise)
    trainer = Trainer(cart_spec(), settings, tmp_path / "r", gate, listener=look)
    outcome = trainer.run()
    first = load_algorithm(tmp_path / "r" / "checkpoints" / "epoch-00001")
    assert seen == [digest_tensors(first.policy.state_dict())]
    assert outcome.status == "finished"
    assert outcome.steps == 256


def test_a_rollback_is_carried_out_again_after_a_resume(tmp_path):
    settings = small_settings(normalise=True)
    _, straight, _ = run(tmp_path / "straight", settings, rollback_gate())

    def cut(event):
        if isinstance(event, events.RolloutEnded) and event.epoch == 4:
            raise KeyboardInterrupt

    Trainer(cart_spec(), settings, tmp_path / "r", rollback_gate(), listener=cut).run()
    heard = []
    second = ScriptedGate(kept=[straight_digest(tmp_path / "r")])
    outcome = resume(tmp_path / "r", second, listener=heard.append)
    assert not of(heard, events.RolledBack)
    assert weights(outcome.checkpoint) == weights(straight.checkpoint)


def straight_digest(out):
    return load_policy(out / "checkpoints" / "epoch-00001").card.digest


def test_a_rollback_to_an_unknown_policy_is_refused(tmp_path):
    gate = ScriptedGate({2: Hold("rollback", (), "sha256:nothing")})
    with pytest.raises(GateError, match="No kept checkpoint has the policy sha256:nothing"):
        run(tmp_path / "r", small_settings(), gate)


def test_only_the_last_checkpoint_and_those_the_gate_keeps_stay(tmp_path):
    gate = rollback_gate()
    gate.script.pop(3)
    _, _, heard = run(tmp_path / "r", small_settings(), gate)
    names = sorted(path.name for path in (tmp_path / "r" / "checkpoints").iterdir())
    assert names == ["epoch-00001", "epoch-00004"]
    assert [event.epoch for event in of(heard, events.CheckpointDeleted)] == [0, 2, 3]


def test_a_run_folder_in_use_or_already_a_run_is_refused(tmp_path):
    out = tmp_path / "r"

    def second(event):
        if isinstance(event, events.RunStarted):
            with pytest.raises(RunFolderError, match="in use"):
                Trainer.resume(cart_spec(), out, NoGate()).run()

    Trainer(cart_spec(), small_settings(), out, NoGate(), listener=second).run()
    with pytest.raises(RunFolderError, match="already holds a run"):
        run(out, small_settings())


def test_a_run_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(RunFolderError, match="cannot be written"):
        run(tmp_path / "file" / "r", small_settings())


def test_resuming_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(RunFolderError, match="holds no training run"):
        Trainer.resume(cart_spec(), tmp_path, NoGate())


def test_resuming_with_another_scenario_or_other_claims_is_refused(tmp_path):
    run(tmp_path / "r", small_settings())
    with pytest.raises(GateError, match=r"changed\. Start a new run"):
        resume(tmp_path / "r", spec=cart_spec(horizon=61))
    other = Trainer.resume(cart_spec(), tmp_path / "r", NoGate(), claims=(UPRIGHT,))
    with pytest.raises(GateError, match="same claims"):
        other.run()


def test_a_corrupt_last_checkpoint_is_refused_by_name(tmp_path):
    _, outcome, _ = run(tmp_path / "r", small_settings())
    path = outcome.checkpoint / "training.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(PolicyError, match="corrupt"):
        resume(tmp_path / "r")


def test_a_scenario_that_its_seed_does_not_determine_cannot_be_resumed(tmp_path):
    calls = []

    def read_noise(env):
        calls.append(1)
        return float(env.state[2]) + 1e-9 * len(calls), float(env.state[0])

    noisy = cart_spec(read_signals=read_noise)
    run(tmp_path / "r", small_settings(), spec=noisy)
    with pytest.raises(GateError, match="not determined by seed and actions"):
        resume(tmp_path / "r", spec=noisy)


def broken_cart(kind: str, at: int):
    import gymnasium as gym
    from cart_training import make_cart

    class Broken(gym.Wrapper):
        count = 0

        def step(self, action):
            observation, reward, *rest = self.env.step(action)
            self.count += 1
            if self.count == at and kind == "reward":
                reward = float("nan")
            if self.count == at and kind == "observation":
                observation = observation * np.float32("nan")
            return observation, reward, *rest

    return Broken(make_cart())


@pytest.mark.parametrize("kind", ["reward", "observation"])
def test_a_number_that_is_not_finite_stops_the_run_and_keeps_the_checkpoint(tmp_path, kind):
    def read(env):
        return float(env.state[2]), float(env.state[0])

    spec = cart_spec(make_env=partial(broken_cart, kind, 40), read_signals=read)
    with pytest.raises(GateError, match=f"The {kind} is not finite at "):
        run(tmp_path / "r", small_settings(), spec=spec)
    assert load_policy(tmp_path / "r" / "checkpoints" / "epoch-00001").card.kind == "sb3"


def test_a_signal_that_is_not_finite_stops_the_run(tmp_path):
    calls = []

    def read(env):
        calls.append(1)
        return float(env.state[2]), float("nan") if len(calls) == 150 else 0.0

    with pytest.raises(
        GateError, match=r"Signal place is not finite.*seed \d+.*checkpoint is kept"
    ):
        run(tmp_path / "r", small_settings(), spec=cart_spec(read_signals=read))
    (kept,) = (tmp_path / "r" / "checkpoints").iterdir()
    assert load_policy(kept).card.kind == "sb3"


def test_weights_that_are_not_finite_stop_the_run_and_keep_the_checkpoint(tmp_path):
    with pytest.raises(GateError, match=r"weights that are not finite.*epoch 0 is kept"):
        run(tmp_path / "r", small_settings(learning_rate=1e30))
    assert load_policy(tmp_path / "r" / "checkpoints" / "epoch-00000").card.kind == "sb3"


def test_every_training_seed_is_a_function_of_slot_and_episode(tmp_path):
    first, second = (
        make_envs(cart_spec(), settings, cart_spec().claims)
        for settings in (small_settings(), replace(small_settings(), n_envs=2))
    )
    seeds = {(s.slot, e): s._seed_of(s.slot, e) for s in first.slots for e in range(50)}
    assert seeds == {(s.slot, e): s._seed_of(s.slot, e) for s in second.slots for e in range(50)}
    assert len(set(seeds.values())) == 100


def test_two_runs_give_the_same_bytes(tmp_path):
    for name in "ab":
        run(tmp_path / name, small_settings())
    digests = [
        {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (tmp_path / name / "checkpoints" / "epoch-00004").iterdir()
        }
        for name in "ab"
    ]
    assert digests[0] == digests[1]
