"""Formulas ten thousand levels deep: no recursion anywhere, and rewriting in linear time."""

import copy
import gc
import pickle
import time
from collections.abc import Callable
from fractions import Fraction as Rational

import pytest

from safegym import Monitor, Trace, check
from safegym.check.monitor.plan import plan_of
from safegym.check.monitor.support import support
from safegym.check.symbolic.backend import BACKEND
from safegym.formula import nodes as n
from safegym.formula.claim import Claim
from safegym.formula.defined import Defined, spelled_out
from safegym.formula.interning import postorder
from safegym.formula.rewrite import implications, look_ahead, negate, nnf, to_steps
from safegym.formula.terms import Signal, Term
from safegym.formula.text import parse
from safegym.formula.windows import Window

DEPTH = 10_000
X, Y = Signal("x"), Signal("y")


def implies_right(depth: int) -> n.Formula:
    f: n.Formula = X > 0
    for i in range(depth):
        f = n.Implies(i < Y, f)
    return f


def implies_left(depth: int) -> n.Formula:
    f: n.Formula = X > 0
    for i in range(depth):
        f = n.Implies(f, i % 7 < Y)
    return f


def negated_rows(depth: int) -> n.Formula:
    """Not of and of not of or...: one long row of `or` in normal form, and its dual."""
    f: n.Formula = X > 0
    for i in range(depth // 2):
        f = n.Not(n.all_of(i < Y, n.Not(n.any_of(i < X, f))))
    return f


def equivalences(depth: int) -> n.Formula:
    f: n.Formula = X > 0
    for i in range(depth):
        f = n.Iff(i % 7 < Y, f) if i % 2 else n.Xor(f, i % 5 < Y)
    return f


def nexts(depth: int) -> n.Formula:
    f: n.Formula = X > 0
    for _ in range(depth // 2):
        f = n.Next(n.Not(f))
    return f


def pasts(depth: int) -> n.Formula:
    f: n.Formula = X > 0
    for i in range(depth):
        f = n.Since(i % 7 < Y, n.Once(f, Window(0, 1)), Window(0, 1)) if i % 2 else n.Previous(f)
    return f


def terms(depth: int) -> n.Formula:
    term: Term = X
    for i in range(depth):
        term = abs(term) + i % 3
    return term > 0


def quick(*shapes: Callable[[int], n.Formula]) -> list[object]:
    """All shapes, those not named here marked slow."""
    return [s if s in shapes else pytest.param(s, marks=pytest.mark.slow) for s in SHAPES]


SHAPES = [implies_right, implies_left, negated_rows, equivalences, nexts, pasts, terms]
Shape = Callable[[int], n.Formula]


@pytest.mark.parametrize("shape", quick(implies_right, nexts, terms))
def test_nothing_recurses_at_depth_ten_thousand(shape: Shape) -> None:
    f = shape(DEPTH)
    assert parse(str(f), signals=f.signals) is f
    assert pickle.loads(pickle.dumps(f)) is f
    assert copy.deepcopy(f) is f
    assert f == shape(DEPTH)
    assert hash(f) == hash(shape(DEPTH))
    assert f.digest.startswith("sha256:")
    assert len(repr(f)) < 200
    assert nnf(n.Not(f)) is negate(f)
    assert look_ahead(to_steps(f, 1)) >= 0
    assert spelled_out(n.all_of(Defined("a", f), X > 3)) is n.all_of(f, X > 3)
    claim = Claim(id="deep.claim", statement=f)
    assert Claim.from_json(claim.to_json()) == claim
    assert support(f).ok
    assert BACKEND.support(f).ok
    del f, claim
    gc.collect()


@pytest.mark.slow
@pytest.mark.parametrize("shape", [implies_right, negated_rows, nexts, terms])
def test_nothing_recurses_where_traces_are_judged(shape: Shape) -> None:
    f = shape(DEPTH)
    assert plan_of(f, Rational(1)).slots
    assert implications(f, 1) is not None
    trace = Trace.from_arrays({"x": [1.0, 2.0, 0.0], "y": [1.0, 0.0, 3.0]}, dt=1, end="absorbed")
    verdict = check(f, trace)
    assert verdict.status in ("satisfied", "violated")
    assert check(f, trace, backend="z3").status == verdict.status
    assert Monitor(f, dt=1) is not None


@pytest.mark.parametrize("shape", quick(implies_right))
def test_normal_form_and_steps_take_linear_time(shape: Shape) -> None:
    """Eight times the depth takes at most 8 x 3 the time (and not 64)."""
    for rewrite in (nnf, negate, lambda f: to_steps(f, 1)):
        times = []
        for depth in (800, 6400):
            f = shape(depth)
            times.append(min(_seconds(rewrite, f) for _ in range(3)))
        assert times[1] < 8 * 3 * times[0] + 0.03


def _seconds(rewrite: Callable[[n.Formula], object], f: n.Formula) -> float:
    start = time.process_time()
    rewrite(f)
    return time.process_time() - start


def test_a_long_row_of_implications_becomes_one_node() -> None:
    normal = nnf(implies_right(DEPTH))
    assert isinstance(normal, n.Or)
    assert len(normal.arguments) == DEPTH + 1
    assert normal.arguments[0] is (DEPTH - 1 >= Y)
    assert normal.arguments[-1] is (X > 0)
    opposite = negate(implies_right(DEPTH))
    assert isinstance(opposite, n.And)
    assert len(opposite.arguments) == DEPTH + 1


def test_shared_rows_keep_their_own_node() -> None:
    tail = n.Implies(Y > 1, X > 0)
    f = n.Implies(Y > 2, tail) & n.Always(tail)
    normal = nnf(f)
    assert normal is ((Y <= 2) | (Y <= 1) | (X > 0)) & n.Always((Y <= 1) | (X > 0))
    assert len(postorder(normal)) < 20
