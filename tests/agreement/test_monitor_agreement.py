"""The monitor against the slow reference evaluator: status, lower and upper robustness."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import (
    KINDS,
    ONE,
    TWO,
    WINDOWED_ONE,
    WINDOWED_TWO,
    Case,
    case_of,
    random_atom,
    random_case,
    random_formula,
    random_window,
)
from small_parts import small_parts

from safegym.check.monitor import compiled, judge, robustness
from safegym.check.monitor.robustness import satisfaction
from safegym.formula import nodes as n
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.terms import Window
from safegym.verdict import Verdict

WINDOWED = (*WINDOWED_ONE, *WINDOWED_TWO)


def assert_agreement(case: Case) -> None:
    verdict = judge(case.formula, case.trace)
    low, high = robustness(case.formula, case.trace)
    wanted = case.reference.robustness(case.formula)
    told = f"{case.formula} on {case.reference}"
    assert verdict.status == case.reference.status(case.formula), told
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == wanted, told
    assert verdict.robustness is not None
    assert (verdict.robustness.lo, verdict.robustness.hi) == wanted[0], told
    assert not np.signbit(low[low == 0]).any()
    must, may = satisfaction(case.formula, case.trace)
    truths = case.reference.truth(case.formula)
    assert list(zip(must.tolist(), may.tolist(), strict=True)) == truths, told
    assert_witness_decides(case, verdict)


def assert_witness_decides(case: Case, verdict: Verdict) -> None:
    """The chain ends in a part whose own raw margin is the robustness, where an atom decides."""
    if verdict.witness is None or isinstance(case.formula, n.Fraction):
        return
    assert verdict.robustness is not None
    value = verdict.robustness.hi if verdict.status == "violated" else verdict.robustness.lo
    assert verdict.witness.margin == value
    assert verdict.witness.subformula == verdict.witness.chain[-1]


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.randoms(use_true_random=False))
def test_monitor_agrees_with_the_reference_on_shrinkable_cases(random: Random) -> None:
    assert_agreement(random_case(random, with_gaps=random.random() < 0.3))


def test_monitor_agrees_with_the_reference_on_1500_random_pairs() -> None:
    for seed in range(1500):
        assert_agreement(random_case(Random(seed)))


def test_monitor_agrees_with_the_reference_where_signals_have_gaps() -> None:
    for seed in range(600):
        assert_agreement(random_case(Random(seed), with_gaps=True))


def test_long_episodes_in_parts_agree_with_the_reference() -> None:
    for seed in range(400):
        random = Random(seed)
        case = random_case(random, depth=5, longest=30, with_gaps=seed % 3 == 0)
        with small_parts(random):
            assert_agreement(case)


MET = (
    *(*KINDS, "tail", "one sample", "tie at zero", "duplicated", "gaps"),
    *("past", "future", "unbounded", "nested", "past in future", "future in past"),
)
PAST = (n.Previous, n.WeakPrevious, n.Once, n.Historically, n.Since, n.Trigger)
FUTURE = (n.Next, n.WeakNext, n.Always, n.Eventually, n.Until, n.Release)


def met_by(case: Case) -> Iterator[str]:
    """Which of `MET` a case exercises."""
    trace, nodes = case.trace, postorder(case.formula)
    yield trace.end.kind
    if trace.horizon is not None and trace.steps > trace.horizon:
        yield "tail"
    if trace.steps == 0:
        yield "one sample"
    if trace.unseen:
        yield "gaps"
    if 0.0 in (low for low, _ in case.reference.robustness(case.formula)):
        yield "tie at zero"
    read = [part for node in nodes for part in node.parts if isinstance(part, Formula)]
    if len(set(read)) < len(read):
        yield "duplicated"
    if any(isinstance(node, WINDOWED) and node.window.hi is None for node in nodes):
        yield "unbounded"
    inside = [
        (node, below)
        for node in nodes
        if isinstance(node, (*PAST, *FUTURE))
        for below in postorder(node)[:-1]
        if isinstance(below, (*PAST, *FUTURE))
    ]
    yield from {"past" for node in nodes if isinstance(node, PAST)}
    yield from {"future" for node in nodes if isinstance(node, FUTURE)}
    yield from {"nested" for _ in inside}
    yield from {
        f"{'past' if isinstance(below, PAST) else 'future'} in "
        f"{'past' if isinstance(node, PAST) else 'future'}"
        for node, below in inside
        if isinstance(node, PAST) != isinstance(below, PAST)
    }


@pytest.mark.slow
def test_monitor_agrees_with_the_reference_on_12000_random_pairs_of_every_kind() -> None:
    met: Counter[str] = Counter()
    for seed in range(10_000, 22_000):
        case = random_case(Random(seed), depth=5, with_gaps=seed % 6 == 0)
        assert_agreement(case)
        met.update(met_by(case))
    assert {name: met[name] for name in MET if met[name] < 500} == {}


def _one_node(random: Random, node: type[Formula]) -> Formula:
    def part() -> Formula:
        return random_formula(random, random.choice([0, 1, 2]), [])

    if node in WINDOWED_ONE:
        return node(part(), random_window(random))
    if node in WINDOWED_TWO:
        return node(part(), part(), random_window(random))
    if node in TWO:
        return node(part(), part())
    if node in (n.And, n.Or):
        return (n.all_of if node is n.And else n.any_of)(part(), random_atom(random))
    if node is n.Fraction:
        return n.Fraction(part(), random.choice([">=", "<"]), 0.5)
    return node(part())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "node",
    [*ONE, *TWO, *WINDOWED_ONE, *WINDOWED_TWO, n.And, n.Or, n.Fraction],
    ids=lambda node: node.__name__,
)
def test_every_node_agrees_at_every_kind_of_end(node: type[Formula], kind: str) -> None:
    for seed in range(12):
        random = Random(seed)
        assert_agreement(case_of(random, _one_node(random, node), kind=kind))


@pytest.mark.parametrize("kind", KINDS)
def test_windows_longer_than_the_trace_agree(kind: str) -> None:
    for seed in range(15):
        random = Random(seed)
        inner = random_formula(random, 2, [])
        wide = Window(0, random.choice([3, 9, 25]))
        for node in (*WINDOWED_ONE, n.Until, n.Since):
            formula = node(inner, wide) if node in WINDOWED_ONE else node(inner, inner, wide)
            assert_agreement(case_of(random, formula, kind=kind))


def test_past_inside_future_inside_past_agrees() -> None:
    for seed in range(60):
        random = Random(seed)
        formula = random_atom(random)
        for _ in range(2):
            formula = n.Once(n.Eventually(formula, random_window(random)), random_window(random))
            formula = n.Always(n.Since(random_atom(random), formula, random_window(random)))
        assert_agreement(case_of(random, formula))


@pytest.mark.parametrize("mode", ["numpy", "numba"])
def test_long_traces_agree_in_both_kernel_modes(mode: compiled.Mode) -> None:
    with compiled.use(mode):
        for seed in range(4):
            random = Random(seed)
            assert_agreement(case_of(random, random_formula(random, 3, []), longest=120))
