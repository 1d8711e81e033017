"""What was found about a verdict: its run again, the deciding path, and the duties on it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.explain import Path, Side, deciding, window_at
from safegym.check.monitor.judge import outcome_of, path_of, run_of
from safegym.check.monitor.obligations import Duty, duties, implications_of
from safegym.check.monitor.plan import FUTURE, PAST, Plan, Slot
from safegym.check.monitor.robustness import Run
from safegym.check.monitor.strip import take
from safegym.check.monitor.subject import property_of
from safegym.check.monitor.words import in_seconds
from safegym.formula.claim import Claim
from safegym.formula.interning import Interned
from safegym.formula.nodes import Atom, Formula, Implies
from safegym.formula.terms import signals_of
from safegym.trace.gaps import gaps_where
from safegym.trace.model import Trace
from safegym.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Level:
    """A temporal operator on a path: its slot, asked at sample `at`, passes on what its operand
    `child`, the step formula `part`, is at `sample`. first..last: the window, whose end may lie
    past the episode's.
    """

    slot: Slot
    index: int
    at: int
    child: int
    part: Formula
    sample: int
    first: int
    last: int

    @property
    def universal(self) -> bool:
        """Whether the operand must hold on the whole window (always, historically)."""
        return self.slot.dual and self.slot.kind in ("eventually", "once")

    @property
    def searches(self) -> bool:
        """Whether the operand may hold at any one of several samples (eventually, once)."""
        one_place = self.slot.kind in ("eventually", "once")
        return one_place and not self.slot.dual and self.first < self.last

    @property
    def is_left(self) -> bool:
        """Whether the left side of a two-place operator decides."""
        return len(self.slot.operands) > 1 and self.child == self.slot.operands[0]


@dataclass(frozen=True, slots=True)
class Findings:
    """A verdict with all that words and pictures are made of.

    formula: the episode property, as written. path: from the root to what decides; of an
    undecided verdict to what is open, and `nearest` to what limits it so far. open: whether the
    samples leave it undecided (a second backend may have decided it all the same).
    """

    verdict: Verdict
    subject: Formula | Claim
    formula: Formula
    trace: Trace
    run: Run
    path: Path
    nearest: Path | None
    duties: tuple[Duty, ...]
    parts: tuple[Formula, ...]
    open: bool

    def gaps_of(self, *read: Interned) -> tuple[tuple[int, int], ...]:
        """Closed intervals of samples at which a signal in one of these is not known."""
        names = {signal.name for each in read for signal in signals_of(each)}
        return self.trace.gaps_of(names)

    def levels(self, path: Path) -> tuple[Level, ...]:
        """The temporal operators on a path, from the root down."""
        return levels_of(self.run, path)

    def part(self, index: int) -> Formula:
        """A slot's formula, windows in seconds: implications as written, else a normal form."""
        return self.parts[index]

    def atom(self, path: Path) -> Atom | None:
        """The atom that a path ends in, None where something else decides."""
        formula = self.run.plan.slots[path.slots[-1]].formula
        return formula if isinstance(formula, Atom) else None

    def failing(self, index: int, first: int, last: int) -> list[tuple[int, int]]:
        """Runs of samples within first..last, up to the last one seen, where a slot is false."""
        first, last = max(first, 0), min(last, self.run.frame.last)
        if last < first:
            return []
        return stretches(~take(self.run.truth.upper[index], first, last), first)

    def runs_of(self, index: int, first: int, last: int, *, holds: bool) -> list[tuple[int, int]]:
        """Runs of samples within first..last, past the end too, where a slot is false, or may hold.

        Far past the end nothing changes: of that the first sample stands for all.
        """
        strip = self.run.truth.upper[index]
        first, last = max(first, 0), min(last, max(first, strip.last + 1))
        if last < first:
            return []
        return stretches(take(strip, first, last) == holds, first)


def find(verdict: Verdict, subject: Formula | Claim, trace: Trace) -> Findings:
    """Returns the findings about a verdict on this subject and trace."""
    run = run_of(subject, trace)
    formula, rounding, _ = property_of(subject)
    own = outcome_of(run)
    path = path_of(run, own)
    undecided = own == "inconclusive"
    nearest = _nearest(run) if undecided and run.plan.share is None else None
    found: tuple[Duty, ...] = ()
    if own != "satisfied" and run.plan.share is None:
        found = duties(run, path, formula, rounding, trace.unseen)
    written = implications_of(formula, trace.clock.dt, rounding)
    parts = _parts(run.plan, written)
    return Findings(verdict, subject, formula, trace, run, path, nearest, found, parts, undecided)


def _parts(plan: Plan, written: Mapping[Formula, Implies]) -> tuple[Formula, ...]:
    """Each slot's formula for a reader: implications as written, also inside others."""
    found: list[Formula] = []
    for slot in plan.slots:
        own = written.get(slot.formula)
        below = [found[operand] for operand in slot.operands]
        found.append(in_seconds(slot, below, plan) if own is None else own)
    return tuple(found)


def _nearest(run: Run) -> Path | None:
    """What an undecided episode came closest to by the samples seen, where margins tell."""
    if run.margins is None:
        return None
    sides: tuple[Side, ...] = ("upper", "lower")
    for side in sides:
        path = deciding(run, side)
        if path.sample <= run.frame.last and math.isfinite(path.ranked):
            return path
    return None


def levels_of(run: Run, path: Path) -> tuple[Level, ...]:
    """Returns the temporal operators on a path of a run, from its start down."""
    return tuple(_levels(run, path))


def above_of(duty: Duty) -> tuple[Level, ...]:
    """Returns the operators above an implication on the path that passes it."""
    above = duty.within.slots[: duty.place]
    return tuple(level for level in levels_of(duty.outer, duty.within) if level.index in above)


def _levels(run: Run, path: Path) -> Iterator[Level]:
    for place, (index, at) in enumerate(zip(path.slots[:-1], path.samples[:-1], strict=True)):
        slot = run.plan.slots[index]
        if slot.kind in (*FUTURE, *PAST):
            first, last = window_at(run, slot, at)
            child, sample = path.slots[place + 1], path.samples[place + 1]
            part = run.plan.slots[child].formula
            yield Level(slot, index, at, child, part, sample, first, max(first, last))


def stretches(held: NDArray[np.bool_], first: int = 0) -> list[tuple[int, int]]:
    """Returns the runs of true values as closed intervals; `first`: the first value's sample."""
    return [(first + start, first + end) for start, end in gaps_where(held)]
