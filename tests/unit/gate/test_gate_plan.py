"""Plans and obligations: what a gate fixes before it starts."""

from fractions import Fraction
from typing import Any

import pytest

from safegym.errors import GateError
from safegym.formula.build import always, eventually, fraction, mean, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.obligation import obligations
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.screen import allowed, degraded_threshold
from safegym.gate.strata import Strata, Stratum

SPEED = Signal("speed", "m/s")
NEVER_HIT = Claim(id="a.hit", statement=prob(eventually(SPEED > 2)) < 0.01, confidence=0.99)
REACH = Claim(id="a.reach", statement=prob(eventually(SPEED > 1)) >= 0.92)
LIMIT = Claim(id="a.limit", statement=always(SPEED <= 3))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("cap", 0, "at least 1"),
        ("cap", 2.0, "whole number"),
        ("gate_every", True, "whole number"),
        ("level", 1.0, "inside"),
        ("lift", 1.5, "lift=0.99"),
        ("seed", -1, "at least 0"),
        ("verification_threshold", 0.5, "at least 1"),
    ],
)
def test_a_bad_plan_says_what_would_work(field: str, value: Any, words: str) -> None:
    with pytest.raises(GateError, match=words):
        GatePlan(**{field: value})


def test_a_plan_survives_json_and_its_digest_covers_every_field() -> None:
    plan = GatePlan(cap=500, lift=0.97)
    assert GatePlan.from_json(plan.to_json()) == plan
    changed = {
        "gate_every": 1,
        "screen_every": 2,
        "first_screen": 4,
        "screen_episodes": 50,
        "cap": 501,
        "attempts": 9,
        "level": 0.01,
        "lift": None,
        "verification_threshold": 2.0,
        "patience": 9,
        "keep_best": 9,
        "seed": 9,
        "copies": 9,
        "display": "holm",
        "repeats": 9,
        "strata": Strata((Stratum("all", "1"),)).to_json(),
        "screen_share": 0.5,
    }
    assert {*changed, "version"} == set(plan.to_json())
    digests = {GatePlan.from_json({**plan.to_json(), k: v}).digest for k, v in changed.items()}
    assert len(digests | {plan.digest}) == len(changed) + 1


def test_a_plan_with_unknown_fields_is_refused() -> None:
    with pytest.raises(GateError, match="unknown or missing fields: surprise"):
        GatePlan.from_json({**GatePlan().to_json(), "surprise": 1})


def test_an_empty_gate_is_refused() -> None:
    with pytest.raises(GateError, match="at least one claim"):
        Gate(claims=())


def test_probability_claims_get_exact_thresholds_on_their_failures() -> None:
    hit, reach = obligations([NEVER_HIT, REACH], GatePlan())
    assert hit.threshold == Fraction(0.01)
    assert reach.threshold == 1 - Fraction(0.92)
    assert hit.level <= 0.01
    assert reach.level == 0.05


def test_a_claim_about_each_trace_is_an_invariant_unless_the_plan_lifts_it() -> None:
    kept = obligations([NEVER_HIT, LIMIT], GatePlan())
    assert [item.kind for item in kept] == ["probability", "invariant"]
    lifted = obligations([LIMIT], GatePlan(lift=0.95))[0]
    assert (lifted.kind, lifted.lifted, lifted.threshold) == (
        "probability",
        True,
        1 - Fraction(0.95),
    )


def test_invariants_alone_can_never_be_certified_and_are_refused() -> None:
    with pytest.raises(GateError, match=r"lift them: GatePlan\(lift=0\.99\)"):
        obligations([LIMIT], GatePlan())


def test_two_claims_of_one_name_are_refused() -> None:
    with pytest.raises(GateError, match=r"Two claims are called a\.hit"):
        obligations([NEVER_HIT, NEVER_HIT], GatePlan())


def test_every_kind_of_claim_has_its_obligation_with_an_exact_threshold() -> None:
    share = Claim(id="a.mean", statement=mean(fraction(SPEED < 1)) >= 0.9)
    given = Claim(id="a.given", statement=prob(SPEED > 2, given=SPEED > 1) < 0.1)
    margin = Claim(id="a.margin", statement=quantile(always(SPEED < 3), 0.05) > 0.25)
    found = obligations([share, given, margin], GatePlan())
    assert [(item.kind, item.threshold, item.below) for item in found] == [
        ("mean", Fraction(0.9), False),
        ("conditional", Fraction(0.1), True),
        ("quantile", Fraction(0.05), True),
    ]


def test_a_screen_allows_half_of_what_the_threshold_would_give() -> None:
    hit, reach, limit = obligations([NEVER_HIT, REACH, LIMIT], GatePlan())
    assert [allowed(item, 200) for item in (hit, reach, limit)] == [1, 7, 0]
    assert [allowed(item, 99) for item in (hit, reach, limit)] == [0, 3, 0]


@pytest.mark.parametrize("threshold", [Fraction(1, 1000), Fraction(1, 2), Fraction(99, 100)])
def test_the_degradation_threshold_lies_between_the_claim_and_one(threshold: Fraction) -> None:
    for multiple in (1.0, 4.0, 1e6):
        assert threshold <= degraded_threshold(threshold, multiple) < 1
