"""Questions about claims with conditions and quantiles, and limits at their signals' bounds."""

from fractions import Fraction

import pytest

from safegym.check.monitor import judge
from safegym.check.symbolic.finding import Finding
from safegym.check.symbolic.specification import check_specification
from safegym.formula.build import always, eventually, fraction, mean, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.statements import Statement
from safegym.formula.terms import Signal

X = Signal("x", "m", bounds=(0.0, 10.0))
Y = Signal("y", bounds=(0.0, 1.0))
P = Signal("p", "m", shape=(2,), bounds=(-1.0, 1.0))
HIT = eventually(X > 5)
FAULT = eventually(Y >= 0.5)
DT = Fraction(1, 2)


def findings(*statements: Statement, signals: tuple[Signal, ...] = ()) -> tuple[Finding, ...]:
    claims = [Claim(id=f"c.{place}", statement=each) for place, each in enumerate(statements)]
    return check_specification(claims, dt=DT, horizon=4, timeout=20, signals=signals).findings


def statuses(*statements: Statement) -> dict[tuple[str, tuple[str, ...]], str]:
    return {(found.question, found.claims): found.status for found in findings(*statements)}


def test_a_conditional_claim_that_is_sound_has_witnesses_in_which_its_condition_holds() -> None:
    found = {each.question: each for each in findings(prob(HIT, given=FAULT) < 0.01)}
    assert {each.status for each in found.values()} == {"ok"}
    for question in ("its episodes can occur", "can hold", "can fail"):
        witness = found[question].witness
        assert witness is not None
        assert judge(FAULT, witness).status == "satisfied"
    assert found["its episodes can occur"].detail == "eventually(y >= 0.5)"


def test_a_condition_that_can_never_hold_makes_the_claim_vacuous_and_flawed() -> None:
    found = statuses(prob(HIT, given=eventually(Y >= 2)) < 0.01)
    assert found["its episodes can occur", ("c.0",)] == "flawed"
    detail = findings(prob(HIT, given=eventually(Y >= 2)) < 0.01)[0].detail
    assert "the claim is vacuous: every episode is skipped" in detail


def test_a_claim_that_only_holds_where_its_condition_does_not_cannot_hold() -> None:
    found = statuses(prob(eventually(X > 20), given=FAULT) >= 0.9)
    assert found["its episodes can occur", ("c.0",)] == "ok"
    assert found["can hold", ("c.0",)] == "flawed"


def test_an_implication_inside_a_condition_must_be_able_to_arise() -> None:
    inside = always((X > 11).implies(Y < 0.5)) & FAULT
    assert statuses(prob(HIT, given=inside) < 0.1)["its condition can arise", ("c.0",)] == "flawed"


@pytest.mark.parametrize(
    ("together", "status"),
    [
        ((prob(HIT) < 0.01, prob(HIT) >= 0.5), "flawed"),
        ((prob(HIT) < 0.5, prob(HIT) >= 0.25), "ok"),
        ((prob(HIT, given=FAULT) < 0.01, prob(HIT, given=FAULT) >= 0.5), "flawed"),
        ((prob(HIT, given=FAULT) < 0.5, prob(HIT, given=FAULT) >= 0.25), "ok"),
        ((prob(HIT, given=FAULT) < 0.25, prob(FAULT) >= 0.75, prob(HIT) > 0.4375), "flawed"),
        ((prob(HIT, given=FAULT) <= 0.25, prob(FAULT) >= 0.75, prob(HIT) >= 0.4375), "ok"),
        ((prob(HIT, given=FAULT) < 0.1, always(Y < 0.5)), "flawed"),
        ((prob(HIT, given=FAULT) < 0.1, prob(HIT, given=eventually(Y < 0.5)) > 0.5), "ok"),
        ((quantile(always(X < 5), 0.05) > 1, prob(eventually(X >= 4)) >= 0.05), "flawed"),
        ((quantile(always(X < 5), 0.05) > 1, prob(eventually(X >= 4)) >= 0.04), "ok"),
        ((quantile(always(X < 5), 0.5) > 1, quantile(always(X < 5), 0.25) > 2), "ok"),
        ((quantile(always(X < 5), 0.5) > 2, quantile(eventually(X > 3), 0.5) > 0), "flawed"),
        (
            (quantile(X < 5, 0.05) > 1, prob(X > 4.5, given=FAULT) >= 0.5, prob(FAULT) >= 0.2),
            "flawed",
        ),
    ],
)
def test_bounds_that_exclude_each_other_are_found(
    together: tuple[Statement, ...], status: str
) -> None:
    """The last of three: P(hit) is at most .25 P(fault) + 1 - P(fault), which is .4375 at .75."""
    (found,) = (each for each in findings(*together) if each.question == "can hold together")
    assert found.status == status, found


def test_a_conflict_beside_claims_that_merely_exclude_each_other_is_named() -> None:
    rare, common = prob(eventually(X > 9)) < 0.5, prob(eventually(X > 9)) > 0.25
    last = findings(rare, common, prob(HIT, given=FAULT) < 0.1, prob(HIT, given=FAULT) > 0.2)[-1]
    assert (last.status, last.claims) == ("flawed", ("c.2", "c.3"))
    assert "nor can the probabilities" in last.detail


def test_a_quantile_is_asked_about_with_its_margin() -> None:
    assert statuses(quantile(always(X < 5), 0.05) > 4)["can hold", ("c.0",)] == "ok"
    assert statuses(quantile(always(X < 5), 0.05) > 5)["can hold", ("c.0",)] == "flawed"
    assert statuses(quantile(always(X < 5), 0.05) > -6)["can fail", ("c.0",)] == "flawed"


def warnings(formula: Formula | Statement, *signals: Signal) -> list[str]:
    found = findings(formula, signals=signals)
    return [each.detail for each in found if each.answer == "warning"]


@pytest.mark.parametrize(
    ("formula", "side"),
    [
        (X >= 0, "negative"),
        (X > 0, "negative"),
        (X <= 0, "positive"),
        (X < 10, "negative"),
        (X >= 10, "positive"),
        (abs(P[0]) <= 1, "negative"),
        (abs(P[1]) > 0, "negative"),
        (10 > X, "negative"),
    ],
)
def test_a_limit_that_is_its_signals_bound_is_a_warning_and_no_flaw(
    formula: Formula, side: str
) -> None:
    (found,) = warnings(prob(eventually(formula)) >= 0.5)
    assert f"its margin is never {side}" in found
    assert "State a limit inside the bounds" in found
    warned = [f for f in findings(prob(eventually(formula)) >= 0.5) if f.answer == "warning"]
    assert warned[0].status == "ok"
    assert warned[0].question == "limits inside their bounds"


@pytest.mark.parametrize(
    "formula", [X > 0.1, Signal("free") > 0, X - 1 > 0, abs(X) > 0.5, abs(P[0]) <= 0.5]
)
def test_a_limit_inside_the_bounds_is_none(formula: Formula) -> None:
    assert not warnings(eventually(formula))


def test_a_mode_is_none_and_replaced_bounds_count() -> None:
    mode = Signal("mode", labels=("OK", "FAULT"), bounds=(0.0, 0.5))
    assert not warnings(eventually(mode.is_("OK")))
    assert not warnings(eventually(X > 0), Signal("x", "m", bounds=(-1.0, 10.0)))
    assert warnings(eventually(X > -1), Signal("x", "m", bounds=(-1.0, 10.0)))


def test_conditions_and_means_are_looked_at_too() -> None:
    assert warnings(prob(X > 1, given=Y >= 1) < 0.5)
    assert warnings(mean(fraction(X > 0)) >= 0.5)
    assert warnings(quantile(X > 0, 0.5) > 1)
