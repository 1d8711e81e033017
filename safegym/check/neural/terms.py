"""Terms and atoms of the language as nodes of a graph."""

from collections.abc import Mapping

import numpy as np

from safegym.check.neural.graph import GraphBuilder
from safegym.errors import UnsupportedError
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.nodes import Atom
from safegym.formula.terms import Apply, Component, Constant, Signal, Term

Entry = tuple[int, int]
"""(node, entry) at which a signal's component stands in the graph."""
Entries = Mapping[tuple[str, int], Entry]
"""(signal name, component) -> where it stands; component 0 of a scalar."""


def term_node(term: Term, builder: GraphBuilder, entries: Entries) -> int:
    """A node of one entry that holds the term's value in exact arithmetic.

    Raises UnsupportedError for a signal without an entry, an operation without a bound, or a
    division that is not by a constant.
    """
    found: dict[object, int] = {}
    for part in postorder(term):
        match part:
            case Constant():
                found[part] = _constant(builder, part.value)
            case Signal() if part.length is None:
                found[part] = _entry(builder, entries, part.name, 0, term)
            case Component():
                found[part] = _entry(builder, entries, part.signal.name, part.index, term)
            case Apply():
                found[part] = _applied(part, builder, [found[a] for a in part.arguments])
            case _:
                pass  # a vector signal, read by component
    return found[term]


def atom_node(atom: Atom, builder: GraphBuilder, entries: Entries) -> tuple[int, bool]:
    """A node of one entry that is positive where the atom holds, and whether 0 does not do."""
    left = term_node(atom.left, builder, entries)
    right = term_node(atom.right, builder, entries)
    sign = 1.0 if atom.comparison in (">", ">=") else -1.0
    margin = builder.linear([(left, [[sign]]), (right, [[-sign]])])
    return margin, atom.comparison in ("<", ">")


def _constant(builder: GraphBuilder, value: float) -> int:
    anything = builder.input(0, 1)
    return builder.linear([(anything, np.zeros((1, 1)))], [value])


def _entry(builder: GraphBuilder, entries: Entries, name: str, at: int, term: Term) -> int:
    if (name, at) not in entries:
        known = ", ".join(sorted(f"{each}[{index}]" for each, index in entries))
        raise UnsupportedError(f"`{short(term)}` reads {name}[{at}]; known here: {known}.")
    node, entry = entries[name, at]
    return builder.select(node, [entry])


def _applied(part: Apply, builder: GraphBuilder, nodes: list[int]) -> int:
    first = nodes[0]
    match part.operation:
        case "+" | "-":
            sign = 1.0 if part.operation == "+" else -1.0
            return builder.linear([(first, [[1.0]]), (nodes[1], [[sign]])])
        case "neg":
            return builder.linear([(first, [[-1.0]])])
        case "*":
            return _product(part, builder, nodes)
        case "/":
            divisor = part.arguments[1]
            if not isinstance(divisor, Constant):
                raise UnsupportedError(f"`{short(part)}` divides by what is no constant.")
            sign = 1.0 if divisor.value > 0 else -1.0
            turned = first if sign > 0 else builder.linear([(first, [[-1.0]])])
            return builder.divide(turned, abs(divisor.value))
        case "min" | "max":
            result = first
            for other in nodes[1:]:
                result = builder.pair(part.operation, result, other)
            return result
        case "norm":
            squares = [builder.apply("square", node) for node in nodes]
            total = builder.linear([(node, [[1.0]]) for node in squares])
            return builder.apply("sqrt", total)
        case "abs" | "sqrt" | "exp" | "sin" | "cos":
            return builder.apply(part.operation, first)
    raise UnsupportedError(f"`{short(part)}` has no bound.")


def _product(part: Apply, builder: GraphBuilder, nodes: list[int]) -> int:
    left, right = part.arguments
    if isinstance(left, Constant):
        return builder.linear([(nodes[1], [[left.value]])])
    if isinstance(right, Constant):
        return builder.linear([(nodes[0], [[right.value]])])
    if left is right:
        return builder.apply("square", nodes[0])
    return builder.pair("product", *nodes)
