"""What every formula can do, and the shapes that nodes have: places for operands and a window."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Never, NoReturn, Self, cast

from safegym.digest import digest_text
from safegym.errors import FormulaError
from safegym.formula.expression import Expression, Piece, operand, short
from safegym.formula.terms import UNBOUNDED, Signal, Window, describe, signals_of
from safegym.formula.traps import MYPY, no_comparison, no_connective, no_truth, not_a_formula
from safegym.formula.windows import window_of
from safegym.rational import Exact

Bounds = Sequence[Exact | None] | Window


class Formula(Expression):
    """A temporal formula. Frozen; equal formulas are the same object.

    `a & b`, `a | b`, `~a`, and the two-place methods build larger ones. Time words are exclusive:
    `within=b` (deadline, [0, b]) or `window=(a, b)` (closed), in seconds, exact.
    """

    __slots__ = ()
    only_root: ClassVar[bool] = False  # a bound on a share of the episode is never an operand
    judged: ClassVar[bool] = True  # False for what stands for another formula (defined.py)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if isinstance(word := cls.__dict__.get("word"), str):
            _NODES[word] = cls

    def __and__(self, other: "Formula") -> "Formula":
        if not is_formula(other):
            no_connective(self, "&", other)
        return joined("and", (self, other))

    def __or__(self, other: "Formula") -> "Formula":
        if not is_formula(other):
            no_connective(self, "|", other)
        return joined("or", (self, other))

    def __rand__(self, other: Never) -> Never:
        no_connective(other, "&", self)

    def __ror__(self, other: Never) -> Never:
        no_connective(other, "|", self)

    def __invert__(self) -> "Formula":
        return self._negated()

    def __xor__(self, other: Never) -> Never:
        raise TypeError(f"Write `({short(self)}).xor(...)` for exclusive or.")

    def _negated(self) -> "Formula":
        return _node("not", self)

    def implies(self, other: "Formula") -> "Formula":
        """Returns: wherever this holds, `other` holds at the same sample."""
        return _node("implies", self, other)

    def iff(self, other: "Formula") -> "Formula":
        """Returns: both or neither."""
        return _node("iff", self, other)

    def xor(self, other: "Formula") -> "Formula":
        """Returns: exactly one of the two."""
        return _node("xor", self, other)

    def until(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: `other` happens in the window, and this holds at every sample before it."""
        return _node("until", self, other, window_of("within", "until", within, window))

    def weak_until(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: until, or this holds from now to the window's end."""
        found = window_of("within", "weak_until", within, window)
        held = _node("always", self, Window(0, found.hi))
        return _node("until", self, other, found) | held

    def release(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: `other` holds in the window up to and including where this first holds."""
        return _node("release", self, other, window_of("within", "release", within, window))

    def since(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: `other` happened in the past window, and this held at every sample after it."""
        return _node("since", self, other, window_of("within", "since", within, window))

    def trigger(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: `other` held in the past window back to where this last held."""
        return _node("trigger", self, other, window_of("within", "trigger", within, window))

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The signals read, in order of first appearance."""
        return signals_of(self)

    @property
    def digest(self) -> str:
        """Digest of the canonical text and one line for each signal's declaration."""
        return digest_text("\n".join((str(self), *(describe(s) for s in self.signals))))

    if not MYPY:  # mypy's truthy-bool sees only what has no __bool__, pyright what has this one

        def __bool__(self) -> NoReturn:
            no_truth(self)

    def __lt__(self, other: Never) -> Never:
        no_comparison(self, "<", other)

    def __le__(self, other: Never) -> Never:
        no_comparison(self, "<=", other)

    def __gt__(self, other: Never) -> Never:
        no_comparison(self, ">", other)

    def __ge__(self, other: Never) -> Never:
        no_comparison(self, ">=", other)


_NODES: dict[str, type[Formula]] = {}
"""The node that each word builds (nodes.py)."""


def _node(word: str, *fields: object) -> Formula:
    return _NODES[word](*fields)


class Unary(Formula):
    """One-place node without a window."""

    __slots__ = ()
    word: ClassVar[str]
    argument: Formula

    def __new__(cls, argument: Formula) -> Self:
        """Makes the node. Raises TypeError unless the argument is a formula."""
        check_formula(argument, cls.word)
        return cls._intern(argument)

    def pieces(self) -> tuple[Piece, ...]:
        """`word(argument)`."""
        return (f"{self.word}(", self.argument, ")")


class Binary(Formula):
    """Two-place node without a window."""

    __slots__ = ()
    word: ClassVar[str]
    left: Formula
    right: Formula

    def __new__(cls, left: Formula, right: Formula) -> Self:
        """Makes the node. Raises TypeError unless both arguments are formulas."""
        check_formula(left, cls.word)
        check_formula(right, cls.word)
        return cls._intern(left, right)

    @property
    def closed(self) -> bool:
        """Infix text needs parentheses as an operand."""
        return False

    def pieces(self) -> tuple[Piece, ...]:
        """`left word right`."""
        return (*operand(self.left), f" {self.word} ", *operand(self.right))


class Nary(Formula):
    """Node over two or more distinct arguments, in order; nested ones of its kind are flattened."""

    __slots__ = ()
    word: ClassVar[str]
    arguments: tuple[Formula, ...]

    def __new__(cls, arguments: Iterable[Formula]) -> Self:
        """Makes the node. Raises FormulaError if fewer than two distinct arguments remain."""
        flat = _flat(cls, tuple(arguments))
        if len(flat) < 2:
            raise FormulaError(
                f"{cls.__name__} takes two or more distinct arguments, found {len(flat)}; "
                "all_of(...) and any_of(...) take any number."
            )
        return cls._intern(flat)

    @property
    def closed(self) -> bool:
        """Infix text needs parentheses as an operand."""
        return False

    def pieces(self) -> tuple[Piece, ...]:
        """`a word b word c`."""
        listed: list[Piece] = [*operand(self.arguments[0])]
        for argument in self.arguments[1:]:
            listed += [f" {self.word} ", *operand(argument)]
        return tuple(listed)


class WindowedUnary(Formula):
    """One-place temporal node with a window."""

    __slots__ = ()
    word: ClassVar[str]
    argument: Formula
    window: Window

    def __new__(cls, argument: Formula, window: Window = UNBOUNDED) -> Self:
        """Makes the node. Raises TypeError unless it is given a formula and a Window."""
        check_formula(argument, cls.word)
        _check_window(window, cls.word)
        return cls._intern(argument, window)

    def pieces(self) -> tuple[Piece, ...]:
        """`word[lo,hi](argument)`."""
        return (f"{self.word}{self.window}(", self.argument, ")")


class WindowedBinary(Formula):
    """Two-place temporal node with a window."""

    __slots__ = ()
    word: ClassVar[str]
    left: Formula
    right: Formula
    window: Window

    def __new__(cls, left: Formula, right: Formula, window: Window = UNBOUNDED) -> Self:
        """Makes the node. Raises TypeError unless it is given two formulas and a Window."""
        check_formula(left, cls.word)
        check_formula(right, cls.word)
        _check_window(window, cls.word)
        return cls._intern(left, right, window)

    @property
    def closed(self) -> bool:
        """Infix text needs parentheses as an operand."""
        return False

    def pieces(self) -> tuple[Piece, ...]:
        """`left word[lo,hi] right`."""
        return (*operand(self.left), f" {self.word}{self.window} ", *operand(self.right))


def joined(word: str, formulas: Iterable[Formula]) -> Formula:
    """Returns `and` or `or` over the distinct formulas; the formula itself of one.

    Raises FormulaError of none.
    """
    kind = cast("type[Nary]", _NODES[word])
    flat = _flat(kind, tuple(formulas))
    return kind._intern(flat) if len(flat) > 1 else flat[0] if flat else kind(flat)


def _flat(kind: type[Nary], arguments: Sequence[Formula]) -> tuple[Formula, ...]:
    """Returns the distinct arguments in order, those of nested nodes of `kind` in their place."""
    flat: dict[Formula, None] = {}
    for argument in arguments:
        check_formula(argument, kind.word)
        parts = argument.arguments if isinstance(argument, kind) else (argument,)
        flat.update(dict.fromkeys(parts))
    return tuple(flat)


def is_formula(found: object) -> bool:
    """Whether `found` is a formula."""
    return isinstance(found, Formula)


def check_formula(found: object, where: str) -> None:
    """Raises TypeError unless `found` is a formula; FormulaError if it is a share, a root only."""
    if not isinstance(found, Formula):
        not_a_formula(where, found)
    if found.only_root:
        raise FormulaError(
            f"`{short(found)}` is a bound on a share of the episode and may only be a whole "
            f"statement, not inside {where}; make it a claim of its own."
        )


def _check_window(window: object, where: str) -> None:
    if not isinstance(window, Window):
        raise TypeError(f"{where} takes a Window, found {window!r:.60}.")
