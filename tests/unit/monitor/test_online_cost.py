"""What an update of the streaming monitor costs, in rows worked on."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from safegym.check.monitor import Monitor, compiled
from safegym.check.monitor.stream import choice
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.engine import StreamEngine
from safegym.errors import UnsupportedError
from safegym.formula.build import always, eventually, historically
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal

X, Y = Signal("x"), Signal("y")
SHAPES: dict[str, Callable[[int], Formula]] = {
    "always": lambda h: always(abs(X) <= 2.5, lasting=h),
    "until": lambda h: (X > -2).until(X > 1, within=h),
    "response": lambda h: always((X > 1).implies(eventually(Y < -1, within=h))),
    "past": lambda h: always(historically(X > 0, lasting=h) | (X > 1).since(Y > 1, within=h)),
    "nested": lambda h: (X > -2).until((Y > -2).until(X > 1, within=h), within=h),
}


def _rows_per_update(formula: Formula, updates: int) -> float:
    """Rows combined by an update, on average over so many."""
    engine = Monitor(formula, dt=1)._engine
    assert isinstance(engine, StreamEngine)
    sample = {"x": np.ones(1), "y": np.ones(1)}
    rows = 0
    with compiled.use("numpy"):
        for _ in range(updates):
            engine.update(sample)
            words = engine._words
            records = words[w.HEADER : w.HEADER + words[w.COUNT] * w.RECORD].reshape(-1, w.RECORD)
            streams = np.isin(records[:, w.CODE], (w.FOLD, w.PAIR, w.TALLY))
            rows += int(records[streams, w.REPEAT].sum())
    return rows / updates


@pytest.mark.parametrize("shape", SHAPES)
def test_an_update_works_on_as_many_rows_whatever_the_window(shape: str) -> None:
    short = _rows_per_update(SHAPES[shape](100), 400)
    long = _rows_per_update(SHAPES[shape](10_000), 400)
    assert long < 1.3 * short
    assert short < 80


def test_an_update_works_on_as_many_rows_late_in_a_long_episode() -> None:
    for shape, formula in SHAPES.items():
        early = _rows_per_update(formula(50), 200)
        late = _rows_per_update(formula(50), 1000)
        assert late < 1.1 * early, shape


def test_a_reset_touches_only_the_ages() -> None:
    monitor = Monitor(SHAPES["until"](100), dt=1, batch=4)
    for _ in range(150):
        monitor.update({"x": np.ones(4)})
    engine = monitor._engine
    assert isinstance(engine, StreamEngine)
    before = engine._words.copy()
    monitor.reset(np.array([True, False, True, False]))
    assert np.count_nonzero(engine._words != before) == 2  # the oldest stays as old as it was
    assert monitor.steps.tolist() == [-1, 149, -1, 149]


def test_rings_are_as_long_as_the_windows() -> None:
    """Within a few rows for the sums of chunks and what is being scanned."""
    for width in (1000, 10_000):
        engine = Monitor(SHAPES["always"](width), dt=1)._engine
        assert isinstance(engine, StreamEngine)
        assert width <= engine._state.cells.size < 1.4 * width + 100


def test_a_monitor_loads_no_numba_until_that_pays() -> None:
    code = (
        "import sys, numpy as np; from safegym.check.monitor import Monitor; "
        "from safegym.formula.text import parse; "
        "m = Monitor(parse('always[0,9](x > 0)'), 1); "
        "[m.update({'x': np.ones(1)}) for _ in range(100)]; print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_once_it_pays_updates_are_compiled_and_go_on_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice, "PAYS", 40)
    monkeypatch.setattr(choice._State, "machine", None)
    monkeypatch.setattr(choice._State, "updates", 0)
    plain, changing = (Monitor(SHAPES["until"](20), dt=1) for _ in range(2))
    draw = np.random.default_rng(0)
    for _ in range(100):
        sample = {"x": draw.normal(size=1)}
        with compiled.use("numpy"):
            wanted = plain.update(sample)
        with compiled.use("auto"):
            found = changing.update(sample)
        assert repr(found) == repr(wanted)
    assert choice._State.machine is not None


def test_without_numba_auto_stays_with_numpy_and_numba_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice._State, "machine", None)
    monkeypatch.setattr(choice._State, "broken", "no numba here")
    monkeypatch.setattr(choice._State, "updates", 10**9)
    monitor = Monitor(SHAPES["always"](5), dt=1)
    with compiled.use("auto"):
        assert monitor.update({"x": np.ones(1)}).episode.hi.tolist() == [1.5]
    with compiled.use("numba"), pytest.raises(UnsupportedError, match="no numba here"):
        monitor.update({"x": np.ones(1)})
    assert monitor.steps.tolist() == [0]
