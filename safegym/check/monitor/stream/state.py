"""A monitor's words and cells in memory."""

from zlib import crc32

import numpy as np

from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.windows import Words

LINE = 8
"""Words in a cache line: rows of many episodes begin at one."""


class State:
    """words: the whole array. cells: its rows, (rows, at least B)."""

    __slots__ = ("cells", "words")

    def __init__(self, words: Words) -> None:
        self.words = words
        start, height, stride = (int(words[k]) for k in (w.CELLS, w.HEIGHT, w.STRIDE))
        self.cells: Words = words[start:].reshape(height, stride)


def fresh(program: Program) -> State:
    """Returns the state before any sample."""
    words = np.zeros(w.HEADER + len(program.records) * w.RECORD, np.int64)
    words[w.BATCH], words[w.AGE], words[w.OLDEST] = program.batch, program.age, -1
    words[w.TERMS], words[w.COUNT] = program.terms, len(program.records)
    words[w.HEADER :] = np.array(program.records, np.int64).reshape(-1)
    state = _with_cells(words, settle(program, words))
    state.cells[program.age] = -1
    state.cells[program.lowest], state.cells[program.lowest + 1] = w.FALSE, w.TRUE
    for value, row in program.numbers.items():
        state.cells[row].view(np.float64)[:] = value
    return state


def settle(program: Program, words: Words) -> int:
    """Writes into the records where each ring is, one after the other; returns the rows in all."""
    rows = program.rows
    for ring in program.rings:
        ring.settle(words, rows)
        rows += ring.rows
    count_room(program, words)
    return rows


def count_room(program: Program, words: Words) -> None:
    """Writes how long the rings that are being filled will do."""
    words[w.ROOM] = words[w.LIMIT] = w.NEVER
    for ring in program.rings:
        if ring.capacity is not None:
            words[w.ROOM] = min(words[w.ROOM], ring.capacity - words[ring.at + w.AT])
            words[w.LIMIT] = min(words[w.LIMIT], ring.limit)


def resettled(program: Program, state: State) -> State:
    """Returns the state with its rings where they are now, all other rows as before."""
    words = state.words[: w.HEADER + len(program.records) * w.RECORD].copy()
    grown = _with_cells(words, settle(program, words))
    grown.cells[: program.rows] = state.cells[: program.rows]
    return grown


def layout_of(state: State) -> int:
    """Returns a number for the layout of a state before any sample."""
    return crc32(state.words[: state.words[w.CELLS]].tobytes())


def _with_cells(words: Words, rows: int) -> State:
    """Words, and rows of zeros, each at the beginning of a cache line where B is not small."""
    batch = int(words[w.BATCH])
    stride = batch if batch < LINE else -(-batch // LINE) * LINE
    start = -(-len(words) // LINE) * LINE
    words[w.CELLS], words[w.HEIGHT], words[w.STRIDE] = start, rows, stride
    found = _zeros(start + rows * stride)
    found[: len(words)] = words
    return State(found)


def _zeros(count: int) -> Words:
    whole = np.zeros(count + LINE, np.int64)
    skipped = (-whole.ctypes.data // 8) % LINE
    return whole[skipped : skipped + count]
