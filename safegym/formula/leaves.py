"""The smallest parts of formula text: numbers with a unit, signals, windows."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from math import inf
from typing import NoReturn

from safegym.errors import FormulaError
from safegym.formula.checks import ANY_LENGTH
from safegym.formula.cursor import Cursor
from safegym.formula.grammar import LETTERS
from safegym.formula.lexer import Token
from safegym.formula.nodes import Formula
from safegym.formula.terms import Constant, Signal, Term
from safegym.formula.windows import UNBOUNDED, Window
from safegym.units import SYMBOLS

LARGEST_INDEX_DIGITS = 6


class Leaves(Cursor):
    """Reads the smallest parts.

    declared: signals by name. defined: formulas that a name stands for. strict: a name that is
    neither is refused, with the nearest that there are; otherwise it is a signal of unit "1".
    """

    def __init__(
        self,
        text: str,
        tokens: list[Token],
        declared: dict[str, Signal],
        defined: Mapping[str, Formula],
        strict: bool,
    ) -> None:
        super().__init__(text, tokens)
        self.declared = declared
        self.defined = defined
        self.strict = strict
        self.indexed = _indexed_names(tokens)

    # Numbers

    def constant(self, sign: float) -> Term:
        """Reads a number and its unit, `5{km/h}` or `5 km/h`."""
        token = self.take()
        try:
            return Constant(sign * float(token.text), self.unit())
        except FormulaError as error:
            raise self.placed(token, error) from None

    def unit(self, *, certain: bool = False) -> str | None:
        """Reads the unit after a number: in braces, or as a word that is a unit's symbol.

        certain: nothing but a unit can follow, so no signal's name is meant.
        """
        if self.ahead.kind == "unit":
            return self.take().text[1:-1]
        if not self._is_symbol(self.ahead, certain) or (
            self.second.text == "(" and self.second.kind != "end"
        ):
            return None
        last = self.take()
        found = last.text
        while self.ahead.start == last.end and self.ahead.text in ("*", "/", "^"):
            joint, next_one = self.ahead, self.second
            power = joint.text == "^"
            fits = next_one.text.isdecimal() if power else self._is_symbol(next_one, certain)
            if not fits or next_one.start != joint.end:
                break
            self.take()
            last = self.take()
            found += joint.text + last.text
        return found

    def _is_symbol(self, token: Token, certain: bool) -> bool:
        taken = token.text in self.declared or token.text in self.defined or token.text in LETTERS
        found = token.text in SYMBOLS and token.kind in ("name", "symbol")
        return found and (certain or not taken)

    # Signals

    def signal(self, token: Token) -> Term | Formula:
        """Reads what follows a signal's name: an index, `is` and a label, or nothing."""
        try:
            signal = self.declared.get(token.text)
            if signal is None:
                signal = self.undeclared(token)
            if self.ahead.text == "[":
                return signal[self._index()]
            if self.ahead.text == "is" and self.ahead.kind == "name":
                self.take()
                if self.ahead.kind != "name":
                    self.expected(f"one of {signal.name}'s labels after 'is'")
                token = self.take()
                return signal.is_(token.text)
            return signal
        except FormulaError as error:
            raise self.placed(token, error) from None

    def undeclared(self, token: Token) -> Signal:
        """Returns a signal without a declaration; a vector of any length if the text indexes it."""
        if self.strict:
            self._unknown(token)
        vector = token.text in self.indexed
        if vector and self.ahead.text != "[":
            self.fail(
                token,
                f"{token.text} is indexed elsewhere, so it is a vector; to use it whole declare "
                f'it: signals=[Signal("{token.text}", shape=(d,))]',
            )
        signal = self.declared[token.text] = Signal(
            token.text, shape=(ANY_LENGTH,) if vector else ()
        )
        return signal

    def _unknown(self, token: Token) -> NoReturn:
        known = [*self.defined, *self.declared]
        self.fail(
            token, f"{token.text[:60]!r} is no signal and no definition; {nearest(token, known)}"
        )

    def _index(self) -> int:
        self.take()
        if not _is_index(self.ahead):
            self.expected("an index such as 0")
        index = int(self.take().text)
        self.skip("]", "']'")
        return index

    # Windows

    def window(self) -> Window:
        """Reads `[a,b]`, or nothing."""
        if self.ahead.text != "[":
            return UNBOUNDED
        start = self.take()
        low = self._bound()
        self.skip(",", "',' and the window's upper bound (inf for none)")
        high = self._bound()
        self.skip("]", "']' (windows are closed)")
        try:
            return Window(low, inf if high == "inf" else high)
        except FormulaError as error:
            raise self.placed(start, error) from None

    def _bound(self) -> str:
        if self.ahead.text == "inf":
            return self.take().text
        if self.ahead.text == "-":
            self.expected("a bound in seconds, >= 0 (the past counts backward, from 0 on)")
        return self.ratio("a bound in seconds such as 0.5 or 1/240")

    def ratio(self, expected: str) -> str:
        """Reads a number or `p/q`, as written."""
        if self.ahead.kind != "number":
            self.expected(expected)
        above = self.take().text
        if self.ahead.text != "/":
            return above
        self.take()
        if self.ahead.kind != "number":
            self.expected("a denominator")
        return f"{above}/{self.take().text}"


def nearest(token: Token, known: Sequence[str]) -> str:
    """Returns the names nearest to the token, or all there are."""
    near = get_close_matches(token.text, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known: {', '.join(known)[:300] or 'none'}"


def _is_index(token: Token) -> bool:
    return (
        token.text.isdecimal() and token.text.isascii() and len(token.text) <= LARGEST_INDEX_DIGITS
    )


def _indexed_names(tokens: list[Token]) -> set[str]:
    """Returns each name that is indexed as `name[i]`."""
    return {
        name.text
        for name, bracket, index, close in zip(
            tokens, tokens[1:], tokens[2:], tokens[3:], strict=False
        )
        if name.kind == "name" and bracket.text == "[" and close.text == "]" and _is_index(index)
    }
