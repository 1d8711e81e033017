"""What was left open, and by which kind of end, in words."""

from collections.abc import Iterator

from safegym.check.explanation.amounts import duration, moment
from safegym.check.explanation.decided import atom_words, nearest_words, reason_of, unmet_words
from safegym.check.explanation.findings import Findings, Level
from safegym.check.explanation.levels import over
from safegym.check.explanation.phrases import quoted
from safegym.check.monitor.plan import FUTURE
from safegym.formula.nodes import Atom


def undecided_words(found: Findings) -> Iterator[str]:
    """Yields why the samples leave the claim open, what was due, and what came nearest."""
    yield from _why(found)
    for duty in found.duties:
        yield f"{unmet_words(found, duty)}: that is still open."
        yield from nearest_words(found, duty)
    nearest = found.nearest
    told = any(duty.nearest is not None for duty in found.duties)
    if not told and nearest is not None and found.atom(nearest) is not None:
        at = f"{moment(found.trace.clock, nearest.sample)} (sample {nearest.sample})"
        yield f"Of what was seen, {at} counts most: {atom_words(found.run, nearest)}."
    yield from _what_would_decide(found)


def _why(found: Findings) -> Iterator[str]:
    clock, last = found.trace.clock, found.run.frame.last
    text = quoted(found.part(found.path.slots[-1]))
    atom = found.atom(found.path)
    for first, last_hidden in found.gaps_of(*([] if atom is None else [atom])):
        if first <= found.path.sample <= last_hidden:
            when = over(found, first, last_hidden)
            yield f"Nothing is known {when} (a gap in the record), where {text} is needed."
            return
    end = f"The episode {_ended(found)} at {moment(clock, last)} (sample {last})"
    level = _open_level(found)
    if level is None:
        yield f"{end} while {text} was still open."
        return
    text = f"{quoted(found.part(level.index))}, asked at {moment(clock, level.at)}"
    if level.slot.hi is not None and level.last > last:
        text = f"{text} and reading on to {moment(clock, level.last)}"
    yield f"{end} while {text}, was still open."


def _open_level(found: Findings) -> Level | None:
    """The innermost operator asked at a sample that was seen."""
    slot = found.run.plan.slots[found.path.slots[-1]]
    if not isinstance(slot.formula, Atom) and found.path.sample <= found.run.frame.last:
        return None
    asked = [each for each in found.levels(found.path) if each.at <= found.run.frame.last]
    return asked[-1] if asked else None


def _ended(found: Findings) -> str:
    end = found.trace.end
    reason = reason_of(found)
    if end.kind == "horizon":
        return f"reached its horizon{reason}"
    if end.kind == "interrupted":
        return f"was interrupted{reason}"
    return f"ended ({end.kind}){reason}"


def _what_would_decide(found: Findings) -> Iterator[str]:
    if found.path.sample <= found.run.frame.last and found.atom(found.path) is not None:
        return  # a gap, which no longer episode would fill
    ahead = found.run.plan.look_ahead
    frame = found.run.frame
    short = found.trace.end.kind == "horizon" and frame.last - frame.end < ahead
    if short and not found.gaps_of(found.formula) and not _stays_open(found):
        tail = duration(ahead, found.trace.clock)
        yield f"A tail of {tail} past the horizon would decide it."


def _stays_open(found: Findings) -> bool:
    """Whether an unbounded operator may be asked past the horizon, where no tail answers it."""
    slots, end = found.run.plan.slots, found.run.frame.end
    latest = [0] * len(slots)
    for index in range(len(slots) - 1, -1, -1):
        slot, at = slots[index], latest[index]
        if slot.unbounded_future and at + slot.lo > end:
            return True
        if slot.kind == "next":
            at += 1
        elif slot.kind in FUTURE:
            at = end if slot.hi is None else at + slot.hi
        for operand in slot.operands:
            latest[operand] = max(latest[operand], at)
    return False
