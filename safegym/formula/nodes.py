"""The nodes: constants, atoms, connectives, temporal operators, shares of the episode.

Closed under negation normal form. What formulas can do, and the shapes below, are in formulas.py.
"""

from collections.abc import Iterable
from typing import Literal, cast, get_args

from safegym.errors import FormulaError
from safegym.formula.checks import finite, number_text, positive
from safegym.formula.expression import Expression, Piece, short
from safegym.formula.formulas import (
    Binary,
    Bounds,
    Formula,
    Nary,
    Unary,
    WindowedBinary,
    WindowedUnary,
    check_formula,
    is_formula,
    joined,
)
from safegym.formula.interning import postorder
from safegym.formula.terms import Term, check_scalar, common_unit, signals_of
from safegym.formula.traps import not_a_formula

__all__ = [
    "FALSE",
    "OPPOSITE",
    "TRUE",
    "Always",
    "And",
    "Atom",
    "Binary",
    "Boolean",
    "Bounds",
    "Comparison",
    "Eventually",
    "Formula",
    "Fraction",
    "Historically",
    "Iff",
    "Implies",
    "Nary",
    "Next",
    "Not",
    "Once",
    "Or",
    "Previous",
    "Release",
    "Since",
    "Trigger",
    "Unary",
    "Until",
    "WeakNext",
    "WeakPrevious",
    "WindowedBinary",
    "WindowedUnary",
    "Xor",
    "all_of",
    "any_of",
    "check_formula",
    "is_formula",
    "negation",
]

Comparison = Literal["<", "<=", ">", ">="]

OPPOSITE: dict[Comparison, Comparison] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


class Boolean(Formula):
    """The constants `TRUE` and `FALSE`."""

    __slots__ = ("value",)
    value: bool

    def __new__(cls, value: bool) -> "Boolean":
        """Returns TRUE or FALSE."""
        return cls._intern(bool(value))

    def pieces(self) -> tuple[Piece, ...]:
        """`true` or `false`."""
        return ("true" if self.value else "false",)


class Atom(Formula):
    """`left comparison right`. Margin: right - left for `<` and `<=`, left - right for `>`, `>=`,
    divided by the atom's scale. Truth is the comparison of the two binary64 values.

    scale: the atom's own, finite and > 0, in the unit of its sides; None takes that of its signals
    (rewrite.scale_of). Raises FormulaError if neither side reads a signal, UnitError if the sides'
    units differ.
    """

    __slots__ = ("left", "comparison", "right", "scale")  # noqa: RUF023  # the constructor's order
    left: Term
    comparison: Comparison
    right: Term
    scale: float | None

    def __new__(
        cls, left: Term, comparison: Comparison, right: Term, scale: float | None = None
    ) -> "Atom":
        """Makes the atom; see the class."""
        if comparison not in get_args(Comparison):
            raise FormulaError(f"A comparison is one of < <= > >=, found {comparison!r:.20}.")
        check_scalar(left, comparison)
        check_scalar(right, comparison)
        common_unit((left, right), comparison)
        if not signals_of(left) and not signals_of(right):
            raise FormulaError(
                f"`{short(left)} {comparison} {short(right)}` reads no signal; write `true` or "
                "`false` for a constant."
            )
        _check_judged(left)
        _check_judged(right)
        own = None if scale is None else positive(scale, "An atom's scale")
        return cls._intern(left, comparison, right, own)

    def scaled(self, scale: float) -> "Atom":
        """Returns the atom with a scale of its own, in the unit of its sides."""
        return Atom(self.left, self.comparison, self.right, scale)

    @property
    def closed(self) -> bool:
        """A bare comparison needs parentheses as an operand."""
        return self.scale is not None

    def pieces(self) -> tuple[Piece, ...]:
        """`x > 0`, or `scaled(x > 0, 0.5)`."""
        bare: tuple[Piece, ...] = (self.left, f" {self.comparison} ", self.right)
        return bare if self.scale is None else ("scaled(", *bare, f", {number_text(self.scale)})")


class Not(Unary):
    """Negation. `negation(f)` and `~f` also take a share, and turn its comparison around."""

    __slots__ = ("argument",)
    word = "not"


class And(Nary):
    """Conjunction."""

    __slots__ = ("arguments",)
    word = "and"


class Or(Nary):
    """Disjunction."""

    __slots__ = ("arguments",)
    word = "or"


class Implies(Binary):
    """`left` implies `right`."""

    __slots__ = ("left", "right")
    word = "implies"


class Iff(Binary):
    """Both or neither."""

    __slots__ = ("left", "right")
    word = "iff"


class Xor(Binary):
    """Exactly one."""

    __slots__ = ("left", "right")
    word = "xor"


class Next(Unary):
    """There is a next sample and the argument holds there."""

    __slots__ = ("argument",)
    word = "next"


class WeakNext(Unary):
    """The argument holds at the next sample, if there is one."""

    __slots__ = ("argument",)
    word = "weak_next"


class Previous(Unary):
    """There is a previous sample and the argument held there."""

    __slots__ = ("argument",)
    word = "previous"


class WeakPrevious(Unary):
    """The argument held at the previous sample, if there is one."""

    __slots__ = ("argument",)
    word = "weak_previous"


class Always(WindowedUnary):
    """The argument holds on the whole future window."""

    __slots__ = ("argument", "window")
    word = "always"


class Eventually(WindowedUnary):
    """The argument holds somewhere in the future window."""

    __slots__ = ("argument", "window")
    word = "eventually"


class Once(WindowedUnary):
    """The argument held somewhere in the past window."""

    __slots__ = ("argument", "window")
    word = "once"


class Historically(WindowedUnary):
    """The argument held on the whole past window."""

    __slots__ = ("argument", "window")
    word = "historically"


class Until(WindowedBinary):
    """`right` at some j in the window, and `left` on every k with i <= k < j."""

    __slots__ = ("left", "right", "window")
    word = "until"


class Release(WindowedBinary):
    """Dual of until: for every j in the window, `right` at j or `left` at some i <= k < j."""

    __slots__ = ("left", "right", "window")
    word = "release"


class Since(WindowedBinary):
    """`right` at some past j in the window, and `left` on every k with j < k <= i."""

    __slots__ = ("left", "right", "window")
    word = "since"


class Trigger(WindowedBinary):
    """Dual of since: for every past j in the window, `right` at j or `left` at some j < k <= i."""

    __slots__ = ("left", "right", "window")
    word = "trigger"


class Fraction(Formula):
    """Share of the samples 0..T where `argument` holds, compared with `bound`. Only as a root.

    Raises FormulaError for a bound outside [0, 1], or one that no share or every share meets.
    """

    __slots__ = ("argument", "comparison", "bound")  # noqa: RUF023  # the constructor's order
    argument: Formula
    comparison: Comparison
    bound: float
    only_root = True

    def __new__(cls, argument: Formula, comparison: Comparison, bound: float) -> "Fraction":
        """Makes the bound on a share; see the class."""
        check_formula(argument, "fraction")
        share = finite(bound, "A share's bound")
        if comparison not in get_args(Comparison) or not 0 <= share <= 1:
            raise FormulaError(
                f"A share is compared by < <= > >= with a bound in [0, 1], "
                f"found {comparison!r:.20} {share!r}."
            )
        if (comparison in (">=", "<") and share == 0) or (comparison in ("<=", ">") and share == 1):
            raise FormulaError(
                f"fraction(...) {comparison} {number_text(share)} says nothing: "
                "every share meets it or none does."
            )
        return cls._intern(argument, comparison, share)

    def _negated(self) -> Formula:
        return Fraction(self.argument, OPPOSITE[self.comparison], self.bound)

    @property
    def closed(self) -> bool:
        """A share stands alone; it is never an operand."""
        return False

    def pieces(self) -> tuple[Piece, ...]:
        """`fraction(argument) >= bound`."""
        return ("fraction(", self.argument, f") {self.comparison} {number_text(self.bound)}")


def _check_judged(side: Term) -> None:
    """Raises FormulaError for a term that only declared dynamics may hold."""
    for part in postorder(side):
        if isinstance(part, Term) and not part.in_formulas:
            raise FormulaError(
                f"`{short(part)}` stands in a formula; `if` is for the terms of a Dynamics alone. "
                "Write the cases as a formula: (c & (x > 0)) | (~c & (y > 0))."
            )


TRUE = Boolean(True)
FALSE = Boolean(False)


def all_of(*formulas: Formula | Iterable[Formula]) -> Formula:
    """Returns the conjunction; TRUE of none, the formula itself of one.

    Of a comparison of vectors, all components: `all_of(abs(q) <= 2)`.
    """
    listed = _listed("and", formulas)
    return joined("and", listed) if listed else TRUE


def any_of(*formulas: Formula | Iterable[Formula]) -> Formula:
    """Returns the disjunction; FALSE of none, the formula itself of one.

    Of a comparison of vectors, some component: `any_of(abs(q) > 2)`.
    """
    listed = _listed("or", formulas)
    return joined("or", listed) if listed else FALSE


def negation(formula: Formula) -> Formula:
    """Returns the negation; of a share, the share with the opposite comparison."""
    if not is_formula(formula):
        not_a_formula("not", formula)
    return ~formula


def _listed(where: str, formulas: tuple[object, ...]) -> tuple[Formula, ...]:
    """Returns the formulas given one by one, or all in one list."""
    if len(formulas) == 1 and not isinstance(formulas[0], Expression):
        if not isinstance(formulas[0], Iterable):
            not_a_formula(where, formulas[0])
        return tuple(cast("Iterable[Formula]", formulas[0]))
    return cast("tuple[Formula, ...]", formulas)
