"""Questions about claims before any episode: can they hold, can they fail, do they conflict."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from time import monotonic

import numpy as np

from safegym.check.monitor import judge
from safegym.check.symbolic.engine import LOCK, answer
from safegym.check.symbolic.finding import Finding, SpecificationReport
from safegym.check.symbolic.patterns import asked_of, probabilities_fit
from safegym.check.symbolic.terms import refusal
from safegym.check.symbolic.touching import touching
from safegym.check.symbolic.unroll import LIMIT
from safegym.check.symbolic.world import World, all_signals
from safegym.errors import FormulaError, UnsupportedError
from safegym.formula import nodes as n
from safegym.formula.build import never
from safegym.formula.claim import Claim
from safegym.formula.expression import text_up_to
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.reading import look_ahead
from safegym.formula.rewrite import negate, to_steps
from safegym.formula.terms import Signal, describe
from safegym.trace.conversion import conversion
from safegym.trace.model import Trace
from safegym.units import clash, unit

CAN_HOLD = "can hold"
CAN_FAIL = "can fail"
CAN_ARISE = "its condition can arise"
OCCURS = "its episodes can occur"
TOGETHER = "can hold together"
TOUCHES = "limits inside their bounds"
NO_TIME = "no answer in time"
ROOM = Fraction(1, 10**6)
"""Units by which a witness clears each limit, where that is possible."""
PATIENCE = 10
"""Limits of one question that are spent on whether probabilities can be met."""
LONGEST = 1000
"""Characters of a condition's text."""


def check_specification(
    claims: Sequence[Claim],
    *,
    dt: Fraction,
    horizon: int,
    timeout: float = 10.0,
    signals: Iterable[Signal] = (),
) -> SpecificationReport:
    """Ask z3 about each claim and about all of them, over every trace of `horizon` steps.

    Claims may declare a signal in different units of one dimension, with the same limits; they are
    compared by the exact factor. signals: declarations (bounds, max_rate) that replace those in the
    claims, limits in their unit. timeout: seconds a
    question; one that runs out is "unknown", never a pass and never a flaw. Every witness has been
    judged by the monitor. Answers speak of traces within the horizon's steps, at samples, with
    terms in real arithmetic. Raises FormulaError if two claims declare one name differently.
    """
    declared = {signal.name: signal for signal in signals}
    _check_declarations(claims, declared)
    check = _Check(dt, horizon, timeout, declared)
    with LOCK:
        return check.report(claims)


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
        if any(isinstance(node, n.Fraction) for node in postorder(formula)):
            return "a share of time is not put to z3 here"
        found = refusal(formula)
        if found is not None:
            return f"`{found[1]}`: {found[0]}"
    return None


@dataclass(frozen=True, slots=True)
class _Answer:
    """sat, unsat or unknown; the trace if sat and the monitor agrees with it."""

    word: str
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class _Check:
    dt: Fraction
    horizon: int
    timeout: float
    declared: Mapping[str, Signal]

    def report(self, claims: Sequence[Claim]) -> SpecificationReport:
        """Every question about each claim, then about all together."""
        findings: list[Finding] = []
        clear: list[Claim] = []
        for claim in claims:
            findings.extend(
                Finding(TOUCHES, (claim.id,), "ok", "warning", problem)
                for _, problem in touching(claim, self.declared)
            )
            reason = _refused(claim)
            if reason is not None:
                findings.append(Finding(CAN_HOLD, (claim.id,), "unknown", "not asked", reason))
                continue
            clear.append(claim)
            findings.extend(self.about(claim))
        if len(clear) > 1:
            findings.append(self.together(clear))
        return SpecificationReport(tuple(findings), self.horizon)

    def about(self, claim: Claim) -> Iterator[Finding]:
        """Can its condition hold, can it hold then, can it fail, can its implications arise."""
        if claim.condition is not None:
            occurs = self._ask([(claim.condition, claim, True)])
            about = text_up_to(claim.condition, LONGEST)
            vacuous = "no episode meets it, so the claim is vacuous: every episode is skipped"
            yield self._finding(OCCURS, (claim.id,), occurs, vacuous, about)
        holds = self._ask(_kept([claim]))
        flaw = "no trace satisfies it"
        if claim.condition is not None:
            flaw = "no trace that meets its condition satisfies it"
        yield self._finding(CAN_HOLD, (claim.id,), holds, flaw)
        fails = self._ask([(claim.property, claim, False)])
        yield self._finding(
            CAN_FAIL, (claim.id,), fails, "every trace satisfies it: it says nothing"
        )
        for condition in _conditions(claim):
            arises = self._ask([(never(condition), claim, False)])
            about = f"{claim.id}: {text_up_to(condition, LONGEST)}"
            yield self._finding(CAN_ARISE, (claim.id,), arises, "it never arises", about)

    def together(self, claims: Sequence[Claim]) -> Finding:
        """Whether all can be true at once, and if not, which small set cannot."""
        ids = tuple(claim.id for claim in claims)
        answer = self._ask(_kept(claims))
        if answer.word != "unsat":
            return self._finding(TOGETHER, ids, answer, "")
        core = self._core(claims)
        if all(claim.kind == "trace" for claim in core):
            named = tuple(claim.id for claim in core)
            return Finding(TOGETHER, named, "flawed", "no", "no trace satisfies all of these")
        found = self._together_in_probability(core)
        if found.status != "ok" or len(core) == len(claims):
            return found
        whole = self._together_in_probability(claims)
        return self._narrowed(claims, core) or whole if whole.status == "flawed" else whole

    def _narrowed(self, claims: Sequence[Claim], cleared: Sequence[Claim]) -> Finding | None:
        """The first pair of claims whose probabilities exclude each other."""
        for pair in combinations(claims, 2):
            if pair != tuple(cleared) and self._excluded(pair):
                found = self._together_in_probability(pair)
                if found.status == "flawed":
                    return found
        return None

    def _together_in_probability(self, claims: Sequence[Claim]) -> Finding:
        """Properties that exclude each other can still have probabilities that add up.

        Patterns of truth values that some trace has are collected until a distribution over them
        meets every claim, or there is no other.
        """
        named = tuple(claim.id for claim in claims)
        detail = "no episode satisfies all of these"
        patterns: list[tuple[bool, ...]] = []
        deadline = monotonic() + PATIENCE * self.timeout
        for pattern in self._patterns(claims):
            if pattern is None or monotonic() > deadline:
                return Finding(TOGETHER, named, "unknown", NO_TIME)
            patterns.append(pattern)
            fit = probabilities_fit(claims, patterns)
            if fit == "unknown":
                return Finding(TOGETHER, named, "unknown", NO_TIME)
            if fit == "sat":
                detail += ", but the probabilities can be met"
                return Finding(TOGETHER, named, "ok", "yes", detail)
        return Finding(TOGETHER, named, "flawed", "no", f"{detail}, nor can the probabilities")

    def _patterns(self, claims: Sequence[Claim]) -> Iterator[tuple[bool, ...] | None]:
        """Every pattern of truth values that some trace has; None where z3 does not know.

        Grown formula by formula, so that what no trace begins with is not asked again.
        """
        asked = asked_of(claims)
        waiting: list[tuple[bool, ...]] = [()]
        while waiting:
            start = waiting.pop()
            if len(start) == len(asked):
                yield start
                continue
            for truth in (False, True):  # the last one put is the first one taken
                pattern = (*start, truth)
                pairs = zip(asked, pattern, strict=False)
                word = self._ask([(formula, claim, held) for (formula, claim), held in pairs]).word
                if word == "sat":
                    waiting.append(pattern)
                elif word == "unknown":
                    yield None

    def _core(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """One claim or a pair that cannot hold, else a set of which none may be left out.

        A question that runs out of time counts as one that can hold.
        """
        for size in (1, 2):
            for group in combinations(claims, size):
                if self._excluded(group):
                    return group
        core = tuple(claims)
        for claim in claims:
            rest = tuple(other for other in core if other is not claim)
            if self._excluded(rest):
                core = rest
        return core

    def _excluded(self, claims: Sequence[Claim]) -> bool:
        return self._ask(_kept(claims)).word == "unsat"

    def _ask(self, wanted: Sequence[tuple[Formula, Claim, bool]]) -> _Answer:
        """Whether some trace gives each formula its truth value.

        Asked first with some room at every limit, so that the witness survives rounding.
        """
        roomy = self._solve(wanted, ROOM)
        return roomy if roomy.word == "sat" else self._solve(wanted, Fraction(0))

    def _solve(self, wanted: Sequence[tuple[Formula, Claim, bool]], slack: Fraction) -> _Answer:
        steps = [self._steps(formula, claim, truth) for formula, claim, truth in wanted]
        samples = self.horizon + 1 + max(look_ahead(step) for step in steps)
        if samples > LIMIT:
            return _Answer("unknown")
        signals = all_signals([formula for formula, _, _ in wanted], self.declared)
        world = World(signals, self.dt, self.horizon, samples, slack)
        try:
            constraints = [*world.rules(), *(world.holds(step) for step in steps)]
        except UnsupportedError:
            return _Answer("unknown")
        word, model = answer(constraints, int(self.timeout * 1000))
        if word != "sat":
            return _Answer(word)
        trace = world.trace(model)
        agreed = all(_confirmed(trace, formula, claim, truth) for formula, claim, truth in wanted)
        return _Answer("sat", trace) if agreed else _Answer("unknown")

    def _steps(self, formula: Formula, claim: Claim, truth: bool) -> Formula:
        """The formula as it is judged, or the negation of that.

        Rounding comes first: to strengthen a negation is not to negate what was strengthened.
        """
        steps = to_steps(formula, self.dt, rounding=claim.rounding, claim=claim.id)
        return steps if truth else negate(steps)

    def _finding(
        self,
        question: str,
        ids: tuple[str, ...],
        answer: _Answer,
        flaw: str,
        about: str = "",
    ) -> Finding:
        if answer.word == "sat":
            return Finding(question, ids, "ok", "yes", about or "witness found", answer.trace)
        if answer.word == "unsat":
            return Finding(question, ids, "flawed", "no", f"{about}: {flaw}" if about else flaw)
        detail = f"limit {self.timeout:g} s a question"
        return Finding(question, ids, "unknown", NO_TIME, detail)


def _confirmed(trace: Trace, formula: Formula, claim: Claim, truth: bool) -> bool:
    """Whether the monitor gives the formula, rounded as the claim's, that truth value."""
    verdict = judge(Claim(id="question", statement=formula, rounding=claim.rounding), trace)
    return verdict.status == ("satisfied" if truth else "violated")


def _kept(claims: Sequence[Claim]) -> list[tuple[Formula, Claim, bool]]:
    """Asks for an episode that counts for every claim, and keeps each one's property."""
    return [(formula, claim, True) for formula, claim in asked_of(claims)]


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
