"""Worker processes for campaigns: contiguous chunks of episodes out, traces back."""

import pickle
import signal
import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from typing import Any

from safegym.errors import PolicyError, SafegymError, ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.runner import Finished, Runner, Task
from safegym.scenario.staging import Reference, Staging

TRIES = 2
_JOIN_SECONDS = 5.0


@dataclass(slots=True)
class Chunk:
    """Episodes that one worker runs together."""

    tasks: tuple[Task, ...]
    tries: int = 0


@dataclass(slots=True)
class Worker:
    """A process, the line to it, and what it is doing."""

    process: BaseProcess
    line: Any
    chunk: Chunk | None = field(default=None)


class Pool:
    """Runs chunks of `copies` episodes in up to `workers` processes.

    A worker that dies has its chunk run once more by a fresh one; a second death raises
    ScenarioError. Raises PolicyError if the policy does not pickle.
    """

    def __init__(self, staging: Staging, policy: Policy, copies: int, workers: int) -> None:
        self._copies, self._limit = copies, workers
        self._payload = pickle.dumps((Reference.of(staging), _pickled(policy), copies))
        self._context = get_context("spawn")
        self._workers: list[Worker] = []
        self._waiting: deque[Chunk] = deque()

    @property
    def room(self) -> int:
        """How many episodes can be started now."""
        busy = sum(worker.chunk is not None for worker in self._workers)
        return max(0, self._limit - busy - len(self._waiting)) * self._copies

    @property
    def running(self) -> int:
        """How many episodes are under way."""
        chunks = [*self._waiting, *(w.chunk for w in self._workers if w.chunk is not None)]
        return sum(len(chunk.tasks) for chunk in chunks)

    def submit(self, tasks: Sequence[Task]) -> None:
        """Hand episodes out, `copies` to a chunk."""
        for first in range(0, len(tasks), self._copies):
            self._waiting.append(Chunk(tuple(tasks[first : first + self._copies])))
        self._hand_out()

    def collect(self) -> list[Finished]:
        """Wait for a worker; returns the episodes of the chunks that are done.

        Raises what a worker refused with, or ScenarioError if a chunk killed two workers.
        """
        lines = {worker.line: worker for worker in self._workers if worker.chunk is not None}
        finished: list[Finished] = []
        for line in connection.wait(list(lines)):
            worker = lines[line]
            try:
                kind, value = worker.line.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            if kind == "refused":
                raise value
            worker.chunk = None
            finished.extend(value)
        self._hand_out()
        return finished

    def close(self) -> None:
        """End every worker; what it was running is dropped."""
        self._waiting.clear()
        for worker in self._workers:
            if worker.chunk is not None:
                worker.process.terminate()
            worker.line.close()
        for worker in self._workers:
            worker.process.join(_JOIN_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()

    def _hand_out(self) -> None:
        while self._waiting:
            worker = self._idle()
            if worker is None:
                return
            chunk = self._waiting.popleft()
            chunk.tries += 1
            worker.chunk = chunk
            try:
                worker.line.send(chunk.tasks)
            except OSError:
                self._bury(worker)

    def _idle(self) -> Worker | None:
        for worker in self._workers:
            if worker.chunk is None:
                return worker
        return self._hire() if len(self._workers) < self._limit else None

    def _hire(self) -> Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._payload), daemon=True)
        process.start()
        theirs.close()
        worker = Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _bury(self, worker: Worker) -> None:
        """A worker died: its chunk goes first in line, once."""
        worker.process.join(_JOIN_SECONDS)
        worker.line.close()
        self._workers.remove(worker)
        chunk, worker.chunk = worker.chunk, None
        if chunk is None:
            return
        if chunk.tries >= TRIES:
            first, last = chunk.tasks[0], chunk.tasks[-1]
            raise ScenarioError(
                f"A worker process died (exit code {worker.process.exitcode}) on episodes "
                f"{first.index}..{last.index} (first seed {first.seed}), and a fresh one did too. "
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


def _serve(line: Any, payload: bytes) -> None:
    """A worker's life: build once, then a chunk at a time until the line closes.

    Ctrl-C is left to the main process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        reference, policy, copies = pickle.loads(payload)
        runner = Runner(reference.resolve().stage, pickle.loads(policy), copies=copies)
        while True:
            tasks = line.recv()
            line.send(("done", _run(runner, tasks)))
    except EOFError:
        return
    except SafegymError as error:
        line.send(("refused", error))
    except Exception:
        line.send(("refused", ScenarioError(f"A worker process failed:\n{traceback.format_exc()}")))


def _run(runner: Runner, tasks: Sequence[Task]) -> list[Finished]:
    runner.submit(tasks)
    finished: list[Finished] = []
    while runner.running:
        finished.extend(runner.advance())
    return finished
