"""Rollout workers: the same bits whatever steps the environments, and whoever dies meanwhile."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cart_training import ScriptedGate
from worker_cart import heavy_modules, make_cart, worker_cart, worker_settings

from safegym.errors import GateError
from safegym.gate.trainer import events
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.slots import Start
from safegym.gate.trainer.vector import make_envs
from safegym.gate.trainer.workers.asked import rollout_plan
from safegym.gate.trainer.workers.block import Recalled
from safegym.gate.trainer.workers.plan import RolloutWorkers
from safegym.gate.trainer.workers.remote import RemoteSlot
from safegym.policy.sb3 import read_checkpoint
from safegym.policy.sb3.tensors import digest_tensors

CHILD = Path(__file__).with_name("worker_child.py")


@pytest.fixture(autouse=True)
def trouble(tmp_path, monkeypatch):
    """The folder in which a file makes the cart misbehave; worker processes inherit its name."""
    folder = tmp_path / "trouble"
    folder.mkdir()
    monkeypatch.setenv("WORKER_CART", str(folder))
    return folder


def run(out, workers=0, listener=events.ignore, settings=None, **plan):
    """Everything that a run leaves: weights, optimiser, generators, open episodes, bank."""
    trainer = Trainer(
        worker_cart(),
        settings or worker_settings(),
        out,
        ScriptedGate(),
        listener=listener,
        rollout=RolloutWorkers(workers, **plan),
    )
    return left(trainer.run().checkpoint)


def left(checkpoint):
    read = read_checkpoint(checkpoint)
    return digest_tensors(read.tensors), read.extra, read.document


def at_epoch(epoch, action):
    """A listener that acts when the first rollout of an epoch has ended."""

    def hear(event):
        if isinstance(event, events.RolloutEnded) and event.epoch == epoch:
            action()

    return hear


def test_a_vector_in_workers_gives_what_one_in_this_process_gives():
    spec, settings = worker_cart(), worker_settings()
    near, far = (make_envs(spec, settings, spec.claims, RolloutWorkers(n)) for n in (0, 2))
    chance = np.random.default_rng(0)
    try:
        np.testing.assert_array_equal(near.env.reset(), far.env.reset())
        for number in range(120):
            actions = chance.integers(0, 2, settings.n_envs)
            left, right = near.env.step(actions), far.env.step(actions)
            for one, other in zip(left, right, strict=True):
                np.testing.assert_equal(one, other)
                assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
            if number % 9 == 0:
                assert digests(near) == digests(far)
        assert far.env.get_attr("slot") == near.env.get_attr("slot") == [0, 1, 2]
        assert far.base._each(heavy_modules, None) == [[], [], []]
    finally:
        far.close()


def digests(envs):
    """Of the open episodes, and of those that ended, with where they ended."""
    ended = [[(f.trace.digest, f.start, f.last_row) for f in slot.finished] for slot in envs.slots]
    return [slot.prefix().digest for slot in envs.slots], ended


def test_weights_do_not_depend_on_the_number_of_workers(tmp_path):
    heard = []
    here = run(tmp_path / "here", listener=heard.append)
    assert {events.PenaltyApplied, events.Replayed} <= set(map(type, heard))
    assert run(tmp_path / "there", workers=2) == here


@pytest.mark.parametrize("when", ["die", pytest.param("die-in-reset", marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_is_replaced_and_the_weights_stay_the_same(tmp_path, trouble, when):
    settings = worker_settings(normalise=True, normalise_reward=True)
    here = run(tmp_path / "here", settings=settings)
    killing = at_epoch(2, (trouble / when).touch)
    there = run(tmp_path / "there", workers=1, listener=killing, settings=settings)
    assert not (trouble / when).exists()
    assert there == here


def test_an_environment_that_always_ends_its_worker_ends_the_run_by_name(tmp_path, trouble):
    (trouble / "always-die").touch()
    with pytest.raises(GateError, match=r"3 rollout workers in turn died .*SIGKILL.*slot 0, train"):
        run(tmp_path / "r", workers=1)


@pytest.mark.slow
def test_an_environment_that_hangs_ends_the_run_by_name(tmp_path, trouble):
    hanging = at_epoch(1, (trouble / "hang").touch)
    with pytest.raises(GateError, match=r"within 4 s: slot \d, training episode \d+ \(seed \d+\)"):
        run(tmp_path / "r", workers=1, listener=hanging, seconds=4.0)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("raise", "Step 1 of the environment raised RuntimeError"),
        ("exit", "Step 1 of the environment raised SystemExit: 0, in training episode"),
        ("shape", r"observation has shape \(2,\); the first one had \(4,\), in training episode"),
    ],
)
def test_what_an_environment_does_wrong_is_said_alike_in_a_worker_and_here(
    tmp_path, trouble, what, words
):
    said = []
    for workers in (0, 1):
        (trouble / what).touch()
        with pytest.raises(GateError, match=words) as why:
            run(tmp_path / str(workers), workers=workers)
        said.append(str(why.value))
    assert said[0] == said[1]


def test_more_workers_than_environments_are_refused():
    with pytest.raises(GateError, match=r"pass rollout_workers=3, or raise n_envs"):
        RolloutWorkers(4).blocks(3)
    assert RolloutWorkers(2).blocks(3) == (range(1), range(1, 3))


@pytest.mark.parametrize("bad", [{"workers": -1}, {"workers": 1.5}, {"seconds": 0.0}])
def test_a_plan_out_of_range_is_refused(bad):
    with pytest.raises(GateError, match="give a"):
        RolloutWorkers(**bad)
    with pytest.raises(GateError, match="use 'processes' or 'ray'"):
        RolloutWorkers(1, "threads")


def test_a_scenario_that_does_not_pickle_is_refused_before_anything_runs():
    spec = replace(worker_cart(), make_env=lambda: make_cart())
    with pytest.raises(GateError, match=r"cannot go to rollout workers.*Without rollout_workers"):
        rollout_plan(spec, worker_settings(), spec.claims, 1, engine=None, seconds=None)


def test_an_episode_that_comes_out_otherwise_after_a_loss_is_refused():
    slot = RemoteSlot(0, prefix_of=lambda number: None)
    slot.begin(Start(0, 5))
    slot.began(np.zeros(2))
    slot.stepped(1, np.float32(1.0), np.ones(2))
    slot.check_same(Recalled(np.ones(2), np.ones(1, np.float32)))
    with pytest.raises(GateError, match="slot 0 again from seed 5 gave other samples"):
        slot.check_same(Recalled(np.ones(2), np.zeros(1, np.float32)))
    with pytest.raises(GateError, match="not determined by seed and actions"):
        slot.check_same(Recalled(np.zeros(2), np.ones(1, np.float32)))


@pytest.mark.slow
def test_a_killed_driver_leaves_no_workers_and_its_run_goes_on_with_others(tmp_path):
    straight = run(tmp_path / "straight")
    out = tmp_path / "r"
    with subprocess.Popen(
        [sys.executable, str(CHILD), str(out)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline().split() for _ in range(30)]
        child.kill()
    workers = [int(number) for number in lines[-1][1:]]
    assert len(workers) == 2
    deadline = time.monotonic() + 20.0
    while any(map(runs, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(runs, workers))
    trainer = Trainer.resume(worker_cart(), out, ScriptedGate(), rollout=RolloutWorkers(1))
    assert left(trainer.run().checkpoint) == straight


def runs(process: int) -> bool:
    """Whether the process is there; one that ended and was not reaped is not."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1]
    except OSError:
        return False
    return state.split()[0] != "Z"
