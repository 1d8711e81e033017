"""`if` in terms of declared dynamics: one of two terms, by a comparison.

A `Choice(condition, then, otherwise)` has the value of `then` where the atom `condition` holds and
of `otherwise` where it does not, strictness included. It stands in the terms of a `Dynamics` or a
`Flow`, at any depth, and nowhere else: an atom of a formula refuses it, so that monitors and every
other backend never meet one. Its text is `if(x > 0, x, -x)`, which `parse` does not read.

For whoever compiles it: `postorder` gives the parts of the condition, the condition (an `Atom`),
the two terms, and then the choice; `Choice.fields` is (condition, then, otherwise).
"""

from typing import TypeGuard

from safegym.errors import FormulaError
from safegym.formula.expression import Piece
from safegym.formula.interning import postorder
from safegym.formula.nodes import Atom
from safegym.formula.operations import Term, check_scalar, common_unit, term


class Choice(Term):
    """The value of `then` where `condition` holds, else of `otherwise`.

    condition: an atom over the dynamics' signals. then, otherwise: scalar terms in one unit.
    Raises FormulaError or UnitError for anything that does not fit.
    """

    __slots__ = ("condition", "then", "otherwise")  # noqa: RUF023  # the constructor's order
    condition: Atom
    then: Term
    otherwise: Term
    judged = False
    in_formulas = False

    def __new__(cls, condition: Atom, then: Term, otherwise: Term) -> "Choice":
        """Makes the choice; see the class."""
        if not _is_atom(condition):
            raise FormulaError(
                f"if_ takes one comparison as its condition, found {condition!r:.80}; nest choices "
                "for more: if_(a > 0, if_(b > 0, x, y), y)."
            )
        for branch in (then, otherwise):
            check_scalar(branch, "if")
        return cls._intern(
            condition, then, otherwise, unit_or_none=common_unit((then, otherwise), "if")
        )

    def pieces(self) -> tuple[Piece, ...]:
        """`if(x > 0, x, -x)`."""
        return ("if(", self.condition, ", ", self.then, ", ", self.otherwise, ")")


def if_(condition: Atom, then: Term | float, otherwise: Term | float) -> Term:
    """Returns `then` where the comparison holds, else `otherwise`; for dynamics only."""
    return Choice(condition, term(then), term(otherwise))


def choices_of(root: Term) -> tuple[Choice, ...]:
    """Returns the distinct choices below `root`, parts first."""
    return tuple(part for part in postorder(root) if isinstance(part, Choice))


def _is_atom(value: object) -> TypeGuard[Atom]:
    return isinstance(value, Atom)


__all__ = ["Choice", "choices_of", "if_"]
