"""Terms: real-valued expressions with units, and the operations that build them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Never, NoReturn, cast, get_args

from safegym.errors import FormulaError, UnitError
from safegym.formula.checks import finite, number_text, signal_unit
from safegym.formula.expression import Expression, Piece, operand, short
from safegym.formula.traps import MYPY, no_connective, no_exponent, no_inversion, no_truth
from safegym.units import ONE, Unit, clash, unit

if TYPE_CHECKING:
    from safegym.formula.nodes import Atom, Comparison
    from safegym.formula.terms import Signal

Operation = Literal[
    "+", "-", "*", "/", "neg", "abs", "min", "max", "norm", "sqrt", "exp", "sin", "cos"
]


class Term(Expression):
    """A real-valued expression. Comparing it with `< <= > >=` builds an atom.

    `unit_or_none` is None for a plain number, which takes the unit of what it meets. Operators on a
    vector work on each of its components (vectors.py).
    """

    __slots__ = ("unit_or_none",)
    unit_or_none: Unit | None
    in_formulas: ClassVar[bool] = True
    __array_ufunc__ = None  # numpy scalars on the left hand over to the reflected operator

    @property
    def length(self) -> int | None:
        """How many components a vector has (-1: nobody declared it); None for a scalar."""
        return None

    def __lt__(self, other: "Term | float") -> "Atom":
        return compared(self, "<", other)

    def __le__(self, other: "Term | float") -> "Atom":
        return compared(self, "<=", other)

    def __gt__(self, other: "Term | float") -> "Atom":
        return compared(self, ">", other)

    def __ge__(self, other: "Term | float") -> "Atom":
        return compared(self, ">=", other)

    def __add__(self, other: "Term | float") -> "Term":
        return applied("+", self, other)

    def __radd__(self, other: "Term | float") -> "Term":
        return applied("+", other, self)

    def __sub__(self, other: "Term | float") -> "Term":
        return applied("-", self, other)

    def __rsub__(self, other: "Term | float") -> "Term":
        return applied("-", other, self)

    def __mul__(self, other: "Term | float") -> "Term":
        return applied("*", self, other)

    def __rmul__(self, other: "Term | float") -> "Term":
        return applied("*", other, self)

    def __truediv__(self, other: "Term | float") -> "Term":
        return applied("/", self, other)

    def __rtruediv__(self, other: "Term | float") -> "Term":
        return applied("/", other, self)

    def __pow__(self, exponent: int) -> "Term":
        return power(self, exponent)

    def __rpow__(self, other: Never) -> Never:
        no_exponent(other, self)

    def __neg__(self) -> "Term":
        return applied("neg", self)

    def __pos__(self) -> "Term":
        return self

    def __abs__(self) -> "Term":
        return applied("abs", self)

    @property
    def signals(self) -> "tuple[Signal, ...]":
        """The signals read, in order of first appearance."""
        from safegym.formula.terms import signals_of

        return signals_of(self)

    if not MYPY:  # mypy's truthy-bool sees only what has no __bool__, pyright what has this one

        def __bool__(self) -> NoReturn:
            no_truth(self)

    def __and__(self, other: Never) -> Never:
        no_connective(self, "&", other)

    def __rand__(self, other: Never) -> Never:
        no_connective(other, "&", self)

    def __or__(self, other: Never) -> Never:
        no_connective(self, "|", other)

    def __ror__(self, other: Never) -> Never:
        no_connective(other, "|", self)

    def __xor__(self, other: Never) -> Never:
        no_connective(self, "^", other)

    def __rxor__(self, other: Never) -> Never:
        no_connective(other, "^", self)

    if not TYPE_CHECKING:  # unknown to type checkers, so that they reject `~x < 0.5`

        def __invert__(self) -> NoReturn:
            no_inversion(self)


class Constant(Term):
    """A number; it means its binary64 value. unit None: takes the unit of what it meets."""

    __slots__ = ("value", "unit")  # noqa: RUF023  # the constructor's order
    value: float
    unit: str | None

    def __new__(cls, value: float, unit: str | None = None) -> "Constant":
        """Makes the constant. Raises FormulaError unless the value is finite."""
        number = finite(value, "A constant")
        if unit is None:
            return cls._intern(number, None, unit_or_none=None)
        parsed, text = signal_unit(unit, f"Constant {number!r}:")
        return cls._intern(number, text, unit_or_none=parsed)

    def __neg__(self) -> Term:
        return Constant(-self.value, self.unit)

    def pieces(self) -> tuple[Piece, ...]:
        """The shortest decimal that reads back as the same number, and the unit in braces."""
        return (number_text(self.value) + ("" if self.unit is None else f"{{{self.unit}}}"),)


class Apply(Term):
    """An operation on terms. `+ - * /` take two, `min max norm` one or more, the rest one."""

    __slots__ = ("operation", "arguments")  # noqa: RUF023  # the constructor's order
    operation: Operation
    arguments: tuple[Term, ...]

    def __new__(cls, operation: Operation, arguments: Sequence[Term]) -> "Apply":
        """Applies the operation. Raises FormulaError or UnitError if the arguments do not fit."""
        found = tuple(arguments)
        _check_arguments(operation, found)
        return cls._intern(operation, found, unit_or_none=_unit_of(operation, found))

    @property
    def closed(self) -> bool:
        """Function calls are closed, operators are not."""
        return self.operation not in ("+", "-", "*", "/", "neg")

    def pieces(self) -> tuple[Piece, ...]:
        """Operators with their operands in parentheses where needed; functions as calls."""
        if self.operation == "neg":
            return _negated(self.arguments[0])
        if not self.closed:
            left, right = self.arguments
            return (*operand(left), f" {self.operation} ", *operand(right))
        listed: list[Piece] = [f"{self.operation}(", self.arguments[0]]
        for argument in self.arguments[1:]:
            listed += [", ", argument]
        return (*listed, ")")


def _negated(argument: Term) -> tuple[Piece, ...]:
    """`-(0.5)` is not the number -0.5, so a constant keeps its parentheses."""
    if isinstance(argument, Constant):
        return ("-(", argument, ")")
    return ("-", *operand(argument))


def term(value: "Term | float") -> Term:
    """Returns `value` as a term; a number becomes a constant. Raises TypeError for other things."""
    if isinstance(value, Term):
        return value
    if isinstance(value, Expression):
        raise TypeError(
            f"`{short(value)}` is a formula, not a term; arithmetic and comparisons take terms."
        )
    return Constant(value)


def _check_arguments(operation: str, arguments: tuple[object, ...]) -> None:
    if operation not in get_args(Operation):
        raise FormulaError(f"{operation!r:.30} is no operation on terms.")
    wanted = 2 if operation in ("+", "-", "*", "/") else None if operation in _MANY else 1
    if len(arguments) != wanted if wanted else not arguments:
        raise FormulaError(
            f"{operation} takes {wanted or 'one or more'} arguments, found {len(arguments)}."
        )
    for argument in arguments:
        check_scalar(argument, operation)
    if operation == "/":
        _check_divisor(arguments[1])


_MANY = ("min", "max", "norm")


def check_scalar(argument: object, where: str) -> None:
    """Raises TypeError unless `argument` is a term, FormulaError if it is a vector."""
    if not isinstance(argument, Term):
        raise TypeError(f"{where} takes terms, found {argument!r:.60}.")
    if argument.length is not None:
        raise FormulaError(no_length(argument) if argument.length < 0 else _vector(argument, where))


def no_length(signal: Term) -> str:
    """Says that a vector of unknown length cannot be used whole."""
    name = short(signal)
    return (
        f"Signal {name!r} is a vector whose length is not declared; read {name}[0] and so on, or "
        f'declare Signal("{name}", shape=(d,)) to use it whole.'
    )


def _vector(found: Term, where: str) -> str:
    name = short(found)
    return (
        f"`{name}` is a vector of {found.length}; {where} takes scalars. Write {name}[0] for a "
        f"component, norm({name}) for its length, or all_of({name} <= limit) for all components."
    )


def _check_divisor(divisor: object) -> None:
    if not isinstance(divisor, Constant):
        text = short(divisor) if isinstance(divisor, Term) else repr(divisor)
        raise FormulaError(
            f"Division by `{text}`: only a constant number may divide. Multiply the other side of "
            "the comparison instead: `a > c * b` for `a / b > c` where b > 0."
        )
    if divisor.value == 0.0:
        raise FormulaError("Division by zero.")


def _unit_of(operation: str, arguments: tuple[Term, ...]) -> Unit | None:
    units = [argument.unit_or_none for argument in arguments]
    if operation in ("*", "/"):
        return _product_unit(operation, units[0], units[1])
    if operation == "sqrt":
        return None if units[0] is None else units[0].root()
    if operation in ("exp", "sin", "cos"):
        return _pure(operation, arguments[0])
    return common_unit(arguments, operation)


def _product_unit(operation: str, left: Unit | None, right: Unit | None) -> Unit | None:
    if right is None:
        return left
    left = ONE if left is None else left
    return left * right if operation == "*" else left / right


def _pure(operation: str, argument: Term) -> Unit | None:
    found = argument.unit_or_none
    allowed = (ONE,) if operation == "exp" else (ONE, _RADIAN)
    if found is not None and found not in allowed:
        wanted = " or ".join(str(unit) for unit in allowed)
        angle = found.dimension == _RADIAN.dimension
        line = (
            'declare the signal with unit="rad", which converts what a trace recorded, or '
            '`x * quantity(math.pi / 180, "rad/deg")` turns deg into rad'
        )
        raise UnitError(
            f"{operation}(`{short(argument)}`) takes a quantity in {wanted}, found {found}; "
            f"{line if angle else f'divide by a quantity in {found} to get a pure number'}."
        )
    return None if found is None else ONE


_RADIAN = unit("rad")


def common_unit(arguments: Sequence[Term], where: str) -> Unit | None:
    """Returns the one unit of terms that meet; None if all are plain numbers. Raises UnitError."""
    first: Term | None = None
    for argument in arguments:
        if argument.unit_or_none is None:
            continue
        if first is None:
            first = argument
        elif argument.unit_or_none != first.unit_or_none:
            raise UnitError(_clash(first, argument, where))
    return None if first is None else first.unit_or_none


def _clash(first: Term, second: Term, where: str) -> str:
    one, two = first.unit_or_none, second.unit_or_none
    text = (
        f"`{short(first)}` is in {one} but `{short(second)}` is in {two}; {where} needs one unit."
    )
    if one is not None and two is not None and one.dimension != two.dimension:
        return f"{text} {clash(one, two)}."
    return (
        f"{text} Inside a formula nothing is converted: write the constant in {one}, or "
        f'convert(..., "{one}") (safegym.formula.functions).'
    )


def applied(operation: Operation, *operands: Term | float) -> Term:
    """Returns the operation on the terms; on vectors, of their components (vectors.py)."""
    found = tuple(term(value) for value in operands)
    if any(value.length is not None for value in found):
        from safegym.formula.vectors import each

        return each(operation, found)
    return Apply(operation, found)


def compared(left: Term, comparison: "Comparison", right: Term | float) -> "Atom":
    """Returns the atom; of vectors, one for each component, for all_of or any_of (vectors.py)."""
    from safegym.formula.nodes import Atom

    found = term(right)
    if left.length is not None or found.length is not None:
        from safegym.formula.vectors import compare_each

        return compare_each(left, comparison, found)
    return Atom(left, comparison, found)


LARGEST_POWER = 16
"""Largest whole exponent of x^n, which becomes that many factors."""


def power(base: Term, exponent: object) -> Term:
    """Returns base^n, n = 1 to 16, which means base * base * ... * base, from the left.

    Every backend so computes the same roundings. Raises FormulaError for any other exponent.
    """
    whole = not isinstance(exponent, bool) and hasattr(exponent, "__index__")
    count = int(cast("int", exponent).__index__()) if whole else 0
    if not 1 <= count <= LARGEST_POWER:
        shown = short(exponent) if isinstance(exponent, Expression) else f"{exponent!r:.40}"
        raise FormulaError(
            f"`{short(base)}` to the power {shown}: a power is a whole number from 1 to "
            f"{LARGEST_POWER}, x^2 for x * x. For a root write sqrt(x), for 1 / x multiply the "
            "other side of the comparison by x."
        )
    found = base
    for _ in range(count - 1):
        found = applied("*", found, base)
    return found
