"""Conditional claims: skipped and doubtful episodes, against every completion in rationals."""

import itertools
import json
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.statistics import EProcess, Screen, lower_limit, outcome_of, statement
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.outcomes import OUTCOMES, Outcome
from safegym.check.statistics.statements import outward
from safegym.errors import EvidenceError

STATUSES = ("satisfied", "violated", "inconclusive")
COMPLETIONS: dict[Outcome, tuple[Outcome, ...]] = {
    "safe": ("safe",),
    "violated": ("violated",),
    "skipped": ("skipped",),
    "doubtful": ("safe", "skipped"),
    "undecided": ("safe", "violated", "skipped"),
}
"""What an episode may really have been; under a condition an undecided one may be skipped too."""


@pytest.mark.parametrize(
    ("status", "condition", "expected"),
    [
        ("satisfied", None, "safe"),
        ("violated", None, "violated"),
        ("inconclusive", None, "undecided"),
        ("satisfied", "satisfied", "safe"),
        ("violated", "satisfied", "violated"),
        ("inconclusive", "satisfied", "undecided"),
        ("satisfied", "violated", "skipped"),
        ("inconclusive", "violated", "skipped"),
        ("satisfied", "inconclusive", "doubtful"),
        ("violated", "inconclusive", "undecided"),
        ("inconclusive", "inconclusive", "undecided"),
    ],
)
def test_a_verdict_with_its_condition_gives_the_outcome_that_favours_nobody(
    status: Any, condition: Any, expected: str
) -> None:
    assert outcome_of(status, condition) == expected


def test_what_is_no_status_gives_no_outcome() -> None:
    with pytest.raises(EvidenceError, match=r"condition of an episode is .*, got 'maybe'"):
        outcome_of("satisfied", "maybe")  # type: ignore[arg-type]  # the refusal under test
    with pytest.raises(EvidenceError, match="got 'fine'"):
        outcome_of("fine")  # type: ignore[arg-type]  # the refusal under test


def e_values(trail: tuple[Outcome, ...], p0: Fraction) -> tuple[Fraction, Fraction]:
    """Exact e-values (below, above) of a trail without open episodes."""
    return exact_values(trail.count("violated"), trail.count("safe"), p0)


@cache
def exact_values(bad: int, good: int, p0: Fraction) -> tuple[Fraction, Fraction]:
    return below_mixture(p0).exact(bad, good), above_mixture(p0).exact(bad, good)


@pytest.mark.parametrize("p0", [Fraction(1, 5), Fraction(1, 2), Fraction(4, 5)])
def test_no_completion_has_a_smaller_e_value_at_any_episode(p0: Fraction) -> None:
    """Exact, over all completions of all sequences of up to four episodes."""
    for length in range(5):
        for trail in itertools.product(OUTCOMES, repeat=length):
            bad, open_ = trail.count("violated"), trail.count("undecided")
            good, doubt = trail.count("safe"), trail.count("doubtful")
            below, above = (
                exact_values(bad + open_, good, p0)[0],
                exact_values(bad, good + open_ + doubt, p0)[1],
            )
            process = EProcess(p0, Fraction(1, 10**9))
            process.update_each(trail)
            for side, exact in (("below", below), ("above", above)):
                found = Fraction(process.e_value(side))  # type: ignore[arg-type]  # a side
                assert found <= exact <= found * (1 + Fraction(1, 10**45))
            ways = itertools.product(*(COMPLETIONS[outcome] for outcome in trail))
            for true in {(c.count("violated"), c.count("safe")) for c in ways}:
                true_below, true_above = exact_values(*true, p0)
                assert below <= true_below
                assert above <= true_above


def test_a_claim_on_open_episodes_is_one_on_every_completion_by_then() -> None:
    """With a loose level so that five episodes decide; whoever decides, every completion had."""
    p0, level = Fraction(1, 2), Fraction(2, 5)
    decided = 0

    @cache
    def by_then(completion: tuple[Outcome, ...]) -> tuple[bool, bool, bool]:
        """Whether the completion decides, and whether below and above are reached at some n."""
        other = EProcess(p0, level)
        other.update_each(completion)
        values = [e_values(completion[:n], p0) for n in range(6)]
        reached = [any(value[side] >= 1 / level for value in values) for side in (0, 1)]
        return other.decision is not None, reached[0], reached[1]

    for trail in itertools.product(OUTCOMES, repeat=5):
        process = EProcess(p0, level)
        process.update_each(trail)
        if process.decision is None:
            continue
        decided += 1
        for completion in itertools.product(*(COMPLETIONS[outcome] for outcome in trail)):
            closed, below, above = by_then(completion)
            assert closed
            assert above if process.decision == "above" else below
    assert decided > 100


@pytest.mark.parametrize("hide", [Fraction(0), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(1)])
def test_the_error_at_the_boundary_stays_under_the_level_whatever_is_hidden(
    hide: Fraction, share: Fraction
) -> None:
    """Exact chances: the condition holds with chance `share`, a true episode is hidden by `hide`.

    A hidden failure reads undecided, a hidden safe or skipped episode doubtful.
    """
    p0, level = Fraction(2, 5), Fraction(2, 5)
    truth = {
        "violated": share * p0,
        "safe": share * (1 - p0),
        "skipped": 1 - share,
    }
    seen: dict[Outcome, Fraction] = {
        "violated": truth["violated"] * (1 - hide),
        "safe": truth["safe"] * (1 - hide),
        "skipped": truth["skipped"] * (1 - hide),
        "undecided": truth["violated"] * hide,
        "doubtful": (truth["safe"] + truth["skipped"]) * hide,
    }
    wrong = {"below": Fraction(0), "above": Fraction(0)}
    for trail in itertools.product([o for o in OUTCOMES if seen[o]], repeat=6):
        process = EProcess(p0, level)
        process.update_each(trail)
        if process.decision is not None:
            chance = Fraction(1)
            for outcome in trail:
                chance *= seen[outcome]
            wrong[process.decision] += chance
    assert wrong["below"] <= level
    assert wrong["above"] <= level
    if hide == 0:
        assert wrong["below"] + wrong["above"] > 0


def test_a_skipped_episode_moves_neither_boundary() -> None:
    plain, mixed = EProcess(0.01, 0.05), EProcess(0.01, 0.05)
    for i in range(325):
        plain.update(violations=0)
        mixed.update_each(["skipped", "safe", "skipped"])
        assert mixed.decision == plain.decision, i
    assert (mixed.episodes, mixed.decided_at) == (325, 325)
    assert (mixed.skipped, mixed.doubtful, mixed.surplus) == (649, 0, (0, 0, 0))
    assert mixed.surplus_aside == (1, 0)


def test_a_doubtful_episode_is_absent_below_and_safe_above() -> None:
    doubtful, absent, safe = (EProcess(0.1, 1e-9) for _ in range(3))
    doubtful.update(violations=3, episodes=40, doubtful=7)
    absent.update(violations=3, episodes=40)
    safe.update(violations=3, episodes=47)
    assert doubtful.e_value("below") == absent.e_value("below")
    assert doubtful.e_value("above") == safe.e_value("above")
    late = EProcess(0.3, 0.05)
    late.update(doubtful=1000)
    late.update_each(["violated"] * 20)
    assert late.decision is None
    prompt = EProcess(0.3, 0.05)
    prompt.update_each(["violated"] * 20)
    assert prompt.decision == "above"


def test_skipped_and_doubtful_episodes_use_up_the_cap() -> None:
    process = EProcess(0.01, 0.05)
    process.update(skipped=100, doubtful=20)
    assert not process.futile(325 + 120)
    assert process.futile(325 + 119)


@given(
    trail=st.lists(st.sampled_from(["safe", "safe", *OUTCOMES]), max_size=60),
    cut=st.integers(0, 60),
)
@settings(deadline=None, derandomize=True, max_examples=60)
def test_state_keeps_all_five_counts(trail: list[Any], cut: int) -> None:
    whole, parts = EProcess(0.3, 0.3), EProcess(0.3, 0.3)
    whole.update_each(trail)
    parts.update_each(trail[:cut])
    parts = EProcess.from_state(json.loads(json.dumps(parts.state())))
    parts.update_each(trail[cut:])
    assert parts.state() == whole.state()
    counted = parts.episodes + parts.skipped + parts.doubtful
    assert counted + parts.surplus[0] + sum(parts.surplus_aside) == len(trail)


def test_a_state_without_conditions_is_still_read() -> None:
    process = EProcess(0.01, 0.05)
    process.update_each(["safe"] * 330)
    old = process.state() | {"kind": "e-process/1", "surplus": [5, 0, 0]}
    del old["skipped"], old["doubtful"]
    assert EProcess.from_state(old).state() == process.state()
    with pytest.raises(EvidenceError, match="surplus"):
        EProcess.from_state(process.state() | {"surplus": [5, 0, 0]})
    with pytest.raises(EvidenceError, match="counts give"):
        EProcess.from_state(EProcess(0.5, 0.1).state() | {"doubtful": 10**6, "decision": "above"})


@pytest.mark.parametrize(
    "counts", [{"skipped": -1}, {"doubtful": 0.5}, {"doubtful": 10**16}, {"violations": 2}]
)
def test_counts_aside_that_do_not_fit_are_refused_and_count_nothing(counts: dict[str, Any]) -> None:
    process = EProcess(0.01, 0.05)
    with pytest.raises(EvidenceError, match=r"must be|at most 10\^15"):
        process.update(**{"skipped": 3, **counts})
    assert (process.episodes, process.skipped, process.doubtful) == (0, 0, 0)


def test_a_screen_runs_over_episodes_without_the_condition() -> None:
    screen = Screen(4, allowed=0)
    screen.update_each(["skipped", "safe", "doubtful", "skipped"])
    assert (screen.decision, screen.skipped, screen.episodes) == ("passed", 3, 4)
    assert "3 without the condition" in screen.text()


def test_a_statement_names_the_episodes_aside_and_limits_agree_with_both_sides() -> None:
    process = EProcess(0.3, 0.05)
    process.update(violations=9, episodes=30, skipped=12, doubtful=4)
    text = statement(process)
    assert "9 violated and 0 undecided of 30 episodes under the condition" in text
    assert "(12 without it, 4 in doubt)" in text
    assert f"limits {outward(lower_limit(9, 34, level=0.05), up=False)} and" in text
