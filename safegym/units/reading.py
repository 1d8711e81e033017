"""Reading a unit's text, by hand: `*` and `/` from left to right, integer powers, parentheses."""

import re
from collections.abc import Iterator
from functools import lru_cache

from safegym.errors import UnitError
from safegym.units.algebra import Unit
from safegym.units.nearest import hint
from safegym.units.symbols import SYMBOLS

LONGEST_TEXT = 64

_TOKEN = re.compile(
    r"\s*([A-Za-z]*g0(?![A-Za-z0-9])|[A-Za-z]+|%|1(?![0-9])|[*/()]"
    r"|\^\s*[+-]?[0-9]{1,2}(?![0-9]))",
    re.ASCII,
)
_WORD = re.compile(r"[^\s*/()^]+")


@lru_cache(maxsize=1024)
def unit(text: str) -> Unit:
    """Returns the unit that `text` names. Raises UnitError with near symbols if there is none."""
    if not text.strip() or len(text) > LONGEST_TEXT:
        raise UnitError(f'A unit must be text such as "m/s" or "1", found {text[:LONGEST_TEXT]!r}.')
    tokens = _Tokens(text)
    found = _product(tokens)
    if tokens.ahead:
        tokens.fail("the end")
    return Unit(found.dimension, found.factor, found.pi_power, text.strip())


def same_unit(one: str, other: str) -> bool:
    """Whether two unit texts name the same quantity in the same size (Pa and N/m^2 do)."""
    return one == other or unit(one) == unit(other)


class _Tokens:
    """The tokens of a unit text, one ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._rest = self._scan(text)
        self.ahead = next(self._rest, "")

    def _scan(self, text: str) -> Iterator[str]:
        body, start = text.rstrip(), 0
        while start < len(body):
            match = _TOKEN.match(body, start)
            if match is None:
                raise UnitError(_unreadable(text, body[start:]))
            yield match[1]
            start = match.end()

    def take(self) -> str:
        taken, self.ahead = self.ahead, next(self._rest, "")
        return taken

    def fail(self, expected: str) -> None:
        found = repr(self.ahead) if self.ahead else "the end"
        line = ""
        if expected == "the end" and self.ahead.isalpha():
            line = "; write a product with *, as in N*m"
        raise UnitError(f"Unit {self.text!r}: expected {expected}, found {found}{line}.")


def _unreadable(text: str, rest: str) -> str:
    word = _WORD.search(rest)
    said = f"Unit {text!r} cannot be read at {rest!r}"
    if word is not None and not word[0].isascii():
        return f"{said}; {hint(word[0])}."
    return f'{said}; write it like "m/s^2", "N*m" or "1".'


def _product(tokens: _Tokens) -> Unit:
    found = _powered(tokens)
    while tokens.ahead in ("*", "/"):
        operator, factor = tokens.take(), _powered(tokens)
        found = found * factor if operator == "*" else found / factor
    return found


def _powered(tokens: _Tokens) -> Unit:
    found = _symbol(tokens)
    if tokens.ahead.startswith("^"):
        found = found.power(int(tokens.take()[1:]))
    return found


def _symbol(tokens: _Tokens) -> Unit:
    if tokens.ahead == "(":
        tokens.take()
        found = _product(tokens)
        if tokens.take() != ")":
            raise UnitError(f"Unit {tokens.text!r}: a parenthesis is not closed.")
        return found
    if tokens.ahead[:1] in ("", "*", "/", ")", "^"):
        tokens.fail("a unit symbol")
    symbol = tokens.take()
    if symbol not in SYMBOLS:
        raise UnitError(f"Unit symbol {symbol!r} in {tokens.text!r} is not known; {hint(symbol)}.")
    return SYMBOLS[symbol]
