"""What a process on another machine runs: some episodes of one order, nothing else decides them."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from safegym.errors import SafegymError
from safegym.scenario.batch import run_all
from safegym.scenario.process import Order, as_ours
from safegym.scenario.runner import Runner, Task
from safegym.scenario.workers import Pool
from safegym.trace.transport import Packed, pack

Answer = tuple[SafegymError | None, list[tuple[int, Packed]]]
"""What was refused, or the episodes that ended, packed."""


@dataclass(slots=True)
class _Kept:
    """The engine of the last order that this process has run."""

    key: Any = None
    engine: Any = None


_kept = _Kept()


def run_chunk(order: Order, path: Sequence[str], tasks: Sequence[Task]) -> Answer:
    """Runs the episodes and gives back their traces.

    A careful order, or one with a limit in seconds, is run in a child process, so that an episode
    that ends or blocks its process is told apart from its neighbours. path: where the main process
    finds modules; what this one lacks is added, as worker processes of the same machine do.
    """
    sys.path.extend(folder for folder in path if folder not in sys.path)
    try:
        ended = list(run_all(_engine(order), tasks))
    except Exception as error:
        _drop()
        return as_ours(error), []
    return None, [(index, pack(trace)) for index, trace in ended]


def _engine(order: Order) -> Any:
    if _kept.key != order:
        _drop()
        staging, policy = order.reference.resolve(), order.load_policy()
        _kept.engine = (
            Pool(staging, policy, order.copies, 1, episode_seconds=order.episode_seconds)
            if order.careful or order.episode_seconds is not None
            else Runner(staging.stage, policy, copies=order.copies)
        )
        _kept.key = order
    return _kept.engine


def _drop() -> None:
    engine, _kept.engine, _kept.key = _kept.engine, None, None
    if engine is not None:
        engine.close()
