"""A worker process: its life, and the idle ones that are kept for the next campaign."""

import os
import pickle
import signal
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from typing import Any

from safegym.errors import SafegymError, ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.pulse import IDLE, STARTING, Pulse
from safegym.scenario.runner import Finished, Runner, Task
from safegym.scenario.staging import Reference
from safegym.trace.transport import pack

_JOIN_SECONDS = 5.0
_GATHER_SECONDS = 0.005
"""Episodes that end within this time of the last message wait for the next one."""
_idle: list["Worker"] = []


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker is to run. policy: pickled. careful: whether its pulse says what it is doing.

    episode_seconds: see `Pulse`; with one, the worker tries a first action itself.
    """

    reference: Reference
    policy: bytes
    copies: int
    careful: bool = False
    episode_seconds: float | None = None

    def load_policy(self) -> Policy:
        """The policy again."""
        policy: Policy = pickle.loads(self.policy)
        return policy


@dataclass(eq=False, slots=True)
class Worker:
    """A process and the line to it. owner: id of the process that started it. cells: its pulse."""

    process: BaseProcess
    line: Any
    owner: int
    cells: Any

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.line.close()
        self.process.terminate()
        self.process.join(_JOIN_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def set_up(self, order: Order) -> None:
        """Tell it what to run. Raises OSError if it is gone."""
        self.cells[1] = time.monotonic()
        self.cells[0] = STARTING
        self.line.send(("setup", pickle.dumps(order)))


def hire(order: Order) -> Worker:
    """An idle worker or a fresh one, told what to run."""
    while _idle:
        worker = _idle.pop()
        if worker.owner != os.getpid():
            continue  # it belongs to the process that this one was forked from
        try:
            worker.set_up(order)
        except OSError:
            worker.end()
            continue
        return worker
    return _start(order)


def release(worker: Worker) -> None:
    """Keep an idle worker for the next `hire`."""
    _idle.append(worker)


def end_idle_workers() -> None:
    """End the worker processes that are kept for later campaigns."""
    while _idle:
        worker = _idle.pop()
        if worker.owner == os.getpid():
            worker.end()


def _start(order: Order) -> Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    cells = context.RawArray("d", 2)
    process = context.Process(target=_serve, args=(theirs, cells), daemon=True)
    process.start()
    theirs.close()
    worker = Worker(process, ours, os.getpid(), cells)
    with suppress(OSError):  # it died at once: its line says so
        worker.set_up(order)
    return worker


def _serve(line: Any, cells: Any) -> None:
    """A worker's life: take orders until the line closes. Ctrl-C is left to the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(line, orders), daemon=True).start()
    with suppress(OSError):
        _Life(line, cells, orders).run()


def _listen(line: Any, orders: SimpleQueue[Any]) -> None:
    """Passes orders on as they come, so that neither side can wait for the other with a full pipe.

    A worker that is left by its main process ends, even if its environment hangs.
    """
    try:
        while True:
            orders.put(line.recv())
    except (EOFError, OSError):
        orders.put(None)
        time.sleep(_JOIN_SECONDS)
        os._exit(1)


class _Life:
    """Runs what is ordered and sends it back as it ends.

    Answers: ("ready", None) to a setup, ("fault", error) to anything that cannot be done,
    ("done", [(index, packed trace), ...]).
    """

    def __init__(self, line: Any, cells: Any, orders: SimpleQueue[Any]) -> None:
        self._line, self._cells, self._orders = line, cells, orders
        self._runner: Runner | None = None
        self._waiting: list[Task] = []
        self._ended: list[Finished] = []
        self._sent = 0.0

    def run(self) -> None:
        """Until the line closes."""
        while True:
            while not self._orders.empty() or not self._busy:
                order = self._orders.get()
                if order is None:
                    return
                self._take(*order)
            self._work()

    @property
    def _busy(self) -> bool:
        return bool(self._waiting or self._ended) or (
            self._runner is not None and self._runner.running > 0
        )

    def _take(self, what: str, value: Any) -> None:
        if what == "run":
            self._waiting.extend(value)
            return
        self._waiting.clear()
        self._ended.clear()
        if self._runner is not None:
            self._runner.close()
            self._runner = None
        try:
            self._runner = _set_up(value, self._cells)
            self._line.send(("ready", None))
        except Exception as error:
            self._line.send(("fault", as_ours(error)))

    def _work(self) -> None:
        runner = self._runner
        if runner is None:
            self._waiting.clear()
            return
        try:
            if self._waiting and runner.room:
                begun, self._waiting = self._waiting[: runner.room], self._waiting[runner.room :]
                runner.submit(begun)
            self._ended += runner.collect(steps=1)
        except Exception as error:
            self._runner = None
            self._waiting.clear()
            self._ended.clear()
            self._line.send(("fault", as_ours(error)))
            return
        self._send(not runner.running)

    def _send(self, at_once: bool) -> None:
        if not self._ended:
            return
        now = time.monotonic()
        if at_once or now - self._sent > _GATHER_SECONDS:
            ended, self._ended, self._sent = self._ended, [], now
            self._line.send(("done", [(index, pack(trace)) for index, trace in ended]))


def _set_up(payload: bytes, cells: Any) -> Runner:
    order: Order = pickle.loads(payload)
    pulse = Pulse(cells, order.episode_seconds) if order.careful else None
    runner = Runner(order.reference.resolve().stage, order.load_policy(), copies=order.copies)
    if order.episode_seconds is not None:
        runner.rehearse()
    runner.pulse = pulse
    cells[0] = IDLE
    return runner


def as_ours(error: Exception) -> SafegymError:
    """The error as it can cross: our own as it is, any other as text."""
    if isinstance(error, SafegymError):
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return ScenarioError(str(error))
        return error
    text = "".join(traceback.format_exception(error))
    return ScenarioError(f"A worker process failed:\n{text}")
