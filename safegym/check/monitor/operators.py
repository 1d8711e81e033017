"""The rules of the future operators over strips, in one lattice; `past` has the others.

Written for the existential operators; the caller passes the dual lattice for the universal ones.
Semantics: docs/reference/language.md. `absent` says that samples past the last one
do not exist (windows are cut); otherwise a strip's last value repeats for ever.
"""

from typing import NamedTuple

import numpy as np

from safegym.check.monitor import kernels
from safegym.check.monitor.ends import Ends
from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.lattice import Lattice, Values
from safegym.check.monitor.strip import Strip, take


class Setting(NamedTuple):
    """What an operator needs beside its operands.

    lattice: oriented. unknown: this pass's stand-in for an unknown value. lo, hi: window.
    span: samples wanted. carry: of an unbounded operator, the running value just before the
    operand's first sample (of a future one just after its last), where the episode goes on there.
    ends: where each row ends, if not all where the frame says. out: where the result may go: new
    memory, or that of the (right) operand's values at the samples k + lo (k - lo of past ones).
    """

    lattice: Lattice
    unknown: bool | float
    lo: int
    hi: int | None
    span: Span
    frame: Frame
    carry: Values | None = None
    ends: Ends | None = None
    out: Values | None = None

    @property
    def absent(self) -> bool:
        """Whether samples past the last one do not exist."""
        return self.frame.beyond == "absent"

    @property
    def after(self) -> bool | float | None:
        """What is read past an operand's strip: nothing that counts, or its last value."""
        return self.lattice.bottom if self.absent else None

    @property
    def wanted(self) -> int:
        """How many samples are wanted."""
        return self.span.last - self.span.first + 1


def shift_future(argument: Strip, setting: Setting) -> Values:
    """Next and weak next."""
    span = setting.span
    return take(_cut(argument, setting), span.first + 1, span.last + 1, after=setting.after)


def eventually(argument: Strip, setting: Setting) -> Values:
    """Somewhere in [k + lo, k + hi]."""
    span, lo, hi = setting.span, setting.lo, setting.hi
    if hi is None:
        return onward(None, argument, setting)[0]
    argument = _cut(argument, setting)
    if lo == hi:
        return take(argument, span.first + lo, span.last + lo, after=setting.after)
    out = room_for(argument, setting)
    _windows(argument, span.first + lo, hi - lo + 1, setting.lattice, setting.after, out)
    return out


def until(left: Strip, right: Strip, setting: Setting) -> Values:
    """Right somewhere in [k + lo, k + hi], left from k to just before it."""
    if setting.hi is None:
        return onward(left, right, setting)[0]
    left, right = _cut(left, setting), _cut(right, setting)
    out = room_for(right, setting)
    _until_bounded(left, right, setting, setting.span.first, setting.hi, out)
    return out


def _cut(strip: Strip, setting: Setting) -> Strip:
    """Where samples past the last one do not exist, a shorter row's count for nothing."""
    ends = setting.ends
    if ends is None or not setting.absent or ends.shortest >= strip.last:
        return strip
    values = strip.values.copy()
    ends.fill(values, strip.first, ends.last, setting.lattice.bottom)
    return Strip(values, strip.first)


def room_for(like: Strip, setting: Setting) -> Values:
    """Where the result goes."""
    if setting.out is not None:
        return setting.out
    return np.empty((*like.values.shape[:-1], setting.wanted), setting.lattice.dtype)


def _windows(
    strip: Strip,
    start: int,
    width: int,
    lattice: Lattice,
    after: bool | float | None,
    out: Values,
) -> None:
    """Joins over [k, k + width - 1] for k = start, start + 1, ..."""
    count = min(max(strip.last - start + 1, 0), out.shape[-1])
    if count:
        kernels.slide(strip.values[..., start - strip.first :], width, lattice, out[..., :count])
    if count < out.shape[-1]:
        out[..., count:] = strip.values[..., -1:] if after is None else after


def _until_bounded(
    left: Strip, right: Strip, setting: Setting, first: int, hi: int, out: Values
) -> None:
    """For k = first, first + 1, ..., the window [k + lo, k + hi]."""
    lattice, lo, after = setting.lattice, setting.lo, setting.after
    start = first + lo
    last = max(left.last, right.last)
    count = min(max(last - start + 1, 0), out.shape[-1])
    if count:
        last = min(last, start + count - 1 + hi - lo)
        kernels.until_slide(
            take(left, start, last, after=after),
            take(right, start, last, after=after),
            hi - lo + 1,
            lattice,
            out[..., :count],
        )
    if count < out.shape[-1]:
        out[..., count:] = right.values[..., -1:] if after is None else after
    _along(left, first, setting, out)


def _along(left: Strip, first: int, setting: Setting, out: Values) -> None:
    """Behind a lower bound the left side must hold over those `lo` samples too."""
    if setting.lo == 0:
        return
    path = np.empty_like(out)
    _windows(left, first, setting.lo, setting.lattice.dual, setting.after, path)
    setting.lattice.meet(path, out, out=out)


def onward(left: Strip | None, right: Strip, setting: Setting) -> tuple[Values, Strip | None]:
    """Without an upper bound: up to E; at samples k with k + lo > E by the rule of the end.

    left None: true. Returns also the running values, at the samples k + lo, for what precedes.
    """
    if setting.ends is not None:
        return _onward_by_rows(left, right, setting, setting.ends), None
    span, lo = setting.span, setting.lo
    out = room_for(right, setting)
    seen = max(min(span.last, setting.frame.end - lo) - span.first + 1, 0)
    running = None
    if seen:
        running = _to_the_end(left, right, setting, out[..., :seen])
    if seen < setting.wanted:
        _past_the_end(left, right, setting, span.first + seen, out[..., seen:])
    return out, running


def _onward_by_rows(left: Strip | None, right: Strip, setting: Setting, ends: Ends) -> Values:
    """Each row up to its own E."""
    span, lo, end = setting.span, setting.lo, setting.frame.end
    out = np.empty((*right.values.shape[:-1], setting.wanted), setting.lattice.dtype)
    seen = max(min(span.last, end - lo) - span.first + 1, 0)
    if seen:
        values = take(right, span.first + lo, end).copy()
        ends.fill(values, span.first + lo, ends.end, _seed(setting))
        _to_the_end(left, Strip(values, span.first + lo), setting, out[..., :seen])
    settled = max(min(span.last, ends.earliest - lo) - span.first + 1, 0)
    if settled < setting.wanted:
        late = np.empty_like(out[..., settled:])
        first = span.first + settled
        _past_the_end(left, right, setting, first, late)
        np.copyto(out[..., settled:], late, where=ends.past(ends.end - lo, first, late.shape[-1]))
    return out


def _past_the_end(
    left: Strip | None, right: Strip, setting: Setting, first: int, out: Values
) -> None:
    """For samples k >= first with k + lo > E."""
    beyond, lattice, lo = setting.frame.beyond, setting.lattice, setting.lo
    if beyond != "held":
        rule = {"false": lattice.false, "unknown": setting.unknown, "absent": lattice.bottom}
        out[...] = rule[beyond]
    elif left is None:
        _windows(right, first + lo, 1, lattice, None, out)
    else:
        _until_bounded(left, right, setting, first, lo, out)


def _seed(setting: Setting) -> bool | float:
    """The value after E: an open episode continues with an unknown one."""
    return setting.unknown if setting.frame.open else setting.lattice.bottom


def _to_the_end(left: Strip | None, right: Strip, setting: Setting, out: Values) -> Strip:
    """The recurrence from E down, or from the running values after the span if they are known."""
    lattice, first, end = setting.lattice, setting.span.first + setting.lo, setting.frame.end
    seed: Values | bool | float = _seed(setting)
    known = left is None and seed == lattice.top
    after = first + out.shape[-1]
    carry = setting.carry if after <= end else None
    if carry is not None:
        end, seed = after - 1, carry
    if known:
        out[...] = lattice.top
    elif left is not None:
        kernels.until_remaining(take(left, first, end), take(right, first, end), seed, lattice, out)
    else:
        if out.shape[-1] == 1:
            lattice.join.reduce(take(right, first, end), axis=-1, keepdims=True, out=out)
        else:
            kernels.remaining(take(right, first, end), lattice, out)
        if carry is not None:
            lattice.join(out, carry[..., None], out=out)
    if left is None or setting.lo == 0:
        return Strip(out, first)
    running = Strip(out.copy(), first)
    _along(left, setting.span.first, setting, out)
    return running
