"""Who examines: this process, and others where they were asked for."""

import signal
import time
from collections import deque
from contextlib import suppress
from multiprocessing import current_process, get_context
from types import TracebackType
from typing import Any

import numpy as np

from safegym.check.neural.problem import Problem
from safegym.check.neural.search.blas import one_thread
from safegym.check.neural.search.examine import Chunk, Examined, Examiner

_QUIET = 1.0  # seconds before others are called; most searches are over by then
_PATIENCE = 10.0  # seconds at most that are waited for another
_ALONE = "A daemon process may not start worker processes; one process searched."
_GONE = "A worker process ended; its boxes were examined here."


class _Worker:
    """Another process that examines one chunk at a time."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.ticket: tuple[int, int] | None = None  # round and place of the chunk that it has
        self.ready = False

    def end(self) -> None:
        """End it, whatever it does."""
        self.line.close()
        self.process.terminate()
        self.process.join(1.0)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class Crew:
    """Examines chunks in their order; a chunk's answer depends on the chunk alone.

    workers: processes, this one among them. The others start once a search has taken a second; one
    that ends or does not answer costs time and nothing else.
    """

    def __init__(self, problem: Problem, workers: int) -> None:
        self.problem = problem
        self.examiner = Examiner(problem)
        self.notes: list[str] = []
        self._wanted = workers - 1
        self._workers: list[_Worker] = []
        self._started = time.monotonic()
        self._round = 0
        self._blas = one_thread()

    def examine(self, chunks: list[Chunk]) -> list[Examined]:
        """What became of each chunk."""
        if self._wanted and len(chunks) > 1 and time.monotonic() - self._started > _QUIET:
            self._hire()
        found: dict[int, Examined] = {}
        waiting = deque(range(len(chunks)))
        self._round += 1
        pace = 0.0
        while len(found) < len(chunks):
            self._hand_out(chunks, waiting)
            at = waiting.popleft() if waiting else self._overdue(found, len(chunks), pace)
            if at is not None and at not in found:
                began = time.monotonic()
                found[at] = self.examiner(chunks[at])
                pace = max(pace, time.monotonic() - began)
            self._collect(found)
        return [found[at] for at in range(len(chunks))]

    def _hire(self) -> None:
        """Start the other processes, as many as the system gives."""
        wanted, self._wanted = self._wanted, 0
        if current_process().daemon:  # may not have children
            self.notes.append(_ALONE)
            return
        try:
            for _ in range(wanted):
                self._workers.append(_Worker())
        except OSError as error:
            self.notes.append(f"Not every worker process could be started: {error}.")

    def _hand_out(self, chunks: list[Chunk], waiting: deque[int]) -> None:
        """A chunk to each worker that waits, as long as one is left to do here."""
        for worker in list(self._workers):
            try:
                if not worker.ready and worker.line.poll():
                    worker.line.recv()
                    worker.line.send(self.problem)
                    worker.ready = True
                if not worker.ready or worker.ticket is not None or len(waiting) < 2:
                    continue
                ticket = self._round, waiting[-1]
                worker.line.send((ticket, chunks[waiting[-1]]))
            except (EOFError, OSError):
                self._drop(worker)
                continue
            waiting.pop()
            worker.ticket = ticket

    def _overdue(self, found: dict[int, Examined], count: int, pace: float) -> int | None:
        """Wait about as long as a chunk takes here; then a chunk that is not back is done here.

        So a worker that hangs, or that gets no time, holds nothing up.
        """
        until = time.monotonic() + min(max(pace, 0.01), _PATIENCE)
        while time.monotonic() < until:
            self._collect(found, 0.005)
            missing = [at for at in range(count) if at not in found]
            out = {worker.ticket for worker in self._workers}
            if not missing:
                return None
            if any((self._round, at) not in out for at in missing):
                break
        return next((at for at in range(count) if at not in found), None)

    def _collect(self, found: dict[int, Examined], seconds: float = 0.0) -> None:
        """Take what others have done; answers of earlier rounds came too late and are dropped."""
        for worker in list(self._workers):
            if worker.ticket is None:
                continue
            try:
                if not worker.line.poll(seconds):
                    continue
                (turn, at), answer = worker.line.recv()
            except (EOFError, OSError):
                self._drop(worker)
                continue
            worker.ticket = None
            if turn == self._round:
                found.setdefault(at, answer)

    def _drop(self, worker: _Worker) -> None:
        if worker in self._workers:
            self._workers.remove(worker)
            worker.end()
            if _GONE not in self.notes:
                self.notes.append(_GONE)

    def __enter__(self) -> "Crew":
        self._blas.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the other processes."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self._blas.__exit__(None, None, None)


def _serve(line: Any) -> None:
    """A worker's life: examine what comes until the line closes. Ctrl-C is left to the caller.

    The problem comes over the line once this process reads it: handed over at the start it would
    hold up the caller until all that its script imports is imported here too.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with one_thread(), np.errstate(all="ignore"), suppress(EOFError, OSError):
        line.send(None)
        examiner = Examiner(line.recv())
        while True:
            ticket, chunk = line.recv()
            line.send((ticket, examiner(chunk)))
