"""An SVG plot of recorded signals, for scenarios that draw no picture of themselves."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

_WIDTH, _HEIGHT, _EDGE, _TOP = 640, 480, 28, 52
_LANES = 4
_COLOURS = ("#4c9be8", "#5fd38d", "#f2a65a", "#c58af9")


def signal_plot(rows: Mapping[str, Any], dt: float) -> str:
    """The first four signals over time, one above the other. rows: label -> values (T+1,) or
    (T+1, d), of which the first column is drawn.
    """
    lanes = list(rows.items())[:_LANES]
    height = (_HEIGHT - _TOP - _EDGE) / max(1, len(lanes))
    parts = [
        _lane(label, values, dt, _TOP + place * height, height, _COLOURS[place])
        for place, (label, values) in enumerate(lanes)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="15">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#1b2230"/>{"".join(parts)}</svg>'
    )


def _lane(label: str, values: Any, dt: float, top: float, height: float, colour: str) -> str:
    line = np.asarray(values, np.float64).reshape(len(values), -1)[:, 0]
    low, high = float(line.min()), float(line.max())
    span = high - low or 1.0
    across = np.linspace(_EDGE, _WIDTH - _EDGE, len(line))
    down = top + height - 12 - (line - low) / span * (height - 44)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
    told = f"{low:.3g} to {high:.3g}, {(len(line) - 1) * dt:g} s"
    return (
        f'<text x="{_EDGE}" y="{top + 18:.1f}" fill="#dfe6f1">{escape(label)}</text>'
        f'<text x="{_WIDTH - _EDGE}" y="{top + 18:.1f}" fill="#8793a8" text-anchor="end">'
        f"{escape(told)}</text>"
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
    )
