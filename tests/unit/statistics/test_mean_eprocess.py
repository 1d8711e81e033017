"""The bounded-mean e-process: same answers on 0 and 1, valid in between, worst ends."""

import json
import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.statistics import EProcess, MeanEProcess
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.errors import EvidenceError

values = st.lists(st.floats(0.0, 1.0), max_size=40)


@given(trail=st.lists(st.sampled_from([0, 0, 0, 1]), max_size=80), p0=st.floats(0.05, 0.9))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_on_zeros_and_ones_it_is_the_bernoulli_e_process(trail: list[int], p0: float) -> None:
    mean, plain = MeanEProcess(p0, 0.2), EProcess(p0, 0.2)
    for x in trail:
        assert mean.update(float(x)) == plain.update(violations=x)
    assert mean.decided_at == plain.decided_at
    if trail and mean.decision is None:
        for side in ("below", "above"):
            ratio = Fraction(mean.e_value(side)) / Fraction(plain.e_value(side))
            assert abs(ratio - 1) < Fraction(1, 10**40)


@given(trail=values, c=st.floats(0.1, 0.9))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_mirrored_values_give_the_mirrored_decision(trail: list[float], c: float) -> None:
    c = round(c * 1024) / 1024
    trail = [round(x * 1024) / 1024 for x in trail]
    below, above = MeanEProcess(c, 0.2), MeanEProcess(1 - c, 0.2, claim="above")
    mirrored = {None: None, "below": "above", "above": "below"}
    for x in trail:
        below.update(x)
        above.update(1 - x)
        assert above.decision == mirrored[below.decision]
        assert above.e_value("above") == below.e_value("below")
        assert above.e_value("below") == below.e_value("above")


def test_every_factor_has_mean_at_most_one_on_the_null_whatever_the_distribution() -> None:
    """The factor is linear in x, so its mean is the factor at E[x]: checked at and past c."""
    for c in (Fraction(1, 100), Fraction(1, 2), Fraction(9, 10)):
        for mixture, means in (
            (below_mixture(c), [c, (1 + c) / 2, Fraction(1)]),
            (above_mixture(c), [c, c / 2, Fraction(0)]),
        ):
            for bad, good in zip(mixture.on_violation, mixture.on_safe, strict=True):
                assert all(m * bad + (1 - m) * good <= 1 for m in means)


def test_wealth_equals_the_product_written_out() -> None:
    trail = [0.1, 0.0, 0.73, 1.0, 0.2]
    process = MeanEProcess(0.4, 1e-6)
    for x in trail:
        process.update(x)
    for side, mixture in (
        ("below", below_mixture(Fraction(0.4))),
        ("above", above_mixture(Fraction(0.4))),
    ):
        exact = sum(
            w * math.prod(Fraction(x) * bad + (1 - Fraction(x)) * good for x in trail)
            for w, bad, good in zip(
                mixture.weights, mixture.on_violation, mixture.on_safe, strict=True
            )
        )
        found = Fraction(process.e_value(side))  # type: ignore[arg-type]  # a side
        assert found <= exact < found * (1 + Fraction(1, 10**45))


@given(trail=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=40))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_open_values_take_the_worst_end_for_each_side(trail: list[tuple[float, float]]) -> None:
    """An open range is never more convincing, either way, than any value inside it."""
    open_, low, high = (MeanEProcess(0.3, 1e-12) for _ in range(3))
    for x, y in trail:
        open_.update(min(x, y), max(x, y))
        low.update(min(x, y))
        high.update(max(x, y))
    if open_.decision is None and low.decision is None and high.decision is None:
        for side, worst, best in (("below", high, low), ("above", low, high)):
            value = Fraction(open_.e_value(side))
            assert value == Fraction(worst.e_value(side))
            assert value <= Fraction(best.e_value(side)) * (1 + Fraction(1, 10**45))


def test_declared_ranges_only_shift_and_stretch() -> None:
    plain, wide = MeanEProcess(0.25, 0.1), MeanEProcess(-1.0, 0.1, low=-2.0, high=2.0)
    for x in (0.0, 0.125, 0.5) * 20:
        assert plain.update(x) == wide.update(4 * x - 2)
    assert wide.decision == "below" or wide.e_value("below") == plain.e_value("below")


def test_a_share_of_samples_claim_is_shown_and_refuted() -> None:
    good = MeanEProcess(0.99, 0.05, claim="above")
    while good.decision is None and good.episodes < 2000:
        good.update(0.999)
    assert good.decision == "above"
    bad = MeanEProcess(0.99, 0.05, claim="above")
    while bad.decision is None and bad.episodes < 2000:
        bad.update(0.9)
    assert bad.decision == "below"


def test_false_claims_stay_under_the_level_for_values_between() -> None:
    rng = np.random.default_rng(3)
    repeats, wrong = 120, 0
    for _ in range(repeats):
        process = MeanEProcess(0.2, 0.1)
        for x in rng.beta(0.4, 1.6, size=150).tolist():
            if process.update(x) is not None:
                wrong += 1
                break
    assert wrong / repeats <= 0.2 + 3 * math.sqrt(0.2 * 0.8 / repeats)


def test_the_decision_latches_and_state_reads_back() -> None:
    process = MeanEProcess(0.5, 0.2)
    for _ in range(20):
        process.update(0.01, 0.02)
        process = MeanEProcess.from_state(json.loads(json.dumps(process.state())))
    assert process.decision == "below"
    decided = process.decided_at
    process.update(1.0)
    assert process.decided_at == decided
    assert process.surplus == 20 - decided + 1  # type: ignore[operator]  # decided


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 0.0, "level": 0.05}, "strictly inside"),
        ({"threshold": 1.0, "level": 0.05}, "strictly inside"),
        ({"threshold": 0.5, "level": 1.0}, "level"),
        ({"threshold": 0.5, "level": 0.1, "low": 1.0, "high": 0.0}, "strictly inside"),
        ({"threshold": 0.5, "level": 0.1, "high": float("inf")}, "finite"),
        ({"threshold": 0.5, "level": 0.1, "claim": "<"}, "'below' or 'above'"),
    ],
)
def test_what_cannot_be_decided_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EvidenceError, match=message):
        MeanEProcess(**arguments)


@pytest.mark.parametrize("ends", [(-0.1,), (1.1,), (0.6, 0.5), (float("nan"),), (0.5, 2.0)])
def test_values_outside_the_range_are_refused_and_count_nothing(ends: tuple[float, ...]) -> None:
    process = MeanEProcess(0.5, 0.1)
    with pytest.raises(EvidenceError, match=r"declared range|finite"):
        process.update(*ends)
    assert process.episodes == 0


@pytest.mark.parametrize(
    "change",
    [{"kind": "?"}, {"decision": "below"}, {"hoped": ["1"]}, {"hoped": ["NaN"] * 13}, {"low": 0}],
)
def test_a_changed_state_is_refused(change: dict[str, Any]) -> None:
    process = MeanEProcess(0.5, 0.1)
    process.update(0.4)
    with pytest.raises(EvidenceError, match=r"state|Wealth|low"):
        MeanEProcess.from_state(process.state() | change)


@given(
    trail=st.lists(st.tuples(st.floats(-1, 3), st.floats(0, 1)), max_size=30),
    c=st.floats(-0.9, 2.9),
    level=st.floats(0.05, 0.9),
    claim=st.sampled_from(["below", "above"]),
)
@settings(deadline=None, derandomize=True, max_examples=80)
def test_decisions_are_those_of_wealth_in_rational_numbers(
    trail: list[tuple[float, float]], c: float, level: float, claim: Any
) -> None:
    """Floats only skip looks that cannot cross: no decision is early, and none is late."""
    process = MeanEProcess(c, level, claim=claim, low=-1.0, high=3.0)
    boundary = (Fraction(c) + 1) / 4
    if claim == "above":
        boundary = 1 - boundary
    wealths = [
        [[w, bad, good] for w, bad, good in zip(m.weights, m.on_violation, m.on_safe, strict=True)]
        for m in (below_mixture(boundary), above_mixture(boundary))
    ]
    expected = None
    for x, part in trail:
        top = x + part * (3.0 - x)
        for wealth, value in zip(wealths, (top, x) if claim == "below" else (x, top), strict=True):
            share = (Fraction(value) + 1) / 4
            share = 1 - share if claim == "above" else share
            for term in wealth:
                term[0] *= share * term[1] + (1 - share) * term[2]
        if expected is None:
            reached = [sum(term[0] for term in wealth) >= 1 / Fraction(level) for wealth in wealths]
            sides = (claim, "above" if claim == "below" else "below")
            expected = next((s for s, yes in zip(sides, reached, strict=True) if yes), None)
        assert process.update(x, top) == expected


def test_a_long_run_with_vanishing_wealth_still_finds_its_crossing() -> None:
    """Products far below the smallest binary64 number come back when the values turn."""
    down = MeanEProcess(0.5, 1e-200)
    for i in range(1500):
        down.update(0.5 + (0.4 if i % 2 else -0.4))
    assert down.decision is None
    while down.decision is None and down.episodes < 4000:
        down.update(0.0)
    exact = MeanEProcess.from_state(json.loads(json.dumps(down.state())))
    assert exact.decision == down.decision == "below"


def test_thousands_of_episodes_cost_microseconds_each() -> None:
    values = np.random.default_rng(0).beta(30, 0.3, size=2000).tolist()
    start = time.perf_counter()
    process = MeanEProcess(0.99, 1e-12, claim="above")
    for x in values:
        process.update(x)
    assert (time.perf_counter() - start) / 2000 < 1e-4
