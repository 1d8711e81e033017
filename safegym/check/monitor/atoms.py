"""An atom's truth or margin at every sample, and what it is where nothing is known."""

import numpy as np

from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.lattice import Lattice, Values
from safegym.check.monitor.plan import Plan
from safegym.check.monitor.readings import Readings, gaps_over
from safegym.check.monitor.samples import Samples
from safegym.check.monitor.strip import Strip
from safegym.formula.nodes import Atom
from safegym.formula.terms import Constant, Term

PIECE = 16384
"""Samples of a long trace at a time, so that terms stay in the cache and are not kept."""

_COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def strips(
    plan: Plan, atom: Atom, frame: Frame, samples: Samples, span: Span, lattice: Lattice
) -> tuple[Strip, Strip]:
    """Returns the lower and the upper strip over the span, one and the same where all is known.

    Held values after the end are the last one's repetition, so they are left out.
    """
    last = min(span.last, frame.last)
    seen = max(last - span.first + 1, 0)
    filled = frame.beyond in ("false", "unknown")
    low = np.empty((*samples.rows, span.last - span.first + 1 if filled else seen), lattice.dtype)
    _write(plan, atom, samples, span.first, last, lattice, low[..., :seen] if filled else low)
    ends = samples.ends
    hidden = _hidden(plan, atom, samples, span.first, last) if samples.gaps else []
    late = filled and span.last > (frame.last if ends is None else ends.shortest)
    if not late and not hidden:
        strip = Strip(low, span.first)
        return strip, strip
    high = low.copy() if hidden or frame.beyond == "unknown" else low
    sides = [(low, lattice.false)] if high is low else [(low, lattice.false), (high, lattice.true)]
    for values, unknown in sides:
        for part in hidden:
            values[..., part] = unknown
        if late:
            after = unknown if frame.beyond == "unknown" else lattice.false
            values[..., seen:] = after
            if ends is not None:
                ends.fill(values, span.first, ends.last, after)
    strip = Strip(low, span.first)
    return strip, strip if high is low else Strip(high, span.first)


def _hidden(plan: Plan, atom: Atom, samples: Samples, first: int, last: int) -> list[slice]:
    """The atom's gaps within samples first..last, counted from `first`."""
    return [
        slice(max(start - first, 0), min(stop, last) - first + 1)
        for start, stop in gaps_over(plan.reads[atom], samples.gaps)
        if start <= last and stop >= first
    ]


def _write(
    plan: Plan,
    atom: Atom,
    samples: Samples,
    first: int,
    last: int,
    lattice: Lattice,
    out: Values,
) -> None:
    if samples.rows or last - first < 2 * PIECE:
        part = slice(first - samples.first, last - samples.first + 1)
        _compare(plan, atom, samples.readings, part, lattice, out)
        return
    for start in range(first, last + 1, PIECE):
        stop = min(start + PIECE - 1, last)
        piece = samples.readings.between(start, stop)
        place = out[start - first : stop - first + 1]
        _compare(plan, atom, piece, slice(None), lattice, place)


def _compare(
    plan: Plan, atom: Atom, readings: Readings, part: slice, lattice: Lattice, out: Values
) -> None:
    left = _side(readings, atom.left, part, out.shape[-1])
    right = _side(readings, atom.right, part, out.shape[-1])
    if lattice.dtype is np.bool_:
        _COMPARE[atom.comparison](left, right, out=out)
    else:
        _margin(atom, left, right, plan.scales[atom], out)


def _side(readings: Readings, term: Term, part: slice, count: int) -> Values | float:
    if isinstance(term, Constant):
        return term.value
    values = readings.value(term)
    return values if not values.ndim or values.shape[-1] == count else values[..., part]


def _margin(
    atom: Atom, left: Values | float, right: Values | float, scale: float, out: Values
) -> None:
    """The margin in multiples of `scale`; overflow gives infinities, never NaN; 0.0 for -0.0."""
    upper, lower = atom.left, atom.right
    if atom.comparison in ("<", "<="):
        left, right = right, left
        upper, lower = lower, upper
    np.subtract(left, right, out=out)
    if scale != 1.0:
        out /= scale
    elif isinstance(upper, Constant) or (isinstance(lower, Constant) and lower.value != 0.0):
        return  # no difference is -0.0: -0.0 only comes of -0.0 less 0.0
    out += 0.0
