"""Questions about claims, on sets whose answers are known."""

from fractions import Fraction

import pytest

from safegym.check.monitor import judge
from safegym.check.symbolic.specification import check_specification
from safegym.formula.build import always, eventually, fraction, never, prob, rising
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal

X = Signal("x", "m", bounds=(0.0, 10.0))
Y = Signal("y", "m", bounds=(0.0, 10.0), max_rate=1.0)
DT = Fraction(1, 10)


def answers(*claims: Claim, horizon: int = 20) -> dict[tuple[str, tuple[str, ...]], str]:
    report = check_specification(claims, dt=DT, horizon=horizon, timeout=20)
    return {(f.question, f.claims): f.status for f in report.findings}


LOW = Claim(id="s.low", statement=always(X <= 5))
HIGH = Claim(id="s.high", statement=eventually(X > 6))


def test_a_claim_that_can_hold_and_fail_is_fine_and_its_witness_satisfies_it() -> None:
    report = check_specification([LOW], dt=DT, horizon=20)
    assert report.status == "ok"
    by = {finding.question: finding.witness for finding in report.findings}
    assert by["can hold"] is not None
    assert by["can fail"] is not None
    assert judge(LOW, by["can hold"]).status == "satisfied"
    assert judge(LOW, by["can fail"]).status == "violated"


def test_a_claim_outside_the_declared_bounds_cannot_hold() -> None:
    claim = Claim(id="s.far", statement=eventually(X > 11))
    assert answers(claim)["can hold", ("s.far",)] == "flawed"


def test_a_claim_that_the_bounds_already_give_says_nothing() -> None:
    claim = Claim(id="s.empty", statement=always(X <= 10))
    assert answers(claim)["can fail", ("s.empty",)] == "flawed"


def test_a_rate_limit_makes_a_quick_rise_impossible() -> None:
    climb = always(rising(Y > 5).implies(eventually(Y > 7, within=0.5)))
    quick = Claim(id="s.quick", statement=eventually((Y < 1) & eventually(Y > 3, within=0.5)))
    slow = Claim(id="s.slow", statement=eventually((Y < 1) & eventually(Y > 1.2, within=0.5)))
    found = answers(Claim(id="s.climb", statement=climb), quick, slow)
    assert found["can hold", ("s.quick",)] == "flawed"
    assert found["can hold", ("s.slow",)] == "ok"
    assert found["can hold", ("s.climb",)] == "ok"


def test_a_condition_that_never_arises_is_named() -> None:
    claim = Claim(id="s.never", statement=always((X > 10).implies(Y < 5)))
    assert answers(claim)["its condition can arise", ("s.never",)] == "flawed"


def test_conflicting_claims_are_named_by_the_smallest_set() -> None:
    other = Claim(id="s.other", statement=always(Y < 9))
    report = check_specification([LOW, other, HIGH], dt=DT, horizon=10)
    last = report.findings[-1]
    assert (last.status, last.claims) == ("flawed", ("s.low", "s.high"))


def test_claims_that_fit_have_one_witness_for_all() -> None:
    other = Claim(id="s.other", statement=eventually(Y > 2))
    report = check_specification([LOW, other], dt=DT, horizon=30)
    witness = report.findings[-1].witness
    assert witness is not None
    assert judge(LOW, witness).status == judge(other, witness).status == "satisfied"


@pytest.mark.parametrize(
    ("first", "second", "status"), [(0.4, 0.4, "ok"), (0.6, 0.6, "flawed"), (0.5, 0.5, "ok")]
)
def test_exclusive_properties_conflict_only_if_their_probabilities_exceed_one(
    first: float, second: float, status: str
) -> None:
    claims = [
        Claim(id="s.a", statement=prob(always(X < 5)) >= first),
        Claim(id="s.b", statement=prob(always(X > 6)) >= second),
    ]
    assert answers(*claims, horizon=5)["can hold together", ("s.a", "s.b")] == status


def test_a_share_of_time_is_not_asked_and_never_a_pass() -> None:
    claim = Claim(id="s.share", statement=fraction(X < 5) >= 0.5)
    assert answers(claim) == {("can hold", ("s.share",)): "unknown"}


def test_a_question_out_of_time_is_unknown_never_a_verdict() -> None:
    u, v = Signal("u"), Signal("v")
    hard = never((u * v > 20) & (u * u * v < 3) & (u + v * v * u > 30))
    claim = Claim(id="s.hard", statement=prob(~hard) < 0.5)
    report = check_specification([claim], dt=DT, horizon=60, timeout=0.001)
    assert report.status == "unknown"
    assert "no answer in time" in {finding.answer for finding in report.findings}
