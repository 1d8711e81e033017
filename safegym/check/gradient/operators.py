"""The rules of the temporal operators over strips of tensors, in one algebra.

Written for the existential operators; the caller passes the dual for the universal ones. The same
rules, and the same clipping of windows, as `safegym.check.monitor.operators`, for whole episodes.
"""

import math
from dataclasses import dataclass

import torch

from safegym.check.gradient.algebra import Algebra
from safegym.check.gradient.scan import Count, reversed_in_time
from safegym.check.gradient.strip import Element, Strip, Values, fill, joined, length, part, take
from safegym.check.monitor.frame import Frame, Span


@dataclass(frozen=True, slots=True)
class Setting:
    """What an operator needs beside its operands.

    algebra: oriented. unknown: this pass's stand-in for an unknown value, minus or plus infinity.
    lo, hi: window. span: samples wanted.
    """

    algebra: Algebra
    unknown: float
    lo: int
    hi: int | None
    span: Span
    frame: Frame

    @property
    def absent(self) -> bool:
        """Whether samples past the last one do not exist."""
        return self.frame.beyond == "absent"

    @property
    def after(self) -> Element | None:
        """What is read past an operand's strip: nothing that counts, or its last value."""
        return self.algebra.bottom if self.absent else None


def clipped(lo: int, hi: int, reach: int, absent: bool) -> tuple[int, int]:
    """Returns a window without samples that repeat the value at `reach`, or do not exist."""
    if not absent:
        lo = min(lo, reach)
    return lo, max(lo, min(hi, reach))


def shift_future(argument: Strip, setting: Setting) -> Values:
    """Next and weak next."""
    span = setting.span
    return take(argument, span.first + 1, span.last + 1, after=setting.after)


def shift_past(argument: Strip, setting: Setting) -> Values:
    """Previous and weak previous."""
    span = setting.span
    return take(argument, span.first - 1, span.last - 1, before=setting.algebra.bottom)


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
    algebra = setting.algebra
    reach = max(argument.last - span.first, 0)
    lo, hi = clipped(lo, hi, reach, setting.absent)
    first, last = span.first + lo, span.last + lo
    if hi < reach or span.first == span.last:
        values = take(argument, first, span.last + hi, after=setting.after)
        missing = max(0, span.last + hi - argument.last) if setting.absent else 0
        return algebra.slide(values, hi - lo + 1, 0, missing)
    rest = take(argument, first, max(first, argument.last), after=setting.after)
    return take(Strip(algebra.remaining(rest), first), first, last, after=setting.after)


def _until_bounded(
    left: Strip, right: Strip, setting: Setting, lo: int, hi: int, span: Span
) -> Values:
    algebra = setting.algebra
    reach = max(left.last, right.last) - span.first + 1
    if setting.absent and lo > reach:
        return fill(right.values, span.last - span.first + 1, algebra.bottom)
    lo, hi = clipped(lo, hi, reach, setting.absent)
    first, last = span.first + lo, span.last + hi
    values, covered = algebra.until(
        take(left, first, last, after=setting.after),
        take(right, first, last, after=setting.after),
        hi - lo + 1,
    )
    if lo == 0:
        return values
    path = take(left, span.first, span.last + lo - 1, after=setting.after)
    return algebra.along(path, lo, values, covered)


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
    return joined(parts)


def _past_the_end(left: Strip | None, right: Strip, setting: Setting, rest: Span) -> Values:
    beyond, algebra = setting.frame.beyond, setting.algebra
    if beyond == "held":
        if left is None:
            return _eventually_bounded(right, setting, setting.lo, setting.lo, rest)
        return _until_bounded(left, right, setting, setting.lo, setting.lo, rest)
    value = {
        "false": algebra.element(-math.inf),
        "unknown": algebra.element(setting.unknown),
        "absent": algebra.bottom,
    }[beyond]
    return fill(right.values, rest.last - rest.first + 1, value)


def _eventually_tail(right: Strip, setting: Setting, span: Span) -> Values:
    """Joins from k + lo to E, and the unknown continuation of an open episode."""
    algebra, lo, end = setting.algebra, setting.lo, setting.frame.end
    count = span.last - span.first + 1
    if continues(setting):
        return fill(right.values, count, algebra.top)
    values = take(right, span.first + lo, end)
    if count == 1:
        return algebra.slide(values, end - span.first - lo + 1, 0, 0)
    return part(algebra.remaining(values), 0, count)


def continues(setting: Setting) -> bool:
    """Whether an unbounded operator's unknown continuation counts for the best."""
    return setting.frame.open and setting.algebra.element(setting.unknown) == setting.algebra.top


def _until_tail(left: Strip, right: Strip, setting: Setting, span: Span) -> Values:
    """From E down; an open episode continues with an unknown value."""
    algebra, lo, end = setting.algebra, setting.lo, setting.frame.end
    first, count = span.first + lo, span.last - span.first + 1
    path, goal = take(left, first, end), take(right, first, end)
    if continues(setting):
        path = joined([path, fill(path, 1, algebra.top)])
        goal = joined([goal, fill(goal, 1, algebra.top)])
    values, covered = algebra.until(path, goal, length(goal) if count == 1 else None)
    values, covered = part(values, 0, count), _part_of(covered, 0, count)
    if lo == 0:
        return values
    return algebra.along(take(left, span.first, span.last + lo - 1), lo, values, covered)


def _part_of(covered: Count, start: int, stop: int) -> Count:
    return covered if isinstance(covered, int) else covered[start:stop]


def once(argument: Strip, setting: Setting) -> Values:
    """Somewhere in [k - hi, k - lo], cut at sample 0."""
    algebra, span, lo = setting.algebra, setting.span, setting.lo
    if setting.hi is not None and setting.hi < span.last:
        values = take(argument, -setting.hi, span.last - lo, before=algebra.bottom)
        return algebra.slide(values, setting.hi - lo + 1, setting.hi, 0)
    if span.last < lo:
        return fill(argument.values, span.last + 1, algebra.bottom)
    seen = algebra.running(take(argument, 0, span.last - lo))
    return take(Strip(seen, 0), -lo, span.last - lo, before=algebra.bottom)


def since(left: Strip, right: Strip, setting: Setting) -> Values:
    """Right somewhere in [k - hi, k - lo], left from just after it to k."""
    algebra, span, lo = setting.algebra, setting.span, setting.lo
    if span.last < lo:
        return fill(right.values, span.last + 1, algebra.bottom)
    if setting.hi is not None and setting.hi < span.last:
        first, last = -setting.hi, span.last - lo
        values, covered = algebra.until(
            reversed_in_time(take(left, first, last, before=algebra.bottom)),
            reversed_in_time(take(right, first, last, before=algebra.bottom)),
            setting.hi - lo + 1,
        )
        values = reversed_in_time(values)
    else:
        values, covered = _since_all(left, right, setting)
    if lo == 0:
        return values
    path = take(left, 1 - lo, span.last, before=algebra.top)
    return algebra.along(path, lo, values, covered)


def _since_all(left: Strip, right: Strip, setting: Setting) -> tuple[Values, Count]:
    """Everything up to k - lo; one sample is covered where there is nothing."""
    algebra, lo, last = setting.algebra, setting.lo, setting.span.last - setting.lo
    found, covered = algebra.until(
        reversed_in_time(take(left, 0, last)), reversed_in_time(take(right, 0, last)), None
    )
    seen = Strip(reversed_in_time(found), 0)
    if not isinstance(covered, int):
        covered = torch.cat((covered.new_ones(lo), covered.flip(-1)))
    return take(seen, -lo, last, before=algebra.bottom), covered
