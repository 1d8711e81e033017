"""Structured sentences: "while hovering, the drone shall within 0.5 s satisfy tilt < 0.3 rad".

    [scope[,]] [condition[,]] [the] component shall timing satisfy response

- scope: `while c`, `in mode M`, `before c`, `after c`; none is the whole episode;
- condition: `when c`, `if c`, `upon c` (where c becomes true), `whenever c` (wherever it is true);
- timing: `immediately`, `at the next timepoint`, `always`, `never`, `eventually`, `within t`,
  `for t`, `after t`, `until c`, `before c`; t with a unit of time, `0.5 s`, `200 ms`;
- c and the response: formula text (text.py), where a name may also be a definition.

What each means is in sentence_rules.py and docs/reference/language.md.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NoReturn, cast, get_args

from safegym.errors import FormulaError
from safegym.formula.checks import signal_unit
from safegym.formula.defined import Defined
from safegym.formula.leaves import Leaves, nearest
from safegym.formula.lexer import Token, tokens_of
from safegym.formula.nodes import Formula, check_formula
from safegym.formula.parser import Parser
from safegym.formula.sentence_parts import WORDS, Scope, Sentence, Timing, Trigger
from safegym.formula.sentence_rules import (
    STOPPED,
    TIMED,
    ScopeWord,
    TimingWord,
    TriggerWord,
)
from safegym.formula.terms import Signal
from safegym.formula.text import check_text, declared_signals
from safegym.rational import exact
from safegym.units import unit

__all__ = ["Defined", "Scope", "Sentence", "Timing", "Trigger", "sentence"]

SCOPES = ("while", "in", "before", "after")
TRIGGERS = get_args(TriggerWord)
BARE = ("immediately", "always", "never", "eventually")
_SECOND = unit("s")


def sentence(
    text: str,
    signals: Iterable[Signal] | None = None,
    definitions: Mapping[str, Formula | str] | None = None,
) -> Sentence:
    """Returns the sentence that `text` writes; `.formula` is what it means.

    signals: declarations; given any, every name must be one of them or a definition, else an
    undeclared name is read as `Signal(name)`, unit "1". definitions: Boolean names, each with a
    formula or its text (in which earlier ones may occur). Raises FormulaError with line, column
    and what was expected.
    """
    check_text(text)
    declared = declared_signals(signals)
    strict = signals is not None
    defined = _definitions(definitions or {}, declared, strict)
    return _Reader(text, tokens_of(text, "Sentence"), declared, defined, strict).sentence()


class _Reader(Leaves):
    """Reads one sentence: its skeleton by the words outside parentheses, the rest as formulas."""

    what = "Sentence"

    def sentence(self) -> Sentence:
        """Returns the sentence. Raises FormulaError."""
        outside = self._outside()
        shall = self._first(outside, "shall", 0, "'shall' after the component")
        satisfy = self._first(outside, "satisfy", shall, "'satisfy' after 'shall' and a timing")
        start, component = self._component(shall)
        scope, trigger = self._opening(outside, start)
        timing = self._timing(shall + 1, satisfy)
        response = self._formula(satisfy + 1, len(self.tokens) - 1, "a response")
        return Sentence(component, timing, response, scope, trigger)

    # The skeleton

    def _outside(self) -> list[int]:
        """Returns the places of the sentence's own words: names outside all parentheses."""
        found: list[int] = []
        depth = 0
        for place, token in enumerate(self.tokens):
            if token.text in ("(", "["):
                depth += 1
            elif token.text in (")", "]"):
                depth -= 1
            elif depth == 0 and token.kind == "name" and token.text in WORDS:
                found.append(place)
        return found

    def _first(self, outside: list[int], word: str, start: int, expected: str) -> int:
        found = [p for p in outside if p >= start and self.tokens[p].text == word]
        if not found:
            self.place = len(self.tokens) - 1
            self.expected(expected)
        return found[0]

    def _component(self, shall: int) -> tuple[int, str]:
        """Returns where the component begins, its article included, and its name."""
        place = shall
        while place > 0 and self._is_plain_name(self.tokens[place - 1]):
            place -= 1
        if place == shall:
            self.fail(self.tokens[shall], "expected the component's name before 'shall'")
        article = place > 0 and self.tokens[place - 1].text == "the"
        if not article and place > 0 and self.tokens[place - 1].text != ",":
            place = shall - 1  # the names before it belong to the condition
        name = " ".join(token.text for token in self.tokens[place:shall])
        return place - article, name

    @staticmethod
    def _is_plain_name(token: Token) -> bool:
        return token.kind == "name" and token.text not in WORDS

    def _opening(self, outside: list[int], stop: int) -> tuple[Scope | None, Trigger | None]:
        """Reads the scope and the condition, which end before the component."""
        if stop == 0:
            return None, None
        first = self.tokens[0].text
        if first not in (*SCOPES, *TRIGGERS):
            self.place = 0
            self.expected(
                "a scope (while, in mode, before, after), a condition (when, if, upon, whenever) "
                "or the component"
            )
        scope: Scope | None = None
        place = 0
        if first in SCOPES:
            later = [p for p in outside if 0 < p < stop and self.tokens[p].text in TRIGGERS]
            place = later[0] if later else stop
            scope = self._scope(place)
        return scope, self._trigger(place, stop) if place < stop else None

    def _scope(self, stop: int) -> Scope:
        word = self.tokens[0].text
        if word == "in":
            return Scope("in mode", self._mode(self._without_comma(1, stop)))
        condition = self._formula(1, self._without_comma(1, stop), f"a condition after {word!r}")
        return Scope(cast("ScopeWord", word), condition)

    def _trigger(self, start: int, stop: int) -> Trigger:
        word = self.tokens[start].text
        end = self._without_comma(start + 1, stop)
        condition = self._formula(start + 1, end, f"a condition after {word!r}")
        return Trigger(cast("TriggerWord", word), condition)

    def _without_comma(self, start: int, stop: int) -> int:
        return stop - 1 if stop > start and self.tokens[stop - 1].text == "," else stop

    # The parts

    def _mode(self, stop: int) -> Defined:
        self.place = 1
        self.skip("mode", "'mode' after 'in'")
        if self.place >= stop or self.ahead.kind != "name":
            self.expected("the name of a mode")
        token = self.take()
        if self.place != stop:
            self.expected("',' or the component after the mode")
        if token.text in self.defined:
            return cast("Defined", self.defined[token.text])
        owners = [s for s in self.declared.values() if token.text in s.labels]
        if len(owners) != 1:
            self._no_mode(token, owners)
        return Defined(token.text, owners[0].is_(token.text))

    def _no_mode(self, token: Token, owners: list[Signal]) -> NoReturn:
        if owners:
            names = " and ".join(signal.name for signal in owners)
            line = f"while {owners[0].name} is {token.text}"
            self.fail(token, f"{token.text} is a label of {names}; write {line}")
        known = [*self.defined, *(label for s in self.declared.values() for label in s.labels)]
        self.fail(
            token, f"{token.text[:60]!r} is no definition and no label; {nearest(token, known)}"
        )

    def _timing(self, start: int, stop: int) -> Timing:
        self.place = start
        token = self.take()
        word = token.text
        if word in BARE:
            timing = Timing(cast("TimingWord", word))
        elif word in TIMED:
            timing = Timing(cast("TimingWord", word), time=self._duration())
        elif word in STOPPED:
            stopping = self._formula(start + 1, stop, f"a condition after {word!r}")
            return Timing(cast("TimingWord", word), stop=stopping)
        elif word == "at":
            for following in ("the", "next", "timepoint"):
                self.skip(following, f"{following!r} (at the next timepoint)")
            timing = Timing("at the next timepoint")
        else:
            self.place = start
            self.expected(
                "a timing (immediately, at the next timepoint, always, never, eventually, "
                "within t, for t, after t, until c, before c); none is assumed"
            )
        if self.place != stop:
            self.expected("'satisfy'")
        return timing

    def _duration(self) -> Fraction:
        """Reads a time with its unit, as exact seconds."""
        token = self.ahead
        text = self.ratio("a time such as 0.5 s or 200 ms")
        written = self.unit(certain=True)
        if written is None:
            self.expected(f"a unit of time after {text[:40]}, such as s or ms")
        try:
            found, _ = signal_unit(written, f"The time {text[:40]}:")
            if found.dimension != _SECOND.dimension or found.pi_power:
                self.fail(token, f"{text[:40]} {written} is no time; write s, ms or min")
            return exact(text) * found.factor
        except FormulaError as error:
            raise self.placed(token, error) from None

    def _formula(self, start: int, stop: int, expected: str) -> Formula:
        """Reads the tokens of a formula, up to but without `stop`."""
        self.place = start
        if start >= stop:
            self.expected(expected)
        last = self.tokens[stop]
        part = [*self.tokens[start:stop], Token("end", "", last.start, last.text)]
        parser = Parser(
            self.text, self.declared, tokens=part, defined=self.defined, strict=self.strict
        )
        parser.what = self.what
        found = parser.statement()
        try:
            if not isinstance(found, Formula):
                raise FormulaError("a sentence speaks of one episode, not of a probability")
            check_formula(found, "a sentence")
        except FormulaError as error:
            raise self.placed(part[0], error) from None
        return found


def _definitions(
    given: Mapping[str, Formula | str], declared: dict[str, Signal], strict: bool
) -> dict[str, Formula]:
    """Returns each definition as a formula that prints as its name."""
    found: dict[str, Formula] = {}
    meanings: dict[str, Formula] = {}
    for name, value in given.items():
        if name in declared or name in WORDS:
            taken = "the name of a signal" if name in declared else "a word of sentences"
            raise FormulaError(f"Definition {name!r:.60} is {taken}; choose another name.")
        if isinstance(value, str):
            check_text(value)
            parser = Parser(value, declared, defined=meanings, strict=strict)
            parser.what = f"Definition {name}"
            value = cast("Formula", parser.statement())
        found[name] = Defined(name, value)
        meanings[name] = value
    return found
