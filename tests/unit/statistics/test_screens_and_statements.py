"""Screens claim nothing; a conjunction needs every claim; statements never round up."""

import itertools
from fractions import Fraction

import pytest

from safegym.check.statistics import (
    EProcess,
    MeanEProcess,
    Screen,
    mean_statement,
    observed_statement,
    statement,
)
from safegym.check.statistics.statements import outward
from safegym.errors import EvidenceError


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_a_screen_settles_at_the_first_crossing_as_the_full_count_would(allowed: int) -> None:
    for trail in itertools.product(["safe", "violated", "undecided"], repeat=5):
        screen = Screen(5, allowed)
        screen.update_each(trail)
        bad = 5 - trail.count("safe")
        assert screen.decision == ("passed" if bad <= allowed else "failed")
        if screen.decision == "failed":
            assert screen.violations + screen.undecided == allowed + 1


def test_a_screen_stops_counting_when_it_has_decided() -> None:
    screen = Screen(200, allowed=1)
    screen.update_each(["violated", "safe", "violated", "safe"])
    assert (screen.decision, screen.episodes) == ("failed", 3)
    assert "makes no claim" in screen.text()


@pytest.mark.parametrize(("episodes", "allowed"), [(0, 0), (3, 3), (2, 5)])
def test_a_screen_that_cannot_fail_is_refused(episodes: int, allowed: int) -> None:
    with pytest.raises(EvidenceError, match="can never fail"):
        Screen(episodes, allowed)


def test_statements_say_what_was_found_and_how() -> None:
    process = EProcess(0.01, 0.05)
    process.update_each(["safe"] * 325)
    text = statement(process, attempt=2, confidence=0.95)
    assert "estimated: failure probability < 0.01 at 0.95 confidence" in text
    assert "0 violated and 0 undecided of 325 episodes, attempt 2" in text
    assert "valid at every peek" in text
    open_ = EProcess(0.01, 0.05)
    open_.update(violations=1, episodes=50)
    assert statement(open_).startswith("inconclusive: failure probability neither < nor > 0.01")
    bad = EProcess(0.01, 0.05)
    bad.update_each(["violated"] * 3)
    assert statement(bad).startswith("refuted: failure probability > 0.01")
    third = EProcess(Fraction(1, 3), 0.05)
    assert "1/3" in statement(third)
    assert observed_statement(0, 0, 400) == (
        "observed, 0 of 400 violated, 0 undecided; not certified"
    )


def test_mean_statements_name_the_side() -> None:
    process = MeanEProcess(0.5, 0.05)
    assert mean_statement(process).startswith("inconclusive")
    while process.decision is None:
        process.update(0.0)
    assert "mean < 0.5" in mean_statement(process, attempt=1)


def test_printed_limits_are_rounded_outward() -> None:
    assert outward(0.00999348, up=True) == "0.009994"
    assert outward(0.00999348, up=False) == "0.009993"
    assert outward(0.5, up=True) == "0.5"
    assert outward(0.0, up=False) == "0"
    assert outward(1.0, up=True) == "1"
    assert float(outward(1e-13, up=True)) >= 1e-13


def test_no_statement_names_a_confidence_that_its_level_does_not_give() -> None:
    """At level .05 a run of 400 clean episodes must not read as shown at .999."""
    process, mean = EProcess(0.01, 0.05), MeanEProcess(0.5, 0.05)
    process.update(episodes=400)
    for confidence in (0.999, 0.951, 1.0, -1.0):
        with pytest.raises(
            EvidenceError, match=r"confidence = .* (above 1 - level|strictly between)"
        ):
            statement(process, confidence=confidence)
        with pytest.raises(
            EvidenceError, match=r"confidence = .* (above 1 - level|strictly between)"
        ):
            mean_statement(mean, confidence=confidence)
    assert "at 0.9 confidence" in statement(process, confidence=0.9)
    assert "at 0.95 confidence" in statement(process)


def test_confidence_is_never_printed_as_one() -> None:
    assert "at 0.999999 confidence" in statement(EProcess(0.01, 1e-18))
    assert "at 0.999999 confidence" in mean_statement(MeanEProcess(0.5, 1e-18))
    third = statement(EProcess(0.01, Fraction(1, 3)))
    assert "at 0.666666 confidence" in third
    with pytest.raises(EvidenceError, match="3 violated or undecided episodes of 2"):
        observed_statement(2, 1, 2)
