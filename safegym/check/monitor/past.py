"""The rules of the past operators over strips, in one lattice: the future's, read backwards."""

import numpy as np

from safegym.check.monitor import kernels
from safegym.check.monitor.frame import Span
from safegym.check.monitor.lattice import Values
from safegym.check.monitor.operators import Setting, room_for
from safegym.check.monitor.strip import Strip, constant, take

LONG = 4096
"""Samples from which on operands are not copied to extend them."""


def shift_past(argument: Strip, setting: Setting) -> Values:
    """Previous and weak previous."""
    span = setting.span
    return take(argument, span.first - 1, span.last - 1, before=setting.lattice.bottom)


def past(left: Strip | None, right: Strip, setting: Setting) -> tuple[Values, Strip | None]:
    """Once and since: right somewhere in [k - hi, k - lo], left from just after it to k.

    left None: true. Windows are cut at sample 0. Returns also the running values of unbounded ones,
    at the samples k - lo, for what follows.
    """
    seen = right.last if left is None else min(left.last, right.last)
    extended = seen + setting.lo + 1
    if setting.span.first + LONG <= extended <= setting.span.last:
        return _past_in_two(left, right, setting, extended)
    return _past(left, right, setting)


def _past_in_two(
    left: Strip | None, right: Strip, setting: Setting, extended: int
) -> tuple[Values, Strip | None]:
    """The samples from `extended` on apart, so that only for them the operands are extended."""
    span, lo = setting.span, setting.lo
    if span.first == 0 and setting.hi is not None and setting.hi >= span.last:
        setting = setting._replace(hi=None)
    out, count = room_for(right, setting), extended - span.first
    before = setting._replace(span=Span(span.first, extended - 1), out=out[..., :count])
    running = _past(left, right, before)[1]
    carry = None if running is None else running.values[..., -1]
    rest = Span(extended, span.last)
    after = setting._replace(span=rest, out=out[..., count:], carry=carry)
    late = _past(left, right, after)[1]
    if running is None or late is None:
        return out, None
    if left is None or lo == 0:
        return out, Strip(out[..., running.first + lo - span.first :], running.first)
    return out, Strip(np.concatenate([running.values, late.values], axis=-1), running.first)


def _past(left: Strip | None, right: Strip, setting: Setting) -> tuple[Values, Strip | None]:
    """The future's kernels, read backwards."""
    lattice, span, lo, hi = setting.lattice, setting.span, setting.lo, setting.hi
    if span.last < lo:
        shape = right.values.shape[:-1]
        return constant(shape, setting.wanted, lattice.bottom, lattice.dtype), None
    width = 0 if hi is None or hi >= span.last else hi - lo + 1
    lowest = max(0, span.first - (lo if hi is None else hi))
    last = span.last - lo
    behind = take(right, lowest, last)[..., ::-1]
    path = None if left is None else take(left, lowest, last)[..., ::-1]
    out = room_for(right, setting)
    seen = min(last - lowest + 1, setting.wanted)
    backwards = out[..., ::-1][..., :seen]
    carry = setting.carry
    if width and path is None:
        kernels.slide(behind, width, lattice, backwards)
    elif width and path is not None:
        kernels.until_slide(path, behind, width, lattice, backwards)
    elif path is None:
        kernels.remaining(behind, lattice, backwards)
        if carry is not None:
            lattice.join(backwards, carry[..., None], out=backwards)
    else:
        seed = lattice.bottom if carry is None else carry
        kernels.until_remaining(path, behind, seed, lattice, backwards)
    out[..., : setting.wanted - seen] = lattice.bottom
    running = None if width else Strip(backwards[..., ::-1], lowest)
    if left is not None and lo > 0:
        running = running and Strip(running.values.copy(), lowest)
        _along_past(left, setting, out)
    return out, running


def _along_past(left: Strip, setting: Setting, out: Values) -> None:
    """Behind a lower bound the left side must hold over the newest `lo` samples too."""
    span, lo = setting.span, setting.lo
    first = max(span.first - lo + 1, 0)
    newest = take(left, first, span.last)[..., ::-1]
    path = np.empty_like(out)
    kernels.slide(newest, lo, setting.lattice.dual, path[..., ::-1])
    setting.lattice.meet(path, out, out=out)
