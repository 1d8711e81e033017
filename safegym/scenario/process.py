"""A worker process: its life, and the idle ones that are kept for the next campaign."""

import os
import pickle
import signal
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any

from safegym.errors import SafegymError, ScenarioError
from safegym.scenario.runner import Finished, Runner, Task

_JOIN_SECONDS = 5.0
_idle: list["Worker"] = []


@dataclass(eq=False, slots=True)
class Worker:
    """A process and the line to it. owner: id of the process that started it."""

    process: BaseProcess
    line: Any
    owner: int

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.line.close()
        self.process.terminate()
        self.process.join(_JOIN_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def hire(payload: bytes) -> Worker:
    """An idle worker or a fresh one, told what to run.

    payload: pickled (Reference, pickled policy, copies).
    """
    while _idle:
        worker = _idle.pop()
        if worker.owner != os.getpid():
            continue  # it belongs to the process that this one was forked from
        try:
            worker.line.send(("setup", payload))
        except OSError:
            worker.end()
            continue
        return worker
    return _start(payload)


def release(worker: Worker) -> None:
    """Keep an idle worker for the next `hire`."""
    _idle.append(worker)


def end_idle_workers() -> None:
    """End the worker processes that are kept for later campaigns."""
    while _idle:
        worker = _idle.pop()
        if worker.owner == os.getpid():
            worker.end()


def _start(payload: bytes) -> Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    with suppress(OSError):  # it died at once: the first "run" will find that out
        ours.send(("setup", payload))
    return Worker(process, ours, os.getpid())


def _serve(line: Any) -> None:
    """A worker's life: take orders until the line closes. Ctrl-C is left to the main process.

    "setup" has no answer; a fault in it is answered to the next "run".
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    runner: Runner | None = None
    fault: SafegymError | None = None
    try:
        while True:
            order, value = line.recv()
            if order == "setup":
                runner, fault = _set_up(runner, value)
            else:
                line.send(_answer(runner, fault, value))
    except (EOFError, OSError):
        return


def _set_up(old: Runner | None, payload: bytes) -> tuple[Runner | None, SafegymError | None]:
    if old is not None:
        old.close()
    try:
        reference, policy, copies = pickle.loads(payload)
        return Runner(reference.resolve().stage, pickle.loads(policy), copies=copies), None
    except Exception as error:
        return None, _speakable(error)


def _answer(
    runner: Runner | None, fault: SafegymError | None, tasks: Sequence[Task]
) -> tuple[SafegymError | None, list[Finished]]:
    if runner is None or fault is not None:
        return fault or ScenarioError("A worker process was not set up."), []
    finished: list[Finished] = []
    try:
        runner.submit(tasks)
        while runner.running:
            finished.extend(runner.advance())
    except Exception as error:
        return _speakable(error), []
    return None, finished


def _speakable(error: Exception) -> SafegymError:
    """The error as it can cross: our own as it is, any other as text."""
    if isinstance(error, SafegymError):
        return error
    text = "".join(traceback.format_exception(error))
    return ScenarioError(f"A worker process failed:\n{text}")
