"""Hash-consing: one object per content, across threads, pickles and copies, at any depth."""

import copy
import gc
import os
import pickle
import sys
import threading

import pytest
from formula_strategies import X, roots
from hypothesis import given, settings

from safegym.errors import FormulaError
from safegym.formula import expression, interning
from safegym.formula import nodes as n
from safegym.formula.build import always, eventually, fraction
from safegym.formula.rewrite import negate, nnf
from safegym.formula.terms import Constant, Signal
from safegym.formula.text import parse
from safegym.formula.windows import UNBOUNDED, Window

DEPTH = 10_000


@settings(deadline=None, derandomize=True, max_examples=150)
@given(roots)
def test_pickles_and_copies_are_the_same_object(f: n.Formula) -> None:
    assert copy.copy(f) is f
    assert copy.deepcopy([f])[0] is f
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(f, protocol)) is f


def test_windows_and_signals_pickle() -> None:
    for value in (
        Window("1/3", None),
        UNBOUNDED,
        Signal("p", "m", (3,)),
        Signal("p", shape=(3,))[1],
    ):
        assert pickle.loads(pickle.dumps(value)) is value
    assert pickle.loads(pickle.dumps({"a": X > 0, "b": [X > 0]})) == {"a": X > 0, "b": [X > 0]}


def test_a_pickle_of_a_formula_that_is_gone_rebuilds_it() -> None:
    data = pickle.dumps(always(Signal("short_lived") > 0.125))
    gc.collect()
    assert str(pickle.loads(data)) == "always(short_lived > 0.125)"


def test_the_pool_forgets_what_nobody_holds() -> None:
    gc.collect()
    before = len(interning._pool)
    held = [(1000.5 + i) < X for i in range(100)]
    assert len(interning._pool) >= before + 200
    del held
    gc.collect()
    assert len(interning._pool) <= before + 5


def test_threads_that_race_get_one_object() -> None:
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for turn in range(30):
            found: list[n.Formula] = []
            gate = threading.Barrier(8)

            def build(
                turn: int = turn, found: list[n.Formula] = found, gate: object = gate
            ) -> None:
                assert isinstance(gate, threading.Barrier)
                gate.wait()
                found.extend(always(Signal(f"race_{turn}") > float(i)) for i in range(20))

            threads = [threading.Thread(target=build) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(found) == 160
            assert len({id(f) for f in found}) == 20
    finally:
        sys.setswitchinterval(switch)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_does_not_inherit_a_held_lock() -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with interning._lock:
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    child = os.fork()
    if child == 0:
        Signal("built_in_the_child")
        os._exit(0)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _deep_unary() -> n.Formula:
    f: n.Formula = X > 0
    for _ in range(DEPTH):
        f = n.Next(n.Not(f))
    return f


def test_a_share_of_a_deep_formula_is_fine() -> None:
    share = fraction(_deep_unary()) >= 0.5
    assert parse(str(share)) is share
    assert negate(negate(share)) is nnf(share)


def test_shared_parts_are_walked_once_and_a_text_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expression, "LONGEST_TEXT", 10_000)
    f: n.Formula = X > 0
    for _ in range(60):
        f = n.Iff(f, n.Next(f))
    assert len(interning.postorder(nnf(f))) < 1000
    assert pickle.loads(pickle.dumps(f)) is f
    with pytest.raises(FormulaError, match="is longer than 10000 characters"):
        str(f)
    assert repr(f).startswith("<Iff ((")


def test_conjunctions_are_flat_distinct_and_in_order() -> None:
    a, b, c = X > 0, X > 1, X > 2
    assert (a & b) & c is a & (b & c)
    assert a & a is a
    assert n.all_of([a, b, a, c & b]) is a & b & c
    assert n.all_of() is n.TRUE
    assert n.any_of() is n.FALSE
    assert n.any_of(iter([a])) is a
    assert (b & a) is not (a & b)
    assert n.And((a, n.And((b, c)))) is a & b & c
    with pytest.raises(FormulaError, match="two or more distinct arguments, found 1"):
        n.And((a, a))


def test_equal_content_of_another_type_is_another_object() -> None:
    f = eventually(X > 0, within=1)
    assert f is n.Eventually(X > 0, Window(0, 1))
    assert f is not n.Always(X > 0, Window(0, 1))
    assert Constant(1.0) is not Constant(1.0, "1")
    assert Signal("x", scale=1) is Signal("x", scale=1.0)
