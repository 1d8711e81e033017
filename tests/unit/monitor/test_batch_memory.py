"""Memory while robustness is worked out, in arrays as large as one signal of the input."""

import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from safegym.check.monitor import compiled
from safegym.check.monitor.robustness import robustness, satisfaction
from safegym.formula import nodes as n
from safegym.formula.nodes import Formula
from safegym.formula.terms import Constant, Signal, Window
from safegym.trace.batch import TraceBatch
from safegym.trace.episode import EndKind
from safegym.trace.model import Trace

BARS = 3.1
"""Two arrays are the result where lower and upper robustness differ; a third may wait, and what
stays in the cache is a hundredth part or so of an array this long."""
SAMPLES = 4000
WINDOWS = {"short": Window(0, 10), "long": Window(5, 900), "unbounded": Window(3, None)}
MODES: list[compiled.Mode] = ["numpy", "numba"]


class Atoms:
    """A new atom at each call."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> Formula:
        self.made += 1
        term = abs(Signal("x")) if self.made % 2 else Signal("y")
        return n.Atom(term, "<" if self.made % 3 else ">=", Constant(self.made / 50))


def tree(depth: int, atom: Atoms, window: Window) -> Formula:
    """Untils, sinces and their duals in each other: 2 ** depth different atoms."""
    if depth == 0:
        return atom()
    left, right = tree(depth - 1, atom, window), tree(depth - 1, atom, window)
    return (n.Until, n.Since, n.Release, n.Trigger)[depth % 4](left, right, window)


def chain(depth: int, atom: Atoms, window: Window) -> Formula:
    formula = atom()
    for level in range(depth):
        operator = (n.Always, n.Eventually, n.Once, n.Historically)[level % 4]
        formula = operator(formula, window)
    return formula


def wide(depth: int, atom: Atoms, window: Window) -> Formula:
    """Conjunctions of disjunctions of ..., three of each."""
    if depth == 0:
        return n.Eventually(atom(), window)
    fold = n.all_of if depth % 2 else n.any_of
    return fold([wide(depth - 1, atom, window) for _ in range(3)])


def peak(work: Callable[[], object], size: int) -> float:
    work()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    work()
    most = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return most / size


def assert_modest(formula: Formula, end: EndKind, rows: int) -> None:
    draw = np.random.default_rng(3)
    arrays = {name: draw.normal(size=(rows, SAMPLES)) for name in "xy"}
    flat = {name: values.reshape(-1) for name, values in arrays.items()}
    batch = TraceBatch.from_arrays(arrays, dt=1, end=end)
    for each in (batch, Trace.from_arrays(flat, dt=1, end=end)):
        for ask in (robustness, satisfaction):
            work = partial(ask, formula, each)
            assert peak(work, arrays["x"].nbytes) < BARS, (ask, each)


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("mode", MODES)
def test_six_operators_in_each_other_take_three_buffers_at_most(
    mode: compiled.Mode, window: Window
) -> None:
    with compiled.use(mode):
        assert_modest(chain(6, Atoms(), window), "interrupted", rows=200)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("end", ["cut", "interrupted"])
@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("shape", [tree, wide])
def test_full_trees_take_three_buffers_at_most(
    shape: Callable[[int, Atoms, Window], Formula],
    window: Window,
    end: EndKind,
    mode: compiled.Mode,
) -> None:
    formula = shape(4 if shape is wide else 6, Atoms(), window)
    with compiled.use(mode):
        assert_modest(formula, end, rows=100)
