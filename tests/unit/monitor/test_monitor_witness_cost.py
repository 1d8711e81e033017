"""What a witness costs: one walk, linear in the trace whatever the windows."""

from collections.abc import Callable

import numpy as np
import pytest

from safegym.check.monitor import explain
from safegym.check.monitor.judge import run_of, verdict_of
from safegym.check.monitor.strip import Strip
from safegym.formula.build import always, eventually, historically, once
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula, WindowedBinary, WindowedUnary
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

X, Y = Signal("x"), Signal("y")
WINDOWED = (WindowedUnary, WindowedBinary)


def nested(width: float) -> dict[str, Formula]:
    """Nested windows of every kind, the inner ones read at every sample of the outer ones."""
    return {
        "always": always(X < 9),
        "nested": always(eventually(always(X < 2, lasting=width), within=width)),
        "until": always((X < 9).until((Y < 9).until(X < 9, within=width), within=width)),
        "past": always(historically(once(X < 9, within=width), lasting=width)),
        "since": always((X < 9).since(Y < 9, within=width)),
        "response": always((X > 1).implies(eventually(Y > 1, within=width))),
    }


def samples_read(monkeypatch: pytest.MonkeyPatch, formula: Formula, n: int) -> int:
    """Samples that the walk takes out of strips for one verdict."""
    count = 0
    plain: Callable[..., np.ndarray] = explain.take

    def counted(strip: Strip, first: int, last: int) -> np.ndarray:
        nonlocal count
        count += last - first + 1
        return plain(strip, first, last)

    rng = np.random.default_rng(0)
    seen = Trace.from_arrays({"x": rng.normal(size=n), "y": rng.normal(size=n)}, dt=1, end="cut")
    run = run_of(formula, seen)
    with monkeypatch.context() as patch:
        patch.setattr(explain, "take", counted)
        verdict_of(run, formula, seen)
    return count


@pytest.mark.parametrize("name", nested(1))
def test_a_walk_reads_each_window_on_its_path_a_few_times(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in (200, 2000):
        for width in (3, n // 4, n - 1):
            formula = nested(width)[name]
            operators = sum(isinstance(part, WINDOWED) for part in postorder(formula))
            assert samples_read(monkeypatch, formula, n) <= 2 * n * operators + 20


def test_a_witness_of_a_wide_conjunction_reads_one_sample_of_each_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = always(X < 9)
    for k in range(40):
        wide = wide & always(X < 10 + k)
    assert samples_read(monkeypatch, wide, 1000) <= 1000 + 3 * 41
