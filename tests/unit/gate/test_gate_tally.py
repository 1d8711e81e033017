"""Counting an attempt: outcomes against a plain re-count with exact rationals."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.levels import spent_level
from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.evidence import LATER, Basis, gather, stored_evidence, stored_json
from safegym.gate.obligation import obligations
from safegym.gate.plan import GatePlan
from safegym.gate.tally import Tally
from safegym.verdict import Status

X = Signal("x")
RARE = Claim(id="t.rare", statement=prob(eventually(X > 1)) < 0.2, confidence=0.9)
OFTEN = Claim(id="t.often", statement=prob(eventually(X > 2)) >= 0.5, confidence=0.95)
EACH = Claim(id="t.each", statement=always(X < 5))
ITEMS = obligations([RARE, OFTEN, EACH], GatePlan())
GOOD: tuple[Status, ...] = ("satisfied", "satisfied", "satisfied")
BASIS = Basis((), "", {})


def fed(rows: list[tuple[Status, ...]], *, cap: int = 200, attempt: int = 1) -> Tally:
    tally = Tally(ITEMS, attempt, cap)
    for row in rows:
        if tally.add(row) is not None:
            break
    return tally


def test_clean_episodes_certify_at_the_number_that_the_slowest_claim_asks_for() -> None:
    tally = fed([GOOD] * 200)
    assert tally.outcome == "certified"
    needed = [count.first_clean for count in tally.estimated]
    assert tally.episodes == max(needed)
    kinds = [(e.kind, e.status) for e in gather(tally, BASIS)]
    assert kinds == [("estimated", "satisfied")] * 2 + [("observed", "satisfied")]


def test_a_later_attempt_asks_for_more_clean_episodes() -> None:
    assert fed([GOOD] * 200, attempt=3).episodes > fed([GOOD] * 200).episodes


def test_one_violated_invariant_refutes_at_once() -> None:
    tally = fed([GOOD, ("satisfied", "satisfied", "violated"), GOOD])
    assert (tally.outcome, tally.episodes) == ("refuted", 2)
    assert "t.each" in tally.reasons[0]


def test_one_undecided_invariant_ends_the_attempt_without_a_verdict() -> None:
    tally = fed([("satisfied", "satisfied", "inconclusive"), GOOD])
    assert tally.outcome == "futile"
    assert gather(tally, BASIS)[2].status == "inconclusive"


def test_a_cap_too_small_for_any_pass_is_futile_from_the_first_episode() -> None:
    assert fed([GOOD], cap=3).outcome == "futile"


@pytest.mark.parametrize("status", ["violated", "inconclusive"])
def test_undecided_episodes_count_against_a_pass_like_violated_ones(status: Status) -> None:
    rows: list[tuple[Status, ...]] = [(status, "satisfied", "satisfied")] * 60
    tally = fed(rows, cap=60)
    assert tally.outcome in ("futile", "refuted")
    assert tally.counts[0].decision != "below"


def recount(pairs: list[tuple[Status, Status]], attempt: int, cap: int) -> tuple[str | None, int]:
    """Outcome and episode number, from whole prefixes and the exact boundaries alone."""
    decided: dict[int, str] = {}
    for n in range(1, min(len(pairs), cap) + 1):
        futile = False
        for position, item in enumerate(ITEMS[:2]):
            column = [pair[position] for pair in pairs[:n]]
            bad = column.count("violated") + column.count("inconclusive")
            process = EProcess(item.threshold or 0.0, Fraction(spent_level(item.level, attempt)))
            least = process.kmin(n)
            if position not in decided and bad <= process.kmax(n):
                decided[position] = "below"
            elif position not in decided and least is not None:
                decided |= {position: "above"} if column.count("violated") >= least else {}
            open_ = position not in decided
            futile |= open_ and all(bad > process.kmax(m) for m in range(n, cap + 1))
        named = _named(decided, futile, n == cap)
        if named is not None:
            return named, n
    return None, min(len(pairs), cap)


def _named(decided: dict[int, str], futile: bool, at_cap: bool) -> str | None:
    if "above" in decided.values():
        return "refuted"
    if futile:
        return "futile"
    if list(decided.values()) == ["below"] * 2:
        return "certified"
    return "exhausted" if at_cap else None


statuses = st.sampled_from(["satisfied"] * 8 + ["violated", "inconclusive"])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(statuses, statuses), min_size=1, max_size=150), st.integers(1, 3))
def test_outcomes_equal_a_recount_with_whole_prefixes(
    pairs: list[tuple[Status, Status]], attempt: int
) -> None:
    tally = Tally(ITEMS[:2], attempt, 120)
    for pair in pairs:
        tally.add(pair)
    assert (tally.outcome, tally.episodes) == recount(pairs, attempt, 120)


def test_a_refuted_claim_carries_the_limit_that_refutes_it() -> None:
    bad: tuple[Status, ...] = ("violated", "satisfied", "satisfied")
    missed: tuple[Status, ...] = ("satisfied", "violated", "satisfied")
    rare = gather(fed([bad] * 60), BASIS)[0]
    assert (rare.status, rare.side) == ("violated", "lower")
    assert rare.bound is not None
    assert rare.threshold is not None
    assert rare.bound > rare.threshold
    often = gather(fed([missed] * 60), BASIS)[1]
    assert (often.status, often.side) == ("violated", "upper")
    assert often.bound is not None
    assert often.threshold is not None
    assert often.bound < often.threshold


def test_a_shown_claim_carries_the_limit_that_shows_it() -> None:
    rare, often, _ = gather(fed([GOOD] * 200), BASIS)
    assert rare.bound is not None
    assert often.bound is not None
    assert rare.bound < 0.2
    assert rare.side == "upper"
    assert often.bound > 0.5
    assert often.side == "lower"


def test_evidence_in_a_checkpoint_is_read_back_whole_also_from_before_its_later_fields() -> None:
    for item in gather(fed([GOOD] * 200), BASIS):
        stored = json.loads(json.dumps(stored_json(item)))
        assert stored_evidence(stored) == item
        older = {name: value for name, value in stored.items() if name not in LATER}
        assert stored_evidence(older) == replace(item, joint="")
