"""Many e-processes at once are the single ones, claim by claim, bit for bit."""

import json
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.statistics import EProcess, EProcesses, codes_of
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.mixtures import Mixtures
from safegym.check.statistics.outcomes import OUTCOMES
from safegym.errors import EvidenceError

thresholds = st.one_of(
    st.floats(0.01, 0.99), st.sampled_from([0.01, Fraction(1, 3), 1e-9, 1 - 1e-9, 0.5])
)
levels = st.one_of(st.floats(1e-6, 0.6), st.sampled_from([0.05, Fraction(2, 5)]))


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Any], list[Any], list[list[str]]]:
    size = draw(st.integers(1, 6))
    pairs = [draw(st.tuples(thresholds, levels)) for _ in range(size)]
    mostly = draw(st.sampled_from(["safe", "violated", "undecided"]))
    outcome = st.sampled_from([mostly] * 6 + list(OUTCOMES))
    length = draw(st.integers(0, 80))
    trail = draw(
        st.lists(st.lists(outcome, min_size=size, max_size=size), min_size=length, max_size=length)
    )
    return [p for p, _ in pairs], [a for _, a in pairs], trail


@given(run=runs(), cut=st.integers(0, 80))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_each_claim_is_its_own_e_process_bit_for_bit(
    run: tuple[list[Any], list[Any], list[list[str]]], cut: int
) -> None:
    p0, level, trail = run
    many = EProcesses(p0, level)
    single = [EProcess(p, a) for p, a in zip(p0, level, strict=True)]
    for number, row in enumerate(trail):
        decided = many.update(row)  # type: ignore[arg-type]  # names of outcomes
        for process, outcome in zip(single, row, strict=True):
            process.update_each([outcome])  # type: ignore[list-item]  # a name
        assert [{0: None, 1: "below", 2: "above"}[int(d)] for d in decided] == [
            process.decision for process in single
        ]
        if number == cut:
            many = EProcesses.from_state(json.loads(json.dumps(many.state())))
    for i, process in enumerate(single):
        assert many.process(i).state() == process.state()
        assert many.episodes[i] == process.episodes
        assert many.violations[i] == process.violations
        assert many.undecided[i] == process.undecided
    assert many.open == sum(process.decision is None for process in single)
    assert many.state() == EProcesses.from_state(many.state()).state()


@pytest.mark.parametrize("rate", [0.0, 0.004, 0.02, 0.3])
def test_long_runs_of_many_thresholds_decide_where_the_single_ones_do(rate: float) -> None:
    rng = np.random.default_rng(5)
    size = 60
    p0, level = rng.uniform(0.002, 0.4, size), rng.uniform(1e-4, 0.2, size)
    many = EProcesses(p0.tolist(), level.tolist())
    single = [EProcess(p, a) for p, a in zip(p0.tolist(), level.tolist(), strict=True)]
    for _ in range(1200):
        codes = rng.choice(5, size=size, p=[0.98 - rate, rate, 0.0, 0.01, 0.01]).astype(np.int8)
        many.update(codes)
        for process, code in zip(single, codes, strict=True):
            process.update_each([OUTCOMES[code]])
    assert [many.decision(i) for i in range(size)] == [process.decision for process in single]
    assert [many.process(i).state() for i in range(size)] == [p.state() for p in single]
    assert int(many.below.sum() + many.above.sum()) + many.open == size


def test_an_update_of_ten_thousand_claims_is_quick() -> None:
    """The bar is 1 ms; benchmarks/statistics_cost.py measures it. A loaded machine gets ten."""
    rng = np.random.default_rng(1)
    size = 10_000
    many = EProcesses(rng.uniform(0.005, 0.2, size).tolist(), [0.05] * size)
    rows = [(rng.random(size) < 0.01).astype(np.int8) for _ in range(150)]
    times = []
    for row in rows:
        begun = time.perf_counter()
        many.update(row)
        times.append(time.perf_counter() - begun)
    assert np.median(times) < 0.01


def test_near_ties_of_many_mixtures_are_decided_on_rationals() -> None:
    """Levels at exactly 1/E, and a hair beyond: floats cannot tell them apart."""
    for rising, make in ((True, below_mixture), (False, above_mixture)):
        p0 = Fraction(3, 10)
        bad, good = (2, 30) if rising else (30, 2)
        value = make(p0).exact(bad, good)
        tie, hair = 1 / value, 1 / (value * (1 + Fraction(1, 10**900)))
        mixtures = Mixtures([p0, p0], [tie, hair], rising=rising)
        missing = mixtures.missing(np.arange(2), np.full(2, bad), np.full(2, good))
        assert missing[0] == -1.0
        assert missing[1] >= 0.0


@pytest.mark.parametrize(
    ("p0", "level", "message"),
    [
        ([0.1], [], "1 thresholds and 0 levels"),
        ([], [], "0 thresholds"),
        ([0.1, 0.0], [0.05, 0.05], "threshold"),
        ([0.1, 0.2], [0.05, 1.0], "level"),
        ([1e-13], [0.05], "no number of episodes"),
    ],
)
def test_claims_that_cannot_be_decided_are_refused(
    p0: list[float], level: list[float], message: str
) -> None:
    with pytest.raises(EvidenceError, match=message):
        EProcesses(p0, level)


@pytest.mark.parametrize(
    "row",
    [["safe"], ["safe", "fine"], np.array([0, 5], np.int8), np.array([0, -1], np.int8)],
    ids=["short", "unknown", "large", "negative"],
)
def test_rows_that_do_not_fit_are_refused_and_count_nothing(row: Any) -> None:
    many = EProcesses([0.1, 0.2], [0.05, 0.05])
    with pytest.raises(EvidenceError, match=r"An update needs 2 outcomes|got 'fine'"):
        many.update(row)
    with pytest.raises(EvidenceError, match="An update needs 2 outcomes"):
        many.update(np.zeros(2))  # type: ignore[arg-type]  # the refusal under test
    assert many.episodes.tolist() == [0, 0]


def test_names_and_statuses_become_numbers() -> None:
    assert codes_of(["safe", "violated", "undecided", "skipped", "doubtful"]).tolist() == [
        *range(5)
    ]
    assert codes_of(["satisfied", "inconclusive"]).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "?"}, "no state"),
        ({"decisions": [None, "below"]}, "not what its counts give"),
        ({"counts": [[1, 2]]}, "rows of 2"),
        ({"counts": [[-1, 1]] + [[0, 0]] * 4}, ">= 0"),
        ({"surplus": [[9, 9]] + [[0, 0]] * 4}, "surplus where nothing"),
        ({"surplus": [[0, 1]] + [[0, 0]] * 4}, "same number"),
        ({"levels": [0.05, 0.05]}, "level must be text"),
        ({"counts": None}, "malformed"),
        ({"counts": [[2**70, 2**70]] + [[0, 0]] * 4}, r"at most 10\^15"),
        ({"counts": [[10**16, 10**16]] + [[0, 0]] * 4}, r"at most 10\^15"),
    ],
)
def test_a_changed_state_of_many_is_refused(change: dict[str, Any], message: str) -> None:
    many = EProcesses([0.1, 0.2], [0.05, 0.05])
    many.update(["safe", "violated"])
    with pytest.raises(EvidenceError, match=message):
        EProcesses.from_state(many.state() | change)
