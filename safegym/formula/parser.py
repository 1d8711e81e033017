"""The parser: operator precedence over two explicit stacks. The grammar is told in text.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from safegym.errors import FormulaError
from safegym.formula.actions import Call, Operand, Value, infix, kind_of, power_of, prefix, settled
from safegym.formula.checks import RESERVED
from safegym.formula.grammar import (
    CALLS,
    INFIX,
    LETTERS,
    MINUS_BINDS,
    OPEN_CALLS,
    PREFIX,
    PREFIX_BINDS,
    SYMBOLS,
    WINDOWED_INFIX,
    WINDOWED_PREFIX,
    Infix,
)
from safegym.formula.leaves import LARGEST_INDEX_DIGITS, Leaves
from safegym.formula.lexer import Token, tokens_of
from safegym.formula.nodes import FALSE, TRUE, Formula
from safegym.formula.statements import Statement
from safegym.formula.terms import Signal
from safegym.formula.windows import UNBOUNDED, Window

DEEPEST = 50_000
LOOSEST = -100
NOTHING: Mapping[str, Formula] = MappingProxyType({})


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


class Parser(Leaves):
    """Reads one text, or the tokens of a part of it, which end with an `end`.

    `values` holds what was read, `waiting` what still needs a right side.
    """

    infix_words: Mapping[str, Infix] = INFIX
    prefix_binds = PREFIX_BINDS
    minus_binds = MINUS_BINDS

    def __init__(
        self,
        text: str,
        declared: dict[str, Signal],
        *,
        tokens: list[Token] | None = None,
        defined: Mapping[str, Formula] = NOTHING,
        strict: bool = False,
    ) -> None:
        read = tokens_of(text) if tokens is None else tokens
        super().__init__(text, read, declared, defined, strict)
        self.values: list[Operand] = []
        self.waiting: list[Open | Pending] = []

    def statement(self) -> Statement:
        """Returns the statement that the whole text writes. Raises FormulaError."""
        found = self.value()
        if not isinstance(found, Statement):
            self.fail(self.tokens[0], f"expected a formula, found {kind_of(found)}")
        return found

    def value(self) -> Value:
        """Returns whatever the whole text writes: a term, a formula, a statement."""
        self._operand()
        while True:
            while self.ahead.text in (")", ",", "^", "**"):
                if self.ahead.text in (")", ","):
                    self._close()
                else:
                    self._power()
            if self.ahead.kind == "end":
                break
            self._operator()
            self._operand()
        self._reduce(LOOSEST, "left", self.ahead)
        if self.waiting:
            opened = self.waiting[-1].token
            which = "this parenthesis" if opened.text == "(" else f"the '(' after {opened.text}"
            self.fail(opened, f"{which} is never closed")
        return settled(self.values.pop())

    def _word(self, token: Token) -> str:
        """Returns the word for a symbol, or a letter that is nobody's name."""
        named = token.text in self.declared or token.text in self.defined
        if token.kind == "name" and not named:
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
            self.values.append(self.constant(1.0))
            return True
        if token.kind == "name":
            return self._name()
        if token.text == "-":
            return self._minus()
        if token.text == "(":
            self._wait(Open(self.take(), len(self.values)))
        elif self._word(token) == "not":
            self._wait(Pending(self.take(), "not", self.prefix_binds))
        else:
            self.expected("a term or a formula")
        return False

    def _wait(self, waiting: Open | Pending) -> None:
        if len(self.waiting) >= DEEPEST:
            self.fail(waiting.token, f"nesting is deeper than {DEEPEST}")
        self.waiting.append(waiting)

    def _minus(self) -> bool:
        """Reads a minus; a number right after it is a negative constant, but -2^2 is -(2^2)."""
        token = self.take()
        if self.ahead.kind == "number":
            place, number = self.place, self.constant(-1.0)
            if self.ahead.text not in ("^", "**"):
                self.values.append(number)
                return True
            self.place = place
        self._wait(Pending(token, "-", self.minus_binds))
        return False

    def _name(self) -> bool:
        token = self.take()
        word = self._word(token)
        if word in ("true", "false"):
            self.values.append(TRUE if word == "true" else FALSE)
            return True
        if word in PREFIX or word in WINDOWED_PREFIX:
            self._prefix_word(token, word)
            return False
        if token.text in self.defined:
            self.values.append(self.defined[token.text])
            return True
        if word in CALLS or (word in OPEN_CALLS and self.ahead.text == "("):
            self.skip("(", f"'(' after {word}")
            self._wait(Open(token, len(self.values), Call(word, UNBOUNDED)))
            return False
        if word in RESERVED:
            self.fail(token, f"expected a term or a formula, found {token.text!r}")
        self.values.append(self.signal(token))
        return True

    def _prefix_word(self, token: Token, word: str) -> None:
        """`word(...)` takes what is in the parentheses; without them, up to a looser operator."""
        window = self.window() if word in WINDOWED_PREFIX else UNBOUNDED
        if self.ahead.text == "[":
            self.expected(f"no window after {word}")
        if self.ahead.text == "(" and word != "not":
            self.take()
            self._wait(Open(token, len(self.values), Call(word, window)))
        else:
            self._wait(Pending(token, word, self.prefix_binds, window))

    # Operators

    def _operator(self) -> None:
        token = self.ahead
        found = self.infix_words.get(self._word(token))
        if found is None:
            self.expected("an operator" + (_OTHER_LINE.get(token.text) or self._misspelt(token)))
        self.take()
        window = self.window() if found.word in WINDOWED_INFIX else UNBOUNDED
        self._reduce(found.binds, found.side, token)
        self._wait(Pending(token, found.word, found.binds, window, infix=True))

    def _misspelt(self, token: Token) -> str:
        """Returns a hint where a name that is no word of the language is called."""
        before = self.tokens[self.place - 1]
        if token.text != "(" or before.kind != "name" or self.infix_words is not INFIX:
            return ""
        words = [*PREFIX, *WINDOWED_PREFIX, *CALLS, *OPEN_CALLS]
        near = get_close_matches(before.text, words, n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f" ({before.text} is not a word of the language{hint})"

    def _power(self) -> None:
        """Reads `^n` after an operand, which binds tighter than anything else."""
        token = self.take()
        if not self.ahead.text.isdecimal() or len(self.ahead.text) > LARGEST_INDEX_DIGITS:
            self.expected("a whole number as the power")
        exponent = int(self.take().text)
        if self.ahead.text in ("^", "**"):
            self.fail(self.ahead, "`x^a^b` needs parentheses: (x^a)^b")
        try:
            self.values.append(power_of(settled(self.values.pop()), exponent))
        except FormulaError as error:
            raise self.placed(token, error) from None

    def _close(self) -> None:
        """Reads a closing parenthesis, or a comma and the next argument of a call."""
        self._reduce(LOOSEST, "left", self.ahead)
        opened = self.waiting[-1] if self.waiting else None
        if not isinstance(opened, Open):
            self.expected("an operator or the end of the text")
        if self.ahead.text == ",":
            if opened.call is None:
                self.expected("')' or an operator")
            if opened.call.word == "prob" and self._given_keyword():
                return
            self.take()
            self._operand()
            return
        self.take()
        self.waiting.pop()
        if opened.call is not None:
            arguments = [settled(value) for value in self.values[opened.base :]]
            del self.values[opened.base :]
            try:
                self.values.append(opened.call.apply(arguments))
            except FormulaError as error:
                raise self.placed(opened.token, error) from None

    def _given_keyword(self) -> bool:
        """Reads `, given=` as it is written in Python: the operator `given` of the text."""
        comma, word = self.ahead, self.second
        equals = self.tokens[min(self.place + 2, len(self.tokens) - 1)]
        if word.text != "given" or equals.text != "=":
            return False
        for _ in range(3):
            self.take()
        found = INFIX["given"]
        self._wait(Pending(comma, found.word, found.binds, infix=True))
        self._operand()
        return True

    def _reduce(self, binds: int, side: str, token: Token) -> None:
        """Applies waiting operators that bind tighter, or as tightly in a row from the left."""
        while self.waiting and isinstance(top := self.waiting[-1], Pending):
            if top.binds < binds or (top.binds == binds and side == "right"):
                return
            if top.binds == binds and side == "none":
                shown = f"`a {top.token.text} b {token.text} c`"
                self.fail(token, f"{shown} needs parentheses" + self._row(binds))
            self.waiting.pop()
            self._apply(top)

    def _row(self, binds: int) -> str:
        compares = binds == self.infix_words["<"].binds
        return "; for a < x < b write (a < x) and (x < b)" if compares else ""

    def _apply(self, pending: Pending) -> None:
        right = self.values.pop()
        try:
            if pending.infix:
                left = self.values.pop()
                self.values.append(infix(pending.word, left, right, pending.window))
            else:
                self.values.append(prefix(pending.word, settled(right), pending.window))
        except FormulaError as error:
            raise self.placed(pending.token, error) from None


_OTHER_LINE = {
    "==": "; for a value within a tolerance write abs(x - c) <= tol",
    "=": "; for a value within a tolerance write abs(x - c) <= tol",
    "!=": "; for a value apart from c write abs(x - c) > tol",
}
