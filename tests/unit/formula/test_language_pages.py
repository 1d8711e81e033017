"""The reference pages say what the code does."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import pytest

from safegym.formula import patterns, sentence_rules
from safegym.formula.build import always, eventually
from safegym.formula.checks import RESERVED
from safegym.formula.grammar import LETTERS, OPEN_CALLS
from safegym.formula.nodes import Formula
from safegym.formula.parser import DEEPEST, Parser
from safegym.formula.rtamt_tokens import WORDS
from safegym.formula.sentence import sentence
from safegym.formula.sentence_rules import ScopeWord, Stretch, TimingWord, TriggerWord
from safegym.formula.terms import Signal
from safegym.formula.text import parse

PAGES = Path(__file__).parents[3] / "docs" / "reference"
LANGUAGE = (PAGES / "language.md").read_text(encoding="utf-8")
SENTENCES = (PAGES / "sentences.md").read_text(encoding="utf-8")
NAMES: dict[str, Formula] = {name: Signal(f"signal_{name}") > 0 for name in "rec"}


def cells(page: str, start: str) -> list[str] | None:
    """The cells of the table row that begins with this code."""
    row = re.search(rf"^\| {re.escape(f'`{start}`')}.*\|$", page, re.MULTILINE)
    return row and [cell.strip().strip("`") for cell in row[0].strip("|").split(" | ")]


@pytest.mark.parametrize("timing", get_args(TimingWord))
def test_the_table_of_timings_is_that_of_the_code(timing: Any) -> None:
    timed, stopped = timing in sentence_rules.TIMED, timing in sentence_rules.STOPPED
    table = SENTENCES[SENTENCES.index("| timing |") :]
    found = cells(table, timing + (" t" if timed else " c" if stopped else ""))
    assert found is not None
    time = Fraction(2) if timed else None
    stop = NAMES["c"] if stopped else None
    for cell, left in zip(found[1:], (NAMES["e"], None), strict=True):
        text = cell.replace("t]", "2]").replace("[t,", "[2,")
        written = Parser(text, {}, defined=NAMES).statement()
        duty = sentence_rules._duty(Stretch(left=left), timing, time, stop, NAMES["r"])
        assert duty is written


def test_every_scope_and_condition_is_in_the_tables() -> None:
    for word in (*get_args(ScopeWord), *get_args(TriggerWord)):
        assert re.search(rf"^\|.*`{word} [cM]`.*\|", SENTENCES, re.MULTILINE), word
    for name in patterns.__all__:
        assert f"`{name}(" in SENTENCES or name == "Scopes", name
    for scope in patterns.Scopes.__annotations__:
        assert f"`{scope}=" in SENTENCES, scope


def test_every_word_of_the_language_is_on_its_page() -> None:
    for word in {*RESERVED, *OPEN_CALLS} - {"true", "false", "given", "inf", "nan", "min", "max"}:
        assert re.search(rf"\b{word}\b", LANGUAGE), word
    for letter in LETTERS:
        assert re.search(rf"`[A-Z ]*\b{letter}\b[A-Z ]*`", LANGUAGE), letter
    assert f"nests to {DEEPEST:,}".replace(",", " ") in LANGUAGE


def test_every_word_of_rtamt_is_on_its_page() -> None:
    page = SENTENCES[SENTENCES.index("## rtamt") :]
    for word in WORDS:
        assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", page.replace("\\|", "|")), word


def test_the_examples_of_the_pages() -> None:
    altitude, tilt = Signal("altitude", "m"), Signal("tilt", "rad")
    text = re.search(r'"(while hovering .*?)"', SENTENCES)
    assert text is not None
    found = sentence(text[1], [altitude, tilt], {"hovering": altitude > 0.5})
    assert found.component == "drone"
    assert parse("always[0,2](x > 0)") is always(Signal("x") > 0, lasting=2)
    assert parse("eventually[0,2](x > 5 km/h)", [Signal("x", "km/h")]).signals[0].unit == "km/h"
    assert isinstance(eventually(found.formula), Formula)
