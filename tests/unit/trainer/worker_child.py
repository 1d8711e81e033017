"""A training run with rollout workers, in a process of its own, to be killed.

Prints each event's name as it comes, and first the process ids of the workers.
"""

import multiprocessing
import sys
from pathlib import Path

from cart_training import ScriptedGate
from worker_cart import worker_cart, worker_settings

from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.workers.plan import RolloutWorkers


def say(event) -> None:
    workers = [child.pid for child in multiprocessing.active_children()]
    print(type(event).__name__, *workers, flush=True)


if __name__ == "__main__":
    Trainer(
        worker_cart(),
        worker_settings(),
        Path(sys.argv[1]),
        ScriptedGate(),
        listener=say,
        rollout=RolloutWorkers(2),
    ).run()
