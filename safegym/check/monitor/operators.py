"""The rules of the temporal operators over strips, in one lattice.

Written for the existential operators; the caller passes the dual lattice for the universal ones.
Semantics: docs/reference/language.md. `absent` says that samples past the last one
do not exist (windows are cut); otherwise a strip's last value repeats for ever.
"""

from dataclasses import dataclass

import numpy as np

from safegym.check.monitor import kernels
from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.lattice import Lattice, Values
from safegym.check.monitor.strip import Strip, constant, take


@dataclass(frozen=True, slots=True)
class Setting:
    """What an operator needs beside its operands.

    lattice: oriented. unknown: this pass's stand-in for an unknown value. lo, hi: window.
    span: samples wanted. carry: the running value just before the operand's first sample.
    """

    lattice: Lattice
    unknown: bool | float
    lo: int
    hi: int | None
    span: Span
    frame: Frame
    carry: Values | None = None

    @property
    def absent(self) -> bool:
        """Whether samples past the last one do not exist."""
        return self.frame.beyond == "absent"

    @property
    def after(self) -> bool | float | None:
        """What is read past an operand's strip: nothing that counts, or its last value."""
        return self.lattice.bottom if self.absent else None


def shift_future(argument: Strip, setting: Setting) -> Values:
    """Next and weak next."""
    span = setting.span
    return take(argument, span.first + 1, span.last + 1, after=setting.after)


def shift_past(argument: Strip, setting: Setting) -> Values:
    """Previous and weak previous."""
    span = setting.span
    return take(argument, span.first - 1, span.last - 1, before=setting.lattice.bottom)


def eventually(argument: Strip, setting: Setting) -> Values:
    """Somewhere in [k + lo, k + hi]."""
    if setting.hi is None:
        return _unbounded_future(None, argument, setting)
    return _eventually_bounded(argument, setting, setting.lo, setting.hi, setting.span)


def until(left: Strip, right: Strip, setting: Setting) -> Values:
    """Right somewhere in [k + lo, k + hi], left from k to just before it."""
    if setting.hi is None:
        return _unbounded_future(left, right, setting)
    return _until_bounded(left, right, setting, setting.lo, setting.hi, setting.span)


def _eventually_bounded(argument: Strip, setting: Setting, lo: int, hi: int, span: Span) -> Values:
    join = setting.lattice.join
    reach = max(argument.last - span.first, 0)
    if not setting.absent:
        lo = min(lo, reach)
    hi = max(lo, min(hi, reach))
    first, last = span.first + lo, span.last + lo
    if hi < reach or span.first == span.last:
        values = take(argument, first, span.last + hi, after=setting.after)
        return kernels.slide(values, hi - lo + 1, join)
    rest = take(argument, first, max(first, argument.last), after=setting.after)
    return take(Strip(kernels.remaining(rest, join), first), first, last, after=setting.after)


def _until_bounded(
    left: Strip, right: Strip, setting: Setting, lo: int, hi: int, span: Span
) -> Values:
    lattice = setting.lattice
    reach = max(left.last, right.last) - span.first + 1
    if not setting.absent:
        lo = min(lo, reach)
    elif lo > reach:
        shape = right.values.shape[:-1]
        return constant(shape, span.last - span.first + 1, lattice.bottom, lattice.dtype)
    hi = max(lo, min(hi, reach))
    first, last = span.first + lo, span.last + hi
    values = kernels.until_slide(
        take(left, first, last, after=setting.after),
        take(right, first, last, after=setting.after),
        hi - lo + 1,
        lattice,
    )
    if lo == 0:
        return values
    path = take(left, span.first, span.last + lo - 1, after=setting.after)
    return _along(path, values, lo, lattice)


def _unbounded_future(left: Strip | None, right: Strip, setting: Setting) -> Values:
    """Up to E; at samples k with k + lo > E by the rule of the episode's end. left None: true."""
    span, frame, lo = setting.span, setting.frame, setting.lo
    split = min(span.last, frame.end - lo)
    parts: list[Values] = []
    if split >= span.first:
        seen = Span(span.first, split)
        if left is None:
            parts.append(_eventually_tail(right, setting, seen))
        else:
            parts.append(_until_tail(left, right, setting, seen))
    if split < span.last:
        rest = Span(max(span.first, split + 1), span.last)
        parts.append(_past_the_end(left, right, setting, rest))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def _past_the_end(left: Strip | None, right: Strip, setting: Setting, rest: Span) -> Values:
    beyond, lattice = setting.frame.beyond, setting.lattice
    if beyond == "held":
        if left is None:
            return _eventually_bounded(right, setting, setting.lo, setting.lo, rest)
        return _until_bounded(left, right, setting, setting.lo, setting.lo, rest)
    value = {"false": lattice.false, "unknown": setting.unknown, "absent": lattice.bottom}[beyond]
    return constant(right.values.shape[:-1], rest.last - rest.first + 1, value, lattice.dtype)


def _eventually_tail(right: Strip, setting: Setting, span: Span) -> Values:
    """Joins from k + lo to E, and the unknown continuation of an open episode."""
    lattice, lo, end = setting.lattice, setting.lo, setting.frame.end
    if setting.frame.open and setting.unknown == lattice.top:
        count = span.last - span.first + 1
        return constant(right.values.shape[:-1], count, lattice.top, lattice.dtype)
    values = take(right, span.first + lo, end)
    if span.first == span.last:
        joined: Values = lattice.join.reduce(values, axis=-1, keepdims=True)
        return joined
    return kernels.remaining(values, lattice.join)[..., : span.last - span.first + 1]


def _until_tail(left: Strip, right: Strip, setting: Setting, span: Span) -> Values:
    """The recurrence from E down; an open episode continues with an unknown value."""
    lattice, lo, end = setting.lattice, setting.lo, setting.frame.end
    seed = setting.unknown if setting.frame.open else lattice.bottom
    first = span.first + lo
    values = kernels.until_remaining(
        take(left, first, end), take(right, first, end), seed, lattice
    )[..., : span.last - span.first + 1]
    if lo == 0:
        return values
    path = take(left, span.first, span.last + lo - 1)
    return _along(path, values, lo, lattice)


def _along(path: Values, values: Values, lo: int, lattice: Lattice) -> Values:
    """Values behind a lower bound: the left side must hold over those `lo` samples too."""
    met: Values = lattice.meet(kernels.slide(path, lo, lattice.meet), values)
    return met


def once(argument: Strip, setting: Setting) -> tuple[Values, Values | None]:
    """Somewhere in [k - hi, k - lo], cut at sample 0; and the carry for the next sample on."""
    lattice, span, lo = setting.lattice, setting.span, setting.lo
    if setting.hi is None or setting.hi >= span.last:
        return _once_all(argument, setting)
    first = span.first - setting.hi
    values = take(argument, first, span.last - lo, before=lattice.bottom)
    return kernels.slide(values, setting.hi - lo + 1, lattice.join), None


def _once_all(argument: Strip, setting: Setting) -> tuple[Values, Values | None]:
    """Everything up to k - lo."""
    lattice, span, lo = setting.lattice, setting.span, setting.lo
    if span.last < lo:
        count = span.last - span.first + 1
        shape = argument.values.shape[:-1]
        return constant(shape, count, lattice.bottom, lattice.dtype), None
    first = max(0, span.first - lo) if setting.hi is None else 0
    seen = kernels.running(take(argument, first, span.last - lo), lattice.join)
    if setting.carry is not None:
        seen = lattice.join(seen, setting.carry[..., None])
    out = take(Strip(seen, first), span.first - lo, span.last - lo, before=lattice.bottom)
    return out, seen[..., 0]


def since(left: Strip, right: Strip, setting: Setting) -> tuple[Values, Values | None]:
    """Right somewhere in [k - hi, k - lo], left from just after it to k; and the carry."""
    lattice, span, lo = setting.lattice, setting.span, setting.lo
    count = span.last - span.first + 1
    if span.last < lo:
        shape = right.values.shape[:-1]
        return constant(shape, count, lattice.bottom, lattice.dtype), None
    carry: Values | None = None
    if setting.hi is None or setting.hi >= span.last:
        first = max(0, span.first - lo) if setting.hi is None else 0
        seed = lattice.bottom if setting.carry is None else setting.carry
        seen = kernels.until_remaining(
            take(left, first, span.last - lo)[..., ::-1],
            take(right, first, span.last - lo)[..., ::-1],
            seed,
            lattice,
        )[..., ::-1]
        carry = seen[..., 0]
        values = take(Strip(seen, first), span.first - lo, span.last - lo, before=lattice.bottom)
    else:
        first, last = span.first - setting.hi, span.last - lo
        values = kernels.until_slide(
            take(left, first, last, before=lattice.bottom)[..., ::-1],
            take(right, first, last, before=lattice.bottom)[..., ::-1],
            setting.hi - lo + 1,
            lattice,
        )[..., ::-1]
    if lo == 0:
        return values, carry
    path = take(left, span.first - lo + 1, span.last, before=lattice.top)
    return _along(path, values, lo, lattice), carry
