"""Other processes that examine: late, hanging, missing or forbidden ones cost time and no box."""

import os
import signal
import time
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from search_problems import twins

from safegym.check.neural.search import crew as crews
from safegym.check.neural.search import search
from safegym.check.neural.search.crew import Crew
from safegym.check.neural.search.examine import Chunk, Examined


class _Line:
    """A worker's line that says what it was given to say, and nothing once that is said."""

    def __init__(self, *words: Any) -> None:
        self.words, self.heard = list(words), list[Any]()

    def poll(self, _: float = 0.0) -> bool:
        return bool(self.words)

    def recv(self) -> Any:
        return self.words.pop(0)

    def send(self, word: Any) -> None:
        self.heard.append(word)

    def close(self) -> None:
        """Nothing to close."""


class _Worker:
    def __init__(self, line: _Line) -> None:
        self.line, self.ready = line, True
        self.ticket: tuple[int, int] | None = None

    def end(self) -> None:
        """Nothing to end."""


def _chunks(count: int) -> list[Chunk]:
    ends = np.linspace(-1.0, 0.5, count)
    return [
        Chunk(
            np.full((1, 6), end),
            np.full((1, 6), end + 0.5),
            np.array([[True]]),
            np.zeros(1, dtype=np.int64),
        )
        for end in ends
    ]


def _same(one: Examined, two: Examined) -> bool:
    return bool(
        (one.low == two.low).all() and (one.high == two.high).all() and (one.open == two.open).all()
    )


def test_an_answer_of_an_earlier_round_is_dropped_and_the_chunk_examined_here() -> None:
    problem, chunks = twins(), _chunks(3)
    with Crew(problem, 1) as alone:
        wanted = alone.examine(chunks)
        lie = alone.examine(_chunks(1))[0]
    closed = Examined(**{**{f: getattr(lie, f) for f in Examined.__slots__}, "open": ~lie.open})
    with Crew(problem, 1) as crew:
        line = _Line(((0, 2), closed))  # says of round 0 what round 1 asks about
        worker: Any = _Worker(line)
        worker.ticket = (0, 2)
        crew._workers.append(worker)
        found = crew.examine(chunks)
        assert worker.ticket != (0, 2)
        assert not line.words
    assert all(_same(a, b) for a, b in zip(found, wanted, strict=True))


def test_a_worker_that_never_answers_holds_nothing_up() -> None:
    problem, chunks = twins(), _chunks(4)
    with Crew(problem, 1) as alone:
        wanted = alone.examine(chunks)
    with Crew(problem, 1) as crew:
        worker: Any = _Worker(_Line())
        crew._workers.append(worker)
        began = time.monotonic()
        found = crew.examine(chunks)
        assert time.monotonic() - began < 5.0
        assert worker.ticket == (1, 3)
        again = crew.examine(chunks)  # it gets nothing until it has answered
        assert len(worker.line.heard) == 1
    assert all(_same(a, b) for a, b in zip(found, wanted, strict=True))
    assert all(_same(a, b) for a, b in zip(again, wanted, strict=True))


def test_processes_that_the_system_refuses_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(crews, "_QUIET", 0.0)
    monkeypatch.setattr(crews, "_Worker", refused)
    outcome = search(twins(), boxes=500, workers=2)
    assert outcome.notes[0].startswith("Not every worker process could be started: [Errno 11]")
    assert outcome.shares == search(twins(), boxes=500).shares


def test_no_more_processes_are_asked_for_than_a_batch_has_chunks() -> None:
    seen: list[int] = []
    create = Crew.__init__

    def noted(self: Crew, problem: Any, workers: int) -> None:
        seen.append(workers)
        create(self, problem, workers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Crew, "__init__", noted)
        search(twins(), boxes=10, workers=1000)
    assert seen == [4]


def _in_a_daemon(line: Any) -> None:
    crews._QUIET = 0.0
    line.send(search(twins(), boxes=500, workers=2))


@pytest.mark.slow
def test_a_search_in_a_daemon_process_goes_on_alone() -> None:
    context = get_context("spawn")
    line, theirs = context.Pipe()
    process = context.Process(target=_in_a_daemon, args=(theirs,), daemon=True)
    process.start()
    assert line.poll(60.0)
    outcome = line.recv()
    process.join(10.0)
    assert outcome.notes[0].startswith("A daemon process may not start worker processes")
    assert outcome.shares == search(twins(), boxes=500).shares


@pytest.mark.slow
def test_a_worker_that_is_stopped_costs_no_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "_QUIET", 0.0)
    started: list[Any] = []
    create = crews._Worker.__init__

    def noted(self: Any) -> None:
        create(self)
        started.append(self)

    monkeypatch.setattr(crews._Worker, "__init__", noted)
    stopped: list[int] = []

    def stop(progress: Any) -> None:
        if progress.boxes > 2000 and started and started[0].ready and not stopped:
            stopped.append(started[0].process.pid)
            os.kill(stopped[0], signal.SIGSTOP)

    outcome = search(twins(), boxes=12000, workers=2, listener=stop)
    assert stopped
    assert not started[0].process.is_alive()
    assert outcome.shares == search(twins(), boxes=12000).shares
