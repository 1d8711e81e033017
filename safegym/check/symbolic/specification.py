"""Questions about claims before any episode: can they hold, can they fail, do they conflict."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from safegym.check.monitor import judge
from safegym.check.symbolic.engine import answer
from safegym.check.symbolic.finding import Finding, SpecificationReport
from safegym.check.symbolic.patterns import probabilities_conflict
from safegym.check.symbolic.terms import refusal
from safegym.check.symbolic.world import World, all_signals
from safegym.errors import UnsupportedError
from safegym.formula import nodes as n
from safegym.formula.claim import Claim
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.reading import look_ahead
from safegym.formula.rewrite import negate, nnf, to_steps
from safegym.formula.terms import UNBOUNDED, Signal
from safegym.trace.model import Trace

CAN_HOLD = "can hold"
CAN_FAIL = "can fail"
CAN_ARISE = "its condition can arise"
TOGETHER = "can hold together"
NO_TIME = "no answer in time"
ROOM = Fraction(1, 10**6)
"""Units by which a witness clears each limit, where that is possible."""


def check_specification(
    claims: Sequence[Claim],
    *,
    dt: Fraction,
    horizon: int,
    timeout: float = 10.0,
    signals: Iterable[Signal] = (),
) -> SpecificationReport:
    """Ask z3 about each claim and about all of them, over every trace of `horizon` steps.

    signals: declarations (bounds, max_rate) that replace those in the claims. timeout: seconds a
    question; one that runs out is "unknown", never a pass and never a flaw. Every witness has been
    judged by the monitor. Answers speak of traces within the horizon's steps, at samples.
    """
    check = _Check(dt, horizon, timeout, {signal.name: signal for signal in signals})
    findings: list[Finding] = []
    clear: list[Claim] = []
    for claim in claims:
        reason = _refused(claim)
        if reason is not None:
            findings.append(Finding(CAN_HOLD, (claim.id,), "unknown", "not asked", reason))
            continue
        clear.append(claim)
        findings.extend(check.about(claim))
    if len(clear) > 1:
        findings.append(check.together(clear))
    return SpecificationReport(tuple(findings), horizon)


def _refused(claim: Claim) -> str | None:
    """Why z3 cannot be asked about this claim, or None."""
    if claim.kind == "mean":
        return "a mean over episodes is no property of one trace"
    if any(isinstance(node, n.Fraction) for node in postorder(claim.property)):
        return "a share of time is not put to z3 here"
    found = refusal(claim.property)
    return None if found is None else f"`{found[1]}`: {found[0]}"


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

    def about(self, claim: Claim) -> Iterator[Finding]:
        """Can it hold, can it fail, and can its conditions arise."""
        holds = self._ask([(claim.property, claim, True)])
        yield self._finding(CAN_HOLD, (claim.id,), holds, "no trace satisfies it")
        fails = self._ask([(claim.property, claim, False)])
        yield self._finding(
            CAN_FAIL, (claim.id,), fails, "every trace satisfies it: it says nothing"
        )
        for condition in _conditions(claim.formula):
            arises = self._ask([(n.Eventually(condition, UNBOUNDED), claim, True)])
            about = f"{claim.id}: {condition}"
            yield self._finding(CAN_ARISE, (claim.id,), arises, "it never arises", about)

    def together(self, claims: Sequence[Claim]) -> Finding:
        """Whether all can be true at once, and if not, which smallest set cannot."""
        ids = tuple(claim.id for claim in claims)
        answer = self._ask([(claim.property, claim, True) for claim in claims])
        if answer.word != "unsat":
            return self._finding(TOGETHER, ids, answer, "")
        core = self._core(claims)
        named = tuple(claim.id for claim in core)
        if all(claim.kind == "trace" for claim in core):
            return Finding(TOGETHER, named, "flawed", "no", "no trace satisfies all of these")
        return self._together_in_probability(claims, named)

    def _together_in_probability(self, claims: Sequence[Claim], named: tuple[str, ...]) -> Finding:
        """Properties that exclude each other can still have probabilities that add up."""
        patterns: list[tuple[bool, ...]] = []
        for pattern in _patterns(len(claims)):
            pairs = zip(claims, pattern, strict=True)
            answer = self._ask([(claim.property, claim, truth) for claim, truth in pairs])
            if answer.word == "unknown":
                return Finding(TOGETHER, named, "unknown", NO_TIME)
            if answer.word == "sat":
                patterns.append(pattern)
        detail = "no episode satisfies all of these"
        if probabilities_conflict(claims, patterns):
            return Finding(TOGETHER, named, "flawed", "no", f"{detail}, nor can the probabilities")
        return Finding(TOGETHER, named, "ok", "yes", f"{detail}, but the probabilities can be met")

    def _core(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """A smallest set that cannot hold together (smallest first; time-outs count as sat)."""
        for size in range(1, len(claims)):
            for group in combinations(claims, size):
                if self._ask([(c.property, c, True) for c in group]).word == "unsat":
                    return group
        return tuple(claims)

    def _ask(self, wanted: Sequence[tuple[Formula, Claim, bool]]) -> _Answer:
        """Whether some trace gives each formula its truth value.

        Asked first with some room at every limit, so that the witness survives rounding.
        """
        roomy = self._solve(wanted, ROOM)
        return roomy if roomy.word == "sat" else self._solve(wanted, Fraction(0))

    def _solve(self, wanted: Sequence[tuple[Formula, Claim, bool]], slack: Fraction) -> _Answer:
        plain = [formula if truth else negate(formula) for formula, _, truth in wanted]
        steps = [
            to_steps(nnf(formula), self.dt, rounding=claim.rounding)
            for formula, (_, claim, _) in zip(plain, wanted, strict=True)
        ]
        samples = self.horizon + 1 + max(look_ahead(step) for step in steps)
        signals = all_signals(plain, self.declared)
        world = World(signals, self.dt, self.horizon, samples, slack)
        try:
            constraints = [*world.rules(), *(world.holds(step) for step in steps)]
        except UnsupportedError:
            return _Answer("unknown")
        word, model = answer(constraints, int(self.timeout * 1000))
        if word != "sat":
            return _Answer(word)
        trace = world.trace(model)
        agreed = all(
            judge(Claim(id="question", statement=formula, rounding=claim.rounding), trace).status
            == "satisfied"
            for formula, (_, claim, _) in zip(plain, wanted, strict=True)
        )
        return _Answer("sat", trace) if agreed else _Answer("unknown")

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


def _patterns(count: int) -> Iterator[tuple[bool, ...]]:
    """Every pattern of truth values over `count` claims."""
    for code in range(2**count):
        yield tuple(bool(code >> position & 1) for position in range(count))


def _conditions(formula: Formula) -> tuple[Formula, ...]:
    """The left sides of implications, as written."""
    found = [node.left for node in postorder(formula) if isinstance(node, n.Implies)]
    return tuple(dict.fromkeys(found))
