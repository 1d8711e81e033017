"""Reading specifications written for rtamt (its 0.4 grammar: declarations, then assertions).

    const float limit = 2.0
    input float speed
    out = always[0:500ms](speed < limit)

Meaning here, and where it differs from rtamt's robustness:

- truth is that of the comparisons, so `<` and `<=` differ; `iff` and `xor` are Boolean, where
  rtamt's -|a - b| and |a - b| can have the wrong sign.
- `prev` and `next` are weak_previous and weak_next, `s_prev` and `s_next` the strong ones, `fall`
  is true at sample 0 where its formula is false, `unless` is weak_until.
- rows group as rtamt groups them: `a -> b -> c` is `(a -> b) -> c`, `until` binds tighter than
  `unless`, that tighter than `since`.
- `input` and `output` tell rtamt's input-output semantics apart; only the standard one is read
  here, so they change nothing. `@topic(...)` and the specification's name are for other tools.

Refused, with the reason: what rtamt releases read differently (`a - b + c`, `a / b * c` without
parentheses), a number as a formula, arithmetic on formulas, `==` and `!==`, `ln` and `log`, other
types than float, real, int and long, fields such as `car.speed`, a constant declared twice (as in
rtamt), imports.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from safegym.errors import FormulaError
from safegym.formula.actions import Call, Value, kind_of
from safegym.formula.build import rising, weak_previous
from safegym.formula.checks import finite
from safegym.formula.lexer import Token
from safegym.formula.nodes import Formula, all_of
from safegym.formula.operations import power
from safegym.formula.parser import Open, Parser, Pending
from safegym.formula.rtamt_tokens import (
    INFIX,
    MINUS_BINDS,
    PREFIX_BINDS,
    WHAT,
    WORDS,
    tokens_of,
)
from safegym.formula.terms import Constant, Signal, Term
from safegym.formula.text import check_text, declared_signals
from safegym.formula.windows import UNBOUNDED, Window
from safegym.rational import exact

__all__ = ["Specification", "read_rtamt"]

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12}
TYPES = ("float", "real", "int", "long")
OTHER_TYPES = ("complex", "bool")
DECLARES = ("input", "output", "internal", "const", "@", *TYPES, *OTHER_TYPES)


@dataclass(frozen=True, slots=True)
class Specification:
    """What rtamt text states. name: of the specification, "" if it has none.

    formula: the last assertion, which is what rtamt evaluates. assertions: each name with its
    formula or term, the unnamed one as "out".
    """

    name: str
    formula: Formula
    assertions: Mapping[str, Formula | Term]

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The signals read, in order of first appearance."""
        return self.formula.signals


def read_rtamt(
    text: str,
    *,
    signals: Iterable[Signal] | None = None,
    constants: Mapping[str, float] | None = None,
    unit: str = "s",
) -> Specification:
    """Returns the specification that `text` writes.

    signals: declarations with units; given any, every variable must be one of them, else it is
    read as `Signal(name)`, unit "1". constants: those that rtamt has from `declare_const`. unit:
    of bounds without one, s, ms, us, ns or ps (rtamt's own default is s, whatever its sampling
    period). Raises FormulaError with line, column, what was expected or why it is refused.
    """
    check_text(text)
    if unit not in UNITS:
        raise FormulaError(f"unit must be one of {', '.join(UNITS)}, found {unit!r:.40}.")
    reader = _Reader(text, declared_signals(signals), signals is not None, unit)
    for name, value in (constants or {}).items():
        reader.named[name] = Constant(finite(value, f"Constant {name}"))
        reader.numbers[name] = str(value)
    return reader.specification()


class _Reader(Parser):
    """Reads declarations and assertions; of a part of the text where `tokens` are given."""

    what = WHAT
    infix_words = INFIX
    prefix_binds = PREFIX_BINDS
    minus_binds = MINUS_BINDS

    def __init__(
        self,
        text: str,
        declared: dict[str, Signal],
        strict: bool,
        unit_word: str,
        tokens: list[Token] | None = None,
    ) -> None:
        read = tokens_of(text) if tokens is None else tokens
        super().__init__(text, declared, tokens=read, strict=strict)
        self.unit_word = unit_word
        self.named: dict[str, Formula | Term] = {}
        self.numbers: dict[str, str] = {}

    def specification(self) -> Specification:
        """Returns the whole text's specification."""
        name = ""
        if self.ahead.text == "specification":
            self.take()
            name = self._identifier("the specification's name").text
        if self.ahead.text in ("from", "import"):
            self.fail(self.ahead, "imports run Python; declare the signals themselves")
        while self.ahead.text in DECLARES or self._custom_type():
            self._declaration()
        found: dict[str, Formula | Term] = {}
        last = "out"
        while self.ahead.kind != "end" or not found:
            last = self._assertion(found)
        formula = found[last]
        if not isinstance(formula, Formula):
            self.fail(
                self.tokens[0], f"the last assertion must be a formula, not {kind_of(formula)}"
            )
        return Specification(name, formula, found)

    # Declarations

    def _custom_type(self) -> bool:
        return self.ahead.kind == "name" and self.second.kind == "name" and not (
            self.ahead.text in WORDS or self.second.text in WORDS
        )  # fmt: skip

    def _identifier(self, what: str) -> Token:
        if self.ahead.kind != "name" or self.ahead.text in WORDS:
            self.expected(what)
        return self.take()

    def _declaration(self) -> None:
        if self.ahead.text == "@":
            self._annotation()
            return
        constant = self.ahead.text == "const"
        if self.ahead.text in ("input", "output", "internal", "const"):
            self.take()
        kind = self._identifier("a type such as float")
        if kind.text not in TYPES:
            self.fail(kind, f"type {kind.text[:40]} has no place here; {', '.join(TYPES)} have")
        name = self._identifier("the declared name")
        if constant:
            self._constant_value(name)
        elif self.ahead.text == "=":
            self.fail(self.ahead, "a variable's values come from traces; write const for a value")

    def _annotation(self) -> None:
        self.take()
        for expected in ("topic", "("):
            self.skip(expected, f"{expected!r} (the annotation @topic(variable, name))")
        self._identifier("a variable")
        self.skip(",", "','")
        self._identifier("the topic's name")
        self.skip(")", "')'")

    def _constant_value(self, name: Token) -> None:
        self.skip("=", "'=' and the constant's value")
        sign = "-" if self.ahead.text == "-" else ""
        if sign:
            self.take()
        if self.ahead.kind != "number":
            self.expected("the constant's value, a number")
        if name.text in self.numbers:
            self.fail(name, f"{name.text} has a value already; keep one declaration")
        token = self.take()
        self.numbers[name.text] = sign + token.text
        try:
            self.named[name.text] = Constant(float(sign + token.text))
        except FormulaError as error:
            raise self.placed(token, error) from None

    # Assertions

    def _assertion(self, found: dict[str, Formula | Term]) -> str:
        """Reads `[name =] expression`, up to `;` or the end, and returns the name."""
        name = "out"
        if self.second.text == "=":
            name = self._identifier("the assertion's name").text
            self.take()
        start = self.place
        while self.ahead.kind != "end" and self.ahead.text != ";":
            self.take()
        stop = self.ahead
        part = [*self.tokens[start : self.place], Token("end", "", stop.start, stop.text)]
        reader = _Reader(self.text, self.declared, self.strict, self.unit_word, part)
        reader.named, reader.numbers = self.named, self.numbers
        value = reader.value()
        if not isinstance(value, (Formula, Term)):
            self.fail(part[0], f"expected a formula or a term, found {kind_of(value)}")
        if stop.text == ";":
            self.take()
        found[name] = self.named[name] = value
        return name

    # Words, and what they stand for

    def _word(self, token: Token) -> str:
        return WORDS.get(token.text, token.text)

    def _name(self) -> bool:
        token = self.take()
        word = WORDS.get(token.text)
        if word in ("rise", "fall"):
            return self._call(token, word)
        if word in _ONE_PLACE:
            window = self.window() if word in _WINDOWED else UNBOUNDED
            self._wait(Pending(token, word, self.prefix_binds, window))
            return False
        if word is not None:
            self.fail(token, f"expected an expression, found {token.text!r}")
        if token.text in ("abs", "sqrt", "exp", "pow"):
            return self._call(token, token.text)
        if token.text in ("ln", "log"):
            self.fail(token, f"there is no {token.text} here; compare exp of the other side")
        if token.text in ("true", "false", "TRUE", "FALSE"):
            self.fail(token, "rtamt's grammar has no truth constants; leave it out")
        self.values.append(self._resolved(token))
        return True

    def _call(self, token: Token, word: str) -> bool:
        self.skip("(", f"'(' after {token.text}")
        self._wait(Open(token, len(self.values), _Call(word, UNBOUNDED)))
        return False

    def _resolved(self, token: Token) -> Formula | Term:
        """Returns what a name stands for: an earlier assertion, a constant, or a signal."""
        if token.text in self.named:
            return self.named[token.text]
        for mark, why in (("/", "for a division write spaces around it"), (".", _FIELD)):
            if mark in token.text:
                self.fail(token, f"rtamt reads {token.text[:60]!r} as one name; {why}")
        try:
            found = self.declared.get(token.text)
            return self.undeclared(token) if found is None else found
        except FormulaError as error:
            raise self.placed(token, error) from None

    def constant(self, sign: float) -> Term:
        """Reads a number; rtamt's have no unit."""
        token = self.take()
        try:
            return Constant(sign * float(token.text))
        except FormulaError as error:
            raise self.placed(token, error) from None

    # Operators

    def _operator(self) -> None:
        token = self.ahead
        if token.text in ("==", "!==", "="):
            line = "abs(x - c) <= tol" if token.text != "!==" else "abs(x - c) > tol"
            self.fail(token, f"{token.text} has no margin either side; write {line}")
        mixed = {"+": "-", "*": "/"}.get(token.text)
        for waiting in reversed(self.waiting):
            if not isinstance(waiting, Pending) or waiting.binds < INFIX["+"].binds:
                break
            if mixed is not None and waiting.word == mixed and waiting.infix:
                self._two_readings(token, mixed)
        super()._operator()

    def _two_readings(self, token: Token, first: str) -> NoReturn:
        row = f"a {first} b {token.text} c"
        self.fail(
            token,
            f"`{row}` is a {first} (b {token.text} c) in rtamt 0.4 and (a {first} b) "
            f"{token.text} c elsewhere; write the parentheses",
        )

    # Windows

    def window(self) -> Window:
        """Reads `[a:b]` or `[a,b]`, each bound a number or constant with or without a unit."""
        if self.ahead.text != "[":
            return UNBOUNDED
        start = self.take()
        low, low_unit = self._limit()
        if self.take().text not in (":", ","):
            self.place -= 1
            self.expected("':' and the interval's end")
        high, high_unit = self._limit()
        self.skip("]", "']'")
        if low_unit and not high_unit:
            self.fail(start, "give both bounds a unit, or the end alone; rtamt refuses this")
        high_unit = high_unit or self.unit_word
        try:
            low_time = exact(low) / UNITS[low_unit or high_unit]
            return Window(low_time, exact(high) / UNITS[high_unit])
        except FormulaError as error:
            raise self.placed(start, error) from None

    def _limit(self) -> tuple[str, str]:
        token = self.ahead
        if token.kind == "number":
            text = self.take().text
        elif token.kind == "name" and token.text in self.numbers:
            text = self.numbers[self.take().text]
        else:
            self.expected("a number or a declared constant")
        unit = self.take().text if self.ahead.text in UNITS else ""
        return text, unit


_FIELD = "a field of an object; name the signal without the dot"
_WINDOWED = ("always", "eventually", "historically", "once")
_ONE_PLACE = ("not", *_WINDOWED, "weak_next", "weak_previous", "next", "previous")


class _Call(Call):
    """A word with arguments in parentheses, as rtamt means it."""

    def apply(self, arguments: Sequence[Value]) -> Value:
        """Returns the value. Raises FormulaError if the arguments do not fit."""
        if self.word == "pow":
            return _power(arguments)
        if self.word not in ("rise", "fall"):
            return super().apply(arguments)
        if len(arguments) != 1 or not isinstance(arguments[0], Formula):
            found = ", ".join(kind_of(argument) for argument in arguments)
            raise FormulaError(f"{self.word} takes one formula, found {found}")
        argument = arguments[0]
        if self.word == "rise":
            return rising(argument)
        return all_of(~argument, weak_previous(argument))  # true at sample 0, unlike falling


def _power(arguments: Sequence[Value]) -> Term:
    match arguments:
        case (Term() as base, Constant(value=exponent)) if exponent.is_integer():
            return power(base, int(exponent))
        case _:
            raise FormulaError("pow takes a term and a whole number from 1 to 16: pow(x, 2)")
