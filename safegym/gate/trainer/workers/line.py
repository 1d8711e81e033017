"""The line to one worker: commands out, answers back, and what tells that it is gone or hangs."""

import os
import pickle
import select
import signal
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, Protocol

from safegym.gate.trainer.workers.block import NO_SLOT, Block, BlockOrder
from safegym.scenario.process import as_ours

_JOIN_SECONDS = 5.0
_WATCH_SECONDS = 1.0

Answer = tuple[str, Any]
"""("ready", spaces), ("done", what came out) or ("fault", error)."""


class LostWorker(Exception):
    """The worker is gone; says how it ended."""


class Line(Protocol):
    """A worker at the other end, wherever it lives."""

    def send(self, command: str, value: Any) -> None:
        """Hand out a command. Raises LostWorker."""
        ...

    def receive(self, seconds: float) -> Answer:
        """Wait for the answer. Raises LostWorker, or TimeoutError after that many seconds."""
        ...

    @property
    def busy_slot(self) -> int:
        """The slot in a call, -1 where that is not known."""
        ...

    def end(self) -> None:
        """End the worker, whatever it is doing."""
        ...


class ProcessLine:
    """A worker process of this machine, behind a pipe. Its first answer is "ready"."""

    def __init__(self, order: BlockOrder) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._cell = context.RawArray("q", [NO_SLOT])
        self.process: BaseProcess = context.Process(
            target=_serve, args=(theirs, self._cell, order, os.getpid()), daemon=True
        )
        self.process.start()
        theirs.close()
        self._waiting = _waiting_for(self._pipe)

    def send(self, command: str, value: Any) -> None:
        """Hand out a command. Raises LostWorker."""
        try:
            self._pipe.send((command, value))
        except OSError as error:
            raise self._lost() from error

    def receive(self, seconds: float) -> Answer:
        """Wait for the answer. Raises LostWorker, or TimeoutError after that many seconds."""
        try:
            if not self._ready(seconds):
                raise TimeoutError
            answer: Answer = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, ConnectionError) as error:
            raise self._lost() from error
        return answer

    def _ready(self, seconds: float) -> bool:
        """Whether an answer or the end of the line came in that time; the pipe's own is slower."""
        if self._waiting is None:
            return self._pipe.poll(seconds)
        return bool(self._waiting.poll(1000.0 * seconds))

    @property
    def busy_slot(self) -> int:
        """The slot in a call, -1 where none is."""
        return int(self._cell[0])

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._pipe.close()
        self.process.kill()
        self.process.join(_JOIN_SECONDS)

    def _lost(self) -> LostWorker:
        self.process.join(_JOIN_SECONDS)
        return LostWorker(how_ended(self.process.exitcode))


def _waiting_for(pipe: Any) -> Any:
    """A poll object of the pipe, kept from call to call; None where the system has none."""
    if not hasattr(select, "poll"):
        return None
    poll = select.poll()
    poll.register(pipe.fileno(), select.POLLIN)
    return poll


def how_ended(code: int | None) -> str:
    """An exit code in words."""
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in signal.valid_signals() else f"signal {-code}"
        return f"{name}, as sent when memory runs out" if name == "SIGKILL" else name
    return f"exit code {code}"


def _serve(pipe: Any, cell: Any, order: BlockOrder, parent: int) -> None:
    """A worker's life: answer commands until the line closes. Ctrl-C is left to the driver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # standard output is the driver's, who may print a document there
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    with suppress(EOFError, OSError):
        try:
            block = Block(order, cell)
        except Exception as error:
            pipe.send_bytes(pickle.dumps(("fault", as_ours(error))))
            return
        pipe.send_bytes(pickle.dumps(("ready", block.spaces)))
        while True:
            pipe.send_bytes(block.answer(*pipe.recv()))


def _end_with(parent: int) -> None:
    """A worker that is left by its driver ends, even if its environment hangs."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)
