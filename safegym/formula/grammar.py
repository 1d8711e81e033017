"""The words and symbols of formula text: what each builds, and how tightly it binds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from safegym.formula.build import falling, never, rising
from safegym.formula.nodes import (
    Always,
    Comparison,
    Eventually,
    Formula,
    Historically,
    Iff,
    Implies,
    Next,
    Not,
    Once,
    Previous,
    Release,
    Since,
    Trigger,
    Until,
    WeakNext,
    WeakPrevious,
    Xor,
)
from safegym.formula.terms import Operation
from safegym.formula.windows import Window

Side = Literal["left", "right", "none"]


@dataclass(frozen=True, slots=True)
class Infix:
    """A two-place operator. binds: higher is tighter. side: how a row of equals groups."""

    word: str
    binds: int
    side: Side


JOIN = {"and": 4, "or": 3}
INFIX: dict[str, Infix] = {
    "given": Infix("given", 0, "none"),
    "iff": Infix("iff", 1, "none"),
    "xor": Infix("xor", 1, "none"),
    "implies": Infix("implies", 2, "right"),
    "or": Infix("or", JOIN["or"], "left"),
    "and": Infix("and", JOIN["and"], "left"),
    "until": Infix("until", 5, "none"),
    "weak_until": Infix("weak_until", 5, "none"),
    "release": Infix("release", 5, "none"),
    "since": Infix("since", 5, "none"),
    "trigger": Infix("trigger", 5, "none"),
    "<": Infix("<", 7, "none"),
    "<=": Infix("<=", 7, "none"),
    ">": Infix(">", 7, "none"),
    ">=": Infix(">=", 7, "none"),
    "+": Infix("+", 8, "left"),
    "-": Infix("-", 8, "left"),
    "*": Infix("*", 9, "left"),
    "/": Infix("/", 9, "left"),
}
PREFIX_BINDS = 6
MINUS_BINDS = 10

SYMBOLS: dict[str, str] = {
    "&": "and",
    "&&": "and",
    "|": "or",
    "||": "or",
    "->": "implies",
    "<->": "iff",
    "~": "not",
    "!": "not",
}
LETTERS: dict[str, str] = {
    "G": "always",
    "F": "eventually",
    "U": "until",
    "R": "release",
    "X": "next",
    "O": "once",
    "H": "historically",
    "S": "since",
}

CONNECTIVE: dict[str, Callable[[Formula, Formula], Formula]] = {
    "implies": Implies,
    "iff": Iff,
    "xor": Xor,
}
WINDOWED_INFIX: dict[str, Callable[[Formula, Formula, Window], Formula]] = {
    "until": Until,
    "weak_until": lambda left, right, window: left.weak_until(right, window=window),
    "release": Release,
    "since": Since,
    "trigger": Trigger,
}
PREFIX: dict[str, Callable[[Formula], Formula]] = {
    "not": Not,
    "next": Next,
    "weak_next": WeakNext,
    "previous": Previous,
    "weak_previous": WeakPrevious,
    "rising": rising,
    "falling": falling,
}
WINDOWED_PREFIX: dict[str, Callable[[Formula, Window], Formula]] = {
    "always": Always,
    "eventually": Eventually,
    "never": lambda formula, window: never(formula, window=window),
    "once": Once,
    "historically": Historically,
}
COMPARISONS: dict[str, Comparison] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}
ARITHMETIC: dict[str, Operation] = {"+": "+", "-": "-", "*": "*", "/": "/"}
ONE_TERM: dict[str, Operation] = {
    "abs": "abs",
    "sqrt": "sqrt",
    "exp": "exp",
    "sin": "sin",
    "cos": "cos",
}
MANY_TERMS: tuple[str, ...] = ("min", "max", "norm")
CALLS: frozenset[str] = frozenset({*ONE_TERM, *MANY_TERMS, "prob", "fraction", "mean", "scaled"})
OPEN_CALLS: frozenset[str] = frozenset({"between", "near", "all_of", "any_of", "quantile"})
"""Called with parentheses; without them each may be the name of a signal."""
