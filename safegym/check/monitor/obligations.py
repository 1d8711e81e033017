"""Implications on the way to a violation: what was asked for, and was not met.

The witness of a violated `always(a.implies(b))` is the part with the deciding margin, which can be
the condition: for a 0/1 flag `a` the value of `not a` is nearer to its limit than that of `b`. So
the verdict also says which implication failed, by when its duty was due, and what came nearest to
meeting it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from safegym.check.monitor.explain import Path, Side, best_of, deciding, window_at
from safegym.check.monitor.plan import FUTURE, plan_of
from safegym.check.monitor.readings import Unseen
from safegym.check.monitor.robustness import Run
from safegym.check.monitor.robustness import run as run_plan
from safegym.check.monitor.strip import take
from safegym.check.monitor.witness import witness_of
from safegym.formula import nodes
from safegym.formula.claim import Rounding
from safegym.formula.expression import text_up_to
from safegym.formula.nodes import Formula
from safegym.formula.reading import reads_future
from safegym.formula.rewrite import implications, to_steps
from safegym.rational import Exact
from safegym.trace.clock import Clock
from safegym.verdict import Obligation

LONGEST = 300
"""Characters of each side's text."""


@dataclass(frozen=True, slots=True)
class Duty:
    """An implication that a path passes: its right side fell due at `sample` and is not met.

    within, place: the path, one of `outer`, and where on it the implication stands. slots: the
    duty's own, any of which would meet it. nearest: from the one that came nearest down to what
    decides it, None where nothing of it was seen; a path of `run`, which is the duty's own where
    only its own margins compare.
    """

    outer: Run
    within: Path
    place: int
    written: nodes.Implies
    sample: int
    slots: tuple[int, ...]
    run: Run
    nearest: Path | None

    @property
    def certain(self) -> bool:
        """Whether the condition is told by the samples up to this one, not by later ones."""
        return not reads_future(self.written.left)

    @property
    def texts(self) -> tuple[str, str]:
        """The condition and what was asked for, as written."""
        return _text(self.written.left), _text(self.written.right)

    @property
    def entered(self) -> bool:
        """Whether the path itself goes on into the duty, not into the condition."""
        after = self.within.slots[self.place + 1 : self.place + 2]
        return bool(after) and after[0] in self.slots


def duties(
    run: Run, path: Path, formula: Formula, rounding: Rounding, gaps: Unseen = ()
) -> tuple[Duty, ...]:
    """Returns the implications of `formula` that went unmet on a path, from the root down.

    Below an implication its duty is followed, whichever side has the deciding margin. Of a
    violation all that failed; of an undecided episode those whose condition surely held.
    """
    written = implications_of(formula, run.plan.dt, rounding)
    found: list[Duty] = []
    along: Path | None = path
    while along is not None:
        known = {duty.written for duty in found}
        duty = _first(run, along, written, known, rounding, gaps)
        if duty is None:
            break
        found.append(duty)
        run, along = duty.run, duty.nearest
    return tuple(found)


def _first(
    run: Run,
    path: Path,
    written: Mapping[Formula, nodes.Implies],
    known: set[nodes.Implies],
    rounding: Rounding,
    gaps: Unseen,
) -> Duty | None:
    for place, (index, sample) in enumerate(zip(path.slots, path.samples, strict=True)):
        implication = written.get(run.plan.slots[index].formula)
        if implication is None or implication in known or sample > run.frame.last:
            continue
        slots = _duty_slots(run, index, implication, rounding)
        if not slots or (_may(run, index, sample) and _excused(run, index, slots, sample)):
            continue
        seen = _compared(run, implication.right, rounding, sample, gaps)
        start = slots if seen is run else (len(seen.plan.slots) - 1,)
        nearest = _nearest(seen, start, sample)
        return Duty(run, path, place, implication, sample, slots, seen, nearest)
    return None


def obligation_of(run: Run, duty: Duty, clock: Clock) -> Obligation:
    """Returns a duty as verdicts carry it."""
    condition, asked = duty.texts
    return Obligation(
        time=clock.time(duty.sample),
        step=duty.sample,
        condition=condition,
        duty=asked,
        deadline=_deadline(run, duty, clock),
        nearest=None if duty.nearest is None else witness_of(duty.run, duty.nearest, clock),
    )


def note_of(duty: Duty, clock: Clock) -> str:
    """Returns the line about an implication that failed."""
    condition, asked = duty.texts
    place = f"At sample {duty.sample} ({clock.time(duty.sample):.13g} s)"
    if duty.certain:
        return f"{place} `{condition}` held and `{asked}` did not."
    return f"{place} `{condition}` implies `{asked}`, which was not met."


def _duty_slots(
    run: Run, index: int, implication: nodes.Implies, rounding: Rounding
) -> tuple[int, ...]:
    """The slots that belong to the right side: operands of the implication's join, or itself."""
    wanted = _duty_formulas(implication.right, run.plan.dt, rounding)
    slot = run.plan.slots[index]
    own = slot.operands if slot.kind == "join" else (index,)
    return tuple(operand for operand in own if run.plan.slots[operand].formula in wanted)


@lru_cache(maxsize=1024)
def _duty_formulas(right: Formula, dt: Exact, rounding: Rounding) -> frozenset[Formula]:
    steps = to_steps(right, dt, rounding=rounding)
    return frozenset(steps.arguments if isinstance(steps, nodes.Or) else (steps,))


def _excused(run: Run, index: int, slots: tuple[int, ...], sample: int) -> bool:
    """Whether the condition may still turn out not to hold."""
    others = [each for each in run.plan.slots[index].operands if each not in slots]
    return any(_may(run, other, sample) for other in others)


def _may(run: Run, index: int, sample: int) -> bool:
    return bool(take(run.truth.upper[index], sample, sample)[0])


def _compared(run: Run, right: Formula, rounding: Rounding, sample: int, gaps: Unseen) -> Run:
    """The run itself, or one of the duty alone where margins compare within it and not beyond."""
    if run.margins is not None:
        return run
    plan = plan_of(right, run.plan.dt, rounding)
    if plan.refusal or plan.share is not None:
        return run
    return run_plan(plan, run.frame, run.arrays, needed=sample, gaps=gaps)


def _nearest(run: Run, slots: tuple[int, ...], sample: int) -> Path | None:
    """By what was surely seen, or else by the best that could still come."""
    failed = not any(_may(run, index, sample) for index in slots)
    sides: tuple[Side, ...] = ("upper",) if failed else ("lower", "upper")
    for side in sides:
        found = deciding(run, side, sample, best_of(run, side, slots, sample))
        if failed or found.sample <= run.frame.last:
            return found
    return None


def _deadline(run: Run, duty: Duty, clock: Clock) -> float | None:
    """The end of the duty's outermost windows; its own time where it has none, None if open."""
    last = duty.sample
    pending, seen = list(duty.slots), set[int]()
    while pending:
        slot = run.plan.slots[pending.pop()]
        if slot.unbounded_future:
            return None
        if slot.kind in FUTURE:
            last = max(last, window_at(run, slot, duty.sample)[1])
        elif slot.kind in ("meet", "join"):
            pending += [each for each in slot.operands if each not in seen]
            seen.update(slot.operands)
    return clock.time(last)


@lru_cache(maxsize=1024)
def _text(formula: Formula) -> str:
    return text_up_to(formula, LONGEST)


@lru_cache(maxsize=1024)
@lru_cache(maxsize=1024)
def implications_of(
    formula: Formula, dt: Exact, rounding: Rounding
) -> dict[Formula, nodes.Implies]:
    """Returns the implications as written, each by the slot's formula that it became. Cached."""
    return implications(formula, dt, rounding=rounding)
