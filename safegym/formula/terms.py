"""Terms: real-valued expressions over signals, with units."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Never, NoReturn, cast, get_args

from safegym.errors import FormulaError, UnitError
from safegym.formula.checks import (
    ANY_LENGTH,
    bounds_of,
    check_name,
    finite,
    index_of,
    labels_of,
    number_text,
    positive,
    shape_of,
    signal_unit,
)
from safegym.formula.expression import Expression, Piece, operand, short
from safegym.formula.interning import Interned, postorder
from safegym.formula.traps import MYPY, no_connective, no_inversion, no_truth
from safegym.formula.windows import UNBOUNDED, Window
from safegym.units import ONE, Unit, unit

if TYPE_CHECKING:
    from safegym.formula.nodes import Atom, Comparison, Formula

__all__ = [
    "UNBOUNDED",
    "Apply",
    "Component",
    "Constant",
    "Hold",
    "Operation",
    "Signal",
    "Term",
    "Window",
    "signals_of",
    "term",
]

Hold = Literal["sample", "max", "min", "any"]
Operation = Literal[
    "+", "-", "*", "/", "neg", "abs", "min", "max", "norm", "sqrt", "exp", "sin", "cos"
]


class Term(Expression):
    """A real-valued expression. Comparing it with `< <= > >=` builds an atom.

    `unit` is None for a plain number, which takes the unit of what it meets.
    """

    __slots__ = ("unit_or_none",)
    unit_or_none: Unit | None
    __array_ufunc__ = None  # numpy scalars on the left hand over to the reflected operator

    def __lt__(self, other: "Term | float") -> "Atom":
        return _atom(self, "<", other)

    def __le__(self, other: "Term | float") -> "Atom":
        return _atom(self, "<=", other)

    def __gt__(self, other: "Term | float") -> "Atom":
        return _atom(self, ">", other)

    def __ge__(self, other: "Term | float") -> "Atom":
        return _atom(self, ">=", other)

    def __add__(self, other: "Term | float") -> "Term":
        return Apply("+", (self, term(other)))

    def __radd__(self, other: "Term | float") -> "Term":
        return Apply("+", (term(other), self))

    def __sub__(self, other: "Term | float") -> "Term":
        return Apply("-", (self, term(other)))

    def __rsub__(self, other: "Term | float") -> "Term":
        return Apply("-", (term(other), self))

    def __mul__(self, other: "Term | float") -> "Term":
        return Apply("*", (self, term(other)))

    def __rmul__(self, other: "Term | float") -> "Term":
        return Apply("*", (term(other), self))

    def __truediv__(self, other: "Term | float") -> "Term":
        return Apply("/", (self, term(other)))

    def __rtruediv__(self, other: "Term | float") -> "Term":
        return Apply("/", (term(other), self))

    def __neg__(self) -> "Term":
        return Apply("neg", (self,))

    def __pos__(self) -> "Term":
        return self

    def __abs__(self) -> "Term":
        return Apply("abs", (self,))

    @property
    def signals(self) -> "tuple[Signal, ...]":
        """The signals read, in order of first appearance."""
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


class Signal(Term):
    """A named quantity that a trace carries, one value (or vector) a sample.

    name: ASCII identifier that is no word of the language. unit: text, "1" if none. shape: () or
    (d,); (-1,) is a vector of any length, only read by component. scale: finite, > 0, in the
    signal's unit; margins of atoms over it are divided by this. bounds: (lowest, highest) declared
    values. max_rate: largest change per second. hold: what a sample stands for over the time since
    the last one. labels: names of the values 0, 1, 2... of a mode signal. Raises FormulaError or
    UnitError for anything malformed.
    """

    __slots__ = ("name", "unit", "shape", "scale", "bounds", "max_rate", "hold", "labels")  # noqa: RUF023  # the constructor's order
    name: str
    unit: str
    shape: tuple[int, ...]
    scale: float | None
    bounds: tuple[float, float] | None
    max_rate: float | None
    hold: Hold
    labels: tuple[str, ...]

    def __new__(
        cls,
        name: str,
        unit: str = "1",
        shape: tuple[int, ...] = (),
        scale: float | None = None,
        bounds: tuple[float, float] | None = None,
        max_rate: float | None = None,
        hold: Hold = "sample",
        labels: Sequence[str] = (),
    ) -> "Signal":
        """Makes the signal; see the class."""
        check_name(name)
        what = f"Signal {name!r}:"
        parsed, text = signal_unit(unit, what)
        if hold not in get_args(Hold):
            raise FormulaError(
                f'{what} hold must be "sample", "max", "min" or "any", not {hold!r}.'
            )
        return cls._intern(
            str(name),
            text,
            shape_of(shape, what),
            None if scale is None else positive(scale, f"{what} scale"),
            bounds_of(bounds, what),
            None if max_rate is None else positive(max_rate, f"{what} max_rate"),
            str(hold),
            labels_of(labels, shape, what),
            unit_or_none=parsed,
        )

    @property
    def any_length(self) -> bool:
        """Whether this is a vector whose length nobody declared."""
        return self.shape == (ANY_LENGTH,)

    def __getitem__(self, index: int) -> "Component":
        size = self.shape[0] if self.shape else 0
        place = index_of(index, f"The index of signal {self.name!r}")
        return Component(self, place + size if -size <= place < 0 else place)

    def __iter__(self) -> "Iterator[Component]":
        if not self.shape:
            raise TypeError(f"Signal {self.name!r} is a scalar and cannot be iterated.")
        if self.any_length:
            raise FormulaError(_no_length(self))
        return (Component(self, index) for index in range(self.shape[0]))

    def is_(self, label: str) -> "Formula":
        """Returns the atom that holds where this mode signal has the named value."""
        if label not in self.labels:
            known = ", ".join(self.labels) or "none: declare them with labels=(...)"
            raise FormulaError(f"Signal {self.name!r} has no label {label!r}; its labels: {known}.")
        return abs(self - self.labels.index(label)) <= 0.5

    def pieces(self) -> tuple[Piece, ...]:
        """The name."""
        return (self.name,)


class Component(Term):
    """One component of a vector signal: `Signal("p", "m", shape=(3,))[2]`."""

    __slots__ = ("signal", "index")  # noqa: RUF023  # the constructor's order
    signal: Signal
    index: int

    def __new__(cls, signal: Signal, index: int) -> "Component":
        """Makes the component. Raises FormulaError if the signal has none of that index."""
        _check_signal(signal)
        if not signal.shape:
            raise FormulaError(
                f"Signal {signal.name!r} is a scalar; declare it with shape=(d,) to use "
                f"{signal.name}[{index}]."
            )
        place = index_of(index, f"The index of signal {signal.name!r}")
        if place < 0 and signal.any_length:
            raise FormulaError(_no_length(signal))
        if place < 0 or (place >= signal.shape[0] and not signal.any_length):
            raise FormulaError(
                f"Signal {signal.name!r} has components 0 to {signal.shape[0] - 1}, not {index}."
            )
        return cls._intern(signal, place, unit_or_none=signal.unit_or_none)

    def pieces(self) -> tuple[Piece, ...]:
        """The name and index."""
        return (f"{self.signal.name}[{self.index}]",)


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


def signals_of(root: Interned) -> tuple[Signal, ...]:
    """Returns the distinct signals below `root`, in order of first appearance.

    Raises FormulaError if two of them share a name but not their declaration.
    """
    found: dict[str, Signal] = {}
    for node in postorder(root):
        if isinstance(node, Signal) and found.setdefault(node.name, node) is not node:
            raise FormulaError(
                f"Signal {node.name!r} is declared in two ways: {describe(found[node.name])} and "
                f"{describe(node)}. Declare it once and use that object."
            )
    return tuple(found.values())


def describe(signal: Signal) -> str:
    """Returns the signal's declaration, one canonical line."""
    named = zip(signal._own[1:], signal.fields[1:], strict=True)
    return " ".join((signal.name, *(f"{name}={_field_text(value)}" for name, value in named)))


def _field_text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, tuple):
        return "(" + ",".join(_field_text(item) for item in cast("tuple[object, ...]", value)) + ")"
    return str(value)


def _check_signal(signal: object) -> None:
    if not isinstance(signal, Signal):
        raise FormulaError(f"Only signals have components, found {signal!r:.60}.")


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
    if isinstance(argument, Signal) and argument.any_length:
        raise FormulaError(_no_length(argument))
    if isinstance(argument, Signal) and argument.shape:
        raise FormulaError(
            f"Signal {argument.name!r} is a vector of {argument.shape[0]}; {where} takes scalars. "
            f"Write {argument.name}[0] for a component or norm({argument.name}) for its length."
        )


def _no_length(signal: Signal) -> str:
    return (
        f"Signal {signal.name!r} is a vector whose length is not declared; read {signal.name}[0] "
        f'and so on, or declare Signal("{signal.name}", shape=(d,)) to use it whole.'
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
        line = '`x * quantity(math.pi / 180, "rad/deg")` turns deg into rad'
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
    if one is None or two is None or one.dimension != two.dimension:
        return f"{text} They measure different things."
    return (
        f"{text} Nothing is converted silently: write the constant in {one}, or "
        f'convert(..., "{one}") (safegym.formula.functions).'
    )


def _atom(left: Term, comparison: "Comparison", right: "Term | float") -> "Atom":
    from safegym.formula.nodes import Atom

    return Atom(left, comparison, term(right))
