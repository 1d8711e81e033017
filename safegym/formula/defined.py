"""Formulas with a name: they print as the name, and stand for their meaning."""

from typing import cast

from safegym.errors import FormulaError
from safegym.formula.checks import NAME, RESERVED
from safegym.formula.expression import Piece
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import Formula, check_formula


class Defined(Formula):
    """A formula that prints as its name, such as `hovering`; `spelled_out` puts the meaning back.

    Only sentences hold one; their formulas do not.
    """

    __slots__ = ("name", "meaning")  # noqa: RUF023  # the constructor's order
    name: str
    meaning: Formula
    judged = False

    def __new__(cls, name: str, meaning: Formula) -> "Defined":
        """Makes it. Raises FormulaError unless the name is an identifier and no word."""
        text = isinstance(cast("object", name), str)
        if not text or not NAME.match(name) or name in RESERVED:
            raise FormulaError(
                f"A definition's name must be an identifier and no word of the language, such as "
                f'"hovering"; found {name!r:.60}.'
            )
        check_formula(meaning, f"definition {name}")
        return cls._intern(str(name), meaning)

    def pieces(self) -> tuple[Piece, ...]:
        """The name."""
        return (self.name,)


def spelled_out(root: Formula) -> Formula:
    """Returns the formula with every definition replaced by what it stands for."""
    done: dict[Interned, Interned] = {}
    for node in postorder(root):
        if isinstance(node, Defined):
            done[node] = done[node.meaning]
        elif isinstance(node, Formula) and any(done[part] is not part for part in node.parts):
            done[node] = type(node)(*(_replaced(field, done) for field in node.fields))
        else:
            done[node] = node
    found = done[root]
    return found if isinstance(found, Formula) else root


def _replaced(field: object, done: dict[Interned, Interned]) -> object:
    if isinstance(field, Interned):
        return done[field]
    if isinstance(field, tuple) and field and isinstance(field[0], Interned):
        return tuple(done[part] for part in field)
    return field


def definitions_in(root: Formula) -> dict[str, Formula]:
    """Returns what each name in the formula stands for. FormulaError if one has two meanings."""
    found: dict[str, Formula] = {}
    for node in postorder(root):
        if isinstance(node, Defined) and found.setdefault(node.name, node.meaning) != node.meaning:
            raise FormulaError(f"{node.name!r} is defined in two ways.")
    return found
