"""Evaluating a plan over tensors: one pass for the lower margins, one for the upper ones.

The lower pass takes an unknown value for minus infinity, the upper pass for plus infinity.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from safegym.check.gradient import operators
from safegym.check.gradient.algebra import Algebra
from safegym.check.gradient.operators import Setting
from safegym.check.gradient.strip import Element, Strip, Values, fill, joined, part, take
from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.plan import Plan, Slot
from safegym.formula.nodes import Atom, Boolean
from safegym.trace.gaps import Gaps

Hidden = Mapping[Atom, Gaps]
"""The samples at which each atom is not known."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """What a pass starts from.

    values: each atom's, at samples 0 to where it is read, at most T. hidden: where they stand for
    nothing. like: values whose rows, type and device constants take.
    """

    values: Mapping[Atom, Values]
    hidden: Hidden
    like: Values


def settled(plan: Plan, frame: Frame, spans: tuple[Span, ...], hidden: Hidden) -> list[bool]:
    """Returns for each slot whether nothing unknown can reach it: both passes agree on it."""
    found: list[bool] = []
    for slot, span in zip(plan.slots, spans, strict=True):
        opens = False
        if isinstance(slot.formula, Atom):
            late = frame.beyond == "unknown" and span.last > frame.last
            opens = late or any(first <= span.last for first, _ in hidden[slot.formula])
        elif slot.unbounded_future:
            past = frame.beyond == "unknown" and span.last + slot.lo > frame.end
            opens = frame.open or past
        found.append(not opens and all(found[operand] for operand in slot.operands))
    return found


def evaluate(
    plan: Plan,
    frame: Frame,
    spans: tuple[Span, ...],
    leaves: Leaves,
    algebra: Algebra,
    unknown: float,
    known: Mapping[int, Strip],
) -> list[Strip]:
    """Returns all slots' strips in one pass.

    unknown: minus or plus infinity. known: slots that another pass has worked out.
    """
    strips: list[Strip] = []
    for index, (slot, span) in enumerate(zip(plan.slots, spans, strict=True)):
        strip = known.get(index)
        if strip is None:
            operands = [strips[operand] for operand in slot.operands]
            values = _slot(slot, span, operands, frame, leaves, algebra, unknown)
            strip = Strip(values, span.first)
        strips.append(strip)
    return strips


def _slot(
    slot: Slot,
    span: Span,
    operands: list[Strip],
    frame: Frame,
    leaves: Leaves,
    algebra: Algebra,
    unknown: float,
) -> Values:
    if slot.kind == "constant":
        value = math.inf if cast(Boolean, slot.formula).value else -math.inf
        return fill(leaves.like, span.last - span.first + 1, algebra.element(value))
    if isinstance(slot.formula, Atom):
        seen = _seen(leaves, slot.formula, min(span.last, frame.last), algebra.element(unknown))
        return _atom(seen, span, frame, algebra, unknown)
    if slot.kind in ("meet", "join"):
        parts = [take(operand, span.first, span.last) for operand in operands]
        return algebra.minimum(parts) if slot.kind == "meet" else algebra.maximum(parts)
    oriented = algebra.dual if slot.dual else algebra
    setting = Setting(oriented, unknown, slot.lo, slot.hi, span, frame)
    if slot.kind == "until":
        return operators.until(operands[0], operands[1], setting)
    if slot.kind == "since":
        return operators.since(operands[0], operands[1], setting)
    rule = {
        "next": operators.shift_future,
        "previous": operators.shift_past,
        "eventually": operators.eventually,
        "once": operators.once,
    }[slot.kind]
    return rule(operands[0], setting)


def _seen(leaves: Leaves, atom: Atom, last: int, unknown: Element) -> Values:
    """The atom at samples 0..last, unknown in gaps."""
    values = leaves.values[atom]
    pieces: list[Values] = []
    start = 0
    for first, stop in leaves.hidden[atom]:
        if first > last:
            break
        stop = min(stop, last)
        pieces += [part(values, start, first), fill(values, stop - first + 1, unknown)]
        start = stop + 1
    return joined([*pieces, part(values, start, last + 1)])


def _atom(seen: Values, span: Span, frame: Frame, algebra: Algebra, unknown: float) -> Values:
    beyond = span.last - frame.last
    if beyond <= 0 or frame.beyond in ("held", "absent"):
        return seen
    value = -math.inf if frame.beyond == "false" else unknown
    return joined([seen, fill(seen, beyond, algebra.element(value))])
