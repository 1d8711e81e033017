"""A fixed-n bound cannot be had at a number of episodes that was chosen by looking."""

import math
from typing import Any

import numpy as np
import pytest

from safegym.check.statistics import (
    VALIDITY,
    ConfidenceSequence,
    EProcess,
    FixedSample,
    FixedValues,
    MeanEProcess,
    Screen,
    interval,
    labelled_interval,
    process_interval,
    quantile_band,
    quantile_limits,
    refuse_in_gate,
    worst_mean_limits,
)
from safegym.errors import EvidenceError

FIXED = sorted(name for name, validity in VALIDITY.items() if validity == "fixed_n")
ANYTIME = sorted(name for name, validity in VALIDITY.items() if validity == "anytime")


def test_a_fixed_sample_gives_its_bounds_only_when_it_is_complete() -> None:
    sample = FixedSample(300)
    sample.update_each(["safe"] * 299)
    with pytest.raises(EvidenceError, match=r"299 of the declared 300 .*e-process"):
        sample.interval()
    sample.update("violated")
    found = sample.interval(confidence=0.9)
    assert (found.lo, found.hi) == interval(1, 300, confidence=0.9)
    assert found.validity == "fixed_n"
    assert found == labelled_interval(1, 300, confidence=0.9)


def test_no_episode_beyond_the_declared_number_is_taken() -> None:
    sample = FixedSample(2)
    with pytest.raises(EvidenceError, match="chosen by looking"):
        sample.update_each(["safe"] * 3)
    assert sample.seen == 0
    sample.update_each(["safe"] * 2)
    with pytest.raises(EvidenceError, match="chosen by looking"):
        sample.update("safe")
    values = FixedValues(1, low=0.0, high=1.0)
    values.update(0.3)
    with pytest.raises(EvidenceError, match="chosen by looking"):
        values.update(0.3)


@pytest.mark.parametrize(
    "running",
    [EProcess(0.1, 0.05), Screen(5), MeanEProcess(0.5, 0.05), ConfidenceSequence(), [0.1, 0.2]],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.parametrize("bound", [quantile_limits, quantile_band, worst_mean_limits])
def test_running_counts_are_refused_by_every_fixed_n_bound(running: Any, bound: Any) -> None:
    with pytest.raises(EvidenceError, match=r"not declared before .* FixedValues.* anytime method"):
        bound(running, 0.1, level=0.05)
    short = FixedValues(3)
    short.update(0.5)
    with pytest.raises(EvidenceError, match="1 of the declared 3"):
        bound(short, 0.1, level=0.05)


@pytest.mark.parametrize("method", FIXED)
def test_a_running_count_gets_no_fixed_n_interval(method: Any) -> None:
    process = EProcess(0.1, 0.05)
    process.update(violations=3, episodes=50)
    with pytest.raises(EvidenceError, match=r"EProcess, .* not declared .* process_interval"):
        process_interval(process, method=method)
    with pytest.raises(EvidenceError, match="not declared"):
        ConfidenceSequence(method=method)
    with pytest.raises(EvidenceError, match="holds only at a number of episodes"):
        refuse_in_gate(VALIDITY[method], method)  # type: ignore[index]  # from the table


@pytest.mark.parametrize("method", ANYTIME)
def test_a_running_count_gets_anytime_intervals_with_its_open_episodes_on_the_worse_side(
    method: Any,
) -> None:
    process = EProcess(0.1, 1e-9)
    process.update(violations=3, undecided=2, episodes=50, skipped=7, doubtful=4)
    found = process_interval(process, method=method)
    assert found.hi == interval(5, 50, method=method)[1]
    assert found.lo == interval(3, 54, method=method)[0]
    assert found.validity == "anytime"
    refuse_in_gate(found.validity, method)


def test_a_process_where_two_numbers_belong_is_told_the_line_that_works() -> None:
    with pytest.raises(EvidenceError, match="use process_interval"):
        interval(EProcess(0.1, 0.05), 10)  # type: ignore[arg-type]  # the refusal under test
    with pytest.raises(EvidenceError, match="makes no claim"):
        process_interval(Screen(5))


@pytest.mark.parametrize(
    ("validity", "passes"),
    [("exact", True), ("anytime", True), ("fixed_n", False), ("asymptotic", False)],
)
def test_a_gate_rests_on_anytime_bounds_and_on_what_is_not_estimated(
    validity: Any, passes: bool
) -> None:
    if passes:
        refuse_in_gate(validity, "a bound")
    else:
        with pytest.raises(EvidenceError, match=f"a bound is {validity}: .* anytime method"):
            refuse_in_gate(validity, "a bound")
    with pytest.raises(EvidenceError, match="not one of exact, fixed_n"):
        refuse_in_gate("certain", "a bound")  # type: ignore[arg-type]  # the refusal under test


def test_an_interval_says_when_it_holds() -> None:
    assert "fixed before the first" in labelled_interval(1, 20).words
    text = labelled_interval(0, 300, method="e-process").words
    assert "holds at every number of episodes" in text
    assert "at 0.95 confidence" in text


def test_open_and_conditional_outcomes_of_a_fixed_sample_count_on_the_worse_side() -> None:
    sample = FixedSample(60)
    sample.update_each(
        ["safe"] * 40 + ["violated"] * 3 + ["undecided"] * 2 + ["skipped"] * 10 + ["doubtful"] * 5
    )
    found = sample.interval()
    assert found.hi == interval(5, 45)[1]
    assert found.lo == interval(3, 50)[0]
    assert sample.count("skipped") == 10
    with pytest.raises(EvidenceError, match="takes no skipped episodes"):
        sample.interval(method="hoeffding")


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_sample_without_episodes_is_refused(n: Any) -> None:
    for make in (FixedSample, FixedValues):
        with pytest.raises(EvidenceError, match=r"at least one episode|>= 0|whole number"):
            make(n)


@pytest.mark.parametrize("value", [math.nan, -0.1, 1.1, math.inf])
def test_values_outside_the_declared_range_are_refused_and_not_counted(value: float) -> None:
    values = FixedValues(3, low=0.0, high=1.0)
    with pytest.raises(EvidenceError, match="inside the declared range"):
        values.update(value)
    with pytest.raises(EvidenceError, match="ordered"):
        values.update(0.5, 0.4)
    assert values.seen == 0
    with pytest.raises(EvidenceError, match="is no range"):
        FixedValues(3, low=1.0, high=1.0)


def test_arrays_of_a_sample_cannot_reach_back_into_it() -> None:
    values = FixedValues(2)
    values.update(1.0)
    values.update(2.0)
    taken = values.lowest
    taken[0] = 99.0
    assert np.array_equal(values.lowest, [1.0, 2.0])
