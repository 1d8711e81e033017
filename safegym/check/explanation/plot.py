"""A scene drawn with matplotlib, where that is installed."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from safegym.check.explanation.axes import room
from safegym.check.explanation.decimate import joined, outline
from safegym.check.explanation.draw_panel import LEAST_WIDTH, MOST_POINTS, extremes
from safegym.check.explanation.scene import Interval, Mark, Panel, Scene
from safegym.check.explanation.style import colour
from safegym.errors import UnsupportedError

INCH = (8.0, 2.3)
"""Width of a figure, and height for each panel."""
_LOOKS = {"bad": "bad", "ok": "ok", "open": "open", "note": "ink"}
_LINES = ("line", "second")


def plot_scene(scene: Scene, ax: Any = None) -> tuple[Any, ...]:
    """Draws the panels; returns their axes. ax: the first panel goes there, and no other.

    Raises UnsupportedError, with the line that installs it, where matplotlib is missing.
    """
    pyplot = _matplotlib("matplotlib.pyplot")
    panels = scene.panels if ax is None else scene.panels[:1]
    if ax is not None:
        axes: tuple[Any, ...] = (ax,)
    else:
        count = max(len(panels), 1)
        size = (INCH[0], INCH[1] * count + 0.6)
        _, grid = pyplot.subplots(
            count, 1, sharex=True, squeeze=False, figsize=size, layout="constrained"
        )
        axes = tuple(grid[:, 0])
    for place, panel in zip(axes, panels, strict=False):
        _panel(place, scene, panel)
    axes[0].set_title(_plain(f"{scene.name}: {scene.status}"), loc="left", fontsize="medium")
    axes[-1].set_xlabel("time, s")
    return axes


def save_png(scene: Scene, path: Path) -> None:
    """Writes the picture as PNG. Raises UnsupportedError where matplotlib is missing."""
    figures = _matplotlib("matplotlib.figure")
    agg = _matplotlib("matplotlib.backends.backend_agg")
    count = max(len(scene.panels), 1)
    figure = figures.Figure(figsize=(INCH[0], INCH[1] * count + 0.6), layout="constrained")
    agg.FigureCanvasAgg(figure)
    grid = figure.subplots(count, 1, sharex=True, squeeze=False)
    for place, panel in zip(grid[:, 0], scene.panels, strict=False):
        _panel(place, scene, panel)
    title = _plain(f"{scene.name}: {scene.status}")
    grid[0, 0].set_title(title, loc="left", fontsize="medium")
    grid[-1, 0].set_xlabel("time, s")
    figure.savefig(path, dpi=150)


def _matplotlib(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UnsupportedError(
            f"A plot needs matplotlib ({error}); pip install matplotlib, or take "
            'explanation.svg, which needs nothing: explanation.save("why.svg").'
        ) from error


def _panel(ax: Any, scene: Scene, panel: Panel) -> None:
    _ground(ax, scene, panel)
    for place, line in enumerate(panel.lines):
        for first, last in panel.known(line, scene.view):
            part = line.values[first : last + 1]
            chosen = outline(part, MOST_POINTS, tuple(mark.sample - first for mark in panel.marks))
            ax.plot(
                _times(scene, first + chosen),
                part[chosen],
                color=colour(_LINES[min(place, 1)]),
                drawstyle="steps-post" if line.stepped else "default",
                label=_plain(line.name),
            )
    for limit in panel.limits:
        ax.axhline(limit.level, color=colour("bad"), linestyle="--", linewidth=1.2)
        ax.annotate(
            _plain(limit.text),
            (1.0, limit.level),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=colour("bad"),
            fontsize="small",
            annotation_clip=False,
        )
    for mark in panel.marks:
        _mark(ax, scene, mark)
    _axis(ax, scene, panel)


def _ground(ax: Any, scene: Scene, panel: Panel) -> None:
    near = int((scene.view[1] - scene.view[0] + 1) * LEAST_WIDTH / 600)
    bad = {"color": colour("bad"), "alpha": 0.16, "linewidth": 0}
    unseen = {"fill": False, "hatch": "//", "alpha": 0.5, "linewidth": 0}
    spans = [(interval, bad) for interval in joined(panel.shaded, near)]
    spans += [(interval, unseen) for interval in (*panel.gaps, (scene.last + 1, scene.view[1]))]
    if scene.tail is not None:
        tail = {"color": colour("muted"), "alpha": 0.1, "linewidth": 0}
        spans.append(((scene.tail, scene.last), tail))
    for (first, last), look in spans:
        first, last = max(first, scene.view[0]), min(last, scene.view[1])
        if first <= last:
            ax.axvspan(*_edges(scene, (first, last)), **look)
    for sample in scene.rules:
        ax.axvline(_times(scene, sample), color=colour("muted"), linestyle=":", linewidth=1)


def _mark(ax: Any, scene: Scene, mark: Mark) -> None:
    shade = colour(_LOOKS[mark.look])
    at = (float(_times(scene, mark.sample)), mark.value)
    ax.plot(*at, "o", color=shade, markeredgecolor="white", zorder=5)
    late = mark.sample - scene.view[0] > 0.7 * (scene.view[1] - scene.view[0])
    ax.annotate(
        _plain(mark.text),
        at,
        xytext=(-7 if late else 7, 6),
        textcoords="offset points",
        ha="right" if late else "left",
        color=shade,
        fontsize="small",
        fontweight="bold",
        bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1},
    )


def _axis(ax: Any, scene: Scene, panel: Panel) -> None:
    levels = [limit.level for limit in panel.limits] + [mark.value for mark in panel.marks]
    levels += [end for line in panel.lines for end in extremes(panel, line, scene.view)]
    ax.set_ylim(*room(min(levels), max(levels), 0.2))
    ax.set_xlim(*_edges(scene, scene.view))
    unit = f" [{panel.unit}]" if panel.unit not in ("", "1") else ""
    ax.set_ylabel(_plain(f"{panel.title}{unit}"), fontsize="small")
    if panel.coding:
        ax.set_yticks([code for _, code in panel.coding], [name for name, _ in panel.coding])
    if len(panel.lines) > 1:
        ax.legend(fontsize="small", loc="best")


def _times(scene: Scene, samples: Any) -> Any:
    """Seconds of samples."""
    return float(scene.clock.start) + np.asarray(samples) * float(scene.clock.dt)


def _edges(scene: Scene, interval: Interval) -> tuple[float, float]:
    """Seconds half a step around samples."""
    return float(_times(scene, interval[0] - 0.5)), float(_times(scene, interval[1] + 0.5))


def _plain(text: str) -> str:
    """Text that matplotlib does not read as mathematics."""
    return text.replace("$", r"\$")
