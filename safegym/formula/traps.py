"""What is said when Python's grammar would silently drop or twist a condition."""

from numbers import Number
from typing import ClassVar, NoReturn

from safegym.formula.expression import Expression, short

MYPY = False  # mypy takes a name spelt so for true, other checkers and Python do not


class Unfinished:
    """Something that becomes a formula or statement by one more step; `finish` says which."""

    __slots__ = ()
    finish: ClassVar[str]

    def __eq__(self, other: object) -> bool:
        """Whether this is the same object; a number is refused, as `==` bounds nothing."""
        if self is not other and isinstance(other, Number):
            raise TypeError(f"`== {other!r:.40}` bounds nothing; {self.finish}.")
        return self is other or NotImplemented

    __hash__ = object.__hash__


def no_truth(expression: Expression) -> NoReturn:
    """Refuses `if e`, `not e`, `e and f`, `e or f`, `a < x < b`, min(), max(), any(), all()."""
    text = short(expression)
    raise TypeError(
        f"`{text}` has no truth value in Python: it is judged on a trace, not here. Write "
        f"`({text}) & (...)` for and, `({text}) | (...)` for or, `~({text})` for not, "
        "`between(x, a, b)` for `a < x < b`, `all_of(...)` / `any_of(...)` for all() / any(), "
        "`minimum(...)` / `maximum(...)` (safegym.formula.functions) for min() / max(), "
        "`safegym.check(formula, trace)` for if."
    )


def no_connective(left: object, operator: str, right: object) -> NoReturn:
    """Refuses `&`, `|`, `^` between things that are not both formulas."""
    for side in (left, right):
        if isinstance(side, Unfinished):
            raise TypeError(f"`{operator}` joins formulas, found {side!r:.90}; {side.finish}.")
    raise TypeError(
        f"`{_show(left)} {operator} {_show(right)}` connects two things that are not both "
        f"formulas. `{operator}` binds tighter than `<` and `>`: write "
        f"`(v < 0.5) {operator} (c > 0.2)`, not `v < 0.5 {operator} c > 0.2`."
        + _about_equals(right)
    )


def no_inversion(term: Expression) -> NoReturn:
    """Refuses `~x < 0.5`."""
    raise TypeError(
        f"`~{short(term)}` inverts a term. `~` binds tighter than `<` and `>`: write "
        f"`~({short(term)} < 0.5)`, not `~{short(term)} < 0.5`."
    )


def no_exponent(base: object, term: Expression) -> NoReturn:
    """Refuses `2 ** x`."""
    raise TypeError(
        f"`{_show(base)} ** {short(term)}` has a term as its exponent; powers are whole numbers, "
        "`x ** 2`. For an exponential write exp(x) (safegym.formula.functions)."
    )


def no_equality(expression: Expression, other: object) -> NoReturn:
    """Refuses `x == 1`, which Python would answer with False."""
    text = short(expression)
    if not hasattr(expression, "unit_or_none"):
        line = f"write `({text})` where it must hold and `~({text})` where it must not"
    elif isinstance(other, str):
        line = f'write `{text}.is_("{other:.40}")` for a mode signal with labels'
    else:
        line = (
            f"write `near({text}, {_show(other)}, tol)` for a value within a tolerance, or "
            f'`{text}.is_("FAULT")` for a mode signal with labels'
        )
    raise TypeError(
        f"`{text} == {_show(other)}` compares an expression with a value, which Python would "
        f"answer now and on no trace; {line}."
    )


def no_comparison(formula: Expression, operator: str, other: object) -> NoReturn:
    """Refuses comparing a formula."""
    raise TypeError(
        f"`{short(formula)} {operator} {_show(other)}` compares a formula; only terms compare. "
        "`&`, `|`, `~` bind tighter than `<` and `>`: write `(v < 0.5) & (c > 0.2)`; for a share "
        "or a probability write `fraction(f) >= 0.9` or `prob(f) < 0.01`."
    )


def not_a_formula(where: str, found: object) -> NoReturn:
    """Refuses a non-formula where a formula is needed."""
    if isinstance(found, Unfinished):
        raise TypeError(f"{where} takes a formula, found {found!r:.90}; {found.finish}.")
    line = (
        f"compare it, for example `{_show(found)} > 0`"
        if isinstance(found, Expression)
        else (
            "write `true` as safegym.formula.nodes.TRUE if you mean the constant"
            if isinstance(found, bool)
            else "pass an atom such as `x > 0` or a formula built from atoms"
        )
    )
    raise TypeError(
        f"{where} takes a formula, found {_show(found)} ({type(found).__name__}); {line}."
        + _about_equals(found)
    )


def _about_equals(found: object) -> str:
    if not isinstance(found, bool):
        return ""
    return (
        " A bare True or False often comes from `==` on terms, which compares expressions, not "
        'values: write `near(x, c, tol)`, or `mode.is_("FAULT")` for a signal with labels.'
    )


def _show(value: object) -> str:
    return short(value) if isinstance(value, Expression) else f"{value!r:.60}"
