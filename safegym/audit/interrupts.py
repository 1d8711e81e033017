"""Holding Ctrl-C back while a record is written, so that file and memory stay one."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_held() -> Generator[None]:
    """Let the block end before a SIGINT is acted upon.

    A handler is swapped rather than the signal blocked, since another thread may be the one that
    receives it. Does nothing outside the main thread, where no handler can be set or run.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    caught: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if caught:
            before(*caught[0])
