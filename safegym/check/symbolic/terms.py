"""Terms as exact z3 reals."""

from collections.abc import Callable
from fractions import Fraction

from safegym.check.symbolic.engine import Bool, Real, z3
from safegym.errors import UnsupportedError
from safegym.formula.nodes import Atom, Formula
from safegym.formula.rewrite import atoms_of
from safegym.formula.terms import Apply, Component, Constant, Signal, Term

SignalReading = Callable[[str, int], Real]
"""(signal name, component) -> real; component 0 of a scalar."""

REFUSED = ("norm", "sqrt", "exp", "sin", "cos")


def rational(value: float) -> Real:
    """A binary64 number as the exact rational that it is."""
    exact = Fraction(value)
    return z3.Q(exact.numerator, exact.denominator)


def refusal(formula: Formula) -> tuple[str, str] | None:
    """(reason, where) if a term of the formula has no exact z3 counterpart, else None."""
    for atom in atoms_of(formula):
        for side in (atom.left, atom.right):
            found = _term_refusal(side)
            if found is not None:
                return found, str(atom)
    return None


def _term_refusal(term: Term) -> str | None:
    if not isinstance(term, Apply):
        return None
    if term.operation in REFUSED:
        return f"{term.operation} is not exact in rational arithmetic"
    if term.operation == "/" and not isinstance(term.arguments[1], Constant):
        return "division by something that is not a constant"
    return next((r for r in map(_term_refusal, term.arguments) if r is not None), None)


def term_real(term: Term, read: SignalReading) -> Real:
    """The term over symbolic signals. Raises UnsupportedError for what `refusal` names."""
    match term:
        case Constant():
            return rational(term.value)
        case Signal():
            return read(term.name, 0)
        case Component():
            return read(term.signal.name, term.index)
        case Apply():
            return _operation(term, [term_real(argument, read) for argument in term.arguments])
        case _:
            pass
    raise UnsupportedError(f"{term} cannot be written in z3.")


def _operation(term: Apply, values: list[Real]) -> Real:
    first = values[0]
    match term.operation:
        case "neg":
            return -first
        case "abs":
            return z3.If(first >= 0, first, -first)
        case "+" | "-" | "*" | "/":
            result = first
            for value in values[1:]:
                result = _arithmetic(term.operation, result, value)
            return result
        case "min" | "max":
            result = first
            for value in values[1:]:
                smaller = value < result if term.operation == "min" else value > result
                result = z3.If(smaller, value, result)
            return result
        case _:
            pass
    raise UnsupportedError(f"{term} cannot be written in z3: {term.operation} is not exact.")


def _arithmetic(operation: str, a: Real, b: Real) -> Real:
    if operation == "+":
        return a + b
    if operation == "-":
        return a - b
    return a * b if operation == "*" else a / b


def comparison(atom: Atom, left: Real, right: Real) -> Bool:
    """The atom's comparison, strictness kept."""
    match atom.comparison:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
