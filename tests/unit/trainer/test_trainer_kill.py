"""Kill -9 at random moments: each time the run resumes, and ends with the straight run's bits."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cart_training import ScriptedGate, cart_spec, small_settings

from safegym.gate.trainer.loop import Trainer
from safegym.policy.sb3 import read_checkpoint
from safegym.policy.sb3.tensors import digest_tensors

CHILD = Path(__file__).with_name("cart_child.py")


def run_and_kill(out: Path, events: int, delay: float) -> None:
    """Kill the child `delay` seconds after its event number `events`."""
    with subprocess.Popen(
        [sys.executable, str(CHILD), str(out)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for _ in range(events):
            if not child.stdout.readline():
                break
        time.sleep(delay)
        child.kill()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_run_killed_at_random_moments_ends_with_the_straight_runs_bits(tmp_path, seed):
    settings = small_settings(steps=512)
    straight = Trainer(cart_spec(), settings, tmp_path / "straight", ScriptedGate()).run()
    chance = random.Random(seed)
    for _ in range(4):
        run_and_kill(tmp_path / "r", chance.randrange(1, 40), chance.uniform(0.0, 0.05))
    outcome = Trainer.resume(cart_spec(), tmp_path / "r", ScriptedGate()).run()
    left, right = read_checkpoint(outcome.checkpoint), read_checkpoint(straight.checkpoint)
    assert outcome.status == straight.status
    assert digest_tensors(left.tensors) == digest_tensors(right.tensors)
    assert left.extra == right.extra
    assert left.document == right.document
    leftovers = [p.name for p in (tmp_path / "r" / "checkpoints").iterdir() if p.name[0] == "."]
    assert leftovers == []
