"""For how long a violation lasted, in words."""

from collections.abc import Iterator

from safegym.check.explanation.amounts import counted, duration, moment
from safegym.check.explanation.findings import Findings, Level
from safegym.check.explanation.levels import over
from safegym.check.explanation.phrases import quoted

MOST_MOMENTS = 3
"""Other moments that are listed one by one."""


def lasting_words(found: Findings) -> Iterator[str]:
    """Yields where else the outermost universal operator's part failed, for a violated verdict."""
    if found.verdict.status != "violated":
        return
    for level in found.levels(found.path):
        if level.universal and level.first < level.last:
            yield from _failed(found, level)
            return


def _failed(found: Findings, level: Level) -> Iterator[str]:
    runs = found.failing(level.child, level.first, level.last)
    own = next((run for run in runs if run[0] <= level.sample <= run[1]), None)
    if own is None:
        return
    if own[0] == own[1] and _is_duty(found, level):
        yield from _elsewhere(found, [run for run in runs if run != own])
        return
    plain = len(found.levels(found.path)) == 1 and not found.duties
    part = "It" if plain else quoted(found.part(level.child))
    yield f"{part} failed {_stretch(found, *own)}{_in_all(found, level, runs)}."


def _is_duty(found: Findings, level: Level) -> bool:
    """Whether what the operator asks for is the implication told first."""
    return any(duty.within.slots[duty.place] == level.child for duty in found.duties[:1])


def _stretch(found: Findings, first: int, last: int) -> str:
    clock = found.trace.clock
    if first == last:
        return "at that one sample" if found.path.sample == first else over(found, first, last)
    length, count = duration(last - first, clock), counted(last - first + 1, "sample")
    if last == found.run.frame.last:
        return (
            f"from {moment(clock, first)} to the end at {moment(clock, last)} ({length}, {count})"
        )
    return f"{over(found, first, last)} ({length}, {count})"


def _in_all(found: Findings, level: Level, runs: list[tuple[int, int]]) -> str:
    seen = min(level.last, found.run.frame.last) - level.first + 1
    failed = sum(last - first + 1 for first, last in runs)
    if failed == seen:
        return ", throughout"
    if len(runs) == 1:
        return " and nowhere else"
    start = moment(found.trace.clock, runs[0][0])
    return f"; in all at {failed} of {seen} samples, in {len(runs)} stretches, first at {start}"


def _elsewhere(found: Findings, others: list[tuple[int, int]]) -> Iterator[str]:
    if not others:
        return
    clock = found.trace.clock
    listed = [moment(clock, first) for first, _ in others[:MOST_MOMENTS]]
    more = len(others) - len(listed)
    if more:
        listed.append(f"{counted(more, 'time')} more")
    text = " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))
    yield f"The same went unmet at {text}."
