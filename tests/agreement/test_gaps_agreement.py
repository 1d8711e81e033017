"""Traces with gaps: the monitor and z3 against the slow reference, and against every filling."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Reference
from reference_cases import DT, KINDS, Case, X, case_of, random_case, random_formula

from safegym.check.dispatch import check
from safegym.check.monitor import judge, robustness, settling
from safegym.check.symbolic.backend import BACKEND
from safegym.formula import nodes as n
from safegym.formula.terms import Window
from safegym.trace.model import Trace


def gap_case(seed: int, depth: int = 4) -> Case:
    return random_case(Random(seed), depth=depth, with_gaps=True)


def assert_agreement(case: Case) -> None:
    verdict = judge(case.formula, case.trace)
    low, high = robustness(case.formula, case.trace)
    wanted = case.reference.robustness(case.formula)
    told = f"{case.formula} on {case.reference}"
    assert verdict.status == case.reference.status(case.formula), told
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == wanted, told
    assert verdict.robustness is not None
    assert (verdict.robustness.lo, verdict.robustness.hi) == wanted[0], told


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.randoms(use_true_random=False))
def test_monitor_agrees_with_the_reference_on_shrinkable_gap_traces(random: Random) -> None:
    assert_agreement(random_case(random, with_gaps=True))


def test_monitor_agrees_with_the_reference_on_300_gap_traces() -> None:
    undecided = 0
    for seed in range(300):
        case = gap_case(seed)
        assert_agreement(case)
        undecided += judge(case.formula, case.trace).status == "inconclusive"
    assert 60 < undecided < 240  # the cases are no formality


@pytest.mark.slow
def test_monitor_agrees_with_the_reference_on_10000_gap_traces() -> None:
    for seed in range(50_000, 60_000):
        assert_agreement(gap_case(seed, depth=5))


@pytest.mark.parametrize("kind", KINDS)
def test_a_gap_that_reaches_the_last_sample_agrees_at_every_kind_of_end(kind: str) -> None:
    for seed in range(60):
        random = Random(seed)
        formula = random_formula(random, 3, [])
        case = case_of(random, formula, kind=kind)
        last = case.trace.steps
        gaps = {name: [(random.randint(0, last), last)] for name in case.trace.signals}
        assert_agreement(with_gaps(case, gaps))


def with_gaps(case: Case, gaps: Mapping[str, Sequence[tuple[int, int]]]) -> Case:
    """The same signals and end, with other gaps."""
    old, trace = case.reference, case.trace
    unseen = {name: tuple(intervals) for name, intervals in gaps.items()}
    reference = Reference(old.signals, old.dt, old.kind, old.horizon, gaps=gaps)
    return Case(case.formula, replace(trace, unseen=unseen, digest=""), reference)


def with_placeholders(case: Case, draw: np.random.Generator, largest: float) -> Trace:
    """The same trace with other numbers where nothing is known."""
    signals = {name: values.copy() for name, values in case.trace.signals.items()}
    for name, gaps in case.trace.unseen.items():
        for first, last in gaps:
            part = signals[name][first : last + 1]
            part[...] = draw.integers(-2, 3, part.shape) * largest
    return replace(case.trace, signals=signals, digest="")


def test_no_verdict_depends_on_what_stands_in_a_gap() -> None:
    draw = np.random.default_rng(0)
    for seed in range(250):
        case = gap_case(seed)
        other = with_placeholders(case, draw, float(draw.choice([1.0, 1e300])))
        one, two = judge(case.formula, case.trace), judge(case.formula, other)
        assert replace(one, trace_digest="") == replace(two, trace_digest=""), case
        for before, after in zip(
            robustness(case.formula, case.trace), robustness(case.formula, other), strict=True
        ):
            assert before.tobytes() == after.tobytes()
        assert settling(case.formula, case.trace) == settling(case.formula, other)
        if seed < 60:
            assert BACKEND.check(case.formula, other).status == one.status


def assert_encloses_every_filling(case: Case, draw: np.random.Generator, fillings: int) -> None:
    """What is decided despite a gap stays so, and margins stay within, whatever fills the gap."""
    verdict = judge(case.formula, case.trace)
    low, high = robustness(case.formula, case.trace)
    for _ in range(fillings):
        whole = replace(with_placeholders(case, draw, 1.0), unseen={}, digest="")
        filled = judge(case.formula, whole)
        if verdict.status != "inconclusive":
            assert filled.status == verdict.status, case
        least, most = robustness(case.formula, whole)
        assert (low <= least).all(), case
        assert (most <= high).all(), case


def test_a_verdict_with_a_gap_encloses_the_verdict_of_every_filling() -> None:
    draw = np.random.default_rng(1)
    for seed in range(1000, 1150):
        assert_encloses_every_filling(gap_case(seed), draw, 4)


@pytest.mark.slow
def test_a_verdict_with_a_gap_encloses_the_verdict_of_30000_fillings() -> None:
    draw = np.random.default_rng(2)
    for seed in range(2000, 4000):
        assert_encloses_every_filling(gap_case(seed), draw, 15)


def test_a_smaller_gap_only_refines_a_verdict() -> None:
    for seed in range(2000, 2120):
        case = gap_case(seed)
        fewer = with_gaps(
            case,
            {name: [g for g in gaps if g[0] % 2] for name, gaps in case.trace.unseen.items()},
        )
        wide, narrow = robustness(case.formula, case.trace), robustness(fewer.formula, fewer.trace)
        assert (wide[0] <= narrow[0]).all()
        assert (narrow[1] <= wide[1]).all()
        before = judge(case.formula, case.trace).status
        assert before in ("inconclusive", judge(fewer.formula, fewer.trace).status)


def test_z3_gives_the_status_of_the_reference_on_gap_traces() -> None:
    for seed in range(150):
        case = random_case(Random(seed), depth=3, longest=8, with_gaps=True)
        assert BACKEND.check(case.formula, case.trace).status == case.reference.status(case.formula)


@pytest.mark.slow
def test_z3_gives_the_status_of_the_reference_on_3000_gap_traces() -> None:
    for seed in range(7000, 10_000):
        case = random_case(Random(seed), depth=3, longest=8, with_gaps=True)
        assert BACKEND.check(case.formula, case.trace).status == case.reference.status(case.formula)


def test_exact_over_a_gap_only_refines_and_no_filling_contradicts_it() -> None:
    draw = np.random.default_rng(3)
    refined = 0
    for seed in range(3000, 3500):
        case = random_case(Random(seed), depth=2, longest=6, with_gaps=True)
        if "norm" in str(case.formula) or isinstance(case.formula, n.Fraction):
            continue
        before = judge(case.formula, case.trace).status
        after = check(case.formula, case.trace, exact=True).status
        assert before in ("inconclusive", after)
        refined += before != after
        if after == "inconclusive":
            continue
        for _ in range(5):
            whole = replace(with_placeholders(case, draw, 1.0), unseen={}, digest="")
            assert judge(case.formula, whole).status in (after, "inconclusive")
    assert refined > 0


def test_exact_sees_that_a_tautology_holds_in_a_gap_and_a_contradiction_does_not() -> None:
    x = X > 0
    trace = Trace.from_arrays({"x": [1.0, 1.0, 1.0, 1.0]}, dt=DT, gaps=[(1, 2)])
    either, both = n.Always(x | ~x, Window(0, None)), n.Eventually(x & ~x, Window(0, None))
    for formula, status in ((either, "satisfied"), (both, "violated")):
        assert check(formula, trace).status == "inconclusive"
        assert check(formula, trace, exact=True).status == status


def test_a_share_counts_the_samples_of_a_gap_as_open() -> None:
    x = X > 0
    trace = Trace.from_arrays({"x": [1.0] * 10}, dt=DT, gaps=[(4, 5)])
    share = n.Fraction(x, ">=", 0.8)
    assert judge(share, trace).status == "satisfied"
    assert judge(n.Fraction(x, ">=", 0.9), trace).status == "inconclusive"
    assert judge(n.Fraction(x, "<", 0.7), trace).status == "violated"
    low, high = robustness(share, trace)
    assert math.isclose(low[0], 0.0, abs_tol=1e-12)
    assert math.isclose(high[0], 0.2)


def test_an_absorbed_episode_whose_last_sample_is_unknown_stays_unknown() -> None:
    x = X > 0
    trace = Trace.from_arrays({"x": [1.0, 1.0]}, dt=DT, end="absorbed", gaps=[(1, 1)])
    later = n.Always(x, Window(3 * DT, 4 * DT))
    assert judge(later, trace).status == "inconclusive"
    assert BACKEND.check(later, trace).status == "inconclusive"


def test_both_backends_say_in_notes_how_a_log_became_samples_and_what_is_not_known() -> None:
    times = [0.0, 0.1, 0.2, 0.6, 0.7]
    trace = Trace.from_stamps(times, {"x": times}, dt=DT, rule="hold", longest_gap="0.2")
    said = "Signal x is the last value of its log held (at most 0.2 s), from 5 samples."
    verdict = judge(n.Always(X >= 0, Window(0, None)), trace)
    assert verdict.status == "inconclusive"
    assert verdict.notes[0] == said
    assert "nothing is known of samples 3 to 5, which `x >= 0` reads" in verdict.notes[1]
    assert BACKEND.check(X >= 0, trace).notes == (said,)


def test_a_witness_shows_no_placeholder() -> None:
    trace = Trace.from_arrays({"x": [-1.0, -1.0, 1.0]}, dt=DT, gaps=[(0, 1)])
    verdict = judge(n.Fraction(X > 0, ">=", 0.5), trace)
    assert verdict.status == "inconclusive"
    assert verdict.witness is not None
    assert (verdict.witness.step, dict(verdict.witness.values)) == (0, {})
