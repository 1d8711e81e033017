"""z3, the monitor and the slow reference give the same status on every node and kind of end."""

from random import Random

import pytest
from reference_cases import KINDS, Case, case_of, random_atom, random_case, random_formula

from safegym.check.dispatch import check
from safegym.check.monitor import judge
from safegym.check.symbolic.backend import BACKEND
from safegym.formula.build import prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula, Fraction, all_of
from safegym.formula.rewrite import atoms_of
from safegym.formula.statements import Statement


def agree(seed: int) -> None:
    """A plain formula, one on a trace with gaps, or a statement about many episodes, in turn."""
    random = Random(seed)
    case = random_case(random, depth=3, longest=8, with_gaps=seed % 3 == 1)
    if seed % 3 == 2 and not isinstance(case.formula, Fraction):
        agree_on_claim(seed, random, case)
        return
    expected = case.reference.status(case.formula)
    assert BACKEND.check(case.formula, case.trace).status == expected, (seed, str(case.formula))
    assert judge(case.formula, case.trace).status == expected, (seed, str(case.formula))


def agree_on_claim(seed: int, random: Random, case: Case) -> None:
    claim = Claim(id="a.claim", statement=random_statement(random, case.formula))
    expected = case.reference.status(claim.property)
    found, judged = BACKEND.check(claim, case.trace), judge(claim, case.trace)
    assert found.status == judged.status == expected, (seed, str(claim.statement))
    assert found.condition == judged.condition, (seed, str(claim.statement))


def random_statement(random: Random, formula: Formula) -> Statement:
    pick = random.randrange(3 if atoms_of(formula) else 2)
    if pick == 0:
        return prob(formula) < 0.1 if random.random() < 0.5 else prob(formula) >= 0.9
    if pick == 1:
        given = all_of(random_formula(random, 2, []), random_atom(random))
        return prob(formula, given=given) >= 0.5
    return quantile(formula, 0.25) > random.choice([-1, 0, 1])


def test_status_agrees_on_random_formulas_and_traces() -> None:
    for seed in range(400):
        agree(seed)


@pytest.mark.slow
def test_status_agrees_on_ten_thousand_random_formulas_and_traces() -> None:
    for seed in range(1000, 11_000):
        agree(seed)


@pytest.mark.parametrize("kind", KINDS)
def test_exact_only_refines_what_the_monitor_leaves_open(kind: str) -> None:
    random = Random(hash_of(kind))
    refined = 0
    for _ in range(60):
        case = case_of(random, random_formula(random, 2, []), kind=kind, longest=6)
        if "norm" in str(case.formula):
            continue
        before = judge(case.formula, case.trace).status
        after = check(case.formula, case.trace, exact=True).status
        assert before == after or before == "inconclusive"
        refined += before != after
    assert refined == 0 or kind in ("horizon", "interrupted")


def hash_of(word: str) -> int:
    return sum(map(ord, word))
