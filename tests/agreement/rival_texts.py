"""Our formulas in the texts of rtamt and sentil, and their answers; None where one has no word.

Both are given traces at 1 s a sample and windows in samples, so that no time is rounded on the way.
What they lack is written out where their other words say the same: release and trigger as the duals
of until and since, iff and xor as and/or (rtamt's own words for them mean something else), weak
next as a negation, and sentil's previous as `once[1,1]`.
"""

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from safegym.formula import nodes as n
from safegym.formula.nodes import Formula
from safegym.formula.terms import Apply, Constant, Signal, Term, Window

Signals = Mapping[str, Sequence[float]]


class NoWordError(Exception):
    """The rival cannot say this."""


@dataclass(frozen=True)
class Dialect:
    """The words of one rival. weak: its words for weak next and the previous ones, if any."""

    name: str
    next: str
    words: Mapping[str, str]
    endless_from: bool
    """Whether [a, inf] with a > 0 can be written."""


RTAMT = Dialect(
    "rtamt",
    "s_next",
    {"weak_next": "next", "previous": "s_prev", "weak_previous": "prev"},
    endless_from=False,
)
SENTIL = Dialect(
    "sentil",
    "next",
    {"previous": "once[1,1]", "weak_previous": "historically[1,1]"},
    endless_from=True,
)


def text_of(formula: Formula, dt: Fraction, dialect: Dialect) -> str:
    """The formula in the rival's text. Raises NoWordError."""
    match formula:
        case n.Atom():
            sides = [_term(side) for side in (formula.left, formula.right)]
            return f"({sides[0]} {formula.comparison} {sides[1]})"
        case n.And() | n.Or():
            parts = [text_of(part, dt, dialect) for part in formula.arguments]
            folded = parts[0]
            for part in parts[1:]:
                folded = f"({folded} {formula.word} {part})"
            return folded
        case n.WindowedUnary():
            part = text_of(formula.argument, dt, dialect)
            return f"({formula.word}{_window(formula.window, dt, dialect)}{part})"
        case n.Unary():
            return _one(formula, text_of(formula.argument, dt, dialect), dialect)
        case n.WindowedBinary():
            return _temporal(formula, dt, dialect)
        case n.Binary():
            sides = [text_of(side, dt, dialect) for side in (formula.left, formula.right)]
            return _two(formula, *sides)
        case _:
            raise NoWordError(type(formula).__name__)


def _term(term: Term) -> str:
    if isinstance(term, Signal):
        return term.name
    if isinstance(term, Constant):
        return str(term.value) if term.value >= 0 else f"(0 - {-term.value})"
    if not isinstance(term, Apply):
        raise NoWordError(str(term))
    parts = [_term(part) for part in term.arguments]
    if term.operation == "abs":
        return f"abs({parts[0]})"
    if term.operation == "neg":
        return f"(0 - {parts[0]})"
    if term.operation in ("+", "-", "*", "/") and len(parts) == 2:
        return f"({parts[0]} {term.operation} {parts[1]})"
    raise NoWordError(term.operation)


def _window(window: Window, dt: Fraction, dialect: Dialect) -> str:
    low = Fraction(window.lo) / dt
    if window.hi is not None:
        return f"[{low},{Fraction(window.hi) / dt}]"
    if low and not dialect.endless_from:
        raise NoWordError(f"[{low}, inf)")
    return f"[{low},inf]" if low else ""


def _one(formula: n.Unary, part: str, dialect: Dialect) -> str:
    match formula:
        case n.Not():
            return f"(not({part}))"
        case n.Next():
            return f"({dialect.next}({part}))"
        case n.WeakNext() if formula.word not in dialect.words:
            return f"(not({dialect.next}(not({part}))))"
        case _:
            return f"({dialect.words[formula.word]}({part}))"


def _two(formula: n.Binary, left: str, right: str) -> str:
    match formula:
        case n.Implies():
            return f"({left} implies {right})"
        case n.Iff():
            return f"(({left} and {right}) or ((not{left}) and (not{right})))"
        case n.Xor():
            return f"(({left} and (not{right})) or ((not{left}) and {right}))"
        case _:
            raise NoWordError(type(formula).__name__)


def _temporal(formula: n.WindowedBinary, dt: Fraction, dialect: Dialect) -> str:
    left, right = (text_of(side, dt, dialect) for side in (formula.left, formula.right))
    window = _window(formula.window, dt, dialect)
    if isinstance(formula, n.Until | n.Since):
        return f"({left} {formula.word}{window} {right})"
    word = "until" if isinstance(formula, n.Release) else "since"
    return f"(not((not{left}) {word}{window} (not{right})))"


def rtamt_module() -> Any:
    """The module rtamt, or a skip with the reason."""
    return _module("rtamt")


def sentil_module() -> Any:
    """The module sentil, or a skip with the reason."""
    return _module("sentil")


def _module(name: str, package: str = "-e '.[rivals]'") -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rtamt's parser runtime imports the old typing.io
        try:
            return importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"{name} cannot be imported ({error}); pip install {package}")


def rtamt_offline(text: str, signals: Signals) -> list[float]:
    """rtamt's robustness at every sample of a discrete trace at 1 s a sample."""
    specification = rtamt_module().StlDiscreteTimeOfflineSpecification()
    _rtamt_parse(specification, text, signals)
    samples = len(next(iter(signals.values())))
    found = specification.evaluate({"time": list(range(samples)), **signals})
    return [value for _, value in found]


def rtamt_online(text: str, signals: Signals) -> list[float]:
    """What rtamt's online mode says after each sample; its future operators lag behind."""
    specification = rtamt_module().StlDiscreteTimeOnlineSpecification()
    _rtamt_parse(specification, text, signals)
    specification.pastify()
    samples = len(next(iter(signals.values())))
    return [
        specification.update(k, [(name, values[k]) for name, values in signals.items()])
        for k in range(samples)
    ]


def _rtamt_parse(specification: Any, text: str, signals: Signals) -> None:
    for name in signals:
        specification.declare_var(name, "float")
    specification.spec = text
    specification.parse()


def sentil_offline(text: str, signals: Signals) -> list[float]:
    """sentil's robustness at every sample of a discrete trace at 1 s a sample."""
    sentil = sentil_module()
    samples = len(next(iter(signals.values())))
    trace = sentil.Trace([float(k) for k in range(samples)], dict(signals))
    found: list[float] = sentil.Formula.parse(text).robustness_signal(trace).tolist()
    return found


RIVALS: dict[str, tuple[Dialect, Callable[[str, Signals], list[float]]]] = {
    "rtamt": (RTAMT, rtamt_offline),
    "sentil": (SENTIL, sentil_offline),
}


def mstlo_module() -> Any:
    """The module mstlo_python, or a skip with the reason."""
    return _module("mstlo_python", "mstlo-python")


def mstlo_verdicts(text: str, signals: Signals, semantics: str) -> dict[float, Any]:
    """mstlo's last verdict about each time, of a trace at 1 s a sample."""
    mstlo = mstlo_module()
    monitor = mstlo.Monitor(mstlo.parse_formula(text), semantics=semantics)
    samples = len(next(iter(signals.values())))
    found: dict[float, Any] = {}
    for k in range(samples):
        for name, values in signals.items():
            found.update(monitor.update(name, values[k], float(k)).verdicts())
    return found
