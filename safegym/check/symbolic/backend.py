"""z3 as a judge of traces: the second backend, built apart from the monitor."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from safegym.check.monitor.readings import Readings, read, refuse_other_units
from safegym.check.monitor.subject import check_subject, check_trace, property_of
from safegym.check.symbolic.engine import LOCK, Bool, Real, answer, z3
from safegym.check.symbolic.outline import Outline
from safegym.check.symbolic.terms import comparison, rational, rounded_term_real
from safegym.check.symbolic.unroll import Unrolling
from safegym.errors import FormulaError, UnsupportedError
from safegym.formula import nodes as n
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.nodes import Atom, Formula
from safegym.formula.rewrite import nnf, signals_of, to_steps
from safegym.formula.terms import Apply
from safegym.trace.model import Trace
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

    def atom(self, node: Atom, at: int) -> Bool:
        """The comparison of the two binary64 values, as exact rationals."""
        sides = (self.readings.value(node.left), self.readings.value(node.right))
        left, right = (rational(float(side[at] if side.ndim else side)) for side in sides)
        return z3.simplify(comparison(node, left, right))

    def unrolling(self, *, unknown: bool, exact: bool) -> Unrolling:
        """The rules over this trace; `exact` puts free reals where samples were not seen."""
        return Unrolling(self.outline, self.atom, unknown, _Unseen() if exact else None)


class _Unseen:
    """Atoms over values of samples that nobody saw: free reals, which binary64 values are among."""

    def __init__(self) -> None:
        self._results: dict[tuple[Apply, int], Real] = {}

    def __call__(self, node: Atom, at: int) -> Bool:
        sides = [
            rounded_term_real(side, partial(_free, at), partial(self._result, at))
            for side in (node.left, node.right)
        ]
        return comparison(node, *sides)

    def _result(self, at: int, term: Apply) -> Real:
        """The result of an operation that rounds: one free real for each term and sample."""
        if (term, at) not in self._results:
            self._results[term, at] = z3.Real(f"result {len(self._results)}")
        return self._results[term, at]


def _free(at: int, name: str, component: int) -> Real:
    return z3.Real(f"{name}[{component}]@{at}")


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
                    reason="a mean over episodes is no property of one trace",
                    subformula=str(subject.statement),
                )
            subject = subject.property
        try:
            nnf(subject)
        except (FormulaError, UnsupportedError) as error:
            return Support(ok=False, reason=str(error), subformula=short(subject))
        return Support(ok=True)

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
        steps = to_steps(formula, trace.clock.dt, rounding=rounding)
        last = len(trace.rewards)
        refuse_other_units(signals_of(formula), trace.units)
        arrays = read(signals_of(formula), trace.signals, last + 1)
        outline = Outline(last, trace.horizon, trace.end.kind)
        look = _Look(steps, trace, outline, Readings(arrays))
        status, notes = _status(look, exact=exact)
        return Verdict(claim_id, status, None, None, trace.digest, notes)


def _status(look: _Look, *, exact: bool) -> tuple[Status, tuple[str, ...]]:
    if isinstance(look.steps, n.Fraction):
        return _share_status(look, look.steps), ()
    must = look.unrolling(unknown=False, exact=exact).value(look.steps, 0)
    if _holds(must) or (exact and _never(z3.Not(must))):
        return "satisfied", ()
    may = look.unrolling(unknown=True, exact=exact).value(look.steps, 0)
    if _fails(may) or (exact and _never(may)):
        return "violated", ()
    note = "z3 found no value of the unseen samples excluded." if exact else ""
    return "inconclusive", (note,) if note else ()


def _share_status(look: _Look, share: n.Fraction) -> Status:
    outline = look.outline
    if outline.open and outline.horizon is None:
        least, most, total = 0, 1, 1
    else:
        seen = outline.end + 1
        counts = [_count(look, share.argument, seen, unknown) for unknown in (False, True)]
        total = seen
        if outline.open and outline.horizon is not None:
            total = outline.horizon + 1
        least, most = counts[0], counts[1] + total - seen
    holds = [_compare(share, count / total) for count in (least, most)]
    if all(holds):
        return "satisfied"
    return "inconclusive" if any(holds) else "violated"


def _count(look: _Look, argument: Formula, seen: int, unknown: bool) -> int:
    unrolling = look.unrolling(unknown=unknown, exact=False)
    return sum(_holds(unrolling.value(argument, at)) for at in range(seen))


_COMPARISONS: dict[str, Callable[[float, float], np.bool_ | bool]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _compare(share: n.Fraction, value: float) -> bool:
    return bool(_COMPARISONS[share.comparison](value, share.bound))


def _holds(value: Bool) -> bool:
    return bool(z3.is_true(z3.simplify(value)))


def _fails(value: Bool) -> bool:
    return bool(z3.is_false(z3.simplify(value)))


def _never(value: Bool) -> bool:
    """Whether z3 shows, within its limit, that the Boolean cannot be true."""
    return answer([value], TIMEOUT_MS)[0] == "unsat"


BACKEND = Z3Backend()
