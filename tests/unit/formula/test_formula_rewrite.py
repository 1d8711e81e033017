"""Negation normal form, steps, rounding, look-ahead: against the recursive second opinion."""

from fractions import Fraction as Rational

import pytest
from formula_strategies import (
    INF,
    Samples,
    X,
    Y,
    any_formulas,
    formulas,
    margin,
    samples,
    shares,
    simple_atoms,
    step_formulas,
    windows,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import FormulaError
from safegym.formula import nodes as n
from safegym.formula.build import (
    always,
    eventually,
    falling,
    fraction,
    historically,
    never,
    next_,
    once,
    previous,
    prob,
    rising,
    weak_next,
    weak_previous,
)
from safegym.formula.claim import Claim
from safegym.formula.interning import postorder
from safegym.formula.rewrite import atoms_of, look_ahead, negate, nnf, signals_of, to_steps
from safegym.formula.windows import Window

CORE = (
    *(n.Boolean, n.Atom, n.And, n.Or, n.Next, n.WeakNext, n.Previous, n.WeakPrevious, n.Until),
    *(n.Release, n.Since, n.Trigger, n.Always, n.Eventually, n.Once, n.Historically, n.Fraction),
)
slow_law = settings(deadline=None, derandomize=True, max_examples=120)


@slow_law
@given(step_formulas, samples)
def test_normal_form_has_the_same_robustness_at_every_sample(f: n.Formula, trace: Samples) -> None:
    normal, opposite = nnf(f), negate(f)
    for k in range(len(trace["x"])):
        value = margin(f, trace, k)
        assert margin(normal, trace, k) == value
        assert margin(opposite, trace, k) == -value


@slow_law
@given(any_formulas)
def test_normal_form_holds_core_nodes_only_and_is_its_own_normal_form(f: n.Formula) -> None:
    for normal in (nnf(f), negate(f)):
        assert all(type(node) in CORE for node in postorder(normal) if isinstance(node, n.Formula))
        assert nnf(normal) is normal
    assert nnf(n.Not(f)) is negate(f)


@slow_law
@given(shares)
def test_a_negated_share_turns_its_comparison_and_keeps_its_argument(f: n.Fraction) -> None:
    opposite = negate(f)
    assert isinstance(opposite, n.Fraction)
    assert opposite.comparison == {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[f.comparison]
    assert (opposite.argument, opposite.bound) == (nnf(f.argument), f.bound)
    assert negate(opposite) is nnf(f)


def test_the_duals_are_those_of_the_design() -> None:
    a, b, w = X > 0, Y < 1, Window(1, 2)
    na, nb = X <= 0, Y >= 1
    table: list[tuple[n.Formula, n.Formula]] = [
        (n.Not(next_(a)), weak_next(na)),
        (n.Not(weak_next(a)), next_(na)),
        (n.Not(previous(a)), weak_previous(na)),
        (n.Not(weak_previous(a)), previous(na)),
        (n.Not(n.Until(a, b, w)), n.Release(na, nb, w)),
        (n.Not(n.Release(a, b, w)), n.Until(na, nb, w)),
        (n.Not(n.Since(a, b, w)), n.Trigger(na, nb, w)),
        (n.Not(n.Trigger(a, b, w)), n.Since(na, nb, w)),
        (n.Not(always(a, lasting=2)), eventually(na, within=2)),
        (n.Not(once(a, within=2)), historically(na, lasting=2)),
        (a.implies(b), na | b),
        (a.iff(b), (a & b) | (na & nb)),
        (a.xor(b), (a & nb) | (na & b)),
        (never(a), always(na)),
        (rising(a), a & weak_previous(na)),
        (falling(a), na & previous(a)),
    ]
    for written, expected in table:
        assert nnf(written) is expected


def test_a_negated_atom_keeps_its_own_scale() -> None:
    atom = (X > 0).scaled(0.5)
    assert negate(atom) is (X <= 0).scaled(0.5)


def test_steps_count_whole_samples_exactly() -> None:
    f = eventually(always(X > 0, lasting=1.0), within=0.3)
    assert to_steps(f, "0.1") is n.Eventually(n.Always(X > 0, Window(0, 10)), Window(0, 3))
    assert to_steps(always(X > 0, window=("1/240", "1/80")), "1/240") is n.Always(
        X > 0, Window(1, 3)
    )
    assert to_steps(always(X > 0, window=(0.2, None)), Rational(1, 10)) is n.Always(
        X > 0, Window(2, None)
    )


def test_a_bound_off_the_grid_is_refused_with_the_nearest_that_work() -> None:
    f = eventually(X > 0, within=0.3)
    with pytest.raises(
        FormulaError, match=r"0\.3 s of .* dt = 0\.04 s \(claim arm\.stop\).* 0\.28 s or 0\.32 s"
    ):
        to_steps(f, "0.04", claim="arm.stop")
    with pytest.raises(FormulaError, match=r"The bound 0\.1 s"):
        to_steps(always(X > 0, window=("0.1", "0.4")), "0.2")


def test_conservative_windows_grow_for_always_and_shrink_for_eventually() -> None:
    w, grown, shrunk = Window("0.5", "2.5"), Window(0, 3), Window(1, 2)
    for kind in (n.Always, n.Historically):
        assert to_steps(kind(X > 0, w), 1, rounding="conservative") is kind(X > 0, grown)
    for kind in (n.Eventually, n.Once):
        assert to_steps(kind(X > 0, w), 1, rounding="conservative") is kind(X > 0, shrunk)
    for two in (n.Release, n.Trigger):
        assert to_steps(two(X > 0, Y > 0, w), 1, rounding="conservative") is two(
            X > 0, Y > 0, grown
        )
    for two in (n.Until, n.Since):
        assert to_steps(two(X > 0, Y > 0, w), 1, rounding="conservative") is two(
            X > 0, Y > 0, shrunk
        )
    hidden = n.Not(n.Eventually(X > 0, w))
    assert to_steps(hidden, 1, rounding="conservative") is n.Always(X <= 0, grown)


def test_conservative_rounding_strengthens_the_episode_property_of_a_claim() -> None:
    """What must hold on an episode gets harder, whichever way the probability is bounded."""
    late = eventually(X > 0, within="2.5")
    avoided = Claim(id="a.rare", statement=prob(late) < 0.1, rounding="conservative")
    reached = Claim(id="a.often", statement=prob(late) >= 0.9, rounding="conservative")
    steps = [to_steps(c.property, 1, rounding=c.rounding) for c in (avoided, reached)]
    assert steps == [n.Always(X <= 0, Window(0, 3)), n.Eventually(X > 0, Window(0, 2))]
    nested = always(rising(X > 0).implies(eventually(always(Y > 0, lasting="1.5"), within="2.5")))
    inner = n.Eventually(n.Always(Y > 0, Window(0, 2)), Window(0, 2))
    strict = to_steps(nested, 1, rounding="conservative")
    assert strict is n.Always(n.any_of((X <= 0), n.Previous(X > 0), inner))


def test_conservative_rounding_refuses_an_emptied_window_fraction_and_next() -> None:
    with pytest.raises(FormulaError, match=r"No sample lies in the window .*dt = 1 s"):
        to_steps(eventually(X > 0, window=("0.2", "0.7")), 1, rounding="conservative")
    with pytest.raises(FormulaError, match=r"cannot strengthen `fraction"):
        to_steps(fraction(X > 0) >= 0.5, 1, rounding="conservative")
    with pytest.raises(FormulaError, match=r"cannot strengthen `next\(x > 0\)` \(claim a\.b\)"):
        to_steps(always(next_(X > 0)), 1, rounding="conservative", claim="a.b")
    with pytest.raises(FormulaError, match="rounding must be"):
        to_steps(X > 0, 1, rounding="nearest")  # type: ignore[arg-type]  # on purpose


off_grid = formulas(simple_atoms, windows(st.fractions(0, 4, max_denominator=6)))


@settings(deadline=None, derandomize=True, max_examples=150)
@given(off_grid, samples)
def test_conservative_rounding_only_ever_strengthens(f: n.Formula, trace: Samples) -> None:
    """Where the rounded formula holds on the samples, the one in seconds does."""
    try:
        steps = to_steps(f, 1, rounding="conservative")
    except FormulaError:
        return
    assert margin(steps, trace, 0) <= margin(f, trace, 0)


def test_dt_must_be_positive() -> None:
    with pytest.raises(FormulaError, match=r"dt must be > 0 seconds"):
        to_steps(X > 0, 0)


def _reads(f: n.Formula, k: int) -> int:
    """Last sample that f at k may read, every position tried; unbounded windows end at once."""
    match f:
        case n.Until() | n.Release():
            low = int(f.window.lo)
            high = low if f.window.hi is None else int(f.window.hi)
            lefts = [_reads(f.left, j) for j in range(k, k + high)]
            if f.window.hi is None and not lefts:
                lefts = [_reads(f.left, k)]
            rights = [_reads(f.right, j) for j in range(k + low, k + high + 1)]
            return max(lefts + rights)
        case n.Always() | n.Eventually():
            low = int(f.window.lo)
            high = low if f.window.hi is None else int(f.window.hi)
            return max(_reads(f.argument, j) for j in range(k + low, k + high + 1))
        case n.Next() | n.WeakNext():
            return _reads(f.argument, k + 1)
        case n.And() | n.Or():
            return max(_reads(g, k) for g in f.arguments)
    return k


@slow_law
@given(
    formulas(simple_atoms, windows(st.integers(0, 3).map(Rational)), past=False, connectives=False)
)
def test_look_ahead_is_the_last_sample_read(f: n.Formula) -> None:
    assert look_ahead(f) == _reads(f, 0)


@slow_law
@given(
    formulas(simple_atoms, windows(st.integers(0, 2).map(Rational), unbounded=False), size=5),
    st.lists(st.sampled_from([-3.0, 3.0]), min_size=40, max_size=40),
    st.lists(st.sampled_from([-3.0, 3.0]), min_size=40, max_size=40),
)
def test_nothing_past_the_look_ahead_changes_the_value(
    f: n.Formula, xs: list[float], ys: list[float]
) -> None:
    reach = look_ahead(to_steps(f, 1))
    if reach >= 36:
        return
    trace = {"x": xs, "y": ys}
    other = {name: v[: reach + 1] + [-u for u in v[reach + 1 :]] for name, v in trace.items()}
    assert margin(f, trace, 0) == margin(f, other, 0)


def test_look_ahead_of_the_stop_claim_and_of_a_formula_in_seconds() -> None:
    stop = always(rising(X > 0).implies(eventually(always(Y <= 0, lasting=1.0), within=0.3)))
    assert look_ahead(to_steps(stop, "0.1")) == 13
    with pytest.raises(FormulaError, match=r"look_ahead\(to_steps"):
        look_ahead(stop)


def test_passes_leave_their_input_as_it_was_and_share_equal_parts() -> None:
    f = always(X > 0) & eventually(X > 0, within="0.5")
    text = str(f)
    steps = to_steps(f, "0.1")
    assert str(f) == text
    assert len([a for a in atoms_of(steps)]) == 1
    assert signals_of(steps) == (X,)


def test_constants_are_negated() -> None:
    assert nnf(n.Not(n.TRUE)) is n.FALSE
    assert margin(n.TRUE, {"x": [0.0], "y": [0.0]}, 0) == INF
