"""Running a known list of episodes to their end on any engine."""

from collections.abc import Iterable, Iterator

from safegym.scenario.campaign import Engine
from safegym.scenario.runner import Finished, Task


def run_all(engine: Engine, tasks: Iterable[Task]) -> Iterator[Finished]:
    """Yields (index, trace) of every episode as it ends; as many run at once as the engine takes.

    Order is that of ending: who needs that of the tasks sorts by index. Nothing is closed.
    """
    waiting = list(tasks)
    while waiting or engine.running:
        begun, waiting = waiting[: engine.room], waiting[engine.room :]
        if begun:
            engine.submit(begun)
        yield from engine.collect()
