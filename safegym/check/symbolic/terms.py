"""Terms as exact z3 reals."""

from collections.abc import Callable
from fractions import Fraction

from safegym.check.monitor.readings import SELECTING, Readings
from safegym.check.symbolic.engine import Bool, Real, z3
from safegym.errors import UnsupportedError
from safegym.formula.choice import Choice
from safegym.formula.expression import short
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import Atom, Formula
from safegym.formula.rewrite import atoms_of
from safegym.formula.terms import Apply, Component, Constant, Signal, Term

SignalReading = Callable[[str, int], Real]
"""(signal name, component) -> real; component 0 of a scalar."""
TermReading = Callable[[Apply], Real]
"""The real that stands for an operation's result."""

REFUSED = ("norm", "sqrt", "exp", "sin", "cos")


def rational(value: float) -> Real:
    """A binary64 number as the exact rational that it is."""
    exact = Fraction(value)
    return z3.Q(exact.numerator, exact.denominator)


def refusal(formula: Formula) -> tuple[str, str] | None:
    """(reason, where) if a term of the formula has no exact z3 counterpart, else None."""
    for atom in atoms_of(formula):
        for side in (atom.left, atom.right):
            found = term_refusal(side)
            if found is not None:
                return found, short(atom)
    return None


def term_refusal(term: Term) -> str | None:
    """Why a term has no exact z3 counterpart, or None."""
    for part in postorder(term):
        if isinstance(part, Apply) and part.operation in REFUSED:
            return f"{part.operation} is not exact in rational arithmetic"
    return None


def term_real(term: Term, read: SignalReading) -> Real:
    """The term over symbolic signals, in real arithmetic.

    Raises UnsupportedError for what `refusal` names.
    """
    return _built(term, read, lambda part: None)


def rounded_term_real(term: Term, read: SignalReading, rounded: TermReading) -> Real:
    """The term over symbolic signals, in binary64 arithmetic as the monitor does it.

    An operation that rounds is not what real arithmetic makes of it (x + 1 > x fails at x = 1e17),
    so its result is whatever real `rounded` gives for it: the same for the same term, else free.
    """
    known = Readings({})
    reading: set[Interned] = set()
    for part in postorder(term):
        if isinstance(part, Signal) or any(inner in reading for inner in part.parts):
            reading.add(part)

    def result(part: Apply) -> Real | None:
        if part not in reading:
            return rational(float(known.value(part)))
        return None if part.operation in SELECTING else rounded(part)

    return _built(term, read, result)


def _built(term: Term, read: SignalReading, result: Callable[[Apply], Real | None]) -> Real:
    """Parts first, without recursion; `result` may say what an operation gives."""
    found: dict[Interned, Real] = {}
    for part in postorder(term):
        match part:
            case Constant():
                found[part] = rational(part.value)
            case Signal():
                found[part] = read(part.name, 0)
            case Component():
                found[part] = read(part.signal.name, part.index)
            case Apply():
                given = result(part)
                found[part] = (
                    _operation(part, [found[argument] for argument in part.arguments])
                    if given is None
                    else given
                )
            case Atom():
                found[part] = comparison(part, found[part.left], found[part.right])
            case Choice():
                found[part] = z3.If(found[part.condition], found[part.then], found[part.otherwise])
            case _:
                raise UnsupportedError(f"{short(term)} cannot be written in z3.")
    return found[term]


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
    raise UnsupportedError(f"{short(term)} cannot be written in z3: {term.operation} is not exact.")


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
