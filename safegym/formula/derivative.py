"""Symbolic derivatives of terms, for Taylor models of differential equations.

Units are left out: a derivative is built on terms without units, which `plain` makes.
"""

from safegym.errors import UnsupportedError
from safegym.formula.choice import Choice
from safegym.formula.expression import short
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import Atom
from safegym.formula.operations import Apply, Constant, Term
from safegym.formula.terms import Signal

ZERO, ONE = Constant(0.0), Constant(1.0)


def plain(root: Term) -> Term:
    """The same term over signals and constants without units (unit "1" and none)."""
    found: dict[Interned, Term] = {}
    for part in postorder(root):
        match part:
            case Constant():
                found[part] = Constant(part.value)
            case Signal():
                found[part] = Signal(part.name)
            case Apply():
                found[part] = Apply(part.operation, tuple(found[a] for a in part.arguments))
            case _:
                raise UnsupportedError(_refused(part))
    return found[root]


def derivative(root: Term, by: str) -> Term:
    """D root / d signal `by`, of a plain term (see `plain`).

    Raises UnsupportedError for abs, min, max and `if`, which have none everywhere.
    """
    found: dict[Interned, Term] = {}
    for part in postorder(root):
        match part:
            case Constant():
                found[part] = ZERO
            case Signal():
                found[part] = ONE if part.name == by else ZERO
            case Apply():
                found[part] = _of(part, [found[argument] for argument in part.arguments])
            case _:
                raise UnsupportedError(_refused(part))
    return found[root]


def total(left: Term, right: Term) -> Term:
    """Left + right, without terms that are 0."""
    if left is ZERO:
        return right
    return left if right is ZERO else left + right


def times(left: Term, right: Term) -> Term:
    """Left * right, without factors that are 0 or 1."""
    if left is ZERO or right is ZERO:
        return ZERO
    if left is ONE:
        return right
    return left if right is ONE else left * right


def _of(part: Apply, inner: list[Term]) -> Term:
    first, slope = part.arguments[0], inner[0]
    match part.operation:
        case "+":
            return total(slope, inner[1])
        case "-":
            return total(slope, ZERO if inner[1] is ZERO else -inner[1])
        case "neg":
            return ZERO if slope is ZERO else -slope
        case "*":
            return total(times(slope, part.arguments[1]), times(first, inner[1]))
        case "/":
            return ZERO if slope is ZERO else slope / part.arguments[1]
        case "sin":
            return times(Apply("cos", (first,)), slope)
        case "cos":
            return ZERO if slope is ZERO else -times(Apply("sin", (first,)), slope)
        case "exp":
            return times(part, slope)
        case _ if all(each is ZERO for each in inner):
            return ZERO
        case _:
            raise UnsupportedError(_refused(part))


def _refused(part: Interned) -> str:
    if isinstance(part, (Choice, Atom)):
        return "`if` has no derivative; write a model in discrete time (Dynamics) instead."
    shown = short(part) if isinstance(part, Term) else type(part).__name__
    return (
        f"`{shown}` has no derivative for a Taylor model (+ - * /, sin, cos, exp do); declare the "
        "plant in discrete time (Dynamics) instead."
    )
