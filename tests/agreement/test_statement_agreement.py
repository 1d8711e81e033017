"""Claims over episodes on single traces: conditions, tightened properties and shares, twice."""

import math
from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from reference_cases import KINDS, Case, random_atom, random_case, random_formula

from safegym.check.dispatch import check
from safegym.check.monitor import judge, measure, robustness
from safegym.check.monitor.robustness import satisfaction
from safegym.check.symbolic.backend import BACKEND
from safegym.formula import nodes as n
from safegym.formula.build import fraction, mean, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.reading import atoms_of

Statuses = tuple[str, str]


def case_of_a_formula(seed: int, *, with_gaps: bool = False, depth: int = 4) -> Case:
    """A random pair whose formula is no share of time, and reads a signal."""
    while True:
        case = random_case(Random(seed), with_gaps=with_gaps, depth=depth)
        if not isinstance(case.formula, n.Fraction) and atoms_of(case.formula):
            return case
        seed += 1_000_003


def conditional(seed: int, depth: int = 4) -> tuple[Claim, Case, Statuses]:
    """A conditional claim, a trace, and the reference's status of its property and condition."""
    draw = Random(seed)
    case = case_of_a_formula(seed, with_gaps=seed % 3 == 0, depth=depth)
    given = random_formula(draw, 2, [case.formula]) | random_atom(draw)
    below = draw.random() < 0.5
    bound = prob(case.formula, given=given)
    claim = Claim(id="a.claim", statement=bound < 0.1 if below else bound >= 0.9)
    wanted = n.Implies(given, n.Not(case.formula) if below else case.formula)
    status, condition = case.reference.status(wanted), case.reference.status(given)
    return claim, case, (status, counting(case, status, condition))


def counting(case: Case, status: str, condition: str) -> str:
    """The condition's own status; but one that a failure left open does not excuse a failure."""
    if case.reference.kind != "failed":
        assert status != "violated" or condition == "satisfied"
        assert status != "inconclusive" or condition != "violated"
        return condition
    if status == "satisfied" or condition == "satisfied":
        return condition
    return "satisfied" if status == "violated" else "inconclusive"


def test_property_and_condition_agree_with_the_reference_on_every_end() -> None:
    met: Counter[tuple[str, ...]] = Counter()
    for seed in range(700):
        claim, case, wanted = conditional(seed)
        verdict = judge(claim, case.trace)
        assert (verdict.status, verdict.condition) == wanted, (seed, str(claim.statement))
        met[case.reference.kind, *wanted] += 1
    for kind in KINDS:
        assert met[kind, "satisfied", "violated"] > 3, kind
        assert met[kind, "satisfied", "satisfied"] > 3, kind
        assert met[kind, "violated", "satisfied"] > 3, kind
    assert sum(count for key, count in met.items() if key[1:] == ("satisfied", "inconclusive")) > 3
    assert not any(key[1] == "violated" and key[2] != "satisfied" for key in met)


def test_z3_gives_the_same_property_and_condition() -> None:
    for seed in range(150):
        claim, case, wanted = conditional(seed, depth=3)
        found = BACKEND.check(claim, case.trace)
        assert (found.status, found.condition) == wanted, (seed, str(claim.statement))


def test_z3_refines_a_condition_only_where_it_was_open() -> None:
    refined = 0
    for seed in range(120):
        claim, case, (status, condition) = conditional(seed, depth=2)
        if "norm" in str(claim.statement):
            continue
        found = check(claim, case.trace, exact=True)
        assert found.status == status or status == "inconclusive"
        assert found.condition == condition or condition == "inconclusive"
        assert found.status != "violated" or found.condition == "satisfied"
        refined += (found.status, found.condition) != (status, condition)
    assert refined > 2


def tightened(seed: int, depth: int = 4) -> tuple[Claim, Case, float, bool]:
    """A quantile claim with a margin on which ties are frequent: values are whole numbers."""
    draw = Random(seed)
    case = case_of_a_formula(seed, with_gaps=seed % 3 == 0, depth=depth)
    margin = draw.choice([0.0, 0.0, 1.0, -1.0, 0.5, 2.0, -2.5])
    strict = draw.random() < 0.5
    bound = quantile(case.formula, 0.05)
    claim = Claim(id="a.claim", statement=bound > margin if strict else bound >= margin)
    return claim, case, margin, strict


def beats(value: float, margin: float, *, strict: bool) -> bool:
    return value > margin if strict else value >= margin


def check_tightened(seed: int) -> int:
    """The tightened property holds exactly where robustness beats the margin; counts ties."""
    claim, case, margin, strict = tightened(seed)
    low, high = robustness(case.formula, case.trace)
    must, may = satisfaction(claim, case.trace)
    told = (seed, str(claim.statement))
    assert must.tolist() == [beats(v, margin, strict=strict) for v in low.tolist()], told
    assert may.tolist() == [beats(v, margin, strict=strict) for v in high.tolist()], told
    wanted = case.reference.value(case.formula, 0)[2:]
    assert (bool(must[0]), bool(may[0])) == tuple(beats(v, margin, strict=strict) for v in wanted)
    return int(margin in low.tolist())


def test_the_tightened_property_holds_where_robustness_beats_the_margin() -> None:
    assert sum(check_tightened(seed) for seed in range(700)) > 80


@pytest.mark.slow
def test_the_tightened_property_is_exact_on_ten_thousand_pairs() -> None:
    assert sum(check_tightened(seed) for seed in range(2000, 12_000)) > 1000


def test_z3_judges_the_tightened_property_alike() -> None:
    for seed in range(150):
        claim, case, _, _ = tightened(seed, depth=3)
        assert BACKEND.check(claim, case.trace).status == judge(claim, case.trace).status, seed


def test_a_measured_share_encloses_the_exact_one_and_nothing_more() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(500):
        case = case_of_a_formula(seed, with_gaps=seed % 2 == 0)
        claim = Claim(id="a.mean", statement=mean(fraction(case.formula)) >= 0.5)
        found = measure(claim, case.trace)
        low, high = case.reference.share(case.formula)
        assert Fraction(found.lo) <= low, seed
        assert Fraction(found.hi) >= high, seed
        assert found.lo == low or Fraction(math.nextafter(found.lo, 2.0)) > low
        assert found.hi == high or Fraction(math.nextafter(found.hi, -1.0)) < high
        assert found.trace_digest == case.trace.digest
        kinds[case.reference.kind] += low < high
    assert kinds["interrupted"] > 20
    assert kinds["cut"] < kinds["interrupted"]
