"""Sliding windows of the streaming monitor against windows written out, resets included."""

from random import Random

import numpy as np
import pytest

from safegym.check.monitor import compiled
from safegym.check.monitor.stream import choice, program, rings
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.records import EVERYWHERE, Key, Mask
from safegym.check.monitor.stream.room import make_room
from safegym.check.monitor.stream.state import State, fresh
from safegym.check.monitor.stream.windows import SMALL, chunking

BATCH = 3
KINDS = ("slide", "until", "since", "delay")
WIDTHS = [*range(1, 30), 37, 64, 100, 101, 143]


class Machine:
    """One window over two rows of keys, and what it should give."""

    def __init__(self, kind: str, width: int, *, masked: bool) -> None:
        self.kind, self.width, self.masked = kind, width, masked
        self.program = Program(BATCH, 0)
        mask = Mask(0) if masked else EVERYWHERE
        self.rows = self.program.row(), self.program.row()
        x, y = (Key(row) for row in self.rows)
        if kind == "slide":
            found = self.program.slide(x, width, 0, mask)
        elif kind == "delay":
            found = self.program.delay(x, width, 0)
        else:
            until = kind == "until"
            found = self.program.slide_pair(x, y, width, 0, mask, until=until)
        self.program.tell(0, found)
        self.state: State = fresh(self.program)

    def reset(self, rows: int | slice) -> None:
        ages = self.state.cells[self.program.age, :BATCH]
        ages[rows] = -1
        self.state.words[w.OLDEST] = ages.max()

    def push(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        advance, _ = choice.choose()
        self.state.cells[list(self.rows), :BATCH] = x, y
        while advance(self.state.words) == w.FULL:
            self.state = make_room(self.program, self.state, advance)
            self.state.cells[list(self.rows), :BATCH] = x, y
        told = self.program.told
        return self.state.cells[told, :BATCH].copy()

    def wanted(self, x: list[int], y: list[int]) -> int | None:
        """Of one episode's values so far; None where the window is not full and need not be."""
        if self.kind == "delay":
            return x[-1 - self.width] if len(x) > self.width else None
        if not self.masked and len(x) < self.width:
            return None
        x, y = x[-self.width :], y[-self.width :]
        if self.kind == "slide":
            return max(x)
        if self.kind == "until":
            return max(min([x[j], *y[:j]]) for j in range(len(x)))
        return max(min([x[j], *y[j + 1 :]]) for j in range(len(x)))


def _check(machine: Machine, updates: int, random: Random) -> None:
    past: list[tuple[list[int], list[int]]] = [([], []) for _ in range(BATCH)]
    for _ in range(updates):
        for row in range(BATCH):
            if random.random() < 0.6 / machine.width:
                past[row] = ([], [])
                machine.reset(row)
        x, y = (np.array([random.randint(-9, 9) for _ in range(BATCH)]) for _ in range(2))
        found = machine.push(x, y)
        for row, (xs, ys) in enumerate(past):
            xs.append(int(x[row]))
            ys.append(int(y[row]))
            wanted = machine.wanted(xs, ys)
            assert wanted is None or wanted == found[row], (machine.kind, machine.width, xs, ys)


@pytest.mark.parametrize("mode", ["numpy", "numba"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_window_gives_what_its_rows_written_out_give(kind: str, mode: compiled.Mode) -> None:
    with compiled.use(mode):
        for width in WIDTHS:
            for masked in (False, True):
                if kind == "delay" and masked:
                    continue
                _check(Machine(kind, width, masked=masked), 4 * width + 20, Random(width))


@pytest.mark.parametrize("mode", ["numpy", "numba"])
@pytest.mark.parametrize("kind", KINDS)
def test_so_does_one_whose_ring_is_filled_first(
    kind: str, mode: compiled.Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rings, "AT_ONCE", 1)
    monkeypatch.setattr(program, "FEWEST", 5)
    with compiled.use(mode):
        for width in [w_ for w_ in WIDTHS if w_ > SMALL]:
            machine = Machine(kind, width, masked=kind in ("slide", "since"))
            assert machine.program.rings[0].capacity == 5
            _check(machine, 5 * width, Random(width))


def test_a_filled_ring_is_no_longer_than_the_oldest_episode_needs() -> None:
    machine = Machine("until", 10**12, masked=False)
    random = Random(0)
    for _ in range(40):
        machine.reset(slice(None))
        for _ in range(100):
            machine.push(np.array([1, 2, 3]), np.array([random.randint(-1, 1)] * 3))
    assert machine.program.rings[0].capacity == rings.FEWEST
    for _ in range(3000):
        machine.push(np.array([1, 2, 3]), np.array([1, 1, 1]))
    assert 3000 <= machine.program.rings[0].capacity <= 6000


def test_chunks_and_recent_rows_make_up_the_window() -> None:
    for width in [*range(1, 2000), 10_000, 10_001, 999_983, 10**9]:
        chunk, chunks, recent = chunking(width)
        assert chunk * (chunks + 1) + recent == width
        assert recent < chunk or width <= SMALL


def test_a_wide_window_costs_few_rows_an_update() -> None:
    """Rows read one by one, and the chunks that are combined once a chunk."""
    for width in [*range(9, 3000), 10_001, 100_003, 999_983, 10**8 + 7]:
        chunk, chunks, recent = chunking(width)
        assert recent + chunks / chunk < 9, width
