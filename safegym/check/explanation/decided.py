"""How a decided verdict came about, in words: operators down the path, then the deciding atom."""

from collections.abc import Iterator, Sequence

from safegym.check.explanation.amounts import moment
from safegym.check.explanation.findings import Findings, Level, above_of, levels_of
from safegym.check.explanation.levels import level_words
from safegym.check.explanation.phrases import LONGEST, condition_words, duty_words
from safegym.check.explanation.shown import shown
from safegym.check.monitor.explain import Path
from safegym.check.monitor.obligations import Duty, obligation_of
from safegym.check.monitor.robustness import Run
from safegym.check.monitor.strip import take
from safegym.check.monitor.witness import ended_by_failure, side_at
from safegym.formula.nodes import Atom, Boolean

MOST_LEVELS = 4
"""Operators of one path that are told; of more, the first two and the last two."""


def decided_words(found: Findings) -> Iterator[str]:
    """Yields sentences about a violated or satisfied verdict."""
    held = found.verdict.status == "satisfied"
    if not found.duties:
        yield from path_words(found, found.path, held=held)
        return
    duty = found.duties[-1]
    above = above_of(found.duties[0])
    if len(above) > 1 or (above and not above[0].universal):
        yield from _level_sentences(found, above, held=False)
    for each in found.duties:
        yield f"{unmet_words(found, each)}: that was not met."
    yield from nearest_words(found, duty)


def nearest_words(found: Findings, duty: Duty) -> Iterator[str]:
    """Yields the sentence about what came nearest to meeting a duty."""
    if duty.nearest is not None:
        yield from deciding_sentence(found, duty.nearest, held=False, run=duty.run)


def unmet_words(found: Findings, duty: Duty) -> str:
    """Returns "At 3.2 s `fault >= 1` became true; `x <= 1 m` was due within 0.3 s (by 3.5 s)"."""
    clock = found.trace.clock
    start = moment(clock, duty.sample)
    ends = obligation_of(found.run, duty, clock).deadline
    deadline = None if ends is None else _moment_of(found, ends)
    condition = condition_words(duty.written.left, certain=duty.certain)
    return f"At {start} {condition}; {duty_words(duty.written.right, start, deadline)}"


def path_words(found: Findings, path: Path, *, held: bool) -> Iterator[str]:
    """Yields a sentence for each operator on a path, and one about what decides."""
    yield from _level_sentences(found, found.levels(path), held=held)
    yield from deciding_sentence(found, path, held=held)


def _level_sentences(found: Findings, levels: Sequence[Level], *, held: bool) -> Iterator[str]:
    skipped = len(levels) - MOST_LEVELS
    for place, level in enumerate(levels):
        if skipped > 0 and place == 2:
            yield f"({skipped} more operators between are in the witness's chain.)"
        if skipped <= 0 or not 2 <= place < 2 + skipped:
            text = level_words(found, level, held=held)
            yield f"{text[0].upper()}{text[1:]}."


def deciding_sentence(
    found: Findings, path: Path, *, held: bool, run: Run | None = None, lead: str | None = None
) -> Iterator[str]:
    """Yields sentences about the end of a path, and about an episode that failed on the way.

    lead: how to begin where no operator is on the path, such as "It held best".
    """
    run = found.run if run is None else run
    slot = run.plan.slots[path.slots[-1]]
    if isinstance(slot.formula, Boolean):
        yield f"The constant `{slot.formula}` decides."
    elif isinstance(slot.formula, Atom) and not ended_by_failure(run, path):
        begin = _lead(found, run, path, held=held, lead=lead)
        yield f"{begin}{atom_words(run, path)}."
    elif not isinstance(slot.formula, Atom):
        yield _no_sample(found, run, path)
    beyond = max((level.last for level in levels_of(run, path)), default=0)
    if run.frame.beyond == "false" and max(beyond, path.sample) > run.frame.last:
        at = moment(found.trace.clock, run.frame.last)
        reason = reason_of(found)
        yield f"The episode failed at {at}{reason}; what was due after that counts as failed."


def reason_of(found: Findings) -> str:
    """Returns the reason of the episode's end in parentheses, or nothing."""
    reason = found.trace.end.reason
    return f" ({reason[:LONGEST]})" if reason else ""


def atom_words(run: Run, path: Path) -> str:
    """Returns what the atom at the end of a path says at its sample."""
    index = path.slots[-1]
    atom, step = run.plan.slots[index].formula, min(path.sample, run.frame.last)
    if not isinstance(atom, Atom):
        return ""
    view = shown(atom)
    sides = tuple(side_at(run, line, step) for line in view.lines)
    holds = bool(take(run.truth.lower[index], path.sample, path.sample)[0])
    words = view.words(sides, holds=holds)
    return f"{words} (the last value, held after the end)" if path.sample > step else words


def _lead(found: Findings, run: Run, path: Path, *, held: bool, lead: str | None) -> str:
    clock, levels = found.trace.clock, levels_of(run, path)
    at = f"{moment(clock, path.sample)} (sample {path.sample})"
    if not levels and lead is not None:
        return f"{lead} at {at}, where "
    if not levels or levels[-1].first == levels[-1].last:
        return f"At {at}, "
    last = levels[-1]
    if last.is_left:
        worst = run.margins is not None and not held and not last.slot.dual
        return f"{'At its worst, at' if worst else 'At'} {at}, "
    one_is_enough = last.slot.dual != held
    if run.margins is None:
        return f"First, at {at}, " if one_is_enough else f"At {at}, for one, "
    if len(levels) > 1 and last.universal and not held and levels[-2].searches:
        return f"The best try began at {moment(clock, last.at)}; at its worst, at {at}, "
    if one_is_enough:
        return f"It held best at {at}, where " if held else f"At its worst, at {at}, "
    nearest = "It came nearest to failing" if held else "It came nearest"
    return f"{nearest} at {at}, where "


def _no_sample(found: Findings, run: Run, path: Path) -> str:
    slot = run.plan.slots[path.slots[-1]]
    at = moment(found.trace.clock, min(path.sample, run.frame.last))
    ruling = "which counts as holding" if slot.dual else "which counts as not holding"
    if slot.kind == "previous":
        return f"There is no sample before {at}, the first one, {ruling}."
    if slot.kind == "next":
        return f"There is no sample after {at}, the last one, {ruling}."
    if slot.kind in ("once", "since"):
        return f"At {at} no sample lies in the window that far back, {ruling}."
    return f"No sample of the episode lies in the window asked about at {at}, {ruling}."


def _moment_of(found: Findings, time: float) -> str:
    """The moment of an exact sample from its time in seconds."""
    clock = found.trace.clock
    return moment(clock, round((time - float(clock.start)) / float(clock.dt)))
