"""What is neither a formula nor a trace, and what is too deep, too wide or too long, is told so."""

import pickle
import time
from collections.abc import Callable

import numpy as np
import pytest

from safegym.check.dispatch import check
from safegym.check.monitor import Monitor, Settling, judge, robustness, settling, support
from safegym.errors import TraceError, UnsupportedError
from safegym.formula.build import always, fraction, once, previous, prob, weak_previous
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal, Term
from safegym.formula.text import parse
from safegym.trace.model import Trace

X, Y = Signal("x"), Signal("y")
TRACE = Trace.from_arrays({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]}, dt="0.1")
USES: tuple[Callable[[object], object], ...] = (
    lambda subject: judge(subject, TRACE),  # type: ignore[arg-type]  # on purpose
    lambda subject: robustness(subject, TRACE),  # type: ignore[arg-type]  # on purpose
    lambda subject: settling(subject, TRACE),  # type: ignore[arg-type]  # on purpose
    lambda subject: support(subject),  # type: ignore[arg-type]  # on purpose
    lambda subject: Monitor(subject, "0.1"),  # type: ignore[arg-type]  # on purpose
    lambda subject: check(subject, TRACE, backend="z3"),  # type: ignore[arg-type]  # on purpose
)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ("always(x > 0)", r"found the text .*write safegym\.parse"),
        (prob(X > 0) < 0.1, "no probability, quantile or mean"),
        (fraction(X > 0), "on a formula or a claim, found Share"),
        (X, "compare a term"),
        (None, "found None"),
    ],
)
def test_only_a_formula_or_a_claim_is_judged(
    use: Callable[[object], object], subject: object, told: str
) -> None:
    with pytest.raises(TypeError, match=told):
        use(subject)


def test_only_a_trace_is_judged_on() -> None:
    for use in (judge, robustness, settling):
        with pytest.raises(TypeError, match=r"found dict; write safegym\.Trace\.from_arrays"):
            use(X > 0, {"x": [1.0]})  # type: ignore[arg-type]  # on purpose


def _sum_of(count: int) -> Term:
    total: Term = X
    for _ in range(count):
        total = total + Y
    return total


def test_a_term_of_any_depth_is_judged_by_both_backends() -> None:
    formula = always(_sum_of(3000) > 0)
    assert check(formula, TRACE).status == "satisfied"
    assert check(formula, TRACE, backend="z3").status == "satisfied"
    ahead = Trace.from_arrays({"x": [1.0], "y": [1.0]}, dt="0.1", end="interrupted")
    later = always((_sum_of(3000) > 0) | (_sum_of(3000) <= 0), lasting="0.2")
    assert check(later, ahead, exact=True).status == "satisfied"


def test_settling_of_a_deep_formula_needs_no_recursion() -> None:
    deep: Formula = X > 0
    for _ in range(2000):
        deep = weak_previous(deep)
    assert settling(always(deep & (X < 2)), TRACE) == Settling(1, 0.0)


def test_shared_parts_cost_no_exponential_texts_or_walks() -> None:
    """Written out, forty nested `iff` would be 2^40 atoms long."""
    formula: Formula = X > 0
    for level in range(40):
        formula = formula.iff(X > level % 3)
    started = time.perf_counter()
    verdict = judge(formula, TRACE)
    found = settling(always(formula & (X < 0)), TRACE)
    assert time.perf_counter() - started < 2.0
    assert verdict.witness is not None
    assert all(len(text) <= 1003 for text in verdict.witness.chain)
    assert found is not None
    assert found.step == 0


def test_a_nest_of_five_thousand_operators_is_judged_in_seconds() -> None:
    deep: Formula = X > 0
    for _ in range(5000):
        deep = previous(deep)
    started = time.perf_counter()
    assert judge(deep, TRACE).status == "violated"
    assert time.perf_counter() - started < 5.0


def test_a_past_window_that_slides_on_beyond_reason_is_refused_and_changes_nothing() -> None:
    formula = always(once(X > 0, within=10**9), lasting=10**9)
    ended = Trace.from_arrays({"x": [1.0]}, dt="0.1", end="interrupted")
    with pytest.raises(UnsupportedError, match="past the episode's last one"):
        judge(formula, ended)
    monitor = Monitor(formula, "0.1", exact=True)
    with pytest.raises(UnsupportedError, match="past the episode's last one"):
        monitor.update({"x": [1.0]})
    assert monitor.steps.tolist() == [-1]


def test_a_window_longer_than_memory_costs_what_the_samples_do() -> None:
    monitor = Monitor(always(X > 0, lasting=10**9), "0.01", batch=64)
    for _ in range(300):
        update = monitor.update({"x": np.ones(64)})
    assert set(update.episode.status) == {"inconclusive"}
    assert set(monitor.update({"x": -np.ones(64)}).episode.status) == {"violated"}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["a", "b"], "real numbers"),
        ([[1.0], [1.0, 2.0]], "real numbers"),
        (np.array([1j, 2.0]), "real numbers; found an array of complex128"),
        ([None, 1.0], "real numbers"),
    ],
)
def test_a_sample_that_is_not_of_real_numbers_is_refused(values: object, told: str) -> None:
    monitor = Monitor(X > 0, "0.1", batch=2)
    with pytest.raises(TraceError, match=told):
        monitor.update({"x": values})  # type: ignore[dict-item]  # on purpose
    with pytest.raises(TraceError, match="a mapping such as"):
        monitor.update([1.0, 2.0])  # type: ignore[arg-type]  # on purpose
    assert monitor.update({"x": [True, 0]}).episode.status.tolist() == ["satisfied", "violated"]


@pytest.mark.parametrize("wrong", [{"batch": 1.5}, {"batch": "a"}, {"horizon": 2.5}])
def test_a_monitor_counts_in_whole_numbers(wrong: dict[str, int]) -> None:
    with pytest.raises(TraceError, match="must be a whole number of at least 1"):
        Monitor(X > 0, "0.1", **wrong)


def test_indices_are_no_mask() -> None:
    monitor = Monitor(X > 0, "0.1", batch=2)
    with pytest.raises(TraceError, match="truth values"):
        monitor.reset([5, 7])


def test_an_undeclared_vector_takes_any_trace_that_has_its_components() -> None:
    formula = parse("x[0] > 1 and x[1] > 1")
    wide = Trace.from_arrays({"x": np.full((3, 4), 2.0)}, dt="0.1")
    assert judge(formula, wide).status == "satisfied"
    assert check(formula, wide, backend="z3").status == "satisfied"
    with pytest.raises(TraceError, match=r"reads x\[7\], but signal x has the components 0 to 3"):
        judge(parse("x[7] > 1"), wide)
    with pytest.raises(TraceError, match=r"must have shape \(3, 'd'\); found \(3,\)"):
        judge(formula, Trace.from_arrays({"x": [1.0, 1.0, 1.0]}, dt="0.1"))


def test_a_declared_vector_takes_no_other_length() -> None:
    declared = Signal("x", shape=(2,))
    wide = Trace.from_arrays({"x": np.full((3, 4), 2.0)}, dt="0.1")
    with pytest.raises(TraceError, match=r"declared with shape \(2,\)"):
        judge(declared[0] > 1, wide)


def test_an_undeclared_vector_is_monitored_online_at_its_first_length() -> None:
    monitor = Monitor(parse("always(x[1] > 1)"), "0.1", batch=2)
    with pytest.raises(TraceError, match=r"must be \(2, d\) with d >= 2"):
        monitor.update({"x": np.full((2, 1), 2.0)})
    for _ in range(200):
        monitor.update({"x": np.full((2, 3), 2.0)})
    with pytest.raises(TraceError, match=r"it must be \(2, 3\)"):
        monitor.update({"x": np.full((2, 2), 2.0)})
    monitor = pickle.loads(pickle.dumps(monitor))
    last = monitor.update({"x": [[2.0, 2.0, 2.0], [2.0, 0.0, 2.0]]})
    assert last.episode.status.tolist() == ["inconclusive", "violated"]
