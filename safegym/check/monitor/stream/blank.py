"""Whether a subformula's value is wholly unknown until it is settled.

A stream tells a value when it is settled. That loses nothing where the offline interval is
[-inf, inf] until then; where it may be narrower before, an interval built on the stream encloses
the offline one without always reaching it.
"""

from typing import NamedTuple

from safegym.check.monitor.plan import Plan, Slot


class Blank(NamedTuple):
    """lower, upper: whether that end of the interval is surely infinite until settled."""

    lower: bool
    upper: bool

    def turned(self) -> "Blank":
        """Of the negation."""
        return Blank(self.upper, self.lower)


NOT = Blank(False, False)


def blanks(plan: Plan) -> list[Blank]:
    """Returns each slot's; those with an unbounded future operator below them mean nothing."""
    found: list[Blank] = []
    for slot in plan.slots:
        found.append(_blank(plan, slot, [found[i] for i in slot.operands]))
    return found


def _blank(plan: Plan, slot: Slot, parts: list[Blank]) -> Blank:
    if slot.kind == "atom":
        return Blank(True, True)
    if slot.kind == "constant":
        return NOT
    if slot.kind in ("meet", "join"):
        late = [plan.slots[i].ahead == slot.ahead for i in slot.operands]
        if slot.kind == "meet":
            return _joined([part.turned() for part in parts], late).turned()
        return _joined(parts, late)
    last = parts[-1].turned() if slot.dual else parts[-1]
    found = _existential(plan, slot, last)
    return found.turned() if slot.dual else found


def _joined(parts: list[Blank], late: list[bool]) -> Blank:
    """Of a disjunction. late: which operands settle last."""
    lower = all(late) and all(part.lower for part in parts)
    return Blank(lower, any(part.upper for part, last in zip(parts, late, strict=True) if last))


def _existential(plan: Plan, slot: Slot, last: Blank) -> Blank:
    """Of the existential operator, by its last operand."""
    single = slot.lo == slot.hi
    if slot.kind == "next":
        return last
    if slot.kind == "eventually":
        return Blank(last.lower and single, last.upper)
    if slot.kind == "once" and slot.lo == 0:
        return Blank(last.lower and single, last.upper)
    if slot.kind == "since" and slot.lo == 0:
        late = plan.slots[slot.operands[-1]].ahead == slot.ahead
        return Blank(False, last.upper and late)
    return NOT
