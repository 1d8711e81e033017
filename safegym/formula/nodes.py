"""Formula nodes, closed under negation normal form."""

from typing import Literal

from safegym.formula.interning import Interned
from safegym.formula.terms import Term, Window

Comparison = Literal["<", "<=", ">", ">="]


class Formula(Interned):
    """A temporal formula. Frozen; equal formulas are the same object."""

    __slots__ = ()


class Boolean(Formula):
    """The constants `TRUE` and `FALSE`."""

    __slots__ = ("value",)
    value: bool

    def __new__(cls, value: bool) -> "Boolean":
        return cls._intern(bool(value))


class Atom(Formula):
    """`left comparison right`. Margin: right - left for `<` and `<=`, left - right for `>`, `>=`,
    divided by the atom's scale. Truth is the comparison of the two binary64 values."""

    __slots__ = ("left", "comparison", "right")
    left: Term
    comparison: Comparison
    right: Term

    def __new__(cls, left: Term, comparison: Comparison, right: Term) -> "Atom":
        return cls._intern(left, comparison, right)


class Unary(Formula):
    """One-place node without a window."""

    __slots__ = ()
    argument: Formula


class Binary(Formula):
    """Two-place node without a window."""

    __slots__ = ()
    left: Formula
    right: Formula


class Nary(Formula):
    """Node over two or more arguments."""

    __slots__ = ()
    arguments: tuple[Formula, ...]


class WindowedUnary(Formula):
    """One-place temporal node with a window."""

    __slots__ = ()
    argument: Formula
    window: Window


class WindowedBinary(Formula):
    """Two-place temporal node with a window."""

    __slots__ = ()
    left: Formula
    right: Formula
    window: Window


class Not(Unary):
    """Negation."""

    __slots__ = ("argument",)

    def __new__(cls, argument: Formula) -> "Not":
        return cls._intern(argument)


class And(Nary):
    """Conjunction."""

    __slots__ = ("arguments",)

    def __new__(cls, arguments: tuple[Formula, ...]) -> "And":
        return cls._intern(arguments)


class Or(Nary):
    """Disjunction."""

    __slots__ = ("arguments",)

    def __new__(cls, arguments: tuple[Formula, ...]) -> "Or":
        return cls._intern(arguments)


class Implies(Binary):
    """`left` implies `right`."""

    __slots__ = ("left", "right")

    def __new__(cls, left: Formula, right: Formula) -> "Implies":
        return cls._intern(left, right)


class Iff(Binary):
    """Both or neither."""

    __slots__ = ("left", "right")

    def __new__(cls, left: Formula, right: Formula) -> "Iff":
        return cls._intern(left, right)


class Xor(Binary):
    """Exactly one."""

    __slots__ = ("left", "right")

    def __new__(cls, left: Formula, right: Formula) -> "Xor":
        return cls._intern(left, right)


class Next(Unary):
    """There is a next sample and the argument holds there."""

    __slots__ = ("argument",)

    def __new__(cls, argument: Formula) -> "Next":
        return cls._intern(argument)


class WeakNext(Unary):
    """The argument holds at the next sample, if there is one."""

    __slots__ = ("argument",)

    def __new__(cls, argument: Formula) -> "WeakNext":
        return cls._intern(argument)


class Previous(Unary):
    """There is a previous sample and the argument held there."""

    __slots__ = ("argument",)

    def __new__(cls, argument: Formula) -> "Previous":
        return cls._intern(argument)


class WeakPrevious(Unary):
    """The argument held at the previous sample, if there is one."""

    __slots__ = ("argument",)

    def __new__(cls, argument: Formula) -> "WeakPrevious":
        return cls._intern(argument)


class Always(WindowedUnary):
    """The argument holds on the whole future window."""

    __slots__ = ("argument", "window")

    def __new__(cls, argument: Formula, window: Window) -> "Always":
        return cls._intern(argument, window)


class Eventually(WindowedUnary):
    """The argument holds somewhere in the future window."""

    __slots__ = ("argument", "window")

    def __new__(cls, argument: Formula, window: Window) -> "Eventually":
        return cls._intern(argument, window)


class Once(WindowedUnary):
    """The argument held somewhere in the past window."""

    __slots__ = ("argument", "window")

    def __new__(cls, argument: Formula, window: Window) -> "Once":
        return cls._intern(argument, window)


class Historically(WindowedUnary):
    """The argument held on the whole past window."""

    __slots__ = ("argument", "window")

    def __new__(cls, argument: Formula, window: Window) -> "Historically":
        return cls._intern(argument, window)


class Until(WindowedBinary):
    """`right` at some j in the window, and `left` on every k with i <= k < j."""

    __slots__ = ("left", "right", "window")

    def __new__(cls, left: Formula, right: Formula, window: Window) -> "Until":
        return cls._intern(left, right, window)


class Release(WindowedBinary):
    """Dual of until: for every j in the window, `right` at j or `left` at some i <= k < j."""

    __slots__ = ("left", "right", "window")

    def __new__(cls, left: Formula, right: Formula, window: Window) -> "Release":
        return cls._intern(left, right, window)


class Since(WindowedBinary):
    """`right` at some past j in the window, and `left` on every k with j < k <= i."""

    __slots__ = ("left", "right", "window")

    def __new__(cls, left: Formula, right: Formula, window: Window) -> "Since":
        return cls._intern(left, right, window)


class Trigger(WindowedBinary):
    """Dual of since: for every past j in the window, `right` at j or `left` at some j < k <= i."""

    __slots__ = ("left", "right", "window")

    def __new__(cls, left: Formula, right: Formula, window: Window) -> "Trigger":
        return cls._intern(left, right, window)


class Fraction(Formula):
    """Share of the samples 0..T where `argument` holds, compared with `bound`. Only as a root."""

    __slots__ = ("argument", "comparison", "bound")
    argument: Formula
    comparison: Comparison
    bound: float

    def __new__(cls, argument: Formula, comparison: Comparison, bound: float) -> "Fraction":
        return cls._intern(argument, comparison, float(bound))


TRUE = Boolean(True)
FALSE = Boolean(False)
