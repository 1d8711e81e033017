"""Rollout workers on Ray: the weights of a run in one process, though an actor dies meanwhile."""

import pytest
from cart_training import ScriptedGate
from worker_cart import worker_cart, worker_settings

from safegym.gate.trainer import events
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.workers.plan import IN_PROCESS, RolloutWorkers
from safegym.policy.sb3 import read_checkpoint
from safegym.policy.sb3.tensors import digest_tensors

ray = pytest.importorskip("ray", reason="the extra [ray] is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning",
        "ignore::FutureWarning:ray",
        "ignore::DeprecationWarning",
        "ignore::pytest.PytestUnraisableExceptionWarning",
        "ignore::pytest.PytestUnhandledThreadExceptionWarning",
    ),
]


@pytest.fixture(autouse=True)
def trouble(tmp_path, monkeypatch):
    """A file "die" in this folder ends the actor that sees it; Ray's processes inherit its name."""
    folder = tmp_path / "trouble"
    folder.mkdir()
    monkeypatch.setenv("WORKER_CART", str(folder))
    yield folder
    ray.shutdown()


def test_weights_are_the_same_on_ray_though_an_actor_is_killed(tmp_path, trouble):
    def run(name, listener=events.ignore, rollout=IN_PROCESS):
        trainer = Trainer(
            worker_cart(),
            worker_settings(),
            tmp_path / name,
            ScriptedGate(),
            listener=listener,
            rollout=rollout,
        )
        return digest_tensors(read_checkpoint(trainer.run().checkpoint).tensors)

    def kill(event):
        if isinstance(event, events.RolloutEnded) and event.epoch == 2:
            (trouble / "die").touch()

    here = run("here")
    assert run("there", listener=kill, rollout=RolloutWorkers(2, "ray")) == here
    assert not (trouble / "die").exists()
