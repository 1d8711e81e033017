"""The e-process as an object: counting, latching, refusing, remembering."""

import itertools
import json
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_eprocess import slow_above, slow_below

from safegym.check.statistics import EProcess, interval, spent_level
from safegym.check.statistics.statements import statement
from safegym.errors import EvidenceError

outcomes = st.lists(st.sampled_from(["safe", "safe", "safe", "violated", "undecided"]), max_size=80)


def test_a_clean_run_decides_below_at_its_own_announced_number() -> None:
    process = EProcess(threshold=0.01, level=0.05)
    assert process.first_clean == 325
    for _ in range(324):
        assert process.update(violations=0, undecided=0, episodes=1) is None
    assert process.update() == "below"
    assert process.decided_at == 325


@pytest.mark.parametrize("value", [0, 0.0, 1, 1.0, -0.1, 1.5, float("nan"), float("inf")])
def test_threshold_and_level_outside_the_open_unit_interval_are_refused(value: float) -> None:
    with pytest.raises(EvidenceError, match="threshold"):
        EProcess(threshold=value, level=0.05)
    with pytest.raises(EvidenceError, match="level"):
        EProcess(threshold=0.01, level=value)


@pytest.mark.parametrize("value", ["0.05", None, True, b"1", 10**400])
def test_threshold_of_another_kind_is_refused(value: Any) -> None:
    with pytest.raises(EvidenceError, match="threshold"):
        EProcess(threshold=value, level=0.05)


def test_hopelessly_small_threshold_is_refused_with_the_reason() -> None:
    with pytest.raises(EvidenceError, match="no number of episodes"):
        EProcess(threshold=1e-13, level=0.05)


@pytest.mark.parametrize(
    "counts",
    [
        {"violations": 2, "episodes": 1},
        {"violations": 1, "undecided": 1, "episodes": 1},
        {"violations": -1},
        {"episodes": -1},
        {"violations": 0.5},
        {"violations": True},
        {"undecided": "1"},
    ],
)
def test_counts_that_do_not_fit_are_refused_and_count_nothing(counts: dict[str, Any]) -> None:
    process = EProcess(0.01, 0.05)
    with pytest.raises(EvidenceError, match="must be"):
        process.update(**counts)
    assert process.episodes == 0


def test_numpy_integers_are_counts() -> None:
    process = EProcess(0.01, 0.05)
    process.update(violations=np.int64(1), episodes=np.int32(3))
    assert (process.violations, process.episodes) == (1, 3)
    assert type(process.episodes) is int


def test_the_decision_latches_and_later_episodes_are_surplus() -> None:
    process = EProcess(0.01, 0.05)
    process.update_each(["safe"] * 325)
    assert process.update(violations=40, undecided=2, episodes=50) == "below"
    assert (process.violations, process.undecided, process.episodes) == (0, 0, 325)
    assert process.surplus == (50, 40, 2)
    assert process.decided_at == 325


def test_an_always_failing_policy_is_found_above() -> None:
    process = EProcess(0.01, 0.05)
    process.update_each(["violated"] * 10)
    assert process.decision == "above"
    assert process.decided_at == process.kmin(2) == 2


def test_undecided_episodes_count_as_violations_below_and_as_safe_above() -> None:
    undecided, violated, safe = (EProcess(0.1, 0.05) for _ in range(3))
    undecided.update(undecided=30, episodes=200)
    violated.update(violations=30, episodes=200)
    safe.update(episodes=200)
    assert undecided.e_value("below") == violated.e_value("below")
    assert undecided.e_value("above") == safe.e_value("above")
    only_open = EProcess(0.01, 0.05)
    only_open.update_each(["undecided"] * 500)
    assert only_open.decision is None


@given(trail=outcomes, p0=st.floats(0.05, 0.9), level=st.floats(0.05, 0.6))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_every_step_agrees_with_rational_e_values(
    trail: list[Any], p0: float, level: float
) -> None:
    process = EProcess(p0, level)
    goal = 1 / Fraction(level)
    k = u = n = 0
    expected = None
    for outcome in trail:
        if expected is None:
            n += 1
            k += outcome == "violated"
            u += outcome == "undecided"
            if slow_below(k + u, n, Fraction(p0)) >= goal:
                expected = "below"
            elif slow_above(k, n, Fraction(p0)) >= goal:
                expected = "above"
        process.update(violations=int(outcome == "violated"), undecided=int(outcome == "undecided"))
        assert process.decision == expected
    assert (process.violations, process.undecided, process.episodes) == (k, u, n)


@given(trail=outcomes, cuts=st.lists(st.integers(0, 80), max_size=6))
@settings(deadline=None, derandomize=True)
def test_one_by_one_equals_all_at_once_and_survives_being_stored(
    trail: list[Any], cuts: list[int]
) -> None:
    whole, parts = EProcess(0.2, 0.3), EProcess(0.2, 0.3)
    whole.update_each(trail)
    edges = [0, *sorted(min(c, len(trail)) for c in cuts), len(trail)]
    for start, end in itertools.pairwise(edges):
        parts.update_each(trail[start:end])
        parts = EProcess.from_json(parts.to_json())
    assert parts.state() == whole.state()


@given(trail=outcomes)
@settings(deadline=None, derandomize=True)
def test_chunks_look_only_at_their_end(trail: list[Any]) -> None:
    process = EProcess(0.2, 0.3)
    process.update(
        violations=trail.count("violated"), undecided=trail.count("undecided"), episodes=len(trail)
    )
    k, n = trail.count("violated") + trail.count("undecided"), len(trail)
    least = process.kmin(n)
    expected = (
        "below"
        if k <= process.kmax(n)
        else "above"
        if least is not None and trail.count("violated") >= least
        else None
    )
    assert process.decision == expected


@given(trail=outcomes, where=st.integers(0, 79))
@settings(deadline=None, derandomize=True)
def test_a_worse_episode_never_brings_below_earlier(trail: list[Any], where: int) -> None:
    if where >= len(trail):
        return
    order = {"safe": "undecided", "undecided": "violated", "violated": "violated"}
    worse = [*trail[:where], order[trail[where]], *trail[where + 1 :]]
    better_process, worse_process = EProcess(0.3, 0.4), EProcess(0.3, 0.4)
    better_process.update_each(trail)
    worse_process.update_each(worse)
    if worse_process.decision == "below":
        assert better_process.decision == "below"
        assert better_process.decided_at <= worse_process.decided_at  # type: ignore[operator]  # both decided
    if better_process.decision == "above":
        assert worse_process.decision == "above"


def test_an_unknown_outcome_is_refused_before_anything_is_counted() -> None:
    process = EProcess(0.01, 0.05)
    with pytest.raises(EvidenceError, match=r"'safe', 'violated' or .*, got 'fine'"):
        process.update_each(["safe", "fine"])  # type: ignore[list-item]  # the refusal under test
    assert process.episodes == 0


def test_a_verdicts_status_is_an_outcome() -> None:
    process = EProcess(0.5, 0.05)
    process.update_each(["satisfied", "violated", "inconclusive"])
    assert (process.episodes, process.violations, process.undecided) == (3, 1, 1)


def test_futility_is_the_first_count_that_cannot_pass_within_the_cap() -> None:
    cap = 1000
    process = EProcess(0.01, 0.05)
    allowed = process.kmax(cap)
    for _ in range(allowed):
        process.update(undecided=1)
        assert not process.futile(cap)
    process.update(undecided=1)
    assert process.futile(cap)
    passed = EProcess(0.01, 0.05)
    passed.update(episodes=400)
    assert not passed.futile(400)
    late = EProcess(0.01, 0.05)
    late.update(episodes=100)
    assert late.futile(324)
    assert not late.futile(325)


def test_state_is_json_and_reads_back_to_the_last_bit() -> None:
    process = EProcess(1 / 3, Fraction(1, 20))
    process.update_each(["safe", "violated", "undecided"])
    again = EProcess.from_state(json.loads(json.dumps(process.state())))
    assert again.state() == process.state()
    assert again.threshold == Fraction(1 / 3)
    assert again.level == Fraction(1, 20)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": "below"}, "counts give"),
        ({"kind": "other"}, "not the state"),
        ({"threshold": 0.01}, "threshold must be text"),
        ({"threshold": "1/0"}, "threshold must be text"),
        ({"violations": -1}, "must be >= 0"),
        ({"violations": 10**6}, "violations"),
        ({"episodes": "9"}, "whole number"),
        ({"surplus": [1, 0, 0]}, "surplus"),
        ({"surplus": 3}, "malformed"),
    ],
)
def test_a_state_that_was_changed_is_refused(change: dict[str, Any], message: str) -> None:
    process = EProcess(0.01, 0.05)
    process.update(episodes=20)
    with pytest.raises(EvidenceError, match=message):
        EProcess.from_state(process.state() | change)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"kind": 1}', "[" * 100000])
def test_text_that_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(EvidenceError, match="state of an e-process"):
        EProcess.from_json(text)


def test_an_update_costs_about_one_comparison() -> None:
    """The bar is 1 us; the test allows a loaded machine five."""
    process = EProcess(0.01, 1e-9)
    best = min(_seconds_for(process, 2000) for _ in range(5))
    assert best / 2000 < 5e-6


def _seconds_for(process: EProcess, updates: int) -> float:
    start = time.perf_counter()
    for i in range(updates):
        process.update(violations=int(i % 100 == 0), undecided=0, episodes=1)
    return time.perf_counter() - start


def test_more_episodes_than_can_be_run_are_refused_and_not_counted() -> None:
    process = EProcess(0.01, 0.05)
    for episodes in (10**16, 10**40, 10**5000):
        with pytest.raises(EvidenceError, match=r"at most 10\^15"):
            process.update(violations=episodes // 1000, episodes=episodes)
        with pytest.raises(EvidenceError, match=r"at most 10\^15"):
            process.kmax(episodes)
        with pytest.raises(EvidenceError, match=r"at most 10\^15"):
            interval(0, episodes)
    assert process.episodes == 0
    state = process.state() | {"episodes": 10**400, "violations": 10**390}
    with pytest.raises(EvidenceError, match=r"at most 10\^15"):
        EProcess.from_state(state)


@pytest.mark.parametrize("text", ["1e4000", "0.5", " 1/2", "1/0", "1_0/20", "1/2\n", "٣/٤"])
def test_a_state_holds_plain_quotients_only(text: str) -> None:
    """An exponent would be written out in full: a few characters could fill the memory."""
    with pytest.raises(EvidenceError, match="must be text such as"):
        EProcess.from_state(EProcess(0.01, 0.05).state() | {"threshold": text})


def test_statements_never_round_confidence_up_or_level_down() -> None:
    process = EProcess(0.01, spent_level(0.01, 1))
    process.update(episodes=1000)
    text = statement(process, attempt=1)
    assert "at 0.99392 confidence" in text
    assert "level 0.00608;" in text
    assert "at 0.99 confidence" in statement(process, confidence=0.99)
