"""Terms and formulas of the present sample, as functions of what `read_signals` returns.

Numbers are binary64, one sample at a time. What has no real value (a division by zero, a root of a
negative number) is NaN, which the reward refuses by the term's name.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from safegym.errors import UnsupportedError
from safegym.formula.expression import short
from safegym.formula.nodes import (
    And,
    Atom,
    Boolean,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Xor,
)
from safegym.formula.reading import scale_of
from safegym.formula.terms import Apply, Component, Constant, Signal, Term
from safegym.scenario.reward import Row

if TYPE_CHECKING:
    from safegym.scenario.spec import ScenarioSpec

Value = Callable[[Row], float]
Truth = Callable[[Row], bool]
_FAULTS = (ValueError, OverflowError, ZeroDivisionError)
_CONNECTIVES = (Not, And, Or, Implies, Iff, Xor)


def of_the_present(formula: Formula) -> bool:
    """Whether a formula reads its own sample alone: atoms under logical connectives."""
    if isinstance(formula, Atom | Boolean):
        return True
    return isinstance(formula, _CONNECTIVES) and all(
        of_the_present(part) for part in _operands(formula)
    )


def value_of(term: Term, spec: "ScenarioSpec") -> Value:
    """The term as a function of a row, in the term's unit."""
    places = {signal.name: place for place, signal in enumerate(spec.signals)}
    return _value(term, places)


def truth_of(formula: Formula, spec: "ScenarioSpec") -> Truth:
    """A formula of the present as a function of a row. Raises UnsupportedError for another."""
    places = {signal.name: place for place, signal in enumerate(spec.signals)}
    return _truth(formula, places)


def margin_of(formula: Formula, spec: "ScenarioSpec") -> Value:
    """The robustness of a formula of the present at a row, in multiples of its scale.

    Raises UnsupportedError for another formula.
    """
    places = {signal.name: place for place, signal in enumerate(spec.signals)}
    return _margin(formula, places)


def _value(term: Term, places: dict[str, int]) -> Value:
    if isinstance(term, Signal):
        place = places[term.name]
        return lambda row: float(row[place])
    if isinstance(term, Component):
        place, index = places[term.signal.name], term.index
        return lambda row: float(row[place][index])
    if isinstance(term, Constant):
        number = term.value
        return lambda row: number
    if not isinstance(term, Apply):
        raise UnsupportedError(f"A reward cannot evaluate the term {short(term)}.")
    return _applied(term.operation, [_value(part, places) for part in term.arguments])


def _applied(operation: str, parts: list[Value]) -> Value:
    if len(parts) == 1 and operation in _SINGLE:
        one, inner = _SINGLE[operation], parts[0]
        return lambda row: _real(one, inner(row))
    if len(parts) == 2 and operation in _PAIRS:
        two, (left, right) = _PAIRS[operation], parts
        return lambda row: _real(two, left(row), right(row))
    many = _MANY[operation]
    return lambda row: many([part(row) for part in parts])


def _real(function: Callable[..., float], *arguments: float) -> float:
    try:
        return function(*arguments)
    except _FAULTS:
        return math.nan


def _length(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value * value
    return math.sqrt(total)


def _least(values: list[float]) -> float:
    return math.nan if any(map(math.isnan, values)) else min(values)


def _greatest(values: list[float]) -> float:
    return math.nan if any(map(math.isnan, values)) else max(values)


_SINGLE: dict[str, Callable[[float], float]] = {
    "neg": lambda value: -value,
    "abs": abs,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
}
_PAIRS: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}
_MANY: dict[str, Callable[[list[float]], float]] = {
    "min": _least,
    "max": _greatest,
    "norm": _length,
}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def _operands(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, Not):
        return (formula.argument,)
    if isinstance(formula, And | Or):
        return formula.arguments
    if isinstance(formula, Implies | Iff | Xor):
        return formula.left, formula.right
    return ()


def _refused(formula: Formula) -> UnsupportedError:
    return UnsupportedError(
        f"`{short(formula)}` reads more than the present sample. For a formula over time take "
        "ClaimProgress or ClaimVerdict of safegym.gate.reward."
    )


def _truth(formula: Formula, places: dict[str, int]) -> Truth:
    if isinstance(formula, Boolean):
        known = formula.value
        return lambda row: known
    if isinstance(formula, Atom):
        left, right = _value(formula.left, places), _value(formula.right, places)
        compare = _COMPARE[formula.comparison]
        return lambda row: compare(left(row), right(row))
    if not of_the_present(formula):
        raise _refused(formula)
    parts = [_truth(part, places) for part in _operands(formula)]
    return _joined(formula, parts)


def _joined(formula: Formula, parts: list[Truth]) -> Truth:
    if isinstance(formula, Not):
        return lambda row: not parts[0](row)
    if isinstance(formula, And):
        return lambda row: all(part(row) for part in parts)
    if isinstance(formula, Or):
        return lambda row: any(part(row) for part in parts)
    left, right = parts
    if isinstance(formula, Implies):
        return lambda row: not left(row) or right(row)
    if isinstance(formula, Iff):
        return lambda row: left(row) == right(row)
    return lambda row: left(row) != right(row)


def _margin(formula: Formula, places: dict[str, int]) -> Value:
    if isinstance(formula, Boolean):
        limit = math.inf if formula.value else -math.inf
        return lambda row: limit
    if isinstance(formula, Atom):
        return _atom_margin(formula, places)
    if not of_the_present(formula):
        raise _refused(formula)
    parts = [_margin(part, places) for part in _operands(formula)]
    return _joined_margin(formula, parts)


def _atom_margin(atom: Atom, places: dict[str, int]) -> Value:
    greater, less = _value(atom.left, places), _value(atom.right, places)
    if atom.comparison in ("<", "<="):
        greater, less = less, greater
    scale = scale_of(atom) or 1.0
    return lambda row: (greater(row) - less(row)) / scale


def _joined_margin(formula: Formula, parts: list[Value]) -> Value:
    if isinstance(formula, Not):
        return lambda row: -parts[0](row)
    if isinstance(formula, And):
        return lambda row: _least([part(row) for part in parts])
    if isinstance(formula, Or):
        return lambda row: _greatest([part(row) for part in parts])
    left, right = parts
    if isinstance(formula, Implies):
        return lambda row: _greatest([-left(row), right(row)])
    if isinstance(formula, Iff):
        return lambda row: _equal(left(row), right(row))
    return lambda row: -_equal(left(row), right(row))


def _equal(left: float, right: float) -> float:
    """Robustness of iff: of (not a or b) and (not b or a)."""
    return _least([_greatest([-left, right]), _greatest([-right, left])])
