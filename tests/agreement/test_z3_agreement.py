"""z3, the monitor and the slow reference give the same status on every node and kind of end."""

from random import Random

import pytest
from reference_cases import KINDS, case_of, random_case, random_formula

from safegym.check.dispatch import check
from safegym.check.monitor import judge
from safegym.check.symbolic.backend import BACKEND


def agree(seed: int) -> None:
    case = random_case(Random(seed), depth=3, longest=8)
    expected = case.reference.status(case.formula)
    assert BACKEND.check(case.formula, case.trace).status == expected, (seed, str(case.formula))
    assert judge(case.formula, case.trace).status == expected, (seed, str(case.formula))


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
