"""The parts of a formula one by one, with their polarity, and the formula with one replaced."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from safegym.formula import nodes as n
from safegym.formula.nodes import FALSE, TRUE, Formula

Path = tuple[int, ...]
"""From the root down: which argument is taken at each node."""
MOST = 40
"""Most parts of one formula that are looked at, the outermost first."""


@dataclass(frozen=True, slots=True)
class Part:
    """One occurrence. polarity: 1 where making it true more often makes the whole so, -1 where
    less often, 0 where neither is known (under iff or xor).
    """

    path: Path
    formula: Formula
    polarity: int


def parts(root: Formula) -> Iterator[Part]:
    """Yields every proper occurrence below the root, outermost first, constants left out."""
    waiting = deque([Part((), root, 1)])
    while waiting:
        part = waiting.popleft()
        if part.path and not isinstance(part.formula, n.Boolean):
            yield part
        for place, (inner, sign) in enumerate(_inside(part.formula)):
            waiting.append(Part((*part.path, place), inner, part.polarity * sign))


def replaced(root: Formula, path: Path, value: bool) -> Formula:
    """The formula with the occurrence at a path replaced by a constant."""
    chain = [root]
    for place in path:
        chain.append(_inside(chain[-1])[place][0])
    found: Formula = TRUE if value else FALSE
    for node, place in zip(reversed(chain[:-1]), reversed(path), strict=True):
        found = _with(node, place, found)
    return found


def _inside(node: Formula) -> list[tuple[Formula, int]]:
    """The arguments of a node, each with how it bears on the node."""
    match node:
        case n.Nary():
            return [(each, 1) for each in node.arguments]
        case n.Implies():
            return [(node.left, -1), (node.right, 1)]
        case n.Iff() | n.Xor():
            return [(node.left, 0), (node.right, 0)]
        case n.Not():
            return [(node.argument, -1)]
        case n.Unary() | n.WindowedUnary():
            return [(node.argument, 1)]
        case n.WindowedBinary():
            return [(node.left, 1), (node.right, 1)]
        case n.Fraction():
            return [(node.argument, -1 if node.comparison in ("<", "<=") else 1)]
        case _:
            return []


def _with(node: Formula, place: int, inner: Formula) -> Formula:
    """The node with one argument replaced."""
    match node:
        case n.Nary():
            given = [*node.arguments[:place], inner, *node.arguments[place + 1 :]]
            return n.all_of(given) if isinstance(node, n.And) else n.any_of(given)
        case n.Binary():
            sides = (inner, node.right) if place == 0 else (node.left, inner)
            return type(node)(*sides)
        case n.WindowedUnary():
            return type(node)(inner, node.window)
        case n.WindowedBinary():
            sides = (inner, node.right) if place == 0 else (node.left, inner)
            return type(node)(*sides, node.window)
        case n.Unary():
            return type(node)(inner)
        case n.Fraction():
            return n.Fraction(inner, node.comparison, node.bound)
        case _:
            return node
