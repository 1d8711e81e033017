"""Vectors: operations on each component, and comparisons that say of which components."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Never, NoReturn, cast

from safegym.errors import FormulaError
from safegym.formula.expression import Piece, short
from safegym.formula.operations import Apply, Operation, Term, check_scalar, no_length, term
from safegym.formula.traps import MYPY, Unfinished

if TYPE_CHECKING:
    from safegym.formula.nodes import Atom, Comparison, Formula


class Vector(Term):
    """Several terms side by side. Operators and `abs` work on each; a scalar meets every one.

    Comparing it gives one atom for each component, and a formula says of which: `all_of(v <= 0.5)`,
    `any_of(abs(p - q) > 1)`. `norm`, `minimum` and `maximum` take it whole. Raises TypeError or
    FormulaError unless it is given one or more terms or numbers, none of them a vector.
    """

    __slots__ = ("components",)
    components: tuple[Term, ...]

    def __new__(cls, components: Sequence[Term | float]) -> "Vector":
        """Makes the vector; see the class."""
        found = tuple(term(component) for component in components)
        if not found:
            raise FormulaError("A vector has one or more components, found none.")
        for component in found:
            check_scalar(component, "a vector's component")
        return cls._intern(found, unit_or_none=None)

    @property
    def length(self) -> int:
        """How many components there are."""
        return len(self.components)

    def __getitem__(self, index: int) -> Term:
        return self.components[index]

    def __iter__(self) -> Iterator[Term]:
        return iter(self.components)

    @property
    def closed(self) -> bool:
        """It stands in parentheses of its own."""
        return True

    def pieces(self) -> tuple[Piece, ...]:
        """`(x, y, z)`, in messages; formula text has no vectors, only their components."""
        listed: list[Piece] = ["(", self.components[0]]
        for component in self.components[1:]:
            listed += [", ", component]
        return (*listed, ")")


def components_of(value: Term, where: str) -> tuple[Term, ...]:
    """Returns a vector's components, or the scalar alone. Raises FormulaError for no length."""
    if value.length is None:
        return (value,)
    if value.length < 0:
        raise FormulaError(f"{where}: {no_length(value)}")
    return tuple(cast("Vector", value))


def each(operation: Operation, operands: Sequence[Term]) -> Vector:
    """Returns the operation on each component. Raises FormulaError if lengths differ."""
    return Vector([Apply(operation, row) for row in _rows(operation, operands)])


def compare_each(left: Term, comparison: "Comparison", right: Term) -> "Atom":
    """Returns one atom for each component, to be joined by all_of or any_of."""
    from safegym.formula.nodes import Atom

    rows = _rows(comparison, (left, right))
    found = Elementwise([Atom(one, comparison, other) for one, other in rows])
    return cast("Atom", found)  # an Atom to type checkers: only all_of and any_of take it


def pair_each(first: object, second: object) -> "Elementwise":
    """Returns, for each component, that both hold; a plain formula counts for every component."""
    from safegym.formula.nodes import all_of

    sides = [list(side) if isinstance(side, Elementwise) else [side] for side in (first, second)]
    size = max(len(side) for side in sides)
    rows = zip(*(side if len(side) == size else side * size for side in sides), strict=True)
    return Elementwise([all_of(*cast("tuple[Formula, ...]", row)) for row in rows])


def _rows(where: str, operands: Sequence[Term]) -> Iterator[tuple[Term, ...]]:
    listed = [components_of(operand, where) for operand in operands]
    lengths = {operand.length for operand in operands if operand.length is not None}
    if len(lengths) > 1:
        shown = " and ".join(f"`{short(v)}` of {v.length}" for v in operands)
        raise FormulaError(f"{where} meets vectors of different lengths: {shown}.")
    size = max(len(parts) for parts in listed)
    return zip(*(parts if len(parts) == size else parts * size for parts in listed), strict=True)


class Elementwise(Unfinished):
    """Formulas about the components of a vector, one for each; all_of or any_of joins them."""

    __slots__ = ("formulas",)
    __array_ufunc__ = None
    finish = "say of which components: all_of(v <= 0.5) or any_of(v <= 0.5)"

    def __init__(self, formulas: Sequence["Formula"]) -> None:
        self.formulas = tuple(formulas)

    def __iter__(self) -> "Iterator[Formula]":
        return iter(self.formulas)

    def __len__(self) -> int:
        return len(self.formulas)

    def __repr__(self) -> str:
        return f"<Elementwise {self}>"

    def __str__(self) -> str:
        more = ", ..." if len(self.formulas) > 2 else ""
        return ", ".join(short(formula) for formula in self.formulas[:2]) + more

    def scaled(self, scale: float) -> "Elementwise":
        """Returns the atoms with a scale of their own, each in the unit of its sides."""
        return Elementwise([cast("Atom", formula).scaled(scale) for formula in self.formulas])

    if not MYPY:  # mypy's truthy-bool sees only what has no __bool__, pyright what has this one

        def __bool__(self) -> NoReturn:
            self._refuse("has no truth value in Python")

    def __and__(self, other: Never) -> Never:
        self._refuse("is no formula yet, so `&` cannot join it")

    __rand__ = __and__

    def __or__(self, other: Never) -> Never:
        self._refuse("is no formula yet, so `|` cannot join it")

    __ror__ = __or__

    def __invert__(self) -> NoReturn:
        self._refuse("is no formula yet, so `~` cannot negate it")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(f"is no formula yet, so it has no {name!r:.40}")

    def _refuse(self, why: str) -> NoReturn:
        raise TypeError(f"A comparison of vectors ({self}) {why}; {self.finish}.")
