"""Which properties can be streamed: those whose state does not grow with the episode."""

from dataclasses import dataclass

from safegym.check.monitor.plan import Plan


@dataclass(frozen=True, slots=True)
class Parted:
    """Slots of `now and window(operand)`, seen existentially; the window reaches past now."""

    now: tuple[int, ...]
    window: int
    operand: int


def endless(plan: Plan) -> list[bool]:
    """Returns whether an unbounded future operator is at or below each slot."""
    found: list[bool] = []
    for slot in plan.slots:
        found.append(slot.unbounded_future or any(found[i] for i in slot.operands))
    return found


def parted(plan: Plan, found: list[bool], index: int, dual: bool) -> Parted | None:
    """Returns the parts of a conjunction (a disjunction, under `always`) with one window.

    None unless the window is an always or eventually, and all else of the present or the past.
    """
    slots = plan.slots
    parts = [index]
    if slots[index].kind == ("join" if dual else "meet"):
        parts = list(slots[index].operands)
    late = [i for i in parts if found[i] or slots[i].ahead > 0]
    if len(late) != 1:
        return None
    window = slots[late[0]]
    operand = window.operands[-1] if window.operands else -1
    if window.kind != "eventually" or found[operand] or slots[operand].ahead > 0:
        return None
    if window.hi is None and (window.lo > 0 or window.dual == dual):
        return None
    return Parted(tuple(i for i in parts if i != late[0]), late[0], operand)


def can_be_streamed(plan: Plan) -> bool:
    """Returns whether unbounded future operators stand where they can be streamed.

    That is under `and`, `or` and `next`, and inside an unbounded one as in
    `always(trigger implies eventually answer)`.
    """
    found = endless(plan)
    if plan.share is not None:
        return not found[-1]
    stack, seen = [len(plan.slots) - 1], set[int]()
    while stack:
        index = stack.pop()
        slot = plan.slots[index]
        if not found[index] or index in seen:
            continue
        seen.add(index)
        if slot.kind in ("meet", "join", "next"):
            stack.extend(slot.operands)
        elif not slot.unbounded_future or not _holds(plan, found, index):
            return False
    return True


def _holds(plan: Plan, found: list[bool], index: int) -> bool:
    """Whether an unbounded operator can be streamed over its operands."""
    slots = plan.slots
    slot = slots[index]
    if not any(found[i] for i in slot.operands):
        return True
    if slot.kind != "eventually":
        return False
    stack = [slot.operands[0]]
    while stack:
        part = stack.pop()
        if slots[part].kind == ("meet" if slot.dual else "join"):
            stack.extend(slots[part].operands)
        elif found[part] and parted(plan, found, part, slot.dual) is None:
            return False
    return True
