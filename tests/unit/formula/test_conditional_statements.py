"""`prob(A, given=B)`: what it states, how it is written, and what is refused."""

from fractions import Fraction

import pytest

from safegym.errors import FormulaError
from safegym.formula.build import (
    always,
    eventually,
    fraction,
    mean,
    previous,
    prob,
    quantile,
    rising,
)
from safegym.formula.claim import Claim
from safegym.formula.conditional import Conditional, ConditionalBound
from safegym.formula.nodes import FALSE, TRUE
from safegym.formula.rewrite import nnf
from safegym.formula.terms import Signal
from safegym.formula.text import parse, parse_statement

X = Signal("x", "m", scale=0.5)
Y = Signal("y")
A = always(X > 0.2)
B = eventually(Y >= 1)


def claim_of(statement: object, **more: object) -> Claim:
    return Claim(id="a.claim", statement=statement, **more)  # type: ignore[arg-type]  # on purpose


def test_each_comparison_is_a_bound_with_its_property_and_threshold() -> None:
    table = [
        (prob(A, given=B) < 0.1, B.implies(~A), 0.1),
        (prob(A, given=B) <= 0.1, B.implies(~A), 0.1),
        (prob(A, given=B) >= 0.75, B.implies(A), 0.25),
        (prob(A, given=B) > 0.75, B.implies(A), 0.25),
    ]
    for bound, wanted, threshold in table:
        claim = claim_of(bound)
        assert claim.kind == "conditional"
        assert claim.property is wanted
        assert claim.condition is B
        assert claim.formula is A
        assert claim.failure_threshold == threshold
        assert claim.signals == (X, Y)


def test_other_claims_have_no_condition() -> None:
    for statement in (A, prob(A) < 0.1, quantile(A, 0.1) > 0, mean(fraction(A)) >= 0.5):
        assert claim_of(statement).condition is None


def test_a_failure_threshold_is_never_looser_than_what_is_stated() -> None:
    for count in range(1, 400):
        p = count / 400
        found = claim_of(prob(A, given=B) >= p).failure_threshold
        assert found is not None
        assert Fraction(found) <= 1 - Fraction(p)
        assert found == pytest.approx(1 - p, abs=2**-53)


def test_the_text_reads_back_and_so_does_the_json() -> None:
    joined = prob(A | (X < 3), given=rising(Y >= 1).implies(B)) >= 0.9
    for bound in (prob(A, given=B) < 0.1, joined, prob(X > 0, given=Y > 0) <= 0.5):
        claim = claim_of(bound, confidence=0.95)
        assert parse_statement(str(bound), claim.signals) == bound
        assert Claim.from_json(claim.to_json()) == claim
        assert f"statement: {bound}\n" in claim.canonical_text
    assert str(prob(A, given=B) < 0.1) == "prob(always(x > 0.2) given eventually(y >= 1)) < 0.1"


@pytest.mark.parametrize(
    "text",
    [
        "prob(always(x > 0.2), given=eventually(y >= 1)) < 0.1",
        "prob(always(x > 0.2) given eventually(y >= 1)) < 0.1",
        "prob ( (always(x > 0.2)) , given = (eventually(y >= 1)) ) < 0.1",
    ],
)
def test_the_condition_is_also_read_as_python_writes_it(text: str) -> None:
    assert parse_statement(text, [X, Y]) == (prob(A, given=B) < 0.1)


def test_given_binds_looser_than_everything_else() -> None:
    found = parse_statement("prob(x > 1 iff y > 1 given x > 2 implies y > 2) < 0.1", [X, Y])
    assert isinstance(found, ConditionalBound)
    assert found.formula is (X > 1).iff(Y > 1)
    assert found.given is (X > 2).implies(Y > 2)


def test_condition_order_and_formula_are_in_the_digest() -> None:
    one, other = claim_of(prob(A, given=B) < 0.1), claim_of(prob(B, given=A) < 0.1)
    assert len({one.digest, other.digest, claim_of(prob(A) < 0.1).digest}) == 3


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (lambda: prob(A, given=X), TypeError, r"prob\(\.\.\., given=\) takes a formula, found x"),
        (lambda: prob(A, given=True), TypeError, "takes a formula, found True"),
        (lambda: prob(A, given="y > 1"), TypeError, "takes a formula, found 'y > 1'"),
        (lambda: prob(X, given=B), TypeError, "prob takes a formula, found x"),
        (lambda: prob(A, given=prob(B)), TypeError, "takes a formula, found Probability"),
        (lambda: prob(A, given=TRUE), FormulaError, "holds on every episode or on none"),
        (lambda: prob(A, given=FALSE), FormulaError, r"leave it out, `prob\(f\) < 0.01`"),
        (lambda: prob(A, given=previous(TRUE)), FormulaError, "reads no signal"),
        (lambda: prob(A, given=fraction(B) > 0.5), FormulaError, "a share cannot stand"),
        (lambda: prob(fraction(A) > 0.5, given=B), FormulaError, "over all episodes"),
        (lambda: prob(A, given=B) < 0, FormulaError, "strictly between 0 and 1, found 0.0"),
        (lambda: prob(A, given=B) >= 1, FormulaError, "state the bare formula"),
        (lambda: prob(A, given=B) >= True, TypeError, "must be a number"),
        (lambda: 0.1 < prob(A, given=B) < 0.2, TypeError, "State one bound at a time"),
        (lambda: bool(prob(A, given=B)), TypeError, "no truth value"),
        (lambda: bool(prob(A, given=B) < 0.1), TypeError, "no truth value"),
        (lambda: prob(A, given=B) == 0.1, TypeError, "== 0.1` bounds nothing"),
        (lambda: (prob(A, given=B) < 0.1) and A, TypeError, "each in a claim of its own"),
        (lambda: A & prob(A, given=B), TypeError, "joins formulas"),
        (lambda: always(prob(A, given=B)), TypeError, "always takes a formula"),
        (
            lambda: claim_of(prob(A, given=B)),
            TypeError,
            r"prob\(\.\.\., given=\.\.\.\) has no bound",
        ),
        (lambda: ConditionalBound(A, B, "==", 0.1), FormulaError, "compared by < <= > >="),  # type: ignore[arg-type]
        (lambda: Conditional(A, 3), TypeError, "takes a formula, found 3"),  # type: ignore[arg-type]
    ],
)
def test_a_malformed_bound_is_refused(bad: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        bad()  # type: ignore[operator]  # a function


def test_signals_of_formula_and_condition_are_declared_once() -> None:
    with pytest.raises(FormulaError, match="declared in two ways"):
        claim_of(prob(A, given=Signal("x") > 1) < 0.1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x > 0 given y > 1", r"write prob\(a given b\) < 0.01"),
        ("always(x > 0 given y > 1)", "`a given b` outside prob"),
        ("fraction(x > 0 given y > 1) > 0.5", "`a given b` outside prob"),
        ("prob(x > 0 given y > 1 given x > 2) < 0.1", "needs parentheses"),
        ("prob(x > 0 given y) < 0.1", "given takes formulas, found a term"),
        ("prob(x > 0, y > 1) < 0.1", r"prob takes 1 argument\(s\), found 2"),
        ("prob(x > 0, given y > 1) < 0.1", "expected a term or a formula, found 'given'"),
        ("prob(x > 0 given true) < 0.1", "reads no signal"),
        ("prob(x > 0 given y > 1)", r"expected a formula, found prob\(\.\.\.\)"),
        ("0.1 > prob(x > 0 given y > 1)", r"write prob\(\.\.\.\) first"),
        ("given > 1", "expected a term or a formula, found 'given'"),
    ],
)
def test_text_that_states_nothing_is_refused_at_its_place(text: str, problem: str) -> None:
    with pytest.raises(FormulaError, match=problem) as caught:
        parse_statement(text)
    assert "line 1, column" in str(caught.value)


def test_parse_sends_a_bound_to_a_claim() -> None:
    with pytest.raises(FormulaError, match="the statement of a Claim"):
        parse("prob(x > 0 given y > 1) < 0.1")


def test_a_claim_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r'safegym.check\(claim, trace\).status == "satisfied"'):
        bool(claim_of(A))
    with pytest.raises(TypeError, match="`claim is not None`"):
        _ = claim_of(A) or claim_of(B)


def test_old_digests_have_not_moved() -> None:
    """As computed by the release before conditions and quantiles."""
    mean_claim = claim_of(mean(fraction(A)) >= 0.5)
    found = claim_of(A).digest, claim_of(prob(A) < 0.1, confidence=0.9).digest, mean_claim.digest
    assert found == (
        "sha256:3596cf9d2eec11ae132bc4f0c55b1fd4a67a7b58ae4b4e74dc9907ab39e9803f",
        "sha256:d1f92b343c33cb80a9f4f88fc61e5c9e164ef5fde58de21240d6658a0ffda393",
        "sha256:ceab236cb089fb720461ab31abfab23f322d27cbb9afec700c1236b0e52ed742",
    )


def test_conservative_rounding_of_a_conditional_claim_is_the_one_of_its_property() -> None:
    claim = claim_of(prob(A, given=B) < 0.1, rounding="conservative")
    assert nnf(claim.property) is nnf(B.implies(~A))
