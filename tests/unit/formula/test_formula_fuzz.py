"""Whatever the text, the readers answer with a value or a FormulaError, in linear time."""

import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from formula_strategies import roots
from formula_texts import fuzz
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import FormulaError
from safegym.formula import nodes as n
from safegym.formula.rtamt import read_rtamt
from safegym.formula.sentence import sentence
from safegym.formula.text import parse, parse_statement
from safegym.formula.windows import UNBOUNDED


def _check(count: int, seed: int) -> None:
    outcome = fuzz(count, seed)
    for kind in ("formula", "sentence", "rtamt"):
        assert outcome[f"{kind} read"] > count / 200, outcome
        assert outcome[f"{kind} refused"] > count / 20, outcome


def test_twenty_thousand_random_texts_raise_formula_errors_only() -> None:
    _check(20_000, seed=1)


@pytest.mark.slow
def test_two_hundred_thousand_random_texts_raise_formula_errors_only() -> None:
    _check(200_000, seed=2)


def _answered(text: str) -> None:
    for read in (parse_statement, sentence, read_rtamt):
        with suppress(FormulaError):
            read(text)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    _answered(text)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(roots, st.data())
def test_a_cut_canonical_text_is_answered(f: object, data: st.DataObject) -> None:
    text = str(f)
    cut = data.draw(st.integers(0, len(text)))
    _answered(text[:cut])
    _answered(text[cut:])


@pytest.mark.parametrize(
    ("start", "middle", "end"),
    [
        ("", "(", "x > 0"),
        ("", "not ", "x > 0"),
        ("", "-", "x > 0"),
        ("", "always(", "x > 0"),
        ("", "x > 0 implies ", "x > 0"),
        ("", "x > 0 until (", "x > 0"),
        ("", "all_of(", "x > 0"),
    ],
)
def test_endless_nesting_is_refused_without_recursion(start: str, middle: str, end: str) -> None:
    with pytest.raises(FormulaError, match="nesting is deeper than 50000"):
        parse(start + middle * 50_001 + end)


Make = Callable[[int], str]
ROWS: list[tuple[Callable[[str], object], Make]] = [
    (parse, lambda size: " and ".join(f"x > {i}" for i in range(size))),
    (parse, lambda size: "(" * size + "x > 0" + "".join(f" and x > {i})" for i in range(size))),
    (
        parse,
        lambda size: "".join(f"x > {i} and (" for i in range(size)) + "x < 0" + ")" * size,
    ),
    (parse, lambda size: "(" * size + "x > 0" + ") or (y > 0)" * size),
    (parse, lambda size: "x" + " + 1" * size + " > 0"),
    (parse, lambda size: "min(" + ", ".join(["x"] * size) + ") > 0"),
    (parse, lambda size: "always(" * size + "x > 0" + ")" * size),
    (parse, lambda size: "x > 0 implies " * size + "x > 0"),
    (parse, lambda size: "x > 0 and " * size + "always[2,1](x > 0)"),
    (parse, lambda size: " and ".join(f"x^3 - {i} m^0 > -2^2" for i in range(size))),
    (parse, lambda size: "x > 1 m" + "/s*m" * size),
    (parse, lambda size: "x > 0 and\n" * size + "$"),
    (sentence, lambda size: "the a shall always satisfy x > 0" + " and x > 1" * size),
    (sentence, lambda size: "while x > 0" + " or (x > 1)" * size + ", the a shall until b"),
    (sentence, lambda size: "the " + "a " * size + "shall always satisfy x > 0"),
    (sentence, lambda size: "when " * size + "the a shall always satisfy x > 0"),
    (read_rtamt, lambda size: "".join(f"a{i} = x > {i};\n" for i in range(size)) + "a0"),
    (read_rtamt, lambda size: "x > 0 and " * size + "x - y + z > 0"),
    (read_rtamt, lambda size: "x > 0 " + "/* " * size),
    (read_rtamt, lambda size: "x > 0 " + "/* */ // a\n" * size),
    (read_rtamt, lambda size: "x" + " + y" * size + " > 0"),
    (read_rtamt, lambda size: "".join(f"float x{i}\n" for i in range(size)) + "x0 > 0"),
]


@pytest.mark.parametrize(("read", "make"), ROWS)
def test_reading_time_is_linear_in_the_length(read: Callable[[str], object], make: Make) -> None:
    """Eight times the text takes at most 8 x 3 the time (and not 64)."""
    small, large = make(500), make(4000)
    times = [min(_seconds(read, text) for _ in range(3)) for text in (small, large)]
    assert times[1] < 8 * 3 * times[0] + 0.03


def _seconds(read: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    with suppress(FormulaError):
        read(text)
    return time.process_time() - start


def test_windows_are_interned_whatever_way_they_are_written() -> None:
    assert parse("always[0,inf](x > 0)") is parse("always(x > 0)")
    assert UNBOUNDED is type(UNBOUNDED)(0, None)
    assert isinstance(parse("true"), n.Boolean)
