"""Windows beyond any episode, cut to a length that still is."""

from dataclasses import replace

from safegym.check.monitor.plan import FUTURE, Plan, Slot

FAR = 1 << 44
"""Samples that no episode has; sums of such windows fit into 64 bits."""


def within_reach(plan: Plan) -> Plan:
    """Returns the plan with no window further away, or wider, than FAR samples."""
    if all(max(slot.lo, slot.hi or 0) <= FAR for slot in plan.slots):
        return plan
    slots: list[Slot] = []
    for slot in plan.slots:
        lo = min(slot.lo, FAR)
        hi = None if slot.hi is None else lo + min(slot.hi - slot.lo, FAR)
        ahead = max((slots[i].ahead for i in slot.operands), default=0)
        if slot.kind in FUTURE:
            ahead += lo if hi is None else hi
        slots.append(replace(slot, lo=lo, hi=hi, ahead=ahead))
    return replace(plan, slots=tuple(slots))
