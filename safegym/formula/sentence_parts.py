"""The parts of a structured sentence, its canonical English, and its formula."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from safegym.errors import FormulaError
from safegym.formula.defined import Defined, definitions_in, spelled_out
from safegym.formula.grammar import LETTERS
from safegym.formula.nodes import TRUE, Formula, all_of, check_formula
from safegym.formula.sentence_rules import (
    STOPPED,
    TIMED,
    ScopeWord,
    TimingWord,
    TriggerWord,
    meaning,
)
from safegym.formula.terms import Signal
from safegym.rational import rational_text
from safegym.units import SYMBOLS

_WORDS = """
while in before after when if upon whenever the shall immediately at always never
eventually within for until satisfy
"""
WORDS = frozenset(_WORDS.split())
"""Words that build a sentence; no component or definition is called so."""
_COMPONENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*( [A-Za-z_][A-Za-z0-9_]*)*\Z", re.ASCII)
_UNIT = re.compile(r"(?<=[0-9.])\{([A-Za-z%][A-Za-z0-9%]*(?:[*/][A-Za-z%][A-Za-z0-9%]*|\^\d+)*)\}")
_LABEL = re.compile(r"(?<![^(])abs\((\w+) - (-?\d+)\) <= 0\.5(?![\w.{]| [*/+-])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the sentence speaks: `while c`, `in mode M`, `before c`, `after c`."""

    word: ScopeWord
    condition: Formula

    def __post_init__(self) -> None:
        _check_word(self.word, get_args(ScopeWord), "scope")
        check_formula(self.condition, self.word)
        if self.word == "in mode" and not isinstance(self.condition, Defined):
            raise FormulaError('"in mode" takes Defined(name, formula), which names the mode.')


@dataclass(frozen=True, slots=True)
class Trigger:
    """When the duty falls due: where c becomes true (`when`, `if`, `upon`), or `whenever` c is."""

    word: TriggerWord
    condition: Formula

    def __post_init__(self) -> None:
        _check_word(self.word, get_args(TriggerWord), "condition")
        check_formula(self.condition, self.word)


@dataclass(frozen=True, slots=True)
class Timing:
    """From the duty on, when the response must hold.

    time: exact seconds, of `within`, `for`, `after`. stop: the formula of `until`, `before`.
    """

    word: TimingWord
    time: Fraction | None = None
    stop: Formula | None = None

    def __post_init__(self) -> None:
        _check_word(self.word, get_args(TimingWord), "timing")
        if (self.time is not None) != (self.word in TIMED):
            raise FormulaError(f"The timings {', '.join(TIMED)} take a time, the others none.")
        if (self.stop is not None) != (self.word in STOPPED):
            raise FormulaError(f"The timings {', '.join(STOPPED)} take a formula, the others none.")
        if self.stop is not None:
            check_formula(self.stop, self.word)
        if self.time is not None and self.time < 0:
            raise FormulaError(f"{self.word} takes a time >= 0 s, found {self.time} s.")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`[scope,] [condition,] the component shall timing satisfy response`.

    str() is the canonical English, which `sentence` reads back to an equal sentence, given the
    sentence's own signals and definitions. formula: what it means. Raises FormulaError for parts
    that do not fit.
    """

    component: str
    timing: Timing
    response: Formula
    scope: Scope | None = None
    trigger: Trigger | None = None

    def __post_init__(self) -> None:
        check_formula(self.response, "satisfy")
        if not _COMPONENT.match(self.component) or WORDS & set(self.component.split()):
            raise FormulaError(
                'A component is one or more names that are no words of a sentence, such as "drone '
                f'controller"; found {self.component!r:.60}.'
            )
        _ = self.definitions

    @property
    def formula(self) -> Formula:
        """The formula that the sentence means, definitions spelled out."""
        return meaning(
            None if self.scope is None else (self.scope.word, spelled_out(self.scope.condition)),
            None
            if self.trigger is None
            else (self.trigger.word, spelled_out(self.trigger.condition)),
            self.timing.word,
            self.timing.time,
            None if self.timing.stop is None else spelled_out(self.timing.stop),
            spelled_out(self.response),
        )

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The signals read, in order of first appearance."""
        return self._whole.signals

    @property
    def definitions(self) -> dict[str, Formula]:
        """What the names in the sentence stand for."""
        return definitions_in(self._whole)

    @property
    def _whole(self) -> Formula:
        parts = (
            TRUE if self.scope is None else self.scope.condition,
            TRUE if self.trigger is None else self.trigger.condition,
            TRUE if self.timing.stop is None else self.timing.stop,
            self.response,
        )
        return all_of(*parts)

    def __str__(self) -> str:
        english = _English(self.signals, self.definitions)
        opening = [
            f"{part.word} {english.text(part.condition)}, "
            for part in (self.scope, self.trigger)
            if part is not None
        ]
        timing, response = self._timing(english), english.text(self.response)
        return f"{''.join(opening)}the {self.component} shall {timing} satisfy {response}"

    def _timing(self, english: "_English") -> str:
        if self.timing.time is not None:
            return f"{self.timing.word} {rational_text(self.timing.time)} s"
        if self.timing.stop is not None:
            return f"{self.timing.word} {english.text(self.timing.stop)}"
        return self.timing.word


def _check_word(word: object, words: tuple[str, ...], what: str) -> None:
    if word not in words:
        raise FormulaError(f"A sentence's {what} is one of {', '.join(words)}; not {word!r:.40}.")


class _English:
    """Formula text in plainer words, where these read back as the same."""

    def __init__(self, signals: Iterable[Signal], definitions: Iterable[str]) -> None:
        self._signals = {signal.name: signal for signal in signals}
        self._taken = {*definitions, *self._signals, *LETTERS}

    def text(self, formula: Formula) -> str:
        """Returns the text with `0.3 rad` for `0.3{rad}`, `mode is FAULT` for its comparison."""
        return _UNIT.sub(self._unit, _LABEL.sub(self._label, str(formula)))

    def _unit(self, found: "re.Match[str]") -> str:
        symbols = [part for part in re.split(r"[*/^]", found[1]) if not part.isdecimal()]
        plain = all(symbol in SYMBOLS and symbol not in self._taken for symbol in symbols)
        return f" {found[1]}" if plain else found[0]

    def _label(self, found: "re.Match[str]") -> str:
        signal = self._signals.get(found[1])
        for label, code in () if signal is None else signal.coding:
            if code == int(found[2]):
                return f"{found[1]} is {label}"
        return found[0]
