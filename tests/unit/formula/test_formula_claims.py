"""Claims: validation, episode property, thresholds, canonical text, digests, JSON."""

import copy
import hashlib
import json
import pickle
from fractions import Fraction as Rational
from typing import Any

import pytest
from formula_strategies import X, Y, any_formulas
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import FormulaError, SafegymError
from safegym.formula import nodes as n
from safegym.formula.build import always, eventually, fraction, mean, prob
from safegym.formula.claim import Claim, MeanBound, ProbBound, set_digest
from safegym.formula.rewrite import nnf
from safegym.formula.terms import Signal

law = settings(deadline=None, derandomize=True, max_examples=100)
F: Any = eventually(X > 0, within="0.3")
CLAIMS = [
    Claim(
        id="a.always", statement=always(F), hazard="H1", source="chosen, § 3", severity="marginal"
    ),
    Claim(id="a.rare", statement=prob(F) < 0.01, confidence=0.99),
    Claim(id="a.often", statement=prob(F) >= 0.92, rounding="conservative"),
    Claim(id="a.share", statement=fraction(F) >= 0.999),
    Claim(id="a.mean", statement=mean(fraction(F)) > 0.99, confidence=0.95),
    Claim(id="vector", statement=Signal("p", "m", shape=(2,), bounds=(-1, 1))[1] > 0.5),
]


def test_statements_build_bounds() -> None:
    assert (prob(F) < 0.01) == ProbBound(F, "<", 0.01)
    assert (prob(F) >= 0.92) == ProbBound(F, ">=", 0.92)
    assert (prob(F) > 0.5) == ProbBound(F, ">", 0.5)
    assert (prob(F) <= 0.5) == ProbBound(F, "<=", 0.5)
    assert (mean(fraction(F)) >= 0.9) == MeanBound(F, ">=", 0.9)
    assert (fraction(F) >= 0.9) is n.Fraction(F, ">=", 0.9)
    assert hash(prob(F) < 0.01) == hash(ProbBound(F, "<", 0.01))


def test_the_episode_property_is_the_formula_or_its_negation() -> None:
    assert CLAIMS[0].property is always(F)
    assert CLAIMS[1].property is ~F
    assert Claim(id="a", statement=prob(F) <= 0.1).property is ~F
    assert CLAIMS[2].property is F
    assert Claim(id="a", statement=prob(F) > 0.1).property is F
    assert CLAIMS[3].property is (fraction(F) >= 0.999)
    assert Claim(id="a", statement=prob(fraction(F) >= 0.9) < 0.1).property is (fraction(F) < 0.9)
    assert nnf(CLAIMS[1].property) is always(X <= 0, lasting="0.3")
    with pytest.raises(
        FormulaError, match=r"a\.mean is about a mean .* state fraction\(...\) > 0\.99"
    ):
        _ = CLAIMS[4].property


def test_kinds_and_formulas() -> None:
    assert [c.kind for c in CLAIMS[:5]] == ["trace", "probability", "probability", "trace", "mean"]
    assert [c.formula for c in CLAIMS[1:3]] == [F, F]


def test_the_failure_threshold_is_p_or_one_minus_p() -> None:
    assert CLAIMS[1].failure_threshold == 0.01
    assert CLAIMS[2].failure_threshold == 1.0 - 0.92
    assert CLAIMS[0].failure_threshold is None
    assert CLAIMS[3].failure_threshold is None
    assert CLAIMS[4].failure_threshold is None


@law
@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_the_failure_threshold_is_never_looser_than_stated(p: float) -> None:
    found = Claim(id="a", statement=prob(F) >= p).failure_threshold
    assert found is not None
    exact = 1 - Rational(p)
    assert 0 < found < 1
    assert Rational(found) <= exact
    assert float(exact) - found <= 2**-53


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, float("nan"), True, "0.5"])
def test_thresholds_lie_strictly_inside_zero_and_one(p: Any) -> None:
    for build in (lambda: prob(F) < p, lambda: mean(fraction(F)) >= p):
        with pytest.raises((FormulaError, TypeError), match=r"The threshold of (prob|mean)"):
            build()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": ""}, "must be a dotted name"),
        ({"id": "a..b"}, "must be a dotted name"),
        ({"id": "a b"}, "must be a dotted name"),
        ({"id": "a\nb"}, "must be a dotted name"),
        ({"id": "é"}, "must be a dotted name"),
        ({"id": 3}, "must be a dotted name"),
        ({"id": "a" * 121}, "must be a dotted name"),
        ({"statement": X}, "takes a formula, found x"),
        ({"statement": True}, r"near\(x, c, tol\)"),
        ({"statement": "x > 0"}, "takes a formula, found 'x > 0'"),
        ({"statement": prob(F)}, "prob\\(...\\) has no bound yet; compare it"),
        ({"statement": fraction(F)}, "fraction\\(...\\) has no bound yet; compare it"),
        ({"confidence": 1}, "strictly between 0 and 1"),
        ({"confidence": 0.0}, "strictly between 0 and 1"),
        ({"confidence": 99}, r"strictly between 0 and 1 \(0.99 for 99 %\)"),
        ({"confidence": "0.9"}, "must be a number"),
        ({"hazard": 1}, "hazard must be text"),
        ({"source": "x" * 2001}, "source must be text"),
        ({"severity": "bad"}, "severity must be one of catastrophic"),
        ({"rounding": "nearest"}, "rounding must be one of refuse, conservative"),
        (
            {"statement": mean(fraction(F)) > 0.5, "rounding": "conservative"},
            "a mean cannot be rounded conservatively",
        ),
        (
            {"statement": (Signal("x", "m") > 0) & (Signal("x", "s") > 0)},
            "'x' is declared in two ways",
        ),
    ],
)
def test_a_malformed_claim_is_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises((FormulaError, TypeError), match=problem):
        Claim(**({"id": "a", "statement": F} | change))


def test_claims_are_equal_by_content_and_pickle() -> None:
    for claim in CLAIMS:
        again = pickle.loads(pickle.dumps(claim))
        assert again == claim == copy.deepcopy(claim)
        assert hash(again) == hash(claim)
        assert again.digest == claim.digest
        assert again.formula is claim.formula
    assert CLAIMS[0] != CLAIMS[1]


def test_the_canonical_text_is_written_out() -> None:
    v = Signal("v", "m/s", scale=0.1, bounds=(-2, 2), max_rate=4, hold="max")
    b = Signal("b", shape=(2,))
    claim = Claim(
        id="drone.drift",
        statement=prob(always((abs(v) <= 0.5) | (b[1] > 0))) >= 0.9,
        confidence=0.99,
        hazard="H2",
        source="chosen",
        rounding="conservative",
    )
    assert claim.canonical_text == (
        "safegym claim, semantics 1\n"
        "id: drone.drift\n"
        "statement: prob(always((abs(v) <= 0.5) or (b[1] > 0))) >= 0.9\n"
        "confidence: 0.99\n"
        "rounding: conservative\n"
        "end: as the trace declares\n"
        "signal: b unit=1 shape=(2) scale=none bounds=none max_rate=none hold=sample labels=()\n"
        "signal: v unit=m/s shape=() scale=0.1 bounds=(-2,2) max_rate=4 hold=max labels=()\n"
    )
    by_hand = "sha256:" + hashlib.sha256(claim.canonical_text.encode()).hexdigest()
    assert claim.digest == by_hand


def test_every_part_of_the_meaning_changes_the_digest_and_reasons_do_not() -> None:
    def digest(**change: Any) -> str:
        signal = {"unit": "m"} | {k: change.pop(k) for k in list(change) if k in SIGNAL}
        fields = {"id": "a", "confidence": 0.9} | change
        return Claim(statement=prob(eventually(Signal("s", **signal) > 5)) < 0.1, **fields).digest

    SIGNAL = {"unit", "scale", "bounds", "max_rate", "hold", "labels"}
    changes: list[dict[str, Any]] = [
        {"unit": "km"},
        {"scale": 1},
        {"bounds": (0, 9)},
        {"max_rate": 1},
        {"hold": "max"},
        {"labels": ("A",)},
        {"id": "b"},
        {"confidence": 0.95},
        {"confidence": None},
        {"rounding": "conservative"},
    ]
    digests = [digest(), *(digest(**change) for change in changes)]
    assert len(set(digests)) == len(digests)
    for reason in ({"hazard": "H"}, {"source": "S"}, {"severity": "negligible"}):
        assert digest(**reason) == digest()


def test_five_kilometres_an_hour_and_five_metres_a_second_have_other_digests() -> None:
    one = Claim(id="a", statement=always(Signal("v", "m/s") <= 5))
    two = Claim(id="a", statement=always(Signal("v", "km/h") <= 5))
    assert str(one.statement) == str(two.statement)
    assert one.digest != two.digest
    assert one.formula.digest != two.formula.digest


def test_a_set_digest_ignores_order_and_refuses_equal_ids() -> None:
    assert set_digest(CLAIMS) == set_digest(reversed(CLAIMS))
    assert set_digest(CLAIMS) != set_digest(CLAIMS[1:])
    with pytest.raises(FormulaError, match="one claim per id"):
        set_digest([CLAIMS[0], CLAIMS[0]])


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_json_alone_rebuilds_a_claim(claim: Claim) -> None:
    assert Claim.from_json(json.loads(json.dumps(claim.to_json()))) == claim


@law
@given(any_formulas, st.sampled_from(["trace", "below", "above", "mean"]))
def test_any_claim_goes_through_json(f: n.Formula, kind: str) -> None:
    statements: dict[str, Any] = {
        "trace": f,
        "below": prob(f) < 0.1,
        "above": prob(f) > 0.9,
        "mean": mean(fraction(f)) <= 0.5,
    }
    claim = Claim(id="any", statement=statements[kind], confidence=0.9)
    assert Claim.from_json(json.loads(json.dumps(claim.to_json()))) == claim


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"type": "other"}, "this version reads 'safegym.claim'"),
        ({"semantics": 2}, "semantics 2"),
        ({"extra": 1}, "unknown: extra"),
        ({"statement": "prob(eventually[0,0.3](x > 1)) < 0.01"}, "digest is not that of the claim"),
        ({"statement": "prob(eventually[0,0.3](x>0)) < 0.01"}, "text or digest is not that"),
        ({"statement": "prob(eventually[0,"}, "line 1, column"),
        ({"statement": None}, "parse takes text"),
        ({"digest": "sha256:0"}, "digest is not that of the claim"),
        ({"digest": None}, "digest is not that of the claim"),
        ({"confidence": 0.95}, "digest is not that of the claim"),
        ({"confidence": True}, "malformed"),
        ({"rounding": "conservative"}, "digest is not that of the claim"),
        ({"severity": []}, "severity must be one of"),
        ({"signals": []}, "must declare exactly the signals that the claim reads, x"),
        ({"signals": {}}, "signals must be a JSON list"),
        ({"signals": [3]}, "A signal must be a JSON object"),
        ({"signals": [{"name": "x"}]}, "missing: unit"),
    ],
)
def test_a_doctored_claim_json_is_refused(change: dict[str, Any], problem: str) -> None:
    value = json.loads(json.dumps(CLAIMS[1].to_json() | change))
    with pytest.raises(SafegymError, match=problem):
        Claim.from_json(value)


def test_a_signal_json_is_checked_field_by_field() -> None:
    for key, wrong in (
        ("name", "2x"),
        ("unit", "parsec"),
        ("shape", 3),
        ("scale", "1"),
        ("hold", 0),
    ):
        value = json.loads(json.dumps(CLAIMS[1].to_json()))
        value["signals"][0][key] = wrong
        with pytest.raises(SafegymError):
            Claim.from_json(value)
    value = json.loads(json.dumps(CLAIMS[1].to_json()))
    value["signals"].append(json.loads(json.dumps(CLAIMS[5].to_json()))["signals"][0])
    with pytest.raises(FormulaError, match="must declare exactly the signals"):
        Claim.from_json(value)
    for whole in (None, [], "claim", 3):
        with pytest.raises(FormulaError, match="A claim must be a JSON object"):
            Claim.from_json(whole)
    assert Y not in CLAIMS[1].signals
