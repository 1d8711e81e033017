"""Least CPU time of several works, run in turns so that a busy machine slows them all alike."""

import time
from collections.abc import Callable, Mapping

Work = Callable[[], object]
FEWEST = 3
"""Calls of each work at least, after one that warms it up."""


def least(works: Mapping[str, Work], seconds: float) -> dict[str, float]:
    """Returns each work's least CPU seconds a call.

    The works take turns. seconds: CPU time that each may spend, its warming call apart; a work
    slower than a third of that still runs `FEWEST` times.
    """
    for work in works.values():
        work()
    best = dict.fromkeys(works, float("inf"))
    spent = dict.fromkeys(works, 0.0)
    waiting, rounds = list(works), 0
    while waiting:
        for name in waiting:
            begun = time.process_time()
            works[name]()
            took = time.process_time() - begun
            best[name] = min(best[name], took)
            spent[name] += took
        rounds += 1
        waiting = [name for name in waiting if rounds < FEWEST or spent[name] < seconds]
    return best
