"""One cell of a neural search put to z3: few unstable neurons, so an exact answer is in reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from safegym.check.neural.problem import Clause, Problem
from safegym.check.symbolic.affine import Line
from safegym.check.symbolic.encode import GraphEncoder, Known, Phases, q
from safegym.check.symbolic.engine import LOCK, Bool, answer, exact_value_of, z3
from safegym.errors import UnsupportedError

Box = list[tuple[Fraction, Fraction]]


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """word: "unsat": the problem's clauses hold on the cell. "sat": they may fail at `point`.

    In real semantics a point is a counterexample; in deployed semantics each node's error was free,
    so that it is one only after replay. "unknown": `reason` says why.
    """

    word: Literal["unsat", "sat", "unknown"]
    point: tuple[Fraction, ...] | None = None
    reason: str = ""


def solve_problem(
    problem: Problem,
    low: ArrayLike,
    high: ArrayLike,
    fixed_phases: Phases | None = None,
    timeout: float = 5.0,
    *,
    known: Known | None = None,
) -> CellAnswer:
    """Ask z3 whether the problem holds on the part of its region inside [low, high].

    low, high: (n,), binary64, taken exactly. fixed_phases: only points at which these neurons are
    on the named side. known: bounds of every node, taken as true on the cell; they spare cases.
    timeout: seconds, encoding included; a time-out is "unknown". Never raises for a graph that it
    cannot express (tanh, sin...): that is "unknown" as well.
    """
    started = monotonic()
    with LOCK:
        try:
            box = _cell(problem, low, high)
            if any(least > most for least, most in box):
                return CellAnswer("unsat")
            encoder = _encoded(problem, box, fixed_phases, known)
        except UnsupportedError as error:
            return CellAnswer("unknown", reason=str(error))
        if encoder.contradictory:
            return CellAnswer("unsat")
        rest = timeout - (monotonic() - started)
        if rest <= 0:
            return CellAnswer("unknown", reason=f"time limit {timeout:g} s spent on encoding")
        word, model = answer(encoder.constraints, rest * 1000)
        if word == "unsat":
            return CellAnswer("unsat")
        if word == "sat" and model is not None:
            point = [exact_value_of(model, real) for real in encoder.reals[: len(box)]]
            if None not in point:
                return CellAnswer("sat", tuple(value for value in point if value is not None))
            return CellAnswer("unknown", reason="z3's point is not rational")
    return CellAnswer("unknown", reason=f"z3 gave no answer within {timeout:g} s")


def _cell(problem: Problem, low: ArrayLike, high: ArrayLike) -> Box:
    lows, highs = (np.asarray(side, dtype=np.float64).ravel() for side in (low, high))
    if not lows.size == highs.size == problem.graph.inputs:
        raise UnsupportedError(
            f"The cell has {lows.size} lower and {highs.size} upper limits; the graph has "
            f"{problem.graph.inputs} inputs."
        )
    if not (np.isfinite(lows).all() and np.isfinite(highs).all()):
        raise UnsupportedError("The cell's limits are not finite.")
    region = problem.region
    return [
        (max(Fraction(a), c), min(Fraction(b), d))
        for a, b, c, d in zip(lows.tolist(), highs.tolist(), region.low, region.high, strict=True)
    ]


def _encoded(
    problem: Problem, box: Box, phases: Phases | None, known: Known | None
) -> GraphEncoder:
    encoder = GraphEncoder(deployed=problem.semantics != "real")
    inputs: list[Line] = []
    for low, high in box:
        inputs.append(encoder.add(low, high))
        encoder.constraints += [encoder.reals[-1] >= q(low), encoder.reals[-1] <= q(high)]
    for cut in problem.region.cuts:
        line = Line(dict(enumerate(cut.coefficients)), -cut.bound)
        encoder.constraints.append(encoder.at_most(line, Fraction(0)))
    outputs = encoder.encode(problem.graph, inputs, phases=phases, known=known)
    if not encoder.contradictory:
        failures = [_fails(encoder, clause, outputs) for clause in problem.clauses]
        encoder.constraints.append(z3.Or(*failures) if failures else z3.BoolVal(False))
    return encoder


def _fails(encoder: GraphEncoder, clause: Clause, outputs: Sequence[Line]) -> Bool:
    """None of the clause's literals holds."""
    failures = [
        encoder.at_most(outputs[each.output], Fraction(0), strict=not each.strict)
        for each in clause
    ]
    return z3.And(*failures) if failures else z3.BoolVal(True)
