"""Which quantities a picture shows, with their limits, failures, windows and marks."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from safegym.check.explanation.amounts import moment
from safegym.check.explanation.failures import failures
from safegym.check.explanation.findings import Findings, Level, above_of, levels_of
from safegym.check.explanation.lines import limits_of, line_of
from safegym.check.explanation.phrases import told
from safegym.check.explanation.scene import Bracket, Interval, Limit, Look, Mark, Panel
from safegym.check.explanation.shown import Shown, shown
from safegym.check.monitor.explain import Path
from safegym.check.monitor.robustness import Run
from safegym.check.monitor.witness import side_at
from safegym.check.monitor.words import formula_of
from safegym.formula.interning import postorder
from safegym.formula.nodes import Atom, Formula, WindowedBinary, WindowedUnary
from safegym.formula.terms import Term
from safegym.verdict import Status

MOST_PANELS = 4
MOST_BRACKETS = 3
MOST_LIMITS = 6
_LOOKS: dict[Status, Look] = {"violated": "bad", "satisfied": "ok", "inconclusive": "open"}


@dataclass(slots=True)
class _Draft:
    """A panel in the making."""

    view: Shown
    limits: list[Limit] = field(default_factory=list[Limit])
    shaded: tuple[Interval, ...] = ()
    fails: str = ""
    brackets: tuple[Bracket, ...] = ()
    marks: list[Mark] = field(default_factory=list[Mark])


def panels_of(found: Findings) -> tuple[Panel, ...]:
    """Returns at most `MOST_PANELS` panels, that of the deciding atom first.

    Where a duty was not met, the atom that came nearest to meeting it is first: the reader's
    question is about the duty, whichever side of the implication has the deciding margin.
    """
    drafts = _Drafts(found)
    for duty in reversed(found.duties):
        if duty.nearest is not None:
            drafts.decide(duty.run, duty.nearest, above_of(duty))
    if found.open:
        drafts.leave_open()
    for duty in found.duties:
        drafts.trigger(duty.written.left, duty.sample)
    path = found.nearest if found.open else found.path
    if path is not None and not _told_by_duty(found):
        drafts.decide(found.run, path, (), shade=not found.duties)
    drafts.beside(path or found.path)
    if not drafts.drafts:
        drafts.add_atoms([found.run.plan.slots[-1].formula])
    return drafts.panels()


def _told_by_duty(found: Findings) -> bool:
    """Whether the path goes into a duty, or has no margins to decide by where the duty has."""
    if not found.duties:
        return False
    return found.duties[0].run is not found.run or found.duties[0].entered


class _Drafts:
    """Panels by the lines that they draw, in order of importance."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.drafts: dict[tuple[Term, ...], _Draft] = {}
        self.look: Look = _LOOKS[found.verdict.status]

    def draft(self, atom: Atom) -> _Draft | None:
        """The panel of an atom's lines, None where there is no room for another."""
        view = shown(atom)
        found = self.drafts.get(view.lines)
        if found is None:
            if len(self.drafts) >= MOST_PANELS:
                return None
            found = self.drafts[view.lines] = _Draft(view)
        for limit in limits_of(view):
            known = {each.level for each in found.limits}
            if limit.level not in known and len(found.limits) < MOST_LIMITS:
                found.limits.append(limit)
        return found

    def decide(self, run: Run, path: Path, above: tuple[Level, ...], *, shade: bool = True) -> None:
        """A panel for the atom that a path ends in, with its windows, failures and mark."""
        formula = run.plan.slots[path.slots[-1]].formula
        if not isinstance(formula, Atom):
            return
        draft = self.draft(formula)
        if draft is None:
            return
        levels = list(levels_of(run, path))
        if not draft.brackets:
            draft.brackets = tuple(_bracket(run, each) for each in levels[-MOST_BRACKETS:])
        if shade and not draft.fails and self.found.verdict.status == "violated":
            draft.shaded = failures(self.found, run, path, above)
            draft.fails = told(formula) if draft.shaded else ""
        step = min(path.sample, run.frame.last)
        self._mark(draft, step, side_at(run, draft.view.lines[0], step), self.look)

    def leave_open(self) -> None:
        """Panels for what the part that was left open reads."""
        found = self.found
        self.add_atoms([found.part(found.path.slots[-1])])
        leaf, at = found.path.slots[-1], found.path.sample
        slot = found.run.plan.slots[leaf]
        brackets = [_bracket(found.run, each) for each in found.levels(found.path)]
        if slot.unbounded_future:
            last = found.run.frame.last + 1
            brackets.append(Bracket(at + slot.lo, max(last, at + slot.lo), _word(found.run, leaf)))
        for draft in list(self.drafts.values())[:1]:
            draft.brackets = draft.brackets or tuple(brackets[-MOST_BRACKETS:])

    def trigger(self, condition: Formula, sample: int) -> None:
        """Panels for a condition, marked where it held."""
        for atom in _atoms([condition]):
            draft = self.draft(atom)
            if draft is not None:
                value = side_at(self.found.run, draft.view.lines[0], sample)
                self._mark(draft, sample, value, "note")

    def beside(self, path: Path) -> None:
        """Panels for what else the operators on a path looked at, from the innermost out."""
        run = self.found.run
        decisive = ("meet", "join") if self.found.verdict.status == "satisfied" else ("join",)
        for index in reversed(path.slots):
            slot = run.plan.slots[index]
            if slot.kind in (*decisive, "until", "since"):
                self.add_atoms([self.found.part(index)])

    def add_atoms(self, formulas: Iterable[Formula]) -> None:
        """Panels for the atoms of these formulas."""
        for atom in _atoms(formulas):
            self.draft(atom)

    def _mark(self, draft: _Draft, step: int, value: float, look: Look) -> None:
        gaps = self.found.gaps_of(*draft.view.lines)
        if any(first <= step <= last for first, last in gaps):
            return
        if any(mark.sample == step for mark in draft.marks):
            return
        name = draft.view.value_text(value)
        at = moment(self.found.trace.clock, step)
        text = f"{'condition met' if look == 'note' else name} at {at}"
        draft.marks.append(Mark(step, value, text, look))

    def panels(self) -> tuple[Panel, ...]:
        """The finished panels."""
        return tuple(self._panel(draft) for draft in self.drafts.values())

    def _panel(self, draft: _Draft) -> Panel:
        view = draft.view
        lines = tuple(line_of(self.found, term) for term in view.lines)
        return Panel(
            title=" and ".join(line.name for line in lines),
            unit=view.unit,
            lines=lines,
            limits=tuple(draft.limits),
            coding=view.coding,
            shaded=draft.shaded,
            fails=draft.fails,
            brackets=draft.brackets,
            marks=tuple(draft.marks),
            gaps=self.found.gaps_of(*view.lines),
        )


def _bracket(run: Run, level: Level) -> Bracket:
    return Bracket(level.first, level.last, _word(run, level.index))


def _word(run: Run, index: int) -> str:
    """The operator's word and window: "eventually[0,0.3]"."""
    formula = formula_of(run.plan, index)
    if isinstance(formula, WindowedUnary | WindowedBinary):
        return f"{formula.word}{formula.window}"
    return run.plan.slots[index].kind


def _atoms(formulas: Iterable[Formula]) -> list[Atom]:
    """Atoms in order of appearance, as many as a few pictures could show."""
    found: dict[Atom, None] = {}
    for formula in formulas:
        for node in postorder(formula):
            if isinstance(node, Atom):
                found.setdefault(node)
                if len(found) >= 4 * MOST_PANELS:
                    return list(found)
    return list(found)
