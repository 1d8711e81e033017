"""Formula nodes, closed under negation normal form."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, Never, NoReturn, Self, cast, get_args

from safegym.digest import digest_text
from safegym.errors import FormulaError
from safegym.formula.checks import finite, number_text, positive
from safegym.formula.expression import Expression, Piece, operand, short
from safegym.formula.terms import (
    UNBOUNDED,
    Signal,
    Term,
    Window,
    check_scalar,
    common_unit,
    describe,
    signals_of,
)
from safegym.formula.traps import MYPY, no_comparison, no_connective, no_truth, not_a_formula
from safegym.formula.windows import window_of
from safegym.rational import Exact

Comparison = Literal["<", "<=", ">", ">="]
Bounds = Sequence[Exact | None] | Window

OPPOSITE: dict[Comparison, Comparison] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


class Formula(Expression):
    """A temporal formula. Frozen; equal formulas are the same object.

    `a & b`, `a | b`, `~a`, and the two-place methods build larger ones. Time words are exclusive:
    `within=b` (deadline, [0, b]) or `window=(a, b)` (closed), in seconds, exact.
    """

    __slots__ = ()

    def __and__(self, other: "Formula") -> "Formula":
        if not is_formula(other):
            no_connective(self, "&", other)
        return all_of(self, other)

    def __or__(self, other: "Formula") -> "Formula":
        if not is_formula(other):
            no_connective(self, "|", other)
        return any_of(self, other)

    def __rand__(self, other: Never) -> Never:
        no_connective(other, "&", self)

    def __ror__(self, other: Never) -> Never:
        no_connective(other, "|", self)

    def __invert__(self) -> "Formula":
        return negation(self)

    def __xor__(self, other: Never) -> Never:
        raise TypeError(f"Write `({short(self)}).xor(...)` for exclusive or.")

    def implies(self, other: "Formula") -> "Formula":
        """Returns: wherever this holds, `other` holds at the same sample."""
        return Implies(self, other)

    def iff(self, other: "Formula") -> "Formula":
        """Returns: both or neither."""
        return Iff(self, other)

    def xor(self, other: "Formula") -> "Formula":
        """Returns: exactly one of the two."""
        return Xor(self, other)

    def until(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: `other` happens in the window, and this holds at every sample before it."""
        return Until(self, other, window_of("within", "until", within, window))

    def weak_until(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: until, or this holds from now to the window's end."""
        found = window_of("within", "weak_until", within, window)
        return any_of(Until(self, other, found), Always(self, Window(0, found.hi)))

    def release(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: `other` holds in the window up to and including where this first holds."""
        return Release(self, other, window_of("within", "release", within, window))

    def since(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: `other` happened in the past window, and this held at every sample after it."""
        return Since(self, other, window_of("within", "since", within, window))

    def trigger(
        self, other: "Formula", *, within: Exact | None = None, window: Bounds | None = None
    ) -> "Formula":
        """Returns: `other` held in the past window back to where this last held."""
        return Trigger(self, other, window_of("within", "trigger", within, window))

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

    @property
    def closed(self) -> bool:
        """A share stands alone; it is never an operand."""
        return False

    def pieces(self) -> tuple[Piece, ...]:
        """`fraction(argument) >= bound`."""
        return ("fraction(", self.argument, f") {self.comparison} {number_text(self.bound)}")


TRUE = Boolean(True)
FALSE = Boolean(False)


def all_of(*formulas: Formula | Iterable[Formula]) -> Formula:
    """Returns the conjunction; TRUE of none, the formula itself of one."""
    return _joined(And, formulas, TRUE)


def any_of(*formulas: Formula | Iterable[Formula]) -> Formula:
    """Returns the disjunction; FALSE of none, the formula itself of one."""
    return _joined(Or, formulas, FALSE)


def negation(formula: Formula) -> Formula:
    """Returns the negation; of a share, the share with the opposite comparison."""
    if isinstance(formula, Fraction):
        return Fraction(formula.argument, OPPOSITE[formula.comparison], formula.bound)
    return Not(formula)


def _joined(
    kind: type[Nary], formulas: Sequence[Formula | Iterable[Formula]], empty: Formula
) -> Formula:
    listed = formulas
    if len(formulas) == 1 and not isinstance(formulas[0], Expression):
        listed = _listed(kind.word, formulas[0])
    flat = _flat(kind, cast("Sequence[Formula]", listed))
    if len(flat) < 2:
        return flat[0] if flat else empty
    return kind._intern(flat)


def _listed(where: str, formulas: object) -> tuple[Formula, ...]:
    if not isinstance(formulas, Iterable):
        not_a_formula(where, formulas)
    return tuple(cast("Iterable[Formula]", formulas))


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
    if isinstance(found, Fraction):
        raise FormulaError(
            f"`{short(found)}` is a bound on a share of the episode and may only be a whole "
            f"statement, not inside {where}; make it a claim of its own."
        )


def _check_window(window: object, where: str) -> None:
    if not isinstance(window, Window):
        raise TypeError(f"{where} takes a Window, found {window!r:.60}.")
