"""Episodes with gaps as evidence: what nobody saw counts for no claim."""

import pytest

from safegym.check.monitor import judge
from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.evidence import Basis, gather
from safegym.gate.obligation import obligations
from safegym.gate.plan import GatePlan
from safegym.gate.tally import Tally
from safegym.trace.model import Trace
from safegym.verdict import Status

X = Signal("x")
RARE = Claim(id="t.rare", statement=prob(eventually(X > 1)) < 0.2, confidence=0.9)
EACH = Claim(id="t.each", statement=always(X < 5))


def episode(value: float = 0.0, gaps: tuple[tuple[int, int], ...] = ()) -> Trace:
    return Trace.from_arrays({"x": [0.0, value, 0.0, 0.0]}, dt="0.1", gaps=gaps)


def tally_of(claims: list[Claim], trace: Trace, episodes: int) -> Tally:
    tally = Tally(obligations(claims, GatePlan()), 1, 400)
    row: tuple[Status, ...] = tuple(judge(claim, trace).status for claim in claims)
    for _ in range(episodes):
        if tally.add(row) is not None:
            break
    return tally


def test_clean_episodes_without_a_gap_certify_and_the_same_with_a_gap_do_not() -> None:
    assert tally_of([RARE], episode(), 400).outcome == "certified"
    hidden = tally_of([RARE], episode(gaps=((2, 2),)), 400)
    assert hidden.outcome != "certified"
    found = gather(hidden, Basis((), "", {}))[0]
    assert found.status != "satisfied"
    assert found.undecided > 0
    assert found.violations == 0


def test_an_invariant_with_a_gap_stays_inconclusive() -> None:
    tally = tally_of([EACH, RARE], episode(gaps=((1, 1),)), 1)
    assert tally.outcome == "futile"
    assert gather(tally, Basis((), "", {}))[0].status == "inconclusive"


@pytest.mark.parametrize("claim", [RARE, EACH])
def test_a_violation_outside_of_the_gap_counts_as_one(claim: Claim) -> None:
    assert judge(claim, episode(9.0, gaps=((2, 3),))).status == "violated"
    assert judge(claim, episode(9.0, gaps=((1, 1),))).status == "inconclusive"
