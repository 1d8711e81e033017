"""A job for each of many names, in processes of their own: one may crash or hang, others go on."""

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, TypeVar

from safegym.errors import ScenarioError

Result = TypeVar("Result")
_JOIN_SECONDS = 5.0
_LOOK_SECONDS = 0.25
_HASHES = "PYTHONHASHSEED"
_JOBS = 30
"""Jobs after which a process gives way to a fresh one, so that what they leave stays small."""


@dataclass(eq=False, slots=True)
class _Worker:
    process: BaseProcess
    line: Any
    name: str = ""
    began: float = 0.0
    done: int = 0

    def end(self) -> None:
        self.line.close()
        self.process.kill()
        self.process.join(_JOIN_SECONDS)


def run_apart(
    names: Sequence[str],
    job: Callable[[str], Result],
    failed: Callable[[str, str, float], Result],
    *,
    workers: int,
    limit: float,
    told: Callable[[Result], None] | None = None,
    other_hashes: bool = False,
) -> dict[str, Result]:
    """The result of `job(name)` for each name.

    job: a module-level function or a partial of one; it runs in a process without a display, and
    what it prints goes to standard error. other_hashes: hashes of texts differ from those that
    PYTHONHASHSEED, where it is set, gives everywhere else.
    failed: (name, why, seconds) -> the result of a job whose process died, or took longer than
    `limit` seconds and was ended. told: called with each result as it comes. Raises ScenarioError
    for workers or limit out of range.
    """
    if workers < 1 or not limit > 0.0:
        raise ScenarioError(
            f"This needs workers >= 1 and limit > 0 s, found {workers} and {limit}."
        )
    start = _start_with_other_hashes if other_hashes else _start
    jobs = _Jobs(names, partial(start, job), failed, min(workers, max(1, len(names))), limit, told)
    try:
        jobs.run()
    finally:
        jobs.close()
    return jobs.found


class _Jobs(Generic[Result]):
    def __init__(
        self,
        names: Sequence[str],
        start: Callable[[], _Worker],
        failed: Callable[[str, str, float], Result],
        workers: int,
        limit: float,
        told: Callable[[Result], None] | None,
    ) -> None:
        self._queue = deque(dict.fromkeys(names))
        self._start, self._failed, self._told = start, failed, told
        self._wanted, self._limit = workers, limit
        self._workers: list[_Worker] = []
        self.found: dict[str, Result] = {}

    def run(self) -> None:
        """Until every name has a result."""
        while self._queue or self._workers:
            while self._queue and len(self._workers) < self._wanted:
                worker = self._start()
                self._workers.append(worker)
                self._hand_out(worker)
            lines = {worker.line: worker for worker in self._workers}
            for line in connection.wait(list(lines), _LOOK_SECONDS):
                self._receive(lines[line])
            self._end_late()

    def close(self) -> None:
        """End every process."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _hand_out(self, worker: _Worker) -> None:
        """Give a worker its next name, or let it go; `run` starts another where one is needed."""
        if not self._queue or worker.done == _JOBS:
            self._drop(worker)
            return
        worker.name, worker.began = self._queue.popleft(), time.monotonic()
        try:
            worker.line.send(worker.name)
        except OSError:
            self._bury(worker)

    def _receive(self, worker: _Worker) -> None:
        try:
            result: Result = worker.line.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return
        worker.done += 1
        self._settle(worker.name, result)
        self._hand_out(worker)

    def _bury(self, worker: _Worker) -> None:
        worker.process.join(_JOIN_SECONDS)
        self._fail(worker, f"Its process died ({how_ended(worker.process.exitcode)}).")

    def _end_late(self) -> None:
        now = time.monotonic()
        for worker in list(self._workers):
            if now - worker.began > self._limit:
                self._fail(worker, f"It took more than {self._limit:g} s and was ended.")

    def _fail(self, worker: _Worker, why: str) -> None:
        self._drop(worker)
        spent = time.monotonic() - worker.began
        self._settle(worker.name, self._failed(worker.name, why, spent))

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.end()

    def _settle(self, name: str, result: Result) -> None:
        self.found[name] = result
        if self._told is not None:
            self._told(result)


def _start(job: Callable[[str], Any]) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, job), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _start_with_other_hashes(job: Callable[[str], Any]) -> _Worker:
    before = os.environ.get(_HASHES)
    os.environ[_HASHES] = "2" if before == "1" else "1"
    try:
        return _start(job)
    finally:
        if before is None:
            del os.environ[_HASHES]
        else:
            os.environ[_HASHES] = before


def _serve(line: Any, job: Callable[[str], Any]) -> None:
    """A worker's life: job after job, without a display, until the line closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _first_to_go()
    os.dup2(2, 1)  # standard output is the caller's, who may print a document there
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        os.environ.pop(name, None)
    try:
        while True:
            line.send(job(line.recv()))
    except (EOFError, OSError):
        return


def _first_to_go() -> None:
    """Where memory runs out, Linux ends this process and not the one that waits for it."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def how_ended(code: int | None) -> str:
    """An exit code in words."""
    if code is not None and code < 0:
        known = -code in signal.valid_signals()
        return signal.Signals(-code).name if known else f"signal {-code}"
    return f"exit code {code}"
