"""Reading formula text. Linear in its length, without recursion; only FormulaError is raised.

Loosest to tightest: `iff xor` | `implies` (groups to the right) | `or` | `and` |
`until weak_until release since trigger` | `not` and one-place temporal words | `< <= > >=` |
`+ -` | `* /` | unary minus | `^`. Rows of `iff xor`, `until ...` and comparisons need parentheses.
A window is `[a,b]` in seconds, closed, each bound a decimal, `p/q`, or `inf`. A constant may carry
a unit: `5{km/h}`, or `5 km/h` where no signal is called so. A power `x^n` has a whole n from 1 to
16. `mode is FAULT` holds where a signal has the number of its label. Calls: `abs sqrt exp sin cos`,
`min max norm` (of vectors too), `between(x, a, b)`, `near(x, c, tol)`, `scaled(x > 0, s)`, and
`all_of any_of` over formulas or one comparison of vectors. Also read: `& && | || ~ ! -> <-> **`,
and the letters G F U R X O H S where no declared signal has that name.
"""

from collections.abc import Iterable

from safegym.errors import FormulaError
from safegym.formula.expression import LONGEST_TEXT
from safegym.formula.nodes import Formula
from safegym.formula.parser import Parser
from safegym.formula.statements import Statement
from safegym.formula.terms import Signal


def parse(text: str, signals: Iterable[Signal] | None = None) -> Formula:
    """Returns the formula that `text` writes.

    signals: declarations; a name without one is read as `Signal(name)`, unit "1" (with
    shape=(-1,), a vector of any length, if the text indexes it). `parse(str(f),
    signals=f.signals)` is `f`. Raises FormulaError with line, column, and what was expected.
    """
    found = parse_statement(text, signals)
    if isinstance(found, Formula):
        return found
    raise FormulaError(
        f"`{text.strip()[:60]}` bounds a probability or mean over episodes, not one trace; it is "
        "the statement of a Claim (parse_statement reads it)."
    )


def parse_statement(text: str, signals: Iterable[Signal] | None = None) -> Statement:
    """Returns the claim statement that `text` writes: a formula, or a bound on prob or mean."""
    check_text(text)
    return Parser(text, declared_signals(signals)).statement()


def check_text(text: object) -> None:
    """Raises FormulaError unless `text` is text of a length that is read."""
    if not isinstance(text, str):
        raise FormulaError(f"parse takes text, found {text!r:.60} ({type(text).__name__}).")
    if len(text) > LONGEST_TEXT:
        raise FormulaError(f"The text is longer than {LONGEST_TEXT} characters.")


def _check_signal(signal: object) -> None:
    if not isinstance(signal, Signal):
        raise FormulaError(f"signals takes Signal objects, found {signal!r:.60}.")


def declared_signals(signals: Iterable[Signal] | None) -> dict[str, Signal]:
    """Returns the declarations by name. Raises FormulaError if two share a name."""
    found: dict[str, Signal] = {}
    for signal in () if signals is None else signals:
        _check_signal(signal)
        if found.setdefault(signal.name, signal) is not signal:
            raise FormulaError(f"Signal {signal.name!r} is declared in two ways.")
    return found
