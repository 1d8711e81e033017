"""A temporal operator on the path, in words: what it asked for over which time, and how it went."""

from safegym.check.explanation.amounts import moment
from safegym.check.explanation.findings import Findings, Level
from safegym.check.explanation.phrases import quoted


def level_words(found: Findings, level: Level, *, held: bool) -> str:
    """Returns a sentence about one operator, without its full stop.

    held: whether the operator holds where the path passes it.
    """
    slot = level.slot
    operands = [_part(found, operand) for operand in slot.operands]
    if slot.kind in ("next", "previous"):
        return _neighbour(found, level, operands[0], held=held)
    if len(operands) == 1:
        return _one_place(found, level, operands[0], held=held)
    return _two_place(found, level, operands[0], operands[1], held=held)


def _part(found: Findings, index: int) -> str:
    return quoted(found.part(index))


def over(found: Findings, first: int, last: int) -> str:
    """Returns "from 0.1 s to 0.5 s", or "at 0.1 s" for one sample."""
    clock = found.trace.clock
    if first == last:
        return f"at {moment(clock, first)}"
    return f"from {moment(clock, first)} to {moment(clock, last)}"


def _neighbour(found: Findings, level: Level, part: str, *, held: bool) -> str:
    at = moment(found.trace.clock, level.sample)
    which = "next" if level.slot.kind == "next" else "previous"
    return f"at the {which} sample, {at}, {part} {'held' if held else 'did not hold'}"


def _one_place(found: Findings, level: Level, part: str, *, held: bool) -> str:
    when = over(found, level.first, level.last)
    past = level.slot.kind == "once"
    if level.first == level.last:
        return f"{when} {part} had to hold, and {'did' if held else 'did not'}"
    at = moment(found.trace.clock, level.sample)
    if level.universal:
        if held:
            return f"{part} held at every sample {when}"
        return f"{part} had to hold at every sample {when}, and did not"
    if held:
        return f"{part} was asked for at some sample {when}, and held at {at}"
    back = f", looking back from {moment(found.trace.clock, level.at)}" if past else ""
    return f"{part} had to hold at some sample {when}{back}, and never did"


def _two_place(found: Findings, level: Level, left: str, right: str, *, held: bool) -> str:
    when = over(found, level.first, level.last)
    at = moment(found.trace.clock, level.sample)
    future = level.slot.kind == "until"
    if not level.slot.dual:
        asked = f"{right} was due {when}, with {left} holding {'until' if future else 'since'} then"
        if held:
            return f"{asked}, and so it was"
        return f"{asked}; {_broken(found, level, left, right)}"
    asked = f"{right} had to hold {when}, until {left} released it"
    if not future:
        asked = f"{right} had to hold {when}, back to where {left} held"
    if held:
        return f"{asked}, and so it did" + (f" ({left} at {at})" if level.is_left else "")
    if level.is_left:
        return f"{asked}; it failed, and {left} had not held; nearest to that at {at}"
    return f"{asked}; it {_failed(found, level, 1, level.first)[1]}"


def _broken(found: Findings, level: Level, left: str, right: str) -> str:
    """What went wrong with an until or a since that fails: it never came, or came in vain."""
    future = level.slot.kind == "until"
    came = found.runs_of(level.slot.operands[1], level.first, level.last, holds=True)
    broke, words = _failed(found, level, 0, level.at if future else level.first)
    if came and broke is not None:
        at = moment(found.trace.clock, came[0][0] if future else came[-1][1])
        return f"{left} {words}, {'before' if future else 'after'} {right} held at {at}"
    return f"it never came, and {left} {words}" if level.is_left else "it never came"


def _failed(found: Findings, level: Level, side: int, first: int) -> tuple[int | None, str]:
    """The failure of an operand that counts, and "first failed at 1 s", "last failed at 1 s"."""
    future, slot = level.slot.kind == "until", level.slot.operands[side]
    last = level.last if future or side else level.at
    runs = found.runs_of(slot, first, last, holds=False)
    if not runs:
        return None, f"failed at {moment(found.trace.clock, level.sample)}"
    at = runs[0][0] if future else runs[-1][1]
    return at, f"{'first' if future else 'last'} failed at {moment(found.trace.clock, at)}"
