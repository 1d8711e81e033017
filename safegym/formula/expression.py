"""What terms and formulas share: they print to canonical text, and have no truth value."""

from numbers import Number

from safegym.errors import FormulaError
from safegym.formula.interning import Interned

LONGEST_TEXT = 16 * 2**20
LONGEST_IN_MESSAGES = 72

Piece = str | Interned


class Expression(Interned):
    """A term or a formula: `str(e)` is its canonical text; `pieces` says how that is put together.

    `closed` tells that the text needs no parentheses where it is an operand of something else.
    """

    __slots__ = ()

    @property
    def closed(self) -> bool:
        """Whether the text stands as an operand without parentheses."""
        return True

    def pieces(self) -> tuple[Piece, ...]:
        """Text and sub-expressions, in the order in which they are written."""
        raise TypeError(f"{type(self).__name__} has no text of its own.")

    def __str__(self) -> str:
        text, whole = _write(self, LONGEST_TEXT)
        if not whole:
            raise FormulaError(
                f"The text of this {type(self).__name__} is longer than {LONGEST_TEXT} characters "
                "(shared parts are written out each time); name its parts as claims of their own."
            )
        return text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {short(self)}>"

    def __eq__(self, other: object) -> bool:
        """Whether this is the same expression; never a condition, so values are refused."""
        if self is other:
            return True
        if isinstance(other, (Number, str)) or hasattr(other, "__array_interface__"):
            from safegym.formula.traps import no_equality

            no_equality(self, other)
        return NotImplemented

    __hash__ = Interned.__hash__


def operand(part: Expression) -> tuple[Piece, ...]:
    """Returns the pieces of `part` as an operand: in parentheses unless closed."""
    return (part,) if part.closed else ("(", part, ")")


def short(expression: Expression) -> str:
    """Returns the canonical text, cut for use in a message."""
    return text_up_to(expression, LONGEST_IN_MESSAGES)


def text_up_to(expression: Expression, limit: int) -> str:
    """Returns the canonical text, cut after `limit` characters; the cost does not go beyond it."""
    text, whole = _write(expression, limit)
    return text if whole else text[:limit] + "..."


def _write(root: Expression, limit: int) -> tuple[str, bool]:
    """Returns the text and whether it is whole; stops soon after `limit` characters."""
    written: list[str] = []
    length = 0
    stack: list[Piece] = [root]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            written.append(piece)
            length += len(piece)
            if length > limit:
                return "".join(written), False
        elif isinstance(piece, Expression):
            stack.extend(reversed(piece.pieces()))
    return "".join(written), True
