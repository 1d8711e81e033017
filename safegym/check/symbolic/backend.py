"""z3 as a judge of traces: the second backend, built apart from the monitor."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.conditioned import condition_notes, counted
from safegym.check.monitor.intake import conversion_notes, taken
from safegym.check.monitor.naming import naming_its_claim
from safegym.check.monitor.readings import Readings
from safegym.check.monitor.subject import check_subject, check_trace, property_of
from safegym.check.monitor.support import OF_A_MEAN
from safegym.check.symbolic.engine import LOCK, Bool, Real, answer, z3
from safegym.check.symbolic.outline import Outline
from safegym.check.symbolic.terms import comparison, rational, rounded_term_real
from safegym.check.symbolic.unroll import Unrolling
from safegym.errors import FormulaError, UnsupportedError
from safegym.formula.claim import Claim, Rounding
from safegym.formula.expression import short
from safegym.formula.nodes import Atom, Formula
from safegym.formula.rewrite import nnf, signals_of, to_steps
from safegym.formula.terms import Apply, Component, Term
from safegym.trace.gaps import hidden_at
from safegym.trace.model import Trace
from safegym.trace.resampling import resampling_notes
from safegym.verdict import Status, Support, Verdict

TIMEOUT_MS = 10_000
"""Limit of one question about unseen samples; a time-out leaves the verdict inconclusive."""


@dataclass(frozen=True, slots=True)
class _Look:
    """One formula on one trace."""

    steps: Formula
    trace: Trace
    outline: Outline
    readings: Readings
    hidden: Mapping[str, NDArray[np.bool_]]
    """Signal -> the samples at which it is not known, for signals with gaps."""

    def knows(self, read: Formula | Term, at: int) -> bool:
        """Whether a sample was seen of all signals that are read."""
        if at > self.outline.last:
            return False
        return not any(self.hidden[s.name][at] for s in signals_of(read) if s.name in self.hidden)

    def value(self, term: Term, at: int) -> Real:
        """The binary64 value of a term at a sample that was seen, as an exact rational."""
        values = self.readings.value(term)
        return rational(float(values[at] if values.ndim else values))

    def atom(self, node: Atom, at: int) -> Bool:
        """The comparison of the two binary64 values, as exact rationals."""
        return z3.simplify(comparison(node, self.value(node.left, at), self.value(node.right, at)))

    def unrolling(self, *, unknown: bool, unseen: "_Unseen | None") -> Unrolling:
        """The rules over this trace; `unseen` puts free reals where samples were not seen."""

        def atom(node: Atom, at: int) -> Bool:
            if self.knows(node, at):
                return self.atom(node, at)
            return z3.BoolVal(unknown) if unseen is None else unseen(node, at)

        def opposite() -> Unrolling:
            return self.unrolling(unknown=not unknown, unseen=unseen)

        return Unrolling(self.outline, atom, unknown, unseen, opposite)


class _Unseen:
    """Atoms over values of samples that nobody saw: free reals, which binary64 values are among."""

    def __init__(self, look: _Look) -> None:
        self._look = look
        self._signals = {signal.name: signal for signal in signals_of(look.steps)}
        self._results: dict[tuple[Apply, int], Real] = {}

    def __call__(self, node: Atom, at: int) -> Bool:
        sides = [
            rounded_term_real(side, partial(self._read, at), partial(self._result, at))
            for side in (node.left, node.right)
        ]
        return comparison(node, *sides)

    def _read(self, at: int, name: str, component: int) -> Real:
        """What was seen of a signal beside another's gap, else one free real for each sample."""
        signal = self._signals[name]
        if not self._look.knows(signal, at):
            return z3.Real(f"{name}[{component}]@{at}")
        scalar = signal.shape == () and not signal.any_length
        return self._look.value(signal if scalar else Component(signal, component), at)

    def _result(self, at: int, term: Apply) -> Real:
        """The result of an operation that rounds: one free real for each term and sample."""
        if self._look.knows(term, at):
            return self._look.value(term, at)
        if (term, at) not in self._results:
            self._results[term, at] = z3.Real(f"result {len(self._results)}")
        return self._results[term, at]


class Z3Backend:
    """Judges traces by unrolling the formula over exact rationals, with must and may apart."""

    __slots__ = ()
    name = "z3"

    def support(self, subject: Formula | Claim, /) -> Support:
        """Whether one trace can be judged on this: all but means over episodes."""
        check_subject(subject)
        if isinstance(subject, Claim):
            if subject.kind == "mean":
                return Support(
                    ok=False,
                    reason=OF_A_MEAN,
                    subformula=str(subject.statement),
                )
            subject = subject.property
        try:
            nnf(subject)
        except (FormulaError, UnsupportedError) as error:
            return Support(ok=False, reason=str(error), subformula=short(subject))
        return Support(ok=True)

    @naming_its_claim
    def check(self, subject: Formula | Claim, trace: Trace, /, *, exact: bool = False) -> Verdict:
        """The verdict on the episode property. No margins and no witness: status alone.

        exact: over all values that unseen samples could have; the result of an operation that
        rounds is taken as any number, so that what is decided holds in binary64. Raises
        UnsupportedError, TraceError.
        """
        with LOCK:
            return self._check(subject, trace, exact)

    def _check(self, subject: Formula | Claim, trace: Trace, exact: bool) -> Verdict:
        formula, rounding, claim_id = property_of(subject)
        check_trace(trace)
        status, notes = _status(_look(formula, rounding, trace), exact=exact)
        given = subject.condition if isinstance(subject, Claim) else None
        condition: Status | None = None
        if given is not None:
            held, _ = _status(_look(given, rounding, trace), exact=exact)
            condition = counted(held, status)
        read = signals_of(formula)
        made = conversion_notes(read, trace.units)
        logs = resampling_notes((signal.name for signal in read), trace.resampling)
        told = (*condition_notes(condition), *made, *logs, *notes)
        return Verdict(claim_id, status, None, None, trace.digest, told, condition=condition)


def _look(formula: Formula, rounding: Rounding, trace: Trace) -> _Look:
    steps = to_steps(formula, trace.clock.dt, rounding=rounding)
    last = len(trace.rewards)
    arrays = taken(signals_of(formula), trace)
    outline = Outline(last, trace.horizon, trace.end.kind)
    hidden = {name: hidden_at(gaps, last + 1) for name, gaps in trace.unseen.items()}
    return _Look(steps, trace, outline, Readings(arrays, trace.unseen), hidden)


def _status(look: _Look, *, exact: bool) -> tuple[Status, tuple[str, ...]]:
    unseen = _Unseen(look) if exact else None
    must = look.unrolling(unknown=False, unseen=unseen).value(look.steps, 0)
    if _holds(must) or (exact and _never(z3.Not(must))):
        return "satisfied", ()
    may = look.unrolling(unknown=True, unseen=unseen).value(look.steps, 0)
    if _fails(may) or (exact and _never(may)):
        return "violated", ()
    note = "z3 found no value of the unseen samples excluded." if exact else ""
    return "inconclusive", (note,) if note else ()


def _holds(value: Bool) -> bool:
    return bool(z3.is_true(z3.simplify(value)))


def _fails(value: Bool) -> bool:
    return bool(z3.is_false(z3.simplify(value)))


def _never(value: Bool) -> bool:
    """Whether z3 shows, within its limit, that the Boolean cannot be true."""
    return answer([value], TIMEOUT_MS)[0] == "unsat"


BACKEND = Z3Backend()
