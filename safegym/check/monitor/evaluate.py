"""Evaluating a plan: every slot's lower and upper values over its span, in one lattice.

The lower pass takes an unknown value for the worst, the upper pass for the best. A slot that
nothing unknown can reach is computed once and shared by both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from safegym.check.monitor import operators
from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.lattice import Lattice, Values
from safegym.check.monitor.operators import Setting
from safegym.check.monitor.plan import Plan, Slot
from safegym.check.monitor.readings import Readings
from safegym.check.monitor.strip import Strip, constant, take
from safegym.formula.nodes import Atom, Boolean

Carry = Mapping[int, Values]
"""Slot -> settled running value just before its operands' first sample (online)."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Strips of every slot. `carry`: running values one sample further on, for online use."""

    lower: list[Strip]
    upper: list[Strip]
    carry: dict[int, Values]


@dataclass(frozen=True, slots=True)
class Samples:
    """Terms' values over samples first..last, for `rows` episodes of one frame at once."""

    readings: Readings
    first: int
    last: int
    rows: tuple[int, ...] = ()


def evaluate(
    plan: Plan,
    frame: Frame,
    samples: Samples,
    spans: tuple[Span, ...],
    lattice: Lattice,
    carry: Carry | None = None,
) -> Evaluation:
    """Returns all slots' strips. Raises TraceError where a term has no finite value."""
    result = Evaluation([], [], {})
    with np.errstate(over="ignore", under="ignore"):
        for index, span in enumerate(spans):
            pair = _slot(plan, index, frame, samples, span, lattice, carry or {}, result)
            result.lower.append(pair[0])
            result.upper.append(pair[1])
    return result


def _slot(
    plan: Plan,
    index: int,
    frame: Frame,
    samples: Samples,
    span: Span,
    lattice: Lattice,
    carry: Carry,
    done: Evaluation,
) -> tuple[Strip, Strip]:
    slot = plan.slots[index]
    if slot.kind == "constant":
        value = lattice.false if not cast(Boolean, slot.formula).value else _true(lattice)
        whole = constant(samples.rows, span.last - span.first + 1, value, lattice.dtype)
        return _both(Strip(whole, span.first))
    if slot.kind == "atom":
        return _atom(plan, cast(Atom, slot.formula), frame, samples, span, lattice)
    lower = [done.lower[operand] for operand in slot.operands]
    upper = [done.upper[operand] for operand in slot.operands]
    shared = all(low is up for low, up in zip(lower, upper, strict=True))
    shared = shared and not _opens(slot, frame, span)
    before = carry.get(index)
    low, after = _apply(slot, lower, frame, span, lattice, lattice.false, before)
    if after is not None and slot.hi is None:
        done.carry[index] = after
    strip = Strip(low, span.first)
    if shared:
        return strip, strip
    high, _ = _apply(slot, upper, frame, span, lattice, _true(lattice), before)
    return strip, Strip(high, span.first)


def _true(lattice: Lattice) -> bool | float:
    return True if lattice.dtype is np.bool_ else np.inf


def _both(strip: Strip) -> tuple[Strip, Strip]:
    return strip, strip


def _opens(slot: Slot, frame: Frame, span: Span) -> bool:
    """Whether this operator brings in unknown values of its own."""
    if not slot.unbounded_future:
        return False
    return frame.open or (frame.beyond == "unknown" and span.last + slot.lo > frame.end)


def _apply(
    slot: Slot,
    operands: list[Strip],
    frame: Frame,
    span: Span,
    lattice: Lattice,
    unknown: bool | float,
    carry: Values | None,
) -> tuple[Values, Values | None]:
    if slot.kind in ("meet", "join"):
        fold = lattice.meet if slot.kind == "meet" else lattice.join
        values = take(operands[0], span.first, span.last)
        for operand in operands[1:]:
            values = fold(values, take(operand, span.first, span.last))
        return values, None
    oriented = lattice.dual if slot.dual else lattice
    setting = Setting(oriented, unknown, slot.lo, slot.hi, span, frame, carry)
    if slot.kind == "next":
        return operators.shift_future(operands[0], setting), None
    if slot.kind == "previous":
        return operators.shift_past(operands[0], setting), None
    if slot.kind == "eventually":
        return operators.eventually(operands[0], setting), None
    if slot.kind == "until":
        return operators.until(operands[0], operands[1], setting), None
    if slot.kind == "once":
        return operators.once(operands[0], setting)
    return operators.since(operands[0], operands[1], setting)


def _atom(
    plan: Plan, atom: Atom, frame: Frame, samples: Samples, span: Span, lattice: Lattice
) -> tuple[Strip, Strip]:
    last = min(span.last, frame.last)
    left = samples.readings.value(atom.left)
    right = samples.readings.value(atom.right)
    part = slice(span.first - samples.first, last - samples.first + 1)
    left = left[..., part] if left.ndim else left
    right = right[..., part] if right.ndim else right
    values = (
        _COMPARE[atom.comparison](left, right)
        if lattice.dtype is np.bool_
        else _margin(atom, left, right, plan.scales[atom])
    )
    strip = Strip(values, span.first)
    if span.last <= frame.last or frame.beyond in ("held", "absent"):
        return _both(strip)
    count = span.last - frame.last
    low = Strip(_extended(values, count, lattice.false), span.first)
    if frame.beyond == "false":
        return _both(low)
    return low, Strip(_extended(values, count, _true(lattice)), span.first)


def _extended(values: Values, count: int, value: bool | float) -> Values:
    tail = np.full((*values.shape[:-1], count), value, values.dtype)
    return np.concatenate([values, tail], axis=-1)


_COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def _margin(atom: Atom, left: Values, right: Values, scale: float) -> Values:
    """The margin in multiples of `scale`; overflow gives infinities, never NaN; 0.0 for -0.0."""
    if atom.comparison in ("<", "<="):
        left, right = right, left
    values: Values = np.subtract(left, right)
    if scale != 1.0:
        values /= scale
    values += 0.0
    return values
