"""A section bounded anew: which of it is proved, violated or open, by bounds on it alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.graph import Vector
from safegym.check.neural.problem import Problem
from safegym.check.neural.proof.section import Cell, Fate

BOXES = 8000
"""Boxes bounded for one section, at most."""
FINEST = 2.0**-8
"""Sides are cut down to this share of the region's."""


def refined(
    problem: Problem, found: Sequence[Cell], drawn: tuple[int, int | None], held: Sequence[float]
) -> list[Cell]:
    """The cells, those that are not settled cut further and bounded.

    Each piece is proved (every clause holds on it), violated (some clause fails on all of it), open
    or outside the region; all by certified bounds of the section alone.
    """
    done = [cell for cell in found if cell.fate in ("proved", "outside")]
    waiting = [cell for cell in found if cell.fate not in ("proved", "outside")]
    bounds = Bounds(problem.graph, problem.semantics)
    low, high = problem.region.outward()
    least = [(high[at] - low[at]) * FINEST for at in drawn if at is not None]
    left = BOXES
    while waiting and left > 0:
        batch, waiting = waiting[:left], waiting[left:]
        left -= len(batch)
        for cell, fate in zip(batch, _fates(problem, bounds, batch, drawn, held), strict=True):
            halves = _halves(cell, least) if fate == "unknown" else []
            waiting += halves
            if not halves:
                done.append(Cell(fate, cell.x, cell.y))
    return [*done, *(Cell("unknown", cell.x, cell.y) for cell in waiting)]


def _fates(
    problem: Problem,
    bounds: Bounds,
    batch: Sequence[Cell],
    drawn: tuple[int, int | None],
    held: Sequence[float],
) -> list[Fate]:
    low = np.tile(np.asarray(held, dtype=np.float64), (len(batch), 1))
    high = low.copy()
    for at, sides in zip(drawn, ([c.x for c in batch], [c.y for c in batch]), strict=True):
        if at is not None:
            low[:, at], high[:, at] = np.array(sides).T
    given = bounds.linear(low, high, upper=True)
    least = given.lower
    most = np.full_like(least, np.inf) if given.upper is None else given.upper
    proved = np.ones(len(batch), dtype=bool)
    violated = np.zeros(len(batch), dtype=bool)
    for clause in problem.clauses:
        holds = [
            (least[:, c.output] > 0) | ((least[:, c.output] >= 0) & (not c.strict)) for c in clause
        ]
        fails = [(most[:, c.output] < 0) | ((most[:, c.output] <= 0) & c.strict) for c in clause]
        proved &= np.any(holds, axis=0)
        violated |= np.all(fails, axis=0)
    outside = _outside(problem, low, high)
    return [_fate(*each) for each in zip(outside, proved, violated, strict=True)]


def _fate(outside: bool, proved: bool, violated: bool) -> Fate:
    if outside:
        return "outside"
    return "proved" if proved else ("violated" if violated else "unknown")


def _outside(problem: Problem, low: Vector, high: Vector) -> NDArray[np.bool_]:
    """Boxes that a cut of the region leaves out, as far as binary64 shows it."""
    found = np.zeros(len(low), dtype=bool)
    for cut in problem.region.cuts:
        row = np.array([float(c) for c in cut.coefficients])
        found |= np.minimum(low * row, high * row).sum(axis=1) > float(cut.bound)
    return found


def _halves(cell: Cell, least: Sequence[float]) -> list[Cell]:
    """The cell cut across its longer side; none where it is fine enough."""
    sides = [cell.x, cell.y][: len(least)]
    spans = [(b - a) / (step or 1.0) for (a, b), step in zip(sides, least, strict=True)]
    if max(spans) <= 1.0:
        return []
    (low, high), across = sides[int(np.argmax(spans))], int(np.argmax(spans))
    middle = (low + high) / 2
    ends = (low, middle), (middle, high)
    if across == 0:
        return [Cell(cell.fate, end, cell.y) for end in ends]
    return [Cell(cell.fate, cell.x, end) for end in ends]
