"""Asking z3 for a trace that gives formulas their truth values, and judging what it brings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from safegym.check.monitor import judge
from safegym.check.symbolic.engine import Bool, Model, answer
from safegym.check.symbolic.smtlib import SmtLib
from safegym.check.symbolic.unroll import LIMIT
from safegym.check.symbolic.world import Definite, World, all_signals
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.nodes import Fraction as Share
from safegym.formula.reading import look_ahead
from safegym.formula.rewrite import to_steps
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

ROOM = Fraction(1, 10**6)
"""Units by which a witness clears each limit, where rounding spoiled one that did not."""
STRIDES = (16, 5)
"""Samples between the knots of a coarser grid, tried where a question ran out of time."""
LEFT_OPEN = (
    "no trace breaks it, and some do not decide it, since it asks for samples past the "
    "horizon without an end; bound the inner window"
)
SMOOTHING = 2.0
"""Seconds that a smoother witness may take."""

Wanted = tuple[Formula, Claim, bool]
"""A formula, the claim by whose rounding it is read, and the truth value it must have."""


@dataclass(frozen=True, slots=True)
class Answer:
    """word: sat, unsat or unknown. trace: if sat, judged by the monitor to be one. note: how it
    was found, or why it was not.
    """

    word: str
    trace: Trace | None = None
    note: str = ""


@dataclass
class Asker:
    """Questions about traces of `horizon` steps that end as `kind`, with one limit of time each.

    formulas: all that will be asked about; what they share is unrolled once. export: where every
    question is written, or None. smooth: look for witnesses that are straight between few samples.
    """

    formulas: Sequence[tuple[Formula, Claim]]
    dt: Fraction
    horizon: int
    timeout: float
    declared: Mapping[str, Signal]
    kind: Definite = "horizon"
    export: SmtLib | None = None
    smooth: bool = False
    _worlds: dict[tuple[Fraction, bool], World] = field(default_factory=dict)
    _steps: dict[tuple[Formula, str], Formula] = field(default_factory=dict)

    def ask(self, name: str, wanted: Sequence[Wanted]) -> Answer:
        """Whether some trace gives each formula its truth value.

        Asked again with some room at every limit if rounding spoils the witness, and on a coarser
        grid if time runs out: what that finds is a trace on the real clock, and that it finds none
        says nothing.
        """
        if self.extent(wanted) > LIMIT:
            return Answer("unknown", note=f"more than {LIMIT} samples")
        found = self._solve(wanted, Fraction(0))
        if found.word == "spoiled":
            found = self._solve(wanted, ROOM)
            if found.word != "sat":
                found = Answer("unknown", note="no witness survives rounding to binary64")
        elif found.word == "unknown" and not found.note:
            found = self._coarse(wanted)
        elif found.word == "sat" and self.smooth:
            smooth = self._coarse(wanted, within=min(self.timeout, SMOOTHING))
            found = Answer("sat", smooth.trace or found.trace)
        if self.export is not None:
            self._write(name, wanted, found.word)
        return self._left_open(wanted) if found.word == "unsat" else found

    def _left_open(self, wanted: Sequence[Wanted]) -> Answer:
        """Whether what no trace breaks is kept by all, or left open by some."""
        here = self.here(wanted)
        if not here.opened or all(truth for _, _, truth in wanted):
            return Answer("unsat")
        word, _ = self.put(self._rules(here, wanted, here.may_fail))
        return Answer("unknown", note=LEFT_OPEN) if word == "sat" else Answer(word)

    def steps(self, formula: Formula, claim: Claim) -> Formula:
        """The formula as it is judged.

        Rounding comes first: to strengthen a negation is not to negate what was strengthened.
        """
        key = (formula, claim.id)
        if key not in self._steps:
            self._steps[key] = to_steps(formula, self.dt, rounding=claim.rounding, claim=claim.id)
        return self._steps[key]

    def _rules(
        self, here: World, wanted: Sequence[Wanted], fails: Callable[[Formula], Bool]
    ) -> list[Bool]:
        """The world's, and each formula's truth value."""
        asked = [(self.steps(formula, claim), truth) for formula, claim, truth in wanted]
        return [*here.rules(), *(here.holds(s) if truth else fails(s) for s, truth in asked)]

    def samples(self, steps: Iterable[Formula]) -> int:
        """How many samples the traces need so that nothing is left open."""
        ahead = max((look_ahead(step) for step in steps), default=0)
        return self.horizon + 1 + (ahead if self.kind == "horizon" else 0)

    def extent(self, wanted: Iterable[Wanted]) -> int:
        """How many samples leave nothing open, neither of what is asked nor of its claims."""
        wanted = list(wanted)
        formulas = [self.steps(formula, claim) for formula, claim, _ in wanted]
        claims = {claim.id: claim for _, claim, _ in wanted}
        formulas += [self.steps(f, claim) for f, claim in self.formulas if claim.id in claims]
        return self.samples(formulas)

    def here(
        self, wanted: Iterable[Wanted], *, plain: bool = False, slack: Fraction = Fraction(0)
    ) -> World:
        """The world of what is asked: the signals and the samples of its claims."""
        wanted = list(wanted)
        names = {signal.name for _, claim, _ in wanted for signal in claim.signals}
        return self.world(slack, plain=plain).only(names, self.extent(wanted))

    def world(self, slack: Fraction = Fraction(0), *, plain: bool = False) -> World:
        """The world of all formulas."""
        key = (slack, plain)
        if key not in self._worlds:
            signals = all_signals([formula for formula, _ in self.formulas], self.declared)
            longest = self.samples(self.steps(formula, claim) for formula, claim in self.formulas)
            self._worlds[key] = World(
                signals, self.dt, self.horizon, longest, slack, self.kind, plain
            )
        return self._worlds[key]

    def put(
        self, constraints: Sequence[Bool], within: float | None = None
    ) -> tuple[str, Model | None]:
        """z3's word and model, within the limit (or another, in seconds)."""
        return answer(list(constraints), (within or self.timeout) * 1000)

    def _solve(
        self,
        wanted: Sequence[Wanted],
        slack: Fraction,
        stride: int = 0,
        within: float | None = None,
    ) -> Answer:
        here = self.here(wanted, slack=slack)
        try:
            constraints = self._rules(here, wanted, here.fails)
        except UnsupportedError as error:
            return Answer("unknown", note=str(error))
        if stride:
            constraints += here.coarser(stride)
        word, model = self.put(constraints, within)
        if word != "sat" or model is None:
            return Answer(word)
        trace = here.trace(model)
        agreed = all(confirmed(trace, *each) for each in wanted)
        return Answer("sat", trace) if agreed else Answer("spoiled")

    def _coarse(self, wanted: Sequence[Wanted], within: float | None = None) -> Answer:
        for stride in STRIDES:
            if self.horizon < 2 * stride:
                continue
            found = self._solve(wanted, Fraction(0), stride, within)
            if found.word == "sat":
                note = f"found on a grid of every {stride} samples, judged on every sample"
                return Answer("sat", found.trace, note)
        return Answer("unknown")

    def _write(self, name: str, wanted: Sequence[Wanted], word: str) -> None:
        steps = [self.steps(formula, claim) for formula, claim, _ in wanted]
        counted = any(isinstance(part, Share) for step in steps for part in postorder(step))
        here = self.here(wanted, plain=counted)
        try:
            rules = self._rules(here, wanted, here.fails)
        except UnsupportedError:
            return
        if self.export is not None:
            self.export.write(name, rules, word)


def confirmed(trace: Trace, formula: Formula, claim: Claim, truth: bool) -> bool:
    """Whether the monitor gives the formula, rounded as the claim's, that truth value."""
    verdict = judge(Claim(id="question", statement=formula, rounding=claim.rounding), trace)
    return verdict.status == ("satisfied" if truth else "violated")
