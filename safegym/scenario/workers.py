"""Worker processes for campaigns: contiguous chunks of episodes out, traces back."""

import pickle
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import connection

from safegym.errors import PolicyError, ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.process import Worker, hire, release
from safegym.scenario.runner import Finished, Task
from safegym.scenario.staging import Reference, Staging

TRIES = 2


@dataclass(slots=True)
class Chunk:
    """Episodes that one worker runs together."""

    tasks: tuple[Task, ...]
    tries: int = 0


class Pool:
    """Runs chunks of `copies` episodes in up to `workers` processes.

    Processes that are idle at `close` stay for the next pool, which spares their start. A worker
    that dies has its chunk run once more by another; a second death raises ScenarioError. Raises
    PolicyError if the policy does not pickle.
    """

    def __init__(self, staging: Staging, policy: Policy, copies: int, workers: int) -> None:
        self._copies, self._limit = copies, workers
        self._payload = pickle.dumps((Reference.of(staging), _pickled(policy), copies))
        self._workers: dict[Worker, Chunk | None] = {}
        self._waiting: deque[Chunk] = deque()

    @property
    def room(self) -> int:
        """How many episodes can be started now."""
        busy = len(self._busy()) + len(self._waiting)
        return max(0, self._limit - busy) * self._copies

    @property
    def running(self) -> int:
        """How many episodes are under way."""
        return sum(len(chunk.tasks) for chunk in (*self._waiting, *self._busy().values()))

    def submit(self, tasks: Sequence[Task]) -> None:
        """Hand episodes out, `copies` to a chunk."""
        for first in range(0, len(tasks), self._copies):
            self._waiting.append(Chunk(tuple(tasks[first : first + self._copies])))
        self._hand_out()

    def collect(self) -> list[Finished]:
        """Wait for a worker; returns the episodes of the chunks that are done.

        Raises what a worker refused with, or ScenarioError if a chunk killed two workers.
        """
        lines = {worker.line: worker for worker in self._busy()}
        finished: list[Finished] = []
        for line in connection.wait(list(lines)):
            worker = lines[line]
            try:
                error, episodes = worker.line.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            self._workers[worker] = None
            if error is not None:
                raise error
            finished.extend(episodes)
        self._hand_out()
        return finished

    def close(self) -> None:
        """Let idle workers go for the next pool and end the others; what they run is dropped."""
        self._waiting.clear()
        for worker, chunk in self._workers.items():
            if chunk is None:
                release(worker)
            else:
                worker.end()
        self._workers.clear()

    def _busy(self) -> dict[Worker, Chunk]:
        return {worker: chunk for worker, chunk in self._workers.items() if chunk is not None}

    def _hand_out(self) -> None:
        while self._waiting:
            worker = self._free()
            if worker is None:
                return
            chunk = self._waiting.popleft()
            chunk.tries += 1
            self._workers[worker] = chunk
            try:
                worker.line.send(("run", chunk.tasks))
            except OSError:
                self._bury(worker)

    def _free(self) -> Worker | None:
        for worker, chunk in self._workers.items():
            if chunk is None:
                return worker
        if len(self._workers) >= self._limit:
            return None
        worker = hire(self._payload)
        self._workers[worker] = None
        return worker

    def _bury(self, worker: Worker) -> None:
        """A worker died: its chunk goes first in line, once."""
        chunk = self._workers.pop(worker)
        worker.process.join(1.0)  # its line closed, so it is ending: let it leave its exit code
        worker.end()
        if chunk is None:
            return
        if chunk.tries >= TRIES:
            first, last = chunk.tasks[0], chunk.tasks[-1]
            raise ScenarioError(
                f"A worker process died (exit code {worker.process.exitcode}) on episodes "
                f"{first.index}..{last.index} (first seed {first.seed}), and another did too. "
                "Run them with workers=1 to see why. If this is a script, its main part must "
                'stand under `if __name__ == "__main__":`.'
            )
        self._waiting.appendleft(chunk)


def _pickled(policy: Policy) -> bytes:
    try:
        return pickle.dumps(policy)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise PolicyError(
            f"Policy {policy.card.name} cannot go to a worker process: {error}. Define its "
            "function at module level (no lambda), or pass workers=1."
        ) from error
