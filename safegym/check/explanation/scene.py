"""What a picture of a verdict shows, in samples and in the signals' units; no pixels yet."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safegym.formula.checks import Coding
from safegym.trace.clock import Clock
from safegym.verdict import Status

Interval = tuple[int, int]
"""First and last sample, both inside."""
Look = Literal["bad", "ok", "open", "note"]


@dataclass(frozen=True, slots=True)
class Line:
    """A term's values at samples 0, 1, ...; stepped: drawn as steps (a flag, a mode)."""

    name: str
    values: NDArray[np.float64]
    stepped: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """A threshold; text: such as "<= 0.5 m/s"."""

    level: float
    text: str


@dataclass(frozen=True, slots=True)
class Bracket:
    """The window of an operator; its last sample may lie past the episode's."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A sample of a line that is pointed at."""

    sample: int
    value: float
    text: str
    look: Look


@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity over time.

    coding: names and numbers of a mode's values. shaded: where the atom (`fails`) is violated
    inside the deciding window. gaps: where nothing is known of the lines.
    """

    title: str
    unit: str
    lines: tuple[Line, ...]
    limits: tuple[Limit, ...] = ()
    coding: Coding = ()
    shaded: tuple[Interval, ...] = ()
    fails: str = ""
    brackets: tuple[Bracket, ...] = ()
    marks: tuple[Mark, ...] = ()
    gaps: tuple[Interval, ...] = ()

    def known(self, line: Line, view: Interval) -> list[Interval]:
        """Stretches of samples of a line inside a view that lie in no gap."""
        start, end = max(view[0], 0), min(view[1], len(line.values) - 1)
        found: list[Interval] = []
        for first, last in self.gaps:
            if last < start or first > end:
                continue
            if first > start:
                found.append((start, first - 1))
            start = last + 1
        if start <= end:
            found.append((start, end))
        return found


@dataclass(frozen=True, slots=True)
class Scene:
    """The whole picture.

    view: samples on the time axis, which may go past `last`, the last one seen. after: what those
    past it are. tail: first sample past the declared horizon, None if there is none. rules:
    samples with a line through all panels. zoomed: whether the view is a part of the episode, so
    that the first panel's whole line is drawn small below.
    """

    status: Status
    name: str
    asked: str
    words: str
    clock: Clock
    last: int
    view: Interval
    after: str
    tail: int | None
    rules: tuple[int, ...]
    panels: tuple[Panel, ...]
    zoomed: bool
