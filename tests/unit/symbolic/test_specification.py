"""Questions about claims, on sets whose answers are known."""

import math
from fractions import Fraction

import pytest

from safegym.check.monitor import judge
from safegym.check.symbolic.specification import check_specification
from safegym.errors import FormulaError
from safegym.formula.build import always, eventually, fraction, mean, never, prob, rising
from safegym.formula.claim import Claim
from safegym.formula.nodes import FALSE, TRUE
from safegym.formula.terms import Signal
from safegym.formula.text import parse

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
    assert (last.question, last.status) == ("can hold together", "flawed")
    assert last.claims == ("s.low", "s.high")
    assert "without any one of them the rest can hold" in last.detail


def test_claims_that_fit_have_one_witness_for_all() -> None:
    other = Claim(id="s.other", statement=eventually(Y > 2))
    report = check_specification([LOW, other], dt=DT, horizon=30)
    witness = report.of("can hold together")[0].witness
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


def test_a_share_of_time_is_counted_over_the_samples_of_the_episode() -> None:
    """Over samples 0 to 9, with 1 m a second at most and 0.1 s a step."""
    share = Claim(id="s.share", statement=fraction(Y < 5) >= 0.5)
    found = check_specification([share], dt=DT, horizon=9, timeout=20)
    assert found.status == "ok"
    for finding in found.findings:
        assert finding.witness is not None
        wanted = "violated" if finding.question == "can fail" else "satisfied"
        if finding.question != "every part matters":
            assert judge(share, finding.witness).status == wanted
    high = Claim(id="s.high", statement=fraction(X > 6) > 0.5)
    tight = Claim(id="s.tight", statement=fraction(X < 5) >= 0.5)
    loose = Claim(id="s.loose", statement=fraction(X < 5) >= 0.4)
    assert answers(high, tight, horizon=9)["can hold together", ("s.high", "s.tight")] == "flawed"
    assert answers(high, loose, horizon=9)["can hold together", ("s.high", "s.loose")] == "ok"


def test_a_share_from_above_counts_the_samples_at_which_it_fails() -> None:
    rare = Claim(id="s.rare", statement=fraction(X > 5) <= 0.2)
    often = Claim(id="s.often", statement=fraction(X > 5) > 0.2)
    found = answers(rare, often, horizon=9)
    assert found["can hold together", ("s.rare", "s.often")] == "flawed"
    assert found["can hold", ("s.rare",)] == found["can fail", ("s.rare",)] == "ok"


def test_a_mean_is_not_asked_and_never_a_pass() -> None:
    claim = Claim(id="s.mean", statement=mean(fraction(X < 5)) >= 0.5)
    assert answers(claim) == {("can hold", ("s.mean",)): "unknown"}


def test_a_question_out_of_time_is_unknown_never_a_verdict() -> None:
    u, v = Signal("u"), Signal("v")
    hard = never((u * v > 20) & (u * u * v < 3) & (u + v * v * u > 30))
    claim = Claim(id="s.hard", statement=prob(~hard) < 0.5)
    report = check_specification([claim], dt=DT, horizon=60, timeout=0.001)
    assert report.status == "unknown"
    assert "no answer in time" in {finding.answer for finding in report.findings}


def test_a_rounded_claim_can_fail_where_its_rounded_form_can() -> None:
    """Strengthening the negation instead would leave `eventually[0.05,0.08]` no sample at all."""
    claim = Claim(
        id="s.round", statement=always(X > 5, window=("0.05", "0.08")), rounding="conservative"
    )
    report = check_specification([claim], dt=DT, horizon=5)
    assert report.status == "ok"
    for question, wanted in (("can hold", "satisfied"), ("can fail", "violated")):
        witness = report.of(question)[0].witness
        assert witness is not None
        assert judge(claim, witness).status == wanted


def test_the_condition_of_a_rounded_claim_arises_where_it_is_asked_for() -> None:
    """The condition stands negated in the claim, so its window grows: it reads samples 0 and 1."""
    condition = eventually(X > 6, window=("0.05", "0.08"))
    claim = Claim(id="s.cond", statement=always(condition.implies(Y < 5)), rounding="conservative")
    assert answers(claim)["its condition can arise", ("s.cond",)] == "ok"


def test_one_name_in_two_dimensions_is_refused_not_compared() -> None:
    near = Claim(id="s.near", statement=always(Signal("d", "m") > 1))
    far = Claim(id="s.far", statement=always(Signal("d", "s") < 0.5))
    told = r"'d' is declared in two ways.*claim s\.far.*m \(length\) and s \(time\) measure"
    with pytest.raises(FormulaError, match=told):
        check_specification([near, far], dt=DT, horizon=3)


def test_claims_in_two_units_of_one_dimension_are_compared_by_the_exact_factor() -> None:
    near = Claim(id="s.near", statement=always(Signal("d", "m") > 1))
    below = Claim(id="s.below", statement=always(Signal("d", "mm") < 999))
    above = Claim(id="s.above", statement=always(Signal("d", "mm") < 1001))
    flawed = check_specification([near, below], dt=DT, horizon=3)
    assert flawed.status == "flawed"
    assert check_specification([below, near], dt=DT, horizon=3).status == "flawed"
    fine = check_specification([near, above], dt=DT, horizon=3)
    assert fine.status == "ok"
    (together,) = fine.of("can hold together")
    assert together.witness is not None
    assert dict(together.witness.units) == {"d": "m"}
    for claim in (near, above):
        assert judge(claim, together.witness).status == "satisfied"


def test_claims_in_degrees_and_radians_are_compared_to_far_beyond_the_last_place() -> None:
    """180 deg is pi rad, a little more than math.pi."""
    turned = Claim(id="s.deg", statement=always(Signal("a", "deg") >= 180))
    low = Claim(id="s.rad", statement=always(Signal("a", "rad") <= math.pi))
    high = Claim(id="s.more", statement=always(Signal("a", "rad") <= math.nextafter(math.pi, 4)))
    assert check_specification([turned, low], dt=DT, horizon=1).status == "flawed"
    assert check_specification([turned, high], dt=DT, horizon=1).status != "flawed"


def test_limits_in_two_units_must_be_the_same_once_converted() -> None:
    one = Claim(id="s.one", statement=always(Signal("d", "m", bounds=(0, 2)) < 1.5))
    same = Claim(id="s.same", statement=always(Signal("d", "cm", bounds=(0, 200)) < 160))
    other = Claim(id="s.other", statement=always(Signal("d", "cm", bounds=(0, 2)) < 160))
    assert check_specification([one, same], dt=DT, horizon=3).status == "ok"
    with pytest.raises(FormulaError, match="is declared in two ways"):
        check_specification([one, other], dt=DT, horizon=3)
    given = [Signal("d", "m", bounds=(0, 2))]
    assert check_specification([one, other], dt=DT, horizon=3, signals=given).status == "ok"


def test_limits_that_differ_are_refused_unless_they_are_replaced() -> None:
    one = Claim(id="s.one", statement=always(Signal("d", bounds=(0, 1)) < 5))
    two = Claim(id="s.two", statement=eventually(Signal("d", bounds=(0, 9)) > 4))
    with pytest.raises(FormulaError, match="is declared in two ways"):
        check_specification([one, two], dt=DT, horizon=3)
    given = [Signal("d", bounds=(0, 9))]
    assert check_specification([one, two], dt=DT, horizon=3, signals=given).status == "ok"


def test_a_mode_takes_only_the_values_that_have_labels() -> None:
    mode = Signal("mode", labels=("RUN", "STOP"))
    either = Claim(id="s.mode", statement=always(mode.is_("RUN") | mode.is_("STOP")))
    assert answers(either)["can fail", ("s.mode",)] == "flawed"


def test_undeclared_vectors_are_asked_about_by_component() -> None:
    claims = [
        Claim(id="s.vector", statement=always(parse("x[0] > 1 implies x[2] > 0"))),
        Claim(id="s.later", statement=always(parse("x[4] > 0"))),
    ]
    assert check_specification(claims, dt=DT, horizon=4).status == "ok"


def test_many_claims_about_probabilities_are_settled_without_asking_every_pattern() -> None:
    """2^14 patterns of truth values; those that some trace begins with are few."""
    claims = [
        Claim(id=f"s.p{level}", statement=prob(eventually(X > level / 2)) >= 0.5)
        for level in range(12)
    ]
    claims += [
        Claim(id="s.low", statement=prob(always(X < 4)) >= 0.5),
        Claim(id="s.high", statement=prob(always(X > 4.5)) >= 0.2),
    ]
    report = check_specification(claims, dt=DT, horizon=2)
    (found,) = report.of("can hold together")
    assert found.status == "ok"
    assert "the probabilities can be met" in found.detail


def test_a_horizon_beyond_reason_is_unknown_and_ends() -> None:
    claim = Claim(id="s.long", statement=always(X > 1, lasting=10**9))
    assert set(answers(claim).values()) == {"unknown"}


def test_claims_that_read_no_signal_get_an_answer() -> None:
    tautology, contradiction = Claim(id="s.none", statement=TRUE), Claim(id="s.no", statement=FALSE)
    assert answers(tautology)["can fail", ("s.none",)] == "flawed"
    assert answers(contradiction)["can hold", ("s.no",)] == "flawed"
