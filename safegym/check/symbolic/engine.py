"""The door to z3, whose Python interface carries no usable types.

`Bool` and `Real` name what a value is meant to be; `int_from` and friends check it at run time.
"""

import threading
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


def value_of(model: Model, real: Real) -> float:
    """The binary64 number nearest to a real's value in a model (roots to 30 digits)."""
    value = model.eval(real, model_completion=True)
    if isinstance(value, _z3.AlgebraicNumRef):
        value = z3.simplify(value.approx(30))
    found: Any = value
    return float(Fraction(int(found.numerator_as_long()), int(found.denominator_as_long())))


def answer(constraints: list[Bool], timeout_ms: int) -> tuple[str, Model | None]:
    """("sat", model), ("unsat", None) or ("unknown", None) within the limit."""
    solver = z3.Solver()
    solver.set("timeout", max(1, timeout_ms))
    solver.add(*constraints)
    word = str(solver.check())
    return word, solver.model() if word == "sat" else None
