"""Rule 12: rounds are valid at their ends, peeking inside them is not; bounds add up exactly."""

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.statistics import (
    EProcess,
    StratifiedEProcess,
    StratumCount,
    lower_limit,
    operating,
    read_weights,
    stratified_limits,
    stratum_of,
    upper_limit,
)
from safegym.check.statistics.boundary import above_boundary, below_boundary
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.outcomes import OUTCOMES
from safegym.check.statistics.strata import round_of
from safegym.errors import EvidenceError


def round_chances(sizes: tuple[int, ...], p: tuple[float, ...]) -> np.ndarray:
    """Chances of 0, ..., m violations in one round: the strata's binomials convolved."""
    total = np.ones(1)
    for size, chance in zip(sizes, p, strict=True):
        single = [
            math.comb(size, k) * chance**k * (1 - chance) ** (size - k) for k in range(size + 1)
        ]
        total = np.convolve(total, single)
    return total


def claims(
    p0: float, level: float, sizes: tuple[int, ...], p: tuple[float, ...], rounds: int
) -> tuple[float, float]:
    """Exact (below, above) chances of a claim at a round end within that many rounds."""
    m = sum(sizes)
    below = below_boundary(Fraction(p0), Fraction(level)).table(m * rounds)
    above = above_boundary(Fraction(p0), Fraction(level)).table(m * rounds)
    step, open_ = round_chances(sizes, p), np.ones(1)
    found = [0.0, 0.0]
    for number in range(1, rounds + 1):
        open_ = np.convolve(open_, step)
        most, least = int(below[m * number]) + 1, int(above[m * number])
        found[0] += float(open_[:most].sum())
        open_[:most] = 0.0
        found[1] += float(open_[least:].sum())
        open_[least:] = 0.0
    return found[0], found[1]


ADVERSARIES = [
    ((1, 1), 0.3, (0.0, 0.6)),
    ((1, 1), 0.3, (0.3, 0.3)),
    ((1, 1), 0.5, (0.0, 1.0)),
    ((1, 1), 0.5, (0.2, 0.8)),
    ((3, 1), 0.25, (0.0, 1.0)),
    ((3, 1), 0.1, (0.0, 0.4)),
    ((9, 1), 0.1, (0.0, 1.0)),
    ((2, 1, 1), 0.4, (0.0, 0.8, 0.8)),
    ((2, 1, 1), 0.4, (0.1, 0.4, 1.0)),
    ((7, 3), 0.05, (0.0, 1 / 6)),
]


@pytest.mark.parametrize(("sizes", "mean", "p"), ADVERSARIES)
@pytest.mark.parametrize("level", [0.05, 0.2])
def test_rounds_err_at_most_at_the_level_however_the_strata_differ(
    sizes: tuple[int, ...], mean: float, p: tuple[float, ...], level: float
) -> None:
    """Exact, over 1500 episodes, with the weighted mean at the boundary."""
    m = sum(sizes)
    assert sum(s * c for s, c in zip(sizes, p, strict=True)) / m == pytest.approx(mean)
    below, above = claims(mean, level, sizes, p, 1500 // m)
    assert below <= level
    assert above <= level


def test_equal_strata_in_rounds_of_one_are_the_plain_e_process() -> None:
    run = operating(0.3, 0.3, 0.1, cap=600)
    below, above = claims(0.3, 0.1, (1,), (0.3,), 600)
    assert (below, above) == pytest.approx((run.below, run.above), abs=1e-12)


@pytest.mark.parametrize("p0", [Fraction(1, 5), Fraction(1, 2)])
def test_the_product_over_a_round_is_at_most_that_at_the_mean(p0: Fraction) -> None:
    """In rationals, term by term, over a grid of p's whose weighted mean is p0."""
    for sizes in ((1, 1), (3, 1), (1, 2, 1)):
        m = sum(sizes)
        grid = [Fraction(i, 10) for i in range(11)]
        for p in itertools.product(grid, repeat=len(sizes)):
            if sum(s * c for s, c in zip(sizes, p, strict=True)) != m * p0:
                continue
            for mixture in (below_mixture(p0), above_mixture(p0)):
                for bad, good in zip(mixture.on_violation, mixture.on_safe, strict=True):
                    product = math.prod(
                        (c * bad + (1 - c) * good) ** s for c, s in zip(p, sizes, strict=True)
                    )
                    assert product <= 1


def test_a_condition_that_strata_meet_unevenly_keeps_the_round_valid() -> None:
    """In rationals: mean factor of a round with skipped episodes, p conditional at the boundary."""
    tenths = [Fraction(i, 10) for i in range(11)]
    seen = 0
    for sizes in ((1, 1), (3, 1)):
        m = sum(sizes)
        for c in itertools.product(tenths[1::4], repeat=2):
            for p in itertools.product(tenths[::2], repeat=2):
                met = sum(s * a for s, a in zip(sizes, c, strict=True))
                p0 = sum(s * a * x for s, a, x in zip(sizes, c, p, strict=True)) / met
                if not 0 < p0 < 1:
                    continue
                seen += 1
                for mixture in (below_mixture(p0), above_mixture(p0)):
                    for bad, good in zip(mixture.on_violation, mixture.on_safe, strict=True):
                        factors = [
                            1 - a + a * (x * bad + (1 - x) * good)
                            for a, x in zip(c, p, strict=True)
                        ]
                        product = math.prod(f**s for f, s in zip(factors, sizes, strict=True))
                        mean = sum(s * f for s, f in zip(sizes, factors, strict=True)) / m
                        assert mean == 1
                        assert product <= 1
    assert seen > 400


def test_pooled_peeking_inside_a_round_would_claim_below_in_every_run() -> None:
    """One stratum never fails, the other with .02: the mean is .01, no claim may be made.

    Pooled and looked at inside the round, the safe half alone shows p < .01.
    """
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(10):
        pooled = EProcess(0.01, 0.05)
        pooled.update_each(["safe"] * 500)
        pooled.update_each("violated" if bad else "safe" for bad in rng.random(500) < 0.02)
        wrong += pooled.decision == "below"
    assert wrong == 10
    below, _ = claims(0.01, 0.05, (500, 500), (0.0, 0.02), 5)
    assert below <= 0.05


@given(
    weights=st.sampled_from([[0.5, 0.5], [0.7, 0.3], ["1/3", "1/6", "1/2"]]),
    length=st.integers(0, 60),
    data=st.data(),
)
@settings(deadline=None, derandomize=True, max_examples=50)
def test_only_round_ends_are_seen_and_state_reads_back(
    weights: Any, length: int, data: st.DataObject
) -> None:
    process = StratifiedEProcess(0.4, 0.3, weights)
    plain = EProcess(0.4, 0.3)
    inside: list[str] = []
    for index in range(length):
        outcome = data.draw(st.sampled_from(["safe", "safe", *OUTCOMES]))
        process.update(process.stratum_of(index), outcome)  # type: ignore[arg-type]  # a name
        inside.append(outcome)
        if len(inside) == process.round_size:
            plain.update(
                violations=inside.count("violated"),
                undecided=inside.count("undecided"),
                episodes=len(inside) - inside.count("skipped") - inside.count("doubtful"),
                skipped=inside.count("skipped"),
                doubtful=inside.count("doubtful"),
            )
            inside = []
        assert process.decision == plain.decision
        assert process.waiting == len(inside)
        process = StratifiedEProcess.from_state(json.loads(json.dumps(process.state())))
    assert process.process.state() == plain.state()
    assert sum(c.episodes + c.aside for c in process.counts) == length


def test_looking_inside_a_round_is_refused_with_the_ways_out() -> None:
    process = StratifiedEProcess(0.01, 0.05, [0.7, 0.3])
    assert process.round_size == 10
    assert process.look() is None
    process.update(0, "safe")
    with pytest.raises(EvidenceError, match=r"1 of 10 episodes .* stratified_limits"):
        process.look()


def test_what_breaks_a_round_is_refused_and_counts_nothing() -> None:
    process = StratifiedEProcess(0.01, 0.05, [0.5, 0.5])
    process.update(0, "safe")
    with pytest.raises(EvidenceError, match=r"already has its 1 episodes .* stratum_of"):
        process.update(0, "safe")
    with pytest.raises(EvidenceError, match="numbered from 0"):
        process.update(2, "safe")
    assert process.waiting == 1


def test_the_order_of_a_round_is_complete_and_evenly_mixed() -> None:
    weights = read_weights([0.7, 0.3])
    order = [stratum_of(i, weights) for i in range(20)]
    assert order[:10] == order[10:]
    assert order[:10].count(0) == 7
    for n in range(1, 11):
        assert abs(order[:n].count(0) - 0.7 * n) <= 1


@pytest.mark.parametrize(
    "weights",
    [
        [0.5, 0.6],
        [1.0],
        [0.5, 0.5, 0.0],
        [-0.5, 1.5],
        ["a", 0.5],
        [float("nan"), 0.5],
        ["1/0", 1],
        ["1e99999999", 1],
    ],
)
def test_weights_that_do_not_sum_to_one_are_refused(weights: list[Any]) -> None:
    with pytest.raises(EvidenceError, match=r"[wW]eight"):
        StratifiedEProcess(0.01, 0.05, weights)


def test_a_round_too_long_to_end_is_refused_with_the_ways_out() -> None:
    with pytest.raises(EvidenceError, match="round the weights, draw the stratum at random"):
        StratifiedEProcess(0.01, 0.05, [0.1234567, 0.8765433])
    assert round_of(read_weights([0.1, 0.2, 0.7])) == (1, 2, 7)


def test_limits_of_strata_add_up_exactly_with_the_union_bound() -> None:
    strata = [StratumCount(2, 1, 300), StratumCount(0, 0, 120)]
    lo, hi = stratified_limits(strata, [0.75, 0.25], level=0.05)
    share = Fraction(0.05) / 2
    exact_hi = Fraction(3, 4) * Fraction(upper_limit(2, 300, undecided=1, level=share)) + Fraction(
        1, 4
    ) * Fraction(upper_limit(0, 120, level=share))
    exact_lo = Fraction(3, 4) * Fraction(lower_limit(2, 300, undecided=1, level=share))
    assert exact_hi <= hi <= float(exact_hi) * (1 + 1e-15)
    assert float(exact_lo) * (1 - 1e-15) <= lo <= exact_lo
    assert stratified_limits([StratumCount(0, 0, 0)] * 2, [0.5, 0.5], level=0.05) == (0.0, 1.0)
    with pytest.raises(EvidenceError, match="1 strata and 2 weights"):
        stratified_limits(strata[:1], [0.5, 0.5], level=0.05)
    with pytest.raises(EvidenceError, match="Under a condition"):
        stratified_limits([StratumCount(0, 0, 9, 1)] * 2, [0.5, 0.5], level=0.05)


def test_limits_of_strata_cover_at_every_peek() -> None:
    """Exact, over two independent streams: some limit misses only if one of them does."""
    for p in ((0.0, 0.4), (0.2, 0.2), (0.05, 0.35)):
        missed = 1.0
        for chance in p:
            missed *= 1.0 - (operating(chance, chance, 0.025, cap=800).below if chance else 0.0)
        assert 1.0 - missed <= 0.05


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "?"},
        {"weights": ["1/2", "1/3"]},
        {"counts": [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]},
        {"counts": [[1, 1, 0, 0, 0], [0, 1, 0, 0, 0]]},
        {"counts": [[1, 0], [0, 1]]},
        {"left": [1, 1], "round": [0, 0, 0, 0, 0]},
        {"left": [0, 0]},
        {"round": [0, 1, 0, 0, 0]},
        {"round": 3},
    ],
)
def test_a_state_that_contradicts_itself_is_refused(change: dict[str, Any]) -> None:
    process = StratifiedEProcess(0.3, 0.05, [0.5, 0.5])
    process.update_each([(0, "safe"), (1, "violated"), (0, "safe")])
    assert StratifiedEProcess.from_state(process.state()).state() == process.state()
    with pytest.raises(EvidenceError, match=r"state|weights|Weights"):
        StratifiedEProcess.from_state(process.state() | change)
