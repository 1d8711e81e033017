"""Vectors: comparisons of components, what they are not, and powers as products."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym import Trace, check
from safegym.errors import FormulaError, UnitError
from safegym.formula import nodes as n
from safegym.formula.build import all_of, always, any_of, between, near, prob
from safegym.formula.claim import Claim
from safegym.formula.functions import cos, exp, maximum, minimum, norm, quantity, sin, sqrt
from safegym.formula.terms import Apply, Constant, Signal, Term
from safegym.formula.text import parse
from safegym.formula.vectors import Elementwise, Vector

P = Signal("p", shape=(3,))
Q = Signal("q", shape=(3,))
S = Signal("s")
A, B, C = P


def test_all_of_a_vector_comparison_is_the_conjunction_over_its_components() -> None:
    assert all_of(P <= 1) is ((A <= 1) & (B <= 1) & (C <= 1))
    assert any_of(P > 1) is ((A > 1) | (B > 1) | (C > 1))
    assert all_of(abs(P) < S) is all_of(abs(c) < S for c in P)
    assert all_of(c <= 1 for c in P) is all_of(P <= 1)
    assert all_of(P - Q >= 2 * S) is all_of(p - q >= 2 * S for p, q in zip(P, Q, strict=True))
    assert all_of(S < P) is all_of(S < c for c in P)
    assert all_of((P <= 1).scaled(0.5)) is all_of((c <= 1).scaled(0.5) for c in P)  # type: ignore[attr-defined]  # an Elementwise
    assert all_of(abs(P) <= Vector((1, 2, 3))) is ((abs(A) <= 1) & (abs(B) <= 2) & (abs(C) <= 3))
    assert all_of(Signal("one", shape=(1,)) > 0) is (Signal("one", shape=(1,))[0] > 0)


def test_functions_take_vectors_whole_or_one_component_at_a_time() -> None:
    assert norm(P - Q) is norm(A - Q[0], B - Q[1], C - Q[2])
    assert minimum(abs(P), S) is minimum(abs(A), abs(B), abs(C), S)
    assert maximum(P) is maximum(A, B, C)
    for one in (sqrt, exp, sin, cos):
        assert all_of(one(P) < 1) is all_of(one(c) < 1 for c in P)
    assert all_of(P**2 < 1) is all_of(c * c < 1 for c in P)
    assert all_of(-P / 2 < 1) is all_of(-c / 2 < 1 for c in P)
    assert list(P + 1) == [A + 1, B + 1, C + 1]
    assert (P + 1)[2] is C + 1


def test_between_and_near_of_a_vector_wait_for_all_of_or_any_of() -> None:
    assert all_of(between(P, 0, 1)) is all_of(between(c, 0, 1) for c in P)
    assert any_of(between(P, 0, 1)) is any_of(between(c, 0, 1) for c in P)
    assert all_of(between(S, P, 2)) is all_of(between(S, c, 2) for c in P)
    assert all_of(near(P, Q, 0.5)) is all_of(near(p, q, 0.5) for p, q in zip(P, Q, strict=True))


v: Any = P <= 1
f: Any = S > 0
MISUSES: list[Callable[[], object]] = [
    lambda: always(v),
    lambda: f & v,
    lambda: v & f,
    lambda: v | f,
    lambda: f | v,
    lambda: ~v,
    lambda: bool(v),
    lambda: v and f,
    lambda: 0 <= P <= 1,
    lambda: n.Not(v),
    lambda: f.until(v),
    lambda: f.implies(v),
    lambda: v.implies(f),
    lambda: v.until(f),
    lambda: prob(v),
    lambda: Claim(id="a.b", statement=v),
    lambda: all_of(v, f),
    lambda: any_of(f, v),
    lambda: all_of([v, f]),
    lambda: min(P, Q, key=abs),
]


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_bare_vector_comparison_never_becomes_anything_else(
    misuse: Callable[[], object],
) -> None:
    with pytest.raises(TypeError, match=r"all_of\("):
        misuse()


def test_lengths_must_agree_and_be_known() -> None:
    with pytest.raises(FormulaError, match=r"vectors of different lengths: `p` of 3 and `r` of 2"):
        all_of(P < Signal("r", shape=(2,)))
    with pytest.raises(FormulaError, match=r"length is not declared"):
        all_of(Signal("r", shape=(-1,)) < 2)
    with pytest.raises(FormulaError, match="one or more components"):
        Vector(())
    with pytest.raises(FormulaError, match=r"takes scalars"):
        Vector((P,))
    with pytest.raises(UnitError, match="needs one unit"):
        all_of(Signal("v", "m/s", (2,)) <= quantity(1, "m"))


def test_a_vector_shows_its_components_and_pickles() -> None:
    assert repr(P + 1) == "<Vector (p[0] + 1, p[1] + 1, p[2] + 1)>"
    assert repr(P <= 1) == "<Elementwise p[0] <= 1, p[1] <= 1, ...>"
    assert pickle.loads(pickle.dumps(P + 1)) is P + 1
    assert len(P <= 1) == 3  # type: ignore[arg-type]  # an Elementwise
    assert isinstance(P <= 1, Elementwise)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("all_of(p <= 1)", all_of(P <= 1)),
        ("any_of(abs(p - q) > s / 2)", any_of(abs(P - Q) > S / 2)),
        ("all_of(abs(q) <= 0.5) and s > 0", all_of(abs(Q) <= 0.5) & (S > 0)),
        ("norm(p - q) <= 2", norm(P - Q) <= 2),
        ("all_of(p[0] > 1, s > 0)", (A > 1) & (S > 0)),
        ("any_of(p[0] > 1, s > 0)", (A > 1) | (S > 0)),
        ("all_of(between(p, 0, 1))", all_of(between(P, 0, 1))),
        ("all_of(scaled(p > 0, 0.5))", all_of((P > 0).scaled(0.5))),  # type: ignore[attr-defined]  # P's
        ("all_of(-p^2 < 1)", all_of(-(P**2) < 1)),
    ],
)
def test_vectors_in_text_expand_to_their_components(text: str, same: n.Formula) -> None:
    assert parse(text, signals=[P, Q]) is same
    assert parse(str(same), signals=same.signals) is same


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("p <= 1", "column 1", r"a comparison of vectors; say of which .*all_of\("),
        ("always(p <= 1)", "column 1", r"always takes formulas, found a comparison of vectors"),
        ("p <= 1 and s > 0", "column 8", r"and takes formulas, found a comparison of vectors"),
        ("all_of(p <= 1, s > 0)", "column 1", r"found a comparison of vectors"),
        ("all_of(p) > 0", "column 1", r"all_of takes formulas, found a term"),
        ("0 <= p <= 1", "column 8", r"\(a < x\) and"),
        ("p / q > 1", "column 3", "only a constant"),
    ],
)
def test_vectors_in_text_are_not_misread(text: str, place: str, problem: str) -> None:
    with pytest.raises(FormulaError, match=f"{place}: .*{problem}"):
        parse(text, signals=[P, Q])


def test_the_monitor_judges_every_component() -> None:
    trace = Trace.from_arrays({"p": [[0.0, 0.5, 1.0], [0.0, 0.5, 1.25]]}, dt=1)
    assert check(always(all_of(P <= 1)), trace).status == "violated"
    assert check(always(any_of(P <= 0)), trace).status == "satisfied"
    verdict = check(always(all_of(P <= 1)), trace)
    assert verdict.witness is not None
    assert verdict.witness.subformula == "p[2] <= 1"


def test_a_power_is_the_product_written_out() -> None:
    assert S**2 is S * S
    assert S**4 is ((S * S) * S) * S
    assert S**1 is S
    assert str(S**3 > 0) == "(s * s) * s > 0"
    assert parse("s^3 > 0") is (S**3 > 0)
    assert parse("s ** 3 > 0") is (S**3 > 0)
    assert parse("(s + 1)^2 > 0") is ((S + 1) ** 2 > 0)
    assert parse("2 * s^2 > 0") is (2 * S**2 > 0)
    assert parse("s^2 * 2 > 0") is (S**2 * 2 > 0)


def test_a_minus_before_a_power_is_that_of_mathematics() -> None:
    assert parse("-s^2 > 0") is (-(S**2) > 0)
    square = Apply("neg", (Constant(2) ** 2,))
    assert parse("s > -2^2") is (S > square)
    assert parse("s > (-2)^2") is (S > Constant(-2) ** 2)
    trace = Trace.from_arrays({"s": [0.0]}, dt=1)
    assert check(parse("s > -2^2"), trace).status == "satisfied"
    assert check(parse("s > (-2)^2"), trace).status == "violated"


def test_a_power_has_the_power_of_the_unit() -> None:
    speed = Signal("v", "m/s")
    assert (speed**2 <= quantity(4, "m^2/s^2")) is parse("v^2 <= 4{m^2/s^2}", [speed])
    with pytest.raises(UnitError, match="measure different things"):
        _ = speed**2 <= quantity(4, "m/s")


@pytest.mark.parametrize("exponent", [0, -1, 17, 0.5, 2.0, True, "2", None, S])
def test_other_powers_are_refused_with_the_line_that_works(exponent: Any) -> None:
    with pytest.raises(FormulaError, match=r"whole number from 1 to 16, x\^2 for x \* x"):
        _ = S**exponent
    with pytest.raises(TypeError, match="has a term as its exponent"):
        _ = 2**S  # type: ignore[operator]  # on purpose


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("s^0.5 > 0", 3, "expected a whole number as the power, found '0.5'"),
        ("s^-1 > 0", 3, "expected a whole number as the power, found '-'"),
        ("s^x > 0", 3, "expected a whole number as the power"),
        ("s^2^3 > 0", 4, r"needs parentheses: \(x\^a\)\^b"),
        ("s^0 > 0", 2, "whole number from 1 to 16"),
        ("s^99999999 > 0", 3, "expected a whole number"),
        ("(s > 0)^2", 8, r"\^ takes terms, found a formula"),
        ("^2 > 0", 1, "expected a term or a formula"),
    ],
)
def test_powers_in_text_have_precise_errors(text: str, column: int, problem: str) -> None:
    with pytest.raises(FormulaError, match=f"column {column}: .*{problem}"):
        parse(text)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5), st.integers(1, 16))
def test_a_power_is_computed_by_repeated_multiplication(xs: list[float], exponent: int) -> None:
    expected = []
    for x in xs:
        value = x
        for _ in range(exponent - 1):
            value *= x
        expected.append(value)
    trace = Trace.from_arrays({"s": xs}, dt=1)
    for value, x in zip(expected, xs, strict=True):
        if x == xs[0]:
            assert check(S**exponent >= value, trace).status == "satisfied"
            assert check(S**exponent <= value, trace).status == "satisfied"


def test_z3_agrees_with_the_monitor_on_powers() -> None:
    trace = Trace.from_arrays({"s": [1.5, -0.5, 3.0]}, dt=1)
    for text, status in (("always(s^3 > -1)", "satisfied"), ("always(s^2 < 9)", "violated")):
        formula = parse(text)
        assert check(formula, trace).status == status
        assert check(formula, trace, backend="z3").status == status


def test_numpy_scalars_meet_vectors() -> None:
    assert all_of(np.float64(0.5) < P) is all_of(P > 0.5)
    assert all_of(P * np.float64(2) < 1) is all_of(P * 2 < 1)
    terms: list[Term] = list(np.float64(2) - P)  # type: ignore[call-overload]  # numpy's stubs
    assert terms[1] is 2 - B
