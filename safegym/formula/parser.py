"""The parser: operator precedence over two explicit stacks. The grammar is told in text.py."""

from dataclasses import dataclass
from math import inf
from typing import NoReturn

from safegym.errors import FormulaError
from safegym.formula.actions import Call, Operand, infix, kind_of, prefix, settled
from safegym.formula.checks import ANY_LENGTH, RESERVED
from safegym.formula.grammar import (
    CALLS,
    INFIX,
    LETTERS,
    MINUS_BINDS,
    PREFIX,
    PREFIX_BINDS,
    SYMBOLS,
    WINDOWED_INFIX,
    WINDOWED_PREFIX,
)
from safegym.formula.lexer import Token, locate, tokens_of
from safegym.formula.nodes import FALSE, TRUE, Formula
from safegym.formula.statements import MeanBound, ProbBound, Statement
from safegym.formula.terms import Constant, Signal
from safegym.formula.windows import UNBOUNDED, Window

DEEPEST = 50_000
LARGEST_INDEX_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Open:
    """An open parenthesis, of a group or of a call. base: how many values lay before it."""

    token: Token
    base: int
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """An operator that waits for its right side."""

    token: Token
    word: str
    binds: int
    window: Window = UNBOUNDED
    infix: bool = False


class Parser:
    """Reads one text. `values` holds what was read, `waiting` what still needs a right side."""

    def __init__(self, text: str, declared: dict[str, Signal]) -> None:
        self.text = text
        self.declared = declared
        self.tokens = tokens_of(text)
        self.indexed = _indexed_names(self.tokens)
        self.place = 0
        self.values: list[Operand] = []
        self.waiting: list[Open | Pending] = []

    def statement(self) -> Statement:
        """Returns what the whole text writes. Raises FormulaError."""
        self._operand()
        while True:
            while self.ahead.text in (")", ","):
                self._close()
            if self.ahead.kind == "end":
                return self._finish()
            self._operator()
            self._operand()

    def _finish(self) -> Statement:
        self._reduce(0, "left", self.ahead)
        if self.waiting:
            self._fail(self.waiting[-1].token, "this parenthesis is never closed")
        found = settled(self.values.pop())
        if not isinstance(found, (Formula, ProbBound, MeanBound)):
            self._fail(self.tokens[0], f"expected a formula, found {kind_of(found)}; compare it")
        return found

    # Tokens

    @property
    def ahead(self) -> Token:
        """The next token."""
        return self.tokens[self.place]

    def _take(self) -> Token:
        token = self.tokens[self.place]
        self.place += 1
        return token

    def _skip(self, text: str, expected: str) -> None:
        if self.ahead.text != text:
            self._expected(expected)
        self.place += 1

    def _fail(self, token: Token, problem: str) -> NoReturn:
        raise FormulaError(locate(self.text, token.start, problem))

    def _expected(self, what: str) -> NoReturn:
        end = self.ahead.kind == "end"
        found = "the end of the text" if end else repr(self.ahead.text[:40])
        self._fail(self.ahead, f"expected {what}, found {found}")

    def _placed(self, token: Token, error: FormulaError) -> FormulaError:
        """Returns the error with the token's place in front, of the same class."""
        return type(error)(locate(self.text, token.start, str(error).rstrip(".")))

    def _word(self, token: Token) -> str:
        """Returns the word for a symbol, or a letter that no declared signal has as its name."""
        if token.kind == "name" and token.text not in self.declared:
            return LETTERS.get(token.text, token.text)
        return SYMBOLS.get(token.text, token.text)

    # Operands

    def _operand(self) -> None:
        """Reads prefixes and opening parentheses, then one name or number."""
        while not self._operand_part():
            pass

    def _operand_part(self) -> bool:
        """Reads one step of an operand; True when the operand is complete."""
        token = self.ahead
        if token.kind == "number":
            self._constant(1.0)
            return True
        if token.kind == "name":
            return self._name()
        if token.text == "-":
            return self._minus()
        if token.text == "(":
            self._wait(Open(self._take(), len(self.values)))
        elif self._word(token) == "not":
            self._wait(Pending(self._take(), "not", PREFIX_BINDS))
        else:
            self._expected("a term or a formula")
        return False

    def _wait(self, waiting: Open | Pending) -> None:
        if len(self.waiting) >= DEEPEST:
            self._fail(waiting.token, f"nesting is deeper than {DEEPEST}")
        self.waiting.append(waiting)

    def _minus(self) -> bool:
        """Reads a minus; a number right after it is a negative constant."""
        token = self._take()
        if self.ahead.kind == "number":
            self._constant(-1.0)
            return True
        self._wait(Pending(token, "-", MINUS_BINDS))
        return False

    def _constant(self, sign: float) -> None:
        token = self._take()
        unit = self._take().text[1:-1] if self.ahead.kind == "unit" else None
        try:
            self.values.append(Constant(sign * float(token.text), unit))
        except FormulaError as error:
            raise self._placed(token, error) from None

    def _name(self) -> bool:
        token = self._take()
        word = self._word(token)
        if word in ("true", "false"):
            self.values.append(TRUE if word == "true" else FALSE)
            return True
        if word in PREFIX or word in WINDOWED_PREFIX:
            self._prefix_word(token, word)
            return False
        if word in CALLS:
            self._skip("(", f"'(' after {word}")
            self._wait(Open(token, len(self.values), Call(word, UNBOUNDED)))
            return False
        if word in RESERVED:
            self._fail(token, f"expected a term or a formula, found {token.text!r}")
        self._signal(token)
        return True

    def _prefix_word(self, token: Token, word: str) -> None:
        """`word(...)` takes what is in the parentheses; without them, up to a looser operator."""
        window = self._window() if word in WINDOWED_PREFIX else UNBOUNDED
        if self.ahead.text == "[":
            self._expected(f"no window after {word}")
        if self.ahead.text == "(" and word != "not":
            self._take()
            self._wait(Open(token, len(self.values), Call(word, window)))
        else:
            self._wait(Pending(token, word, PREFIX_BINDS, window))

    def _signal(self, token: Token) -> None:
        name = token.text
        try:
            signal = self.declared.get(name)
            if signal is None:
                signal = self._undeclared(token)
            self.values.append(signal[self._index()] if self.ahead.text == "[" else signal)
        except FormulaError as error:
            raise error if "\n" in str(error) else self._placed(token, error) from None

    def _undeclared(self, token: Token) -> Signal:
        """Returns a signal without a declaration; a vector of any length if the text indexes it."""
        vector = token.text in self.indexed
        if vector and self.ahead.text != "[":
            self._fail(
                token,
                f"{token.text} is indexed elsewhere, so it is a vector; to use it whole declare "
                f'it: signals=[Signal("{token.text}", shape=(d,))]',
            )
        signal = self.declared[token.text] = Signal(
            token.text, shape=(ANY_LENGTH,) if vector else ()
        )
        return signal

    def _index(self) -> int:
        self._take()
        if not _is_index(self.ahead):
            self._expected("an index such as 0")
        index = int(self._take().text)
        self._skip("]", "']'")
        return index

    # Windows

    def _window(self) -> Window:
        if self.ahead.text != "[":
            return UNBOUNDED
        start = self._take()
        low = self._bound()
        self._skip(",", "',' and the window's upper bound (inf for none)")
        high = self._bound()
        self._skip("]", "']' (windows are closed)")
        try:
            return Window(low, inf if high == "inf" else high)
        except FormulaError as error:
            raise self._placed(start, error) from None

    def _bound(self) -> str:
        if self.ahead.text == "inf":
            return self._take().text
        if self.ahead.kind != "number":
            self._expected("a bound in seconds such as 0.5 or 1/240")
        above = self._take().text
        if self.ahead.text != "/":
            return above
        self._take()
        if self.ahead.kind != "number":
            self._expected("a denominator")
        return f"{above}/{self._take().text}"

    # Operators

    def _operator(self) -> None:
        token = self.ahead
        found = INFIX.get(SYMBOLS.get(self._word(token), self._word(token)))
        if found is None:
            self._expected("an operator" + _OTHER_LINE.get(token.text, ""))
        self._take()
        window = self._window() if found.word in WINDOWED_INFIX else UNBOUNDED
        self._reduce(found.binds, found.side, token)
        self._wait(Pending(token, found.word, found.binds, window, infix=True))

    def _close(self) -> None:
        """Reads a closing parenthesis, or a comma and the next argument of a call."""
        self._reduce(0, "left", self.ahead)
        opened = self.waiting[-1] if self.waiting else None
        if not isinstance(opened, Open):
            self._expected("an operator or the end of the text")
        if self.ahead.text == ",":
            if opened.call is None:
                self._expected("')' or an operator")
            self._take()
            self._operand()
            return
        self._take()
        self.waiting.pop()
        if opened.call is not None:
            arguments = [settled(value) for value in self.values[opened.base :]]
            del self.values[opened.base :]
            try:
                self.values.append(opened.call.apply(arguments))
            except FormulaError as error:
                raise self._placed(opened.token, error) from None

    def _reduce(self, binds: int, side: str, token: Token) -> None:
        """Applies waiting operators that bind tighter, or as tightly in a row from the left."""
        while self.waiting and isinstance(top := self.waiting[-1], Pending):
            if top.binds < binds or (top.binds == binds and side == "right"):
                return
            if top.binds == binds and side == "none":
                self._fail(
                    token, f"`a {top.word} b {token.text} c` needs parentheses" + _row(binds)
                )
            self.waiting.pop()
            self._apply(top)

    def _apply(self, pending: Pending) -> None:
        right = self.values.pop()
        try:
            if pending.infix:
                left = self.values.pop()
                self.values.append(infix(pending.word, left, right, pending.window))
            else:
                self.values.append(prefix(pending.word, settled(right), pending.window))
        except FormulaError as error:
            raise self._placed(pending.token, error) from None


_OTHER_LINE = {
    "==": "; for a value within a tolerance write abs(x - c) <= tol",
    "=": "; for a value within a tolerance write abs(x - c) <= tol",
    "!=": "; for a value apart from c write abs(x - c) > tol",
}


def _row(binds: int) -> str:
    return "; for a < x < b write (a < x) and (x < b)" if binds == INFIX["<"].binds else ""


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
