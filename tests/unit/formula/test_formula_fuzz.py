"""Whatever the text, the parser answers with a formula or a FormulaError, in linear time."""

import random
import time

import pytest
from formula_strategies import roots
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import FormulaError
from safegym.formula.checks import RESERVED
from safegym.formula.text import parse, parse_statement
from safegym.formula.windows import UNBOUNDED

SYMBOLS = "( ) [ ] { } , + - * / < <= > >= == = != & | ~ ! && || -> <->"
NUMBERS = "0 1 .5 1e3 1/240 2. 1e999 0x1"
PARTS = "G F U R X O H S x y p x[0] p[2] [0,1] [1,inf] [0,1/3] {m} {km/h} {%} {1} (x>0) x>0"
ODD = ["\n", "\t", " ", "\xe9", "\u0660", "\x00", "'", "#", "9" * 400, "x" * 101, "\uff11"]
PIECES = [*SYMBOLS.split(), *NUMBERS.split(), *RESERVED, *PARTS.split(), *ODD]
PIECES.sort()
SEEDS = [
    "always[0,2](x > 0)",
    "prob((clearance > 0.2) until[0,10] (goal < 0.05)) >= 0.92",
    "always((fault >= 1) implies eventually[0,0.3](always[0,1](abs(v - 1{1}) <= 0.01)))",
    "fraction(scaled(norm(p[0], p[1]) / 2 < -(0.5), 0.25)) >= 0.999",
    "mean(fraction(not(x > 0) xor (y < 1e-3))) > 0.5",
]


def _read(text: str) -> None:
    """Reads the text; whatever is read must print and read back as itself."""
    try:
        found = parse_statement(text)
    except FormulaError:
        return
    formula = found if not hasattr(found, "formulas") else found.formulas[0]
    assert parse_statement(str(found), formula.signals) == found


def _soup(draw: random.Random) -> str:
    joint = draw.choice(["", " ", " "])
    return joint.join(draw.choice(PIECES) for _ in range(draw.randint(1, 14)))


def _mutant(draw: random.Random) -> str:
    text = list(draw.choice(SEEDS))
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(text) + 1)
        other = draw.choice(PIECES) if draw.random() < 0.6 else chr(draw.randrange(32, 0x250))
        text[place : place + draw.randint(0, 3)] = other
    return "".join(text)


def _fuzz(count: int, seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(count):
        _read(_soup(draw) if draw.random() < 0.5 else _mutant(draw))


def test_random_texts_raise_formula_errors_only() -> None:
    _fuzz(1500, seed=1)


@pytest.mark.slow
def test_a_hundred_thousand_random_texts_raise_formula_errors_only() -> None:
    _fuzz(100_000, seed=2)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    _read(text)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(roots, st.data())
def test_a_cut_canonical_text_is_answered(f: object, data: st.DataObject) -> None:
    text = str(f)
    cut = data.draw(st.integers(0, len(text)))
    _read(text[:cut])
    _read(text[cut:])


@pytest.mark.parametrize(
    ("start", "middle", "end"),
    [
        ("", "(", "x > 0"),
        ("", "not ", "x > 0"),
        ("", "-", "x > 0"),
        ("", "always(", "x > 0"),
        ("", "x > 0 implies ", "x > 0"),
        ("", "x > 0 until (", "x > 0"),
    ],
)
def test_endless_nesting_is_refused_without_recursion(start: str, middle: str, end: str) -> None:
    with pytest.raises(FormulaError, match="nesting is deeper than 50000"):
        parse(start + middle * 50_001 + end)


@pytest.mark.parametrize(
    "make",
    [
        lambda size: " and ".join(f"x > {i}" for i in range(size)),
        lambda size: "(" * size + "x > 0" + "".join(f" and x > {i})" for i in range(size)),
        lambda size: "".join(f"x > {i} and (" for i in range(size)) + "x < 0" + ")" * size,
        lambda size: "(" * size + "x > 0" + ") or (y > 0)" * size,
        lambda size: "x" + " + 1" * size + " > 0",
        lambda size: "min(" + ", ".join(["x"] * size) + ") > 0",
        lambda size: "always(" * size + "x > 0" + ")" * size,
        lambda size: "x > 0 implies " * size + "x > 0",
    ],
)
def test_reading_time_is_linear_in_the_length(make: object) -> None:
    assert callable(make)
    small, large = make(400), make(3200)
    parse(small), parse(large)
    times = [min(_seconds(text) for _ in range(3)) for text in (small, large)]
    assert times[1] < 8 * 4 * times[0] + 0.05


def _seconds(text: str) -> float:
    start = time.process_time()
    parse(text)
    return time.process_time() - start


def test_windows_are_interned_whatever_way_they_are_written() -> None:
    assert parse("always[0,inf](x > 0)") is parse("always(x > 0)")
    assert UNBOUNDED is type(UNBOUNDED)(0, None)
