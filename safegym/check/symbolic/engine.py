"""The door to z3, whose Python interface carries no usable types.

`Bool` and `Real` name what a value is meant to be; `int_from` and friends check it at run time.
"""

import threading
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import z3 as _z3

z3: Any = _z3
LOCK = threading.RLock()
"""Held from the first expression to the last answer: z3 keeps one context for all threads."""
Bool = Any
"""A z3 Boolean expression."""
Real = Any
"""A z3 real-valued expression."""
Model = Any
"""A z3 model."""


def total(terms: Sequence[Real]) -> Real:
    """The sum; of one term the term itself, since SMT-LIB has no sum of one."""
    return z3.Sum(list(terms)) if len(terms) > 1 else terms[0]


def value_of(model: Model, real: Real) -> float:
    """The binary64 number nearest to a real's value in a model (roots to 30 digits)."""
    value = model.eval(real, model_completion=True)
    if isinstance(value, _z3.AlgebraicNumRef):
        value = z3.simplify(value.approx(30))
    found: Any = value
    return float(Fraction(int(found.numerator_as_long()), int(found.denominator_as_long())))


def exact_value_of(model: Model, real: Real) -> Fraction | None:
    """A real's value in a model; None if it is a root and no rational."""
    value = model.eval(real, model_completion=True)
    if isinstance(value, _z3.AlgebraicNumRef):
        return None
    found: Any = value
    return Fraction(int(found.numerator_as_long()), int(found.denominator_as_long()))


LONGEST = 2**31 - 1
"""Milliseconds that z3 can count."""


def answer(
    constraints: list[Bool], timeout_ms: float, *, paths: bool = False
) -> tuple[str, Model | None]:
    """("sat", model), ("unsat", None) or ("unknown", None) within the limit.

    A limit below one millisecond, which z3 cannot count, is over before anything is asked.
    paths: long chains of equations, which z3's preprocessing would solve into numbers of many
    digits; where they are linear they go straight to the older of its two simplex solvers.
    """
    if timeout_ms < 1:
        return "unknown", None
    solver = z3.Solver()
    if paths and _linear(constraints):
        solver = z3.SimpleSolver()
        solver.set("arith.solver", 2)
    solver.set("timeout", int(min(timeout_ms, LONGEST)))
    solver.add(*constraints)
    word = str(solver.check())
    return word, solver.model() if word == "sat" else None


def _linear(constraints: list[Bool]) -> bool:
    goal = z3.Goal()
    goal.add(*constraints)
    return bool(z3.Probe("is-qflra")(goal) == 1.0)
