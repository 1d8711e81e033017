"""The specification check beside brute force over every trace of a few samples."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest

from safegym.check.monitor import judge
from safegym.check.symbolic.parts import parts, replaced
from safegym.check.symbolic.specification import check_specification
from safegym.formula import nodes as n
from safegym.formula.build import prob
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal, Window
from safegym.trace.model import Trace

DT = Fraction(1, 10)
HORIZON = 2
MODE = Signal("mode", labels={"LOW": 0, "MID": 1, "HIGH": 2})
STATES = (0, 1, 2)


def formula_of(random: Random, depth: int) -> Formula:
    if depth == 0:
        return random.choice([MODE >= 1, MODE <= 0, MODE >= 2, MODE.is_("MID")])
    kind = random.randrange(6)
    first = formula_of(random, depth - 1)
    window = random.choice([Window(0, None), Window(0, DT), Window(DT, DT)])
    if kind == 0:
        return random.choice([n.Always, n.Eventually, n.Once, n.Historically])(first, window)
    second = formula_of(random, depth - 1)
    if kind == 1:
        return random.choice([n.Until, n.Release, n.Since, n.Trigger])(first, second, window)
    if kind == 2:
        return first.implies(second)
    if kind == 3:
        return n.all_of(first, second)
    return n.any_of(first, second) if kind == 4 else ~first


def claim_of(name: str, random: Random) -> Claim:
    formula = formula_of(random, 2)
    if random.random() < 0.2:
        edge = random.choice([0.34, 0.5, 0.67])
        formula = n.Fraction(formula, random.choice(["<", "<=", ">", ">="]), edge)
    return Claim(id=name, statement=formula)


def every_trace(ahead: int = 5) -> Iterator[Trace]:
    """All traces; a window looks at most `ahead` samples past the horizon."""
    for values in itertools.product(STATES, repeat=HORIZON + 1 + ahead):
        yield Trace.from_arrays({"mode": values}, dt=DT, horizon=HORIZON)


ALL = tuple(every_trace(2))


def table(formula: Formula) -> tuple[bool, ...]:
    """The truth of a formula on every trace."""
    found = [judge(formula, trace).status for trace in ALL]
    assert "inconclusive" not in found
    return tuple(status == "satisfied" for status in found)


@pytest.mark.parametrize("seed", range(12))
def test_two_claims_are_answered_as_brute_force_says(seed: int) -> None:
    random = Random(seed)
    claims = [claim_of("a.one", random), claim_of("a.two", random)]
    tables = {claim.id: table(claim.property) for claim in claims}
    report = check_specification(claims, dt=DT, horizon=HORIZON, timeout=20)
    for claim in claims:
        held = tables[claim.id]
        assert status(report, "can hold", claim.id) == ("ok" if any(held) else "flawed")
        assert status(report, "can fail", claim.id) == ("flawed" if all(held) else "ok")
    one, two = tables.values()
    together = any(a and b for a, b in zip(one, two, strict=True))
    (found,) = report.of("can hold together")
    assert found.status == ("ok" if together else "flawed")
    for finding in report.of("adds to the others"):
        mine = tables[finding.claims[0]]
        other = two if mine is one else one
        implied = all(a or not b for a, b in zip(mine, other, strict=True))
        assert finding.answer == ("warning" if implied else "yes"), finding


def status(report, question: str, claim: str) -> str:  # type: ignore[no-untyped-def]
    return next(f.status for f in report.of(question) if f.claims == (claim,))


@pytest.mark.parametrize("seed", range(20, 30))
def test_a_part_is_idle_exactly_where_some_constant_gives_the_same_traces(seed: int) -> None:
    random = Random(seed)
    claim = claim_of("a.one", random)
    whole = table(claim.property)
    report = check_specification([claim], dt=DT, horizon=HORIZON, timeout=20)
    warned = [f.detail for f in report.of("every part matters") if f.answer == "warning"]
    if not any(whole) or all(whole) or any(f.status == "flawed" for f in report.findings):
        assert not warned
        return
    idle: list[tuple[int, ...]] = []
    for part in parts(claim.property):
        if any(part.path[: len(path)] == path for path in idle):
            continue
        both = [table(replaced(claim.property, part.path, value)) for value in (True, False)]
        if whole in both:
            idle.append(part.path)
            assert any(f"`{part.formula}` never matters" in detail for detail in warned)
    assert len(warned) == len(idle)


def pattern_tables(claims: list[Claim]) -> set[tuple[bool, ...]]:
    return set(zip(*(table(claim.formula) for claim in claims), strict=True))


@pytest.mark.parametrize("seed", range(40, 48))
def test_bounds_on_probabilities_fit_as_a_linear_programme_over_all_patterns_says(
    seed: int,
) -> None:
    from scipy.optimize import linprog

    random = Random(seed)
    claims = []
    for number in range(3):
        formula, bound = formula_of(random, 1), random.choice([0.25, 0.5, 0.75])
        statement = prob(formula) <= bound if random.random() < 0.5 else prob(formula) >= bound
        claims.append(Claim(id=f"a.p{number}", statement=statement))
    patterns = sorted(pattern_tables(claims))
    rows, limits = [], []
    for place, claim in enumerate(claims):
        sign = 1.0 if claim.statement.below else -1.0  # type: ignore[union-attr]
        rows.append([sign * held[place] for held in patterns])
        limits.append(sign * claim.statement.threshold)  # type: ignore[union-attr]
    weights = [[1.0] * len(patterns)]
    best = linprog([0.0] * len(patterns), A_ub=rows, b_ub=limits, A_eq=weights, b_eq=[1.0])
    report = check_specification(claims, dt=DT, horizon=HORIZON, timeout=20, thorough=False)
    fine = all(f.status == "ok" for f in report.of("can hold together"))
    assert fine == (best.status == 0), [str(claim.statement) for claim in claims]
