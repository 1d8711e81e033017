"""Drawing with matplotlib, where it is installed."""

from pathlib import Path

import numpy as np
import pytest

from safegym.check.explanation import explain
from safegym.formula.build import always, eventually, never, rising
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

matplotlib = pytest.importorskip("matplotlib", reason="drawing with matplotlib is optional")

SPEED = Signal("speed", unit="m/s")
FAULT = Signal("fault")
VALUES = [0.0, 0.2, 0.7, 0.9, 0.4]
SEEN = Trace.from_arrays({"speed": VALUES, "fault": [0, 1, 1, 1, 1]}, dt="0.1")
RESPONSE = always(rising(FAULT >= 1).implies(eventually(SPEED <= 0.01, within="0.2")))


@pytest.fixture(autouse=True)
def drawn_in_memory() -> None:
    matplotlib.use("Agg")


def test_the_axes_given_are_drawn_on() -> None:
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert explain(always(SPEED <= 0.5), SEEN).plot(ax) == (ax,)
    line = ax.lines[-1] if len(ax.lines) == 1 else ax.get_lines()[1]
    assert any(np.array_equal(each.get_ydata(), VALUES) for each in ax.get_lines()), line
    assert ax.get_ylabel() == "speed [m/s]"


def test_a_figure_of_its_own_has_an_axes_for_each_panel() -> None:
    from matplotlib import pyplot

    axes = explain(RESPONSE, SEEN).plot()
    assert [ax.get_ylabel() for ax in axes] == ["speed [m/s]", "fault"]
    pyplot.close("all")


def test_a_png_is_written_without_a_window(tmp_path: Path) -> None:
    explain(RESPONSE, SEEN).save(tmp_path / "why.png")
    assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")


def test_modes_gaps_ends_and_long_traces_are_drawn(tmp_path: Path) -> None:
    mode = Signal("mode", labels=("IDLE", "FAULT"))
    gapped = Trace.from_arrays({"mode": [0, 1, 0, 0]}, dt="0.1", gaps=[(2, 2)], horizon=2)
    explain(never(mode.is_("FAULT")), gapped).save(tmp_path / "mode.png")
    open_ = Trace.from_arrays({"speed": VALUES}, dt="0.1")
    explain(always(SPEED <= 2, lasting=1), open_).save(tmp_path / "open.png")
    long = Trace.from_arrays({"speed": np.sin(np.arange(200_000) / 999)}, dt="0.1")
    explain(always(SPEED <= 0.5), long).save(tmp_path / "long.png")
    assert len(list(tmp_path.iterdir())) == 3
