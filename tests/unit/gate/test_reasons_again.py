"""The figures in a decision's reasons are held against the records that it rests on."""

import re
from typing import Any

import pytest

from safegym.gate.said import Said

POLICY = "sha256:" + "a" * 64
SCREEN = {
    "attempt": 0,
    "claim_id": "tilt",
    "kind": "observed",
    "violations": 3,
    "undecided": 1,
    "episodes": 200,
}
ATTEMPT = {**SCREEN, "attempt": 2, "violations": 0, "undecided": 0, "episodes": 900}
BURST = {"claim_id": "drift", "finds": [{}, {}]}
SUITE = {"starts": [{"status": "violated"}, {"status": "satisfied"}, {"status": "satisfied"}]}


def told(*reasons: str, looked: tuple[str, ...] = ()) -> list[str]:
    said = Said(ends={(POLICY, 2): "certified"}, looked={"burst": BURST, "suite": SUITE})
    payload: dict[str, Any] = {
        "policy": POLICY,
        "reasons": list(reasons),
        "rests_on": [{"record": name} for name in looked],
    }
    return [detail for detail, _ in said.reasons(payload, [SCREEN, ATTEMPT])]


@pytest.mark.parametrize(
    "reason",
    [
        "certified at attempt 2",
        "certified at attempt 2, except invariants, observed: tilt",
        "certified at attempt 2 (replayed: it had ended so before)",
        "attempt 2 certified",
        "tilt: 3 violated, 1 undecided of 200",
        "roll: 9 violated, 0 undecided of 200",
        "words that this version does not know",
    ],
)
def test_reasons_that_fit_the_records_or_are_of_no_known_wording_pass(reason: str) -> None:
    assert told(reason) == []


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("certified at attempt 1", "the policy has no attempt 1"),
        ("attempt 2 refuted", "attempt 2 ended certified"),
        ("certified at attempt 2, except invariants, observed: roll", r"observed are \['tilt'\]"),
        ("tilt: 0 violated, 1 undecided of 200", "3 violated, 1 undecided of 200"),
        ("tilt: 3 violated, 1 undecided of 2000", "3 violated, 1 undecided of 200"),
    ],
)
def test_reasons_with_other_figures_are_found(reason: str, words: str) -> None:
    found = told(reason)
    assert len(found) == 1
    assert re.search(words, found[0])


def test_counterexamples_of_a_burst_are_counted_and_may_not_be_left_out() -> None:
    right = "falsification burst: 2 counterexamples to drift"
    assert told(right, looked=("burst",)) == []
    fewer = told("falsification burst: 1 counterexample to drift", looked=("burst",))
    assert "2 were found" in fewer[0]
    assert told("certified at attempt 2", looked=("burst",)) == [
        "its reasons leave out 2 counterexamples to drift"
    ]


def test_the_starts_that_a_suite_lost_are_counted() -> None:
    tail = "starts that were passed before are not passed now: tilt from seed 4"
    assert told(f"regression suite: 1 of 3 {tail}", looked=("suite",)) == []
    found = told(f"regression suite: 0 of 3 {tail}", looked=("suite",))
    assert "1 of 3 are not passed" in found[0]
