"""Structured sentences as text: examples, units, definitions, modes, errors with their place."""

from fractions import Fraction
from random import Random
from typing import Any, get_args

import pytest
from formula_strategies import any_formulas
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import FormulaError, UnitError
from safegym.formula import nodes as n
from safegym.formula.build import always, eventually, rising
from safegym.formula.claim import Claim
from safegym.formula.defined import Defined, spelled_out
from safegym.formula.functions import quantity
from safegym.formula.sentence import Scope, Sentence, Timing, Trigger, sentence
from safegym.formula.sentence_rules import STOPPED, TIMED, ScopeWord, TimingWord, TriggerWord
from safegym.formula.terms import Signal
from safegym.formula.text import parse

TILT = Signal("tilt", "rad")
ALTITUDE = Signal("altitude", "m")
MODE = Signal("mode", labels={"OK": 0, "FAULT": 7, "LAND": -1})
SIGNALS = [TILT, ALTITUDE, MODE]
DEFINITIONS: dict[str, n.Formula | str] = {
    "hovering": ALTITUDE > 0.5,
    "landed": "altitude < 0.1 m",
    "grounded": "landed and not hovering",
}


def read(text: str) -> Sentence:
    return sentence(text, SIGNALS, DEFINITIONS)


def test_the_sentence_of_the_documentation() -> None:
    found = read("while hovering the drone shall within 0.5 s satisfy tilt < 0.3 rad")
    hovering, upright = ALTITUDE > 0.5, TILT < quantity(0.3, "rad")
    assert found.formula is always(
        rising(hovering).implies(eventually(upright | ~hovering, within="0.5"))
    )
    assert str(found) == "while hovering, the drone shall within 0.5 s satisfy tilt < 0.3 rad"
    assert found == Sentence(
        "drone",
        Timing("within", time=Fraction(1, 2)),
        upright,
        Scope("while", Defined("hovering", hovering)),
    )
    assert found.signals == (ALTITUDE, TILT)
    claim = Claim(id="drone.upright", statement=found.formula, source=str(found))
    assert Claim.from_json(claim.to_json()) == claim


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (
            "in mode FAULT the drone shall within 200 ms satisfy landed",
            "in mode FAULT, the drone shall within 0.2 s satisfy landed",
        ),
        (
            "while hovering, when mode is FAULT, the flight controller shall until landed "
            "satisfy tilt<.2 rad",
            "while hovering, when mode is FAULT, the flight controller shall until landed satisfy "
            "tilt < 0.2 rad",
        ),
        (
            "drone shall always satisfy (tilt < 0.3{rad}) and altitude >= 1e-1 m",
            "the drone shall always satisfy (tilt < 0.3 rad) and (altitude >= 0.1 m)",
        ),
        (
            "\n after (altitude > 2) or landed\n the drone shall for 1/3 min satisfy mode is LAND",
            "after (altitude > 2) or landed, the drone shall for 20 s satisfy mode is LAND",
        ),
        (
            "upon rising(landed) drone shall at the next timepoint satisfy F[0,1](mode is OK)",
            "upon landed and not(previous(landed)), the drone shall at the next timepoint satisfy "
            "eventually[0,1](mode is OK)",
        ),
        (
            "whenever grounded and x_if_any < 3 the drone shall before hovering satisfy landed",
            "whenever grounded and (x_if_any < 3), the drone shall before hovering satisfy landed",
        ),
    ],
)
def test_canonical_english(text: str, canonical: str) -> None:
    signals = [*SIGNALS, Signal("x_if_any")]
    found = sentence(text, signals, DEFINITIONS)
    assert str(found) == canonical
    assert sentence(canonical, found.signals, found.definitions) == found
    assert sentence(canonical, signals, DEFINITIONS).formula is found.formula


def test_definitions_may_build_on_earlier_ones_and_are_spelled_out_in_the_formula() -> None:
    found = read("the drone shall never satisfy grounded")
    landed, hovering = ALTITUDE < quantity(0.1, "m"), ALTITUDE > 0.5
    assert found.formula is always(~(landed & ~hovering))
    assert found.definitions == {"grounded": landed & ~hovering}
    assert "grounded" not in str(found.formula)


def test_without_declarations_names_are_signals_of_unit_one() -> None:
    found = sentence("if x > 1 the robot shall immediately satisfy y[0] < 2")
    x, y = Signal("x"), Signal("y", shape=(-1,))
    assert found.formula is always(rising(x > 1).implies(y[0] < 2))


ERRORS: list[tuple[str, int, int, str]] = [
    ("", 1, 1, "expected 'shall' after the component, found the end of the text"),
    ("the drone always satisfy landed", 1, 32, "expected 'shall' after the component"),
    ("shall always satisfy landed", 1, 1, "expected the component's name before 'shall'"),
    ("the shall always satisfy landed", 1, 5, "expected the component's name"),
    ("the drone shall always landed", 1, 30, "expected 'satisfy' after 'shall' and a timing"),
    ("the drone shall satisfy landed", 1, 17, "expected a timing .*; none is assumed, found"),
    ("the drone shall quickly satisfy landed", 1, 17, "expected a timing .* found 'quickly'"),
    ("the drone shall always soon satisfy landed", 1, 24, "expected 'satisfy', found 'soon'"),
    ("the drone shall always satisfy", 1, 31, "expected a response, found the end"),
    ("the drone shall at next timepoint satisfy landed", 1, 20, "expected 'the'"),
    ("the drone shall within satisfy landed", 1, 24, "expected a time such as 0.5 s or 200 ms"),
    ("the drone shall within 0.5 satisfy landed", 1, 28, "expected a unit of time after 0.5"),
    ("the drone shall within 0.5 m satisfy landed", 1, 24, "0.5 m is no time; write s, ms or"),
    ("the drone shall within -1 s satisfy landed", 1, 24, "expected a time such as"),
    ("the drone shall within 1/0 s satisfy landed", 1, 24, "must be a number"),
    ("the drone shall until satisfy landed", 1, 23, "expected a condition after 'until'"),
    ("while the drone shall always satisfy landed", 1, 7, "expected a condition after 'while'"),
    ("when, the drone shall always satisfy landed", 1, 5, "expected a condition after 'when'"),
    ("hovering the drone shall always satisfy landed", 1, 1, "expected a scope .* found 'hov"),
    ("while hovring the drone shall always satisfy landed", 1, 7, r"did you mean hovering\?$"),
    ("the drone shall always satisfy zzz", 1, 32, "'zzz' is no signal .*; known: hovering, l"),
    ("in FAULT the drone shall always satisfy landed", 1, 4, "expected 'mode' after 'in'"),
    ("in mode, the drone shall always satisfy landed", 1, 8, "expected the name of a mode"),
    ("in mode FULT the drone shall always satisfy landed", 1, 9, r"did you mean FAULT\?"),
    ("in mode OK x the drone shall always satisfy landed", 1, 12, "expected ',' or the compo"),
    ("while hovering and the drone shall always satisfy landed", 1, 20, "found 'the'"),
    ("the drone shall always\nsatisfy tilt", 2, 9, "expected a formula, found a term; compare"),
    ("the drone shall always satisfy (landed", 1, 32, "this parenthesis is never closed"),
    ("the drone shall always satisfy landed $", 1, 39, "unexpected character"),
    ("the drone shall always satisfy prob(landed) < 0.5", 1, 32, "speaks of one episode"),
    ("the drone shall always satisfy fraction(landed) < 0.5", 1, 32, "only be a whole statement"),
    ("the drone shall always satisfy mode is FULT", 1, 40, "has no label 'FULT'.* mean FAULT"),
    ("the drone shall always satisfy landed satisfy landed", 1, 39, "expected an operator"),
]


@pytest.mark.parametrize(("text", "line", "column", "problem"), ERRORS)
def test_an_error_names_line_column_and_what_was_expected(
    text: str, line: int, column: int, problem: str
) -> None:
    with pytest.raises(
        FormulaError, match=rf"(?m)^Sentence, line {line}, column {column}: .*{problem}"
    ) as caught:
        read(text)
    assert str(caught.value).splitlines()[-1].strip() == "^"


def test_units_are_checked_in_sentences() -> None:
    with pytest.raises(UnitError, match=r"Sentence, line 1, column 37: `tilt` is in rad"):
        read("the drone shall always satisfy tilt < 0.3 m")
    with pytest.raises(UnitError, match="`tilt` is in rad"):
        read("the drone shall always satisfy tilt < 20 mrad")


def test_names_that_cannot_be_are_refused() -> None:
    for name, problem in [
        ("tilt", "is the name of a signal"),
        ("shall", "is a word of sentences"),
        ("always", "is a word of sentences"),
        ("until", "is a word of sentences"),
        ("not", "no word of the language"),
        ("2x", "must be an identifier"),
    ]:
        with pytest.raises(FormulaError, match=problem):
            sentence("the drone shall always satisfy tilt > 0", SIGNALS, {name: ALTITUDE > 1})
    with pytest.raises(FormulaError, match="Definition low, line 1, column 1: 'depth' is no"):
        sentence("the drone shall always satisfy low", SIGNALS, {"low": "depth > 1"})
    with pytest.raises(FormulaError, match=r"whole statement, not inside definition often"):
        sentence("the drone shall always satisfy often", SIGNALS, {"often": "fraction(tilt>1)>.5"})
    for wrong in (3, "prob(tilt > 0) < 0.5"):
        with pytest.raises(TypeError, match="takes a formula"):
            sentence("the drone shall always satisfy odd", SIGNALS, {"odd": wrong})  # type: ignore[dict-item]  # wrong


def test_a_mode_of_two_signals_must_be_named_by_its_signal() -> None:
    other = Signal("gripper", labels=("OPEN", "FAULT"))
    with pytest.raises(FormulaError, match="FAULT is a label of mode and gripper; write while mod"):
        sentence("in mode FAULT the arm shall always satisfy tilt < 1", [*SIGNALS, other])


PARTS: list[tuple[Any, str]] = [
    (lambda: Timing("within"), "The timings within, for, after take a time"),
    (lambda: Timing("always", time=Fraction(1)), "take a time, the others none"),
    (lambda: Timing("until"), "The timings until, before take a formula"),
    (lambda: Timing("always", stop=TILT > 0), "take a formula, the others none"),
    (lambda: Timing("soon"), "timing is one of immediately"),
    (lambda: Timing("for", time=Fraction(-1)), "takes a time >= 0 s"),
    (lambda: Scope("during", TILT > 0), "scope is one of while"),
    (lambda: Scope("in mode", TILT > 0), "takes Defined"),
    (lambda: Trigger("as", TILT > 0), "condition is one of when"),
    (lambda: Sentence("the drone", Timing("always"), TILT > 0), "A component is"),
    (lambda: Sentence("2", Timing("always"), TILT > 0), "A component is"),
    (
        lambda: Sentence(
            "arm", Timing("always"), Defined("a", TILT > 0), Scope("while", Defined("a", TILT > 1))
        ),
        "'a' is defined in two ways",
    ),
]


@pytest.mark.parametrize(("build", "problem"), PARTS)
def test_parts_that_do_not_fit_are_refused(build: Any, problem: str) -> None:
    with pytest.raises(FormulaError, match=problem):
        build()


conditions = st.one_of(
    any_formulas,
    st.builds(lambda f: Defined("held", f), any_formulas),
    st.builds(lambda f, g: Defined("held", X1) & f | ~g, any_formulas, any_formulas),
    st.just(MODE.is_("LAND")),
    st.builds(
        lambda label, f: MODE.is_(label).scaled(2) & f, st.sampled_from(MODE.labels), any_formulas
    ),
)
X1 = Signal("x") > 1


@settings(deadline=None, derandomize=True, max_examples=100)
@given(conditions, conditions, conditions, any_formulas, st.integers(0, 10**6))
def test_random_sentences_read_back(
    scope: n.Formula, trigger: n.Formula, stop: n.Formula, response: n.Formula, seed: int
) -> None:
    random = Random(seed)
    word = random.choice(get_args(TimingWord))
    parts = [
        None if random.random() < 0.4 else part
        for part in (
            Scope(random.choice([w for w in get_args(ScopeWord) if w != "in mode"]), scope),
            Trigger(random.choice(get_args(TriggerWord)), trigger),
        )
    ]
    timing = Timing(
        word,
        Fraction(random.randint(0, 500), random.randint(1, 240)) if word in TIMED else None,
        stop if word in STOPPED else None,
    )
    try:
        found = Sentence("arm controller", timing, response, *parts)  # type: ignore[arg-type]  # a pair
    except FormulaError:  # "held" is defined in two ways
        return
    assert sentence(str(found), found.signals, found.definitions) == found
    assert spelled_out(found.formula) is found.formula


def test_the_formula_of_a_sentence_prints_and_parses() -> None:
    for text in (
        "before hovering the drone shall eventually satisfy landed",
        "while hovering, whenever landed, the drone shall after 0.4 s satisfy tilt < 0.1 rad",
    ):
        formula = read(text).formula
        assert parse(str(formula), formula.signals) is formula
