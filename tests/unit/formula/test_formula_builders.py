"""Builders, time words, margins' scales."""

from fractions import Fraction as Rational

import pytest
from formula_strategies import P, X, Y

from safegym.errors import FormulaError
from safegym.formula import nodes as n
from safegym.formula.build import (
    always,
    eventually,
    falling,
    fraction,
    historically,
    never,
    once,
    previous,
    rising,
)
from safegym.formula.functions import quantity
from safegym.formula.rewrite import margin_scale, scale_of
from safegym.formula.terms import Signal
from safegym.formula.windows import UNBOUNDED, Window

F, G = X > 0, Y < 1


def test_time_words_name_closed_windows() -> None:
    assert eventually(F, within=0.3) is n.Eventually(F, Window(0, "3/10"))
    assert always(F, lasting="1/240") is n.Always(F, Window(0, "1/240"))
    assert once(F, window=(1, 2)) is n.Once(F, Window(1, 2))
    assert historically(F, window=(0.5, None)) is n.Historically(F, Window("1/2", None))
    assert never(F, lasting=Rational(2)) is n.Always(~F, Window(0, 2))
    assert F.until(G, within=10.0) is n.Until(F, G, Window(0, 10))
    assert F.release(G, window=[1, 2]) is n.Release(F, G, Window(1, 2))
    assert F.since(G) is n.Since(F, G, UNBOUNDED)
    assert F.trigger(G, within=1) is n.Trigger(F, G, Window(0, 1))
    assert eventually(F, within=float("inf")) is eventually(F)
    assert eventually(F, window=(0, float("inf"))) is eventually(F)
    assert eventually(F, window=Window(1, 2)) is eventually(F, window=(1, 2))


def test_a_float_bound_means_the_decimal_that_was_written() -> None:
    assert eventually(F, within=0.1 + 0.2) is eventually(F, within="0.3")
    assert str(eventually(F, within=1 / 3)) == "eventually[0,1/3](x > 0)"


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: eventually(F, window=(2, 1)), r"\[2,1\] is reversed; write \[1,2\]"),
        (lambda: eventually(F, within=-1), "reaches into negative time"),
        (lambda: eventually(F, window=(-1, 2)), "reaches into negative time"),
        (lambda: eventually(F, window=(-3, -1)), "reaches into negative time"),
        (lambda: eventually(F, window=()), "must be a pair .* An empty window has no meaning"),
        (lambda: eventually(F, window=(1,)), "must be a pair"),
        (lambda: eventually(F, window=(None, 1)), "must be a pair"),
        (lambda: eventually(F, window="12"), "must be a pair"),
        (lambda: eventually(F, within=1, window=(0, 2)), "both within= and window=; keep one"),
        (lambda: always(F, lasting=1, window=(0, 2)), "both lasting= and window=; keep one"),
        (lambda: eventually(F, within="soon"), "eventually: within must be a number"),
        (lambda: eventually(F, within=float("nan")), "must be a finite number"),
        (lambda: eventually(F, within=True), "found the truth value True"),
        (lambda: eventually(F, window=(float("inf"), None)), "must be a finite number"),
    ],
)
def test_a_malformed_window_is_refused(build: object, problem: str) -> None:
    assert callable(build)
    with pytest.raises(FormulaError, match=problem):
        build()


def test_time_words_are_keyword_only() -> None:
    with pytest.raises(TypeError, match="positional argument"):
        always(F, 1)  # type: ignore[misc]  # on purpose
    with pytest.raises(TypeError, match="positional argument"):
        F.until(G, 1)  # type: ignore[misc]  # on purpose
    with pytest.raises(TypeError, match="unexpected keyword argument 'within'"):
        always(F, within=1)  # type: ignore[call-arg]  # on purpose
    with pytest.raises(TypeError, match="takes a Window"):
        n.Always(F, (0, 1))  # type: ignore[arg-type]  # on purpose


def test_sugar_is_what_the_design_says() -> None:
    assert rising(F) is F & ~previous(F)
    assert falling(F) is ~F & previous(F)
    assert F.weak_until(G) is F.until(G) | always(F)
    assert F.weak_until(G, window=(1, 2)) is F.until(G, window=(1, 2)) | always(F, lasting=2)


def test_atoms_are_validated() -> None:
    with pytest.raises(FormulaError, match="A comparison is one of"):
        n.Atom(X, "==", Y)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(FormulaError, match="reads no signal"):
        _ = quantity(1, "m") < 2
    with pytest.raises(FormulaError, match="An atom's scale must be > 0"):
        F.scaled(0)
    with pytest.raises(TypeError, match="takes terms"):
        n.Atom(X, "<", 1)  # type: ignore[arg-type]  # on purpose


def test_the_same_name_declared_twice_is_refused() -> None:
    f = (Signal("a", "m") > 0) & (Signal("a", "s") > 0)
    with pytest.raises(FormulaError, match=r"'a' is declared in two ways: a unit=m .* unit=s"):
        _ = f.signals


A, B = Signal("a", "m", scale=2.0), Signal("b", "s", scale=3.0)
C, D = Signal("c", "m"), Signal("d", "s")


def test_the_scale_of_an_atom_is_its_own_or_its_signals_common_one() -> None:
    assert scale_of(A > 0) == 2.0
    assert scale_of((A > 0).scaled(5)) == 5.0
    assert scale_of(C > 0) is None
    assert scale_of(A > C) is None
    assert scale_of(A > Signal("e", "m", scale=2.0)) == 2.0
    assert scale_of(A > Signal("e", "m", scale=4.0)) is None
    assert scale_of(A * A > 0) is None, "a scale in m does not measure m^2"
    assert scale_of(P[0] > 0) is None


def test_margins_compare_with_scales_everywhere_or_one_unit_everywhere() -> None:
    assert margin_scale((A > 0) & (B > 0)) == margin_scale(A > 0)
    assert margin_scale(A > 0).unit == "scale"
    assert margin_scale((C > 0) & (Signal("e", "m") > 1)).unit == "m"
    assert margin_scale(n.TRUE).ok
    mixed = margin_scale((C > 0) & (D > 0))
    assert not mixed.ok
    assert "`c > 0` is in m and `d > 0` in s" in mixed.reason
    half = margin_scale(always((A > 0) & (C > 0)))
    assert not half.ok
    assert "`a > 0` has a scale and `c > 0` has none" in half.reason
    assert margin_scale((C > 0).scaled(1) & (D > 0).scaled(2)).unit == "scale"
    assert margin_scale(fraction(A > 0) >= 0.5).ok
