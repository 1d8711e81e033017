"""How far past the horizon a property reads, against brute force over its definition."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.tail import tail_steps
from safegym.formula.build import always, eventually, next_, once, rising
from safegym.formula.nodes import (
    Always,
    And,
    Atom,
    Eventually,
    Formula,
    Historically,
    Next,
    Once,
    Until,
)
from safegym.formula.rewrite import to_steps
from safegym.formula.terms import Signal, Window

X = Signal("x") > 0
DT = Fraction(1, 10)


@pytest.mark.parametrize(
    ("formula", "tail"),
    [
        (always(X), 0),
        (eventually(X, within=10.0), 0),
        (eventually(X, within=10.1), 1),
        (always(eventually(X, within=0.5)), 5),
        (always(rising(X).implies(eventually(always(X, lasting=1.0), within=0.3))), 13),
        (eventually(always(X, lasting=1.0), within=0.3), 0),
        (always(next_(X)), 1),
        (always(once(X, within=0.5)), 0),
    ],
)
def test_tails_of_known_shapes_at_a_horizon_of_ten_seconds(formula: Formula, tail: int) -> None:
    assert tail_steps(to_steps(formula, DT), 100) == tail


def reads(node: Formula, at: int, horizon: int) -> int:
    """The latest sample that `node` reads when evaluated at `at`: by visiting each sample."""
    if isinstance(node, Atom):
        return at
    if isinstance(node, And):
        return max(reads(child, at, horizon) for child in node.arguments)
    if isinstance(node, Next):
        return reads(node.argument, at + 1, horizon)
    if isinstance(node, Once | Historically):
        return max(reads(node.argument, k, horizon) for k in range(at + 1))
    assert isinstance(node, Always | Eventually | Until)
    lo, hi = int(node.window.lo), node.window.hi
    last = max(horizon, at) if hi is None else at + int(hi)
    places = range(min(at + lo, last), last + 1)
    children = [node.left, node.right] if isinstance(node, Until) else [node.argument]
    return max(reads(child, k, horizon) for child in children for k in places)


def formulas() -> st.SearchStrategy[Formula]:
    window = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 2))).map(
        lambda pair: Window(pair[0], None if pair[1] is None else pair[0] + pair[1])
    )
    return st.recursive(
        st.just(X),
        lambda inner: st.one_of(
            st.builds(Always, inner, window),
            st.builds(Eventually, inner, window),
            st.builds(Once, inner, window),
            st.builds(Until, inner, inner, window),
            st.builds(Next, inner),
            st.tuples(inner, inner).filter(lambda p: p[0] is not p[1]).map(And),
        ),
        max_leaves=4,
    )


@settings(max_examples=150, deadline=None, derandomize=True)
@given(formulas(), st.integers(1, 4))
def test_the_tail_is_what_visiting_every_sample_reads(formula: Formula, horizon: int) -> None:
    assert tail_steps(formula, horizon) == max(0, reads(formula, 0, horizon) - horizon)
