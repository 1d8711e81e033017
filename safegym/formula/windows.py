"""Time windows: closed intervals of exact seconds (or of samples, in step formulas)."""

from collections.abc import Sequence
from fractions import Fraction

from safegym.errors import FormulaError
from safegym.formula.interning import Interned
from safegym.rational import Exact, exact, rational_text

__all__ = ["UNBOUNDED", "Exact", "Window", "window_of"]


class Window(Interned):
    """A closed time window [lo, hi]; hi None is unbounded.

    In a formula as written the bounds are seconds; in a step formula (`rewrite.to_steps`) they
    are whole numbers of samples. Raises FormulaError for a negative, reversed or non-finite bound.
    """

    __slots__ = ("lo", "hi")  # noqa: RUF023  # the constructor's order
    lo: Fraction
    hi: Fraction | None

    def __new__(cls, lo: Exact, hi: Exact | None) -> "Window":
        """Makes the window from exact numbers; hi may also be infinity."""
        low = exact(lo, what="A window's lower bound")
        unbounded = hi is None or (isinstance(hi, float) and hi == float("inf"))
        high = None if unbounded or hi is None else exact(hi, what="A window's upper bound")
        if low < 0 or (high is not None and high < 0):
            raise FormulaError(
                f"The window {_text(low, high)} reaches into negative time. Windows count forward "
                "for always, eventually, until, release and backward for once, historically, "
                f"since, trigger; both bounds are >= 0. {_both_ways(low, high)}"
            )
        if high is not None and high < low:
            raise FormulaError(
                f"The window {_text(low, high)} is reversed; write {_text(high, low)}."
            )
        return cls._intern(low, high)

    @property
    def unbounded(self) -> bool:
        """Whether there is no upper bound."""
        return self.hi is None

    def __str__(self) -> str:
        """Canonical text: empty for [0, inf], else "[lo,hi]"."""
        return "" if self is UNBOUNDED else _text(self.lo, self.hi)

    def __repr__(self) -> str:
        return f"Window{_text(self.lo, self.hi)}"

    def __reduce__(self) -> tuple[type["Window"], tuple[Fraction, Fraction | None]]:
        return Window, (self.lo, self.hi)


def _text(low: Fraction, high: Fraction | None) -> str:
    return f"[{rational_text(low)},{'inf' if high is None else rational_text(high)}]"


def _both_ways(low: Fraction, high: Fraction | None) -> str:
    """The lines that would work for a window that reaches back from the present."""
    ahead = f"Write {_text(max(low, Fraction(0)), high)} for what lies ahead"
    ends = sorted(abs(bound) for bound in (low, high) if bound is not None and bound < 0)
    behind = Window(ends[0] if len(ends) == 2 else 0, ends[-1])
    back = f"for what lies behind, once or historically over {behind}"
    return f"{back.capitalize()}." if high is not None and high < 0 else f"{ahead}; {back}."


UNBOUNDED = Window(0, None)


def window_of(
    word: str,
    operator: str,
    bound: Exact | None,
    window: Sequence[Exact | None] | Window | None,
) -> Window:
    """Returns the window that `word=bound` or `window=(a, b)` names; unbounded if neither is given.

    word: "within" or "lasting". Raises FormulaError if both are given, or one is malformed.
    """
    if bound is not None and window is not None:
        raise FormulaError(
            f"{operator} was given both {word}= and window=; keep one: "
            f"{word}=b means window=(0, b)."
        )
    if bound is not None:
        if isinstance(bound, float) and bound == float("inf"):
            return UNBOUNDED
        length = exact(bound, what=f"{operator}: {word}")
        if length < 0:
            raise FormulaError(
                f"{operator}: {word}={rational_text(length)} reaches into negative time; write "
                f"{word}={rational_text(-length)}, and once or historically to look back."
            )
        return Window(0, length)
    if window is None:
        return UNBOUNDED
    if isinstance(window, Window):
        return window
    if not isinstance(window, (tuple, list)) or len(window) != 2 or window[0] is None:
        raise FormulaError(
            f"{operator}: window must be a pair (a, b) of seconds, b None for no end; found "
            f"{window!r:.60}. An empty window has no meaning."
        )
    try:
        return Window(window[0], window[1])
    except FormulaError as error:
        raise FormulaError(f"{operator}: {error}") from None
