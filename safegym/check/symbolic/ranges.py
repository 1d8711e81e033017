"""What terms can be while their signals stay in exact intervals: plain interval arithmetic."""

from collections.abc import Mapping
from fractions import Fraction

from safegym.check.symbolic.affine import INFINITY, Interval, plus, times, widened_down
from safegym.errors import UnsupportedError
from safegym.formula.choice import Choice
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import Atom
from safegym.formula.terms import Apply, Constant, Signal, Term

ANYTHING: Interval = (-INFINITY, INFINITY)


def range_of(term: Term, signals: Mapping[str, Interval]) -> Interval:
    """An interval that holds every value of the term, at most widened a little.

    signals: of each signal, every value that it may have. Raises UnsupportedError for a term that
    `term_real` does not take.
    """
    found: dict[Interned, Interval] = {}
    for part in postorder(term):
        match part:
            case Constant():
                found[part] = (Fraction(part.value), Fraction(part.value))
            case Signal():
                found[part] = signals.get(part.name, ANYTHING)
            case Apply():
                low, high = _applied(part, [found[each] for each in part.arguments])
                found[part] = (widened_down(low), -widened_down(-high))
            case Choice():
                found[part] = _hull(found[part.then], found[part.otherwise])
            case Atom():
                continue
            case _:
                raise UnsupportedError(f"{part} has no range.")
    return found[term]


def _applied(term: Apply, values: list[Interval]) -> Interval:
    result = values[0]
    if term.operation == "neg":
        return _negative(result)
    if term.operation == "abs":
        return _absolute(result)
    for at, value in enumerate(values[1:], 1):
        same = term.arguments[0] is term.arguments[at] and at == 1
        result = _joined(term.operation, result, value, same=same)
    return result


def _joined(operation: str, a: Interval, b: Interval, *, same: bool) -> Interval:
    match operation:
        case "+":
            return plus(a[0], b[0]), plus(a[1], b[1])
        case "-":
            return _joined("+", a, _negative(b), same=False)
        case "*":
            found = _product(a, b)
            return (max(found[0], Fraction(0)), found[1]) if same else found
        case "/":
            divisor = b[0]
            if not isinstance(divisor, Fraction) or b[0] != b[1] or divisor == 0:
                return ANYTHING
            return _product(a, (1 / divisor, 1 / divisor))
        case "min":
            return min(a[0], b[0]), min(a[1], b[1])
        case "max":
            return max(a[0], b[0]), max(a[1], b[1])
        case _:
            raise UnsupportedError(f"{operation} has no range here.")


def _product(a: Interval, b: Interval) -> Interval:
    ends = [times(one, other) for one in a for other in b]
    return min(ends), max(ends)


def _negative(a: Interval) -> Interval:
    return -a[1], -a[0]


def _absolute(a: Interval) -> Interval:
    if a[0] >= 0:
        return a
    return _negative(a) if a[1] <= 0 else (Fraction(0), max(-a[0], a[1]))


def _hull(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])
