"""Terms of declared dynamics in binary64, many points at a time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import UnsupportedError
from safegym.formula.choice import Choice
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import And, Atom, Boolean, Or
from safegym.formula.rewrite import nnf
from safegym.formula.terms import Apply, Constant, Signal, Term

Floats = NDArray[np.float64]

_COMPARE: dict[str, Callable[..., Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_TWO: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}
_ONE: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
}


def values(terms: Sequence[Term], given: Mapping[str, Floats], rows: int) -> Floats:
    """Each term at each point, (rows, terms), in binary64 to the nearest.

    given: signal name -> (rows,). What overflows or leaves its domain is infinite or NaN.
    Raises UnsupportedError for a term that is no scalar of plain operations.
    """
    found: dict[Interned, Any] = {}
    with np.errstate(all="ignore"):
        for root in terms:
            for part in postorder(root):
                if part not in found:
                    found[part] = _value(part, given, found)
    out = np.empty((rows, len(terms)))
    for at, root in enumerate(terms):
        out[:, at] = found[root]
    return out


def _value(part: Interned, given: Mapping[str, Floats], found: Mapping[Interned, Any]) -> Any:
    match part:
        case Constant():
            return part.value
        case Signal() if not part.shape:
            return given[part.name]
        case Atom():
            return _COMPARE[part.comparison](found[part.left], found[part.right])
        case Choice():
            return np.where(found[part.condition], found[part.then], found[part.otherwise])
        case Apply():
            return _applied(part.operation, [found[each] for each in part.arguments])
        case _:
            shown = short(part) if isinstance(part, Term) else type(part).__name__
            raise UnsupportedError(f"`{shown}` cannot stand in declared dynamics.")


def _applied(operation: str, arguments: list[Any]) -> Any:
    if operation in _TWO:
        result = arguments[0]
        for other in arguments[1:]:
            result = _TWO[operation](result, other)
        return result
    if operation == "norm":
        return np.sqrt(sum(each * each for each in arguments))
    return _ONE[operation](arguments[0])


def truth(formula: Formula, given: Mapping[str, Floats], rows: int) -> NDArray[np.bool_]:
    """Whether a formula of one instant holds at each point, (rows,), in binary64."""
    found: dict[Interned, Any] = {}
    with np.errstate(all="ignore"):
        root = nnf(formula)
        for part in postorder(root):
            match part:
                case And() | Or():
                    rule = np.logical_and if isinstance(part, And) else np.logical_or
                    found[part] = rule.reduce([found[each] for each in part.arguments])
                case Boolean():
                    found[part] = np.full(rows, part.value)
                case Atom() | Term():
                    found[part] = _value(part, given, found)
                case _:
                    raise UnsupportedError(f"`{part}` speaks of other instants.")
    return np.broadcast_to(np.asarray(found[root], dtype=np.bool_), (rows,))
