"""Questions about claims before any episode: can they hold, can they fail, do they conflict."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from safegym.check.symbolic.asking import LEFT_OPEN, Answer, Asker, Wanted
from safegym.check.symbolic.engine import LOCK
from safegym.check.symbolic.finding import NO_TIME, OPEN, Finding, Listener, SpecificationReport
from safegym.check.symbolic.mixture import Mixtures, asked_of
from safegym.check.symbolic.smtlib import SmtLib
from safegym.check.symbolic.terms import refusal
from safegym.check.symbolic.together import Together
from safegym.check.symbolic.touching import touching
from safegym.check.symbolic.vacuity import idle_parts
from safegym.check.symbolic.world import Definite
from safegym.errors import FormulaError
from safegym.formula import nodes as n
from safegym.formula.build import never
from safegym.formula.claim import Claim
from safegym.formula.expression import text_up_to
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal, describe
from safegym.rational import Exact, exact
from safegym.trace.conversion import conversion
from safegym.units import clash, unit

CAN_HOLD = "can hold"
CAN_FAIL = "can fail"
CAN_ARISE = "its condition can arise"
OCCURS = "its episodes can occur"
TOUCHES = "limits inside their bounds"
LONGEST = 1000
"""Characters of a condition's text."""


def check_specification(
    claims: Sequence[Claim],
    *,
    dt: Exact,
    horizon: int,
    timeout: float = 10.0,
    signals: Iterable[Signal] = (),
    thorough: bool = True,
    end: Definite = "horizon",
    smooth: bool = False,
    smtlib: str | Path | None = None,
    listener: Listener | None = None,
) -> SpecificationReport:
    """Ask z3 about each claim and about all of them, over every trace of `horizon` steps.

    Of each claim: can it hold; can it fail, else it says nothing; can its conditions arise; does
    every part of it matter. Of all: can they hold together, else which smallest sets cannot; does
    each add to the others, else which of them imply it. Probabilities are compared over all
    distributions of episodes, exactly.

    dt: seconds a step, exact. timeout: seconds a question; one that runs out is "unknown", never a
    pass and never a flaw. signals: declarations (bounds, max_rate) that replace those in the
    claims, limits in their unit. thorough: False leaves out the parts and what each claim adds.
    end: how the traces end; past a horizon every bounded window is seen. smooth: look for
    witnesses that are straight between few samples, which are easier to read. smtlib: a folder for
    every question as SMT-LIB 2 with its answer. listener: called with each finding.

    Claims may declare a signal in different units of one dimension, with the same limits; they are
    compared by the exact factor. Every witness has been judged by the monitor. Answers speak of
    traces within the horizon's steps, at samples, with terms in real arithmetic. Raises
    FormulaError if two claims declare one name differently or share an id.
    """
    declared = {signal.name: signal for signal in signals}
    step = exact(dt, what="dt")
    if step <= 0 or horizon < 1:
        raise FormulaError(f"dt is above 0 s and horizon from 1 step, found {dt} and {horizon}.")
    _check_ids(claims)
    _check_declarations(claims, declared)
    reasons = {claim.id: _refused(claim) for claim in claims}
    clear = [claim for claim in claims if reasons[claim.id] is None]
    export = None if smtlib is None else SmtLib(smtlib)
    asker = Asker(asked_of(clear), step, horizon, timeout, declared, end, export, smooth)
    check = _Check(claims, clear, reasons, asker, thorough)
    findings: list[Finding] = []
    with LOCK:
        for finding in check.findings():
            findings.append(finding)
            if listener is not None:
                listener(finding)
    return SpecificationReport(tuple(findings), horizon)


class _Check:
    def __init__(
        self,
        claims: Sequence[Claim],
        clear: Sequence[Claim],
        reasons: Mapping[str, str | None],
        asker: Asker,
        thorough: bool,
    ) -> None:
        self.claims, self.clear, self.reasons = claims, clear, reasons
        self.asker, self.thorough = asker, thorough

    def findings(self) -> Iterator[Finding]:
        """Yields every finding about each claim, then about all together."""
        for claim in self.claims:
            for _, problem in touching(claim, self.asker.declared):
                yield Finding(TOUCHES, (claim.id,), "ok", "warning", problem)
            reason = self.reasons[claim.id]
            if reason is not None:
                yield Finding(CAN_HOLD, (claim.id,), "unknown", "not asked", reason)
                continue
            found = list(self.about(claim))
            yield from found
            if self.thorough and all(finding.status == "ok" for finding in found):
                yield from idle_parts(self.asker, claim)
        if len(self.clear) > 1:
            yield from self.together()

    def together(self) -> Iterator[Finding]:
        """Yields whether all can hold at once, and then what each adds."""
        all_of_them = Together(self.clear, self.asker, Mixtures(self.clear, self.asker))
        found = list(all_of_them.findings())
        yield from found
        if self.thorough and all(finding.status == "ok" for finding in found):
            yield from all_of_them.adding()

    def about(self, claim: Claim) -> Iterator[Finding]:
        """Can its condition hold, can it hold then, can it fail, can its implications arise."""
        if claim.condition is not None:
            about = text_up_to(claim.condition, LONGEST)
            vacuous = "no episode meets it, so the claim is vacuous: every episode is skipped"
            yield self.found(OCCURS, claim, [(claim.condition, claim, True)], vacuous, about)
        flaw = "no trace satisfies it"
        if claim.condition is not None:
            flaw = "no trace that meets its condition satisfies it"
        kept = [(formula, claim, True) for formula, _ in asked_of([claim])]
        yield self.found(CAN_HOLD, claim, kept, flaw)
        fails = "every trace satisfies it: it says nothing"
        yield self.found(CAN_FAIL, claim, [(claim.property, claim, False)], fails)
        for condition in _conditions(claim):
            about = f"{claim.id}: {text_up_to(condition, LONGEST)}"
            wanted = [(never(condition), claim, False)]
            yield self.found(CAN_ARISE, claim, wanted, "it never arises", about)

    def found(
        self, question: str, claim: Claim, wanted: Sequence[Wanted], flaw: str, about: str = ""
    ) -> Finding:
        """The answer to one question about one claim."""
        answer = self.asker.ask(f"{question} {claim.id}", wanted)
        return _finding(question, claim, answer, flaw, about, self.asker.timeout)


def _finding(
    question: str, claim: Claim, answer: Answer, flaw: str, about: str, timeout: float
) -> Finding:
    ids = (claim.id,)
    if answer.word == "sat":
        detail = about or answer.note or "witness found"
        return Finding(question, ids, "ok", "yes", detail, answer.trace)
    if answer.word == "unsat":
        return Finding(question, ids, "flawed", "no", f"{about}: {flaw}" if about else flaw)
    detail = answer.note or f"limit {timeout:g} s a question"
    word = OPEN if answer.note == LEFT_OPEN else NO_TIME
    return Finding(question, ids, "unknown", word, detail)


def _check_ids(claims: Sequence[Claim]) -> None:
    ids = [claim.id for claim in claims]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise FormulaError(f"Two claims are called {twice}; give each its own id.")


def _check_declarations(claims: Sequence[Claim], declared: Mapping[str, Signal]) -> None:
    """One name must mean one quantity, else claims would be compared that speak of two."""
    found = dict(declared)
    for claim in claims:
        for signal in claim.signals:
            other = found.setdefault(signal.name, signal)
            problem = clash(unit(other.unit), unit(signal.unit))
            if problem or not _agree(signal, other, replaced=signal.name in declared):
                raise FormulaError(
                    f"Signal {signal.name!r} is declared in two ways: {describe(other)} and, in "
                    f"claim {claim.id}, {describe(signal)}.{problem and f' {problem}.'} Declare it "
                    "once and use that object."
                )


def _agree(one: Signal, other: Signal, *, replaced: bool) -> bool:
    """Whether two declarations have one shape, and the same limits unless they are replaced."""
    lengths = one.any_length or other.any_length or one.shape == other.shape
    return lengths and (replaced or _same_limits(one, other) or _same_limits(other, one))


def _same_limits(one: Signal, other: Signal) -> bool:
    """Whether bounds, rate and labels are the same once those of `one` are read in other's unit."""
    convert = conversion(one.name, one.unit, other.unit)
    limits = [(*(s.bounds or ()), *((s.max_rate,) if s.max_rate else ())) for s in (one, other)]
    given = [(s.bounds is None, s.max_rate is None, s.coding) for s in (one, other)]
    numbers = np.array(limits[0])
    read = numbers if convert is None else convert(numbers)
    return given[0] == given[1] and read.tolist() == list(limits[1])


def _refused(claim: Claim) -> str | None:
    """Why z3 cannot be asked about this claim, or None."""
    if claim.kind == "mean":
        return "a mean over episodes is no property of one trace"
    for formula, _ in asked_of([claim]):
        found = refusal(formula)
        if found is not None:
            return f"`{found[1]}`: {found[0]}"
    return None


def _conditions(claim: Claim) -> tuple[Formula, ...]:
    """The left sides of implications, as written."""
    formulas = claim.formula, *(() if claim.condition is None else (claim.condition,))
    found = [
        node.left
        for formula in formulas
        for node in postorder(formula)
        if isinstance(node, n.Implies)
    ]
    return tuple(dict.fromkeys(found))
