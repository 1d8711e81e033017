"""Specification patterns against their meaning in plain quantifiers over a finite trace."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from formula_strategies import margin

from safegym import Trace, check
from safegym.errors import FormulaError
from safegym.formula import nodes as n
from safegym.formula.build import always, eventually
from safegym.formula.patterns import (
    absence,
    bounded_response,
    existence,
    precedence,
    response,
    universality,
)
from safegym.formula.terms import Signal

P, S, Q, R = (Signal(name) > 0 for name in "psqr")
Rows = dict[str, list[bool]]

SCOPES: dict[str, dict[str, Any]] = {
    "globally": {},
    "before": {"before": R},
    "after": {"after": Q},
    "between": {"between": (Q, R)},
    "after and before": {"after": Q, "before": R},
    "after until": {"after_until": (Q, R)},
}


def spans(rows: Rows, scope: str, *, first_only: bool) -> Iterator[range]:
    """The stretches of samples that a scope means."""
    q, r, size = rows["q"], rows["r"], len(rows["q"])
    if scope == "globally":
        yield range(size)
    elif scope == "before":
        if True in r:
            yield range(r.index(True))
    elif scope == "after":
        starts = [i for i in range(size) if q[i]]
        for i in starts[:1] if first_only else starts:
            yield range(i, size)
    else:
        for i in range(size):
            if q[i] and not r[i]:
                closing = [j for j in range(i, size) if r[j]]
                if closing:
                    yield range(i, closing[0])
                elif scope == "after until":
                    yield range(i, size)


def universal(rows: Rows, span: range) -> bool:
    return all(rows["p"][i] for i in span)


def absent(rows: Rows, span: range) -> bool:
    return not any(rows["p"][i] for i in span)


def existent(rows: Rows, span: range) -> bool:
    return any(rows["p"][i] for i in span)


def responsive(rows: Rows, span: range) -> bool:
    return all(any(rows["s"][j] for j in span if j >= i) for i in span if rows["p"][i])


def prompt(rows: Rows, span: range) -> bool:
    """Within two samples."""
    return all(any(rows["s"][j] for j in span if i <= j <= i + 2) for i in span if rows["p"][i])


def preceded(rows: Rows, span: range) -> bool:
    return all(any(rows["s"][j] for j in span if j <= i) for i in span if rows["p"][i])


Meaning = Callable[[Rows, range], bool]
PATTERNS: dict[str, tuple[Callable[..., n.Formula], Meaning]] = {
    "universality": (lambda **scope: universality(P, **scope), universal),
    "absence": (lambda **scope: absence(P, **scope), absent),
    "existence": (lambda **scope: existence(P, **scope), existent),
    "response": (lambda **scope: response(P, S, **scope), responsive),
    "bounded response": (lambda **scope: bounded_response(P, S, within=2, **scope), prompt),
    "precedence": (lambda **scope: precedence(S, P, **scope), preceded),
}


def meant(name: str, rows: Rows, scope: str) -> bool:
    first_only = name in ("existence", "precedence")
    return all(PATTERNS[name][1](rows, span) for span in spans(rows, scope, first_only=first_only))


def random_rows(random: Random, size: int) -> Rows:
    rare = random.choice([0.15, 0.4, 0.7])
    return {name: [random.random() < rare for _ in range(size)] for name in "psqr"}


def trace_of(rows: Rows, end: str) -> Trace:
    return Trace.from_arrays(
        {name: [float(value) for value in row] for name, row in rows.items()},
        dt=1,
        end=end,  # type: ignore[arg-type]  # a kind
    )


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_means_what_its_scope_says(name: str, scope: str) -> None:
    formula = PATTERNS[name][0](**SCOPES[scope])
    random = Random(f"{name} {scope}")
    seen = set()
    for _ in range(400):
        rows = random_rows(random, random.randint(1, 8))
        values = {key: [1.0 if value else -1.0 for value in row] for key, row in rows.items()}
        answer = margin(formula, {"x": values["p"], **values}, 0) > 0
        assert answer == meant(name, rows, scope), rows
        seen.add(answer)
    assert seen == {True, False}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", PATTERNS)
def test_the_monitor_agrees_for_every_end(name: str, scope: str) -> None:
    """Unbounded patterns read the samples there are; an interruption leaves what is sure."""
    formula = PATTERNS[name][0](**SCOPES[scope])
    random = Random(f"{scope} {name}")
    for _ in range(40):
        rows = random_rows(random, random.randint(1, 7))
        ends = ["cut"] if name == "bounded response" else ["cut", "absorbed", "failed", "horizon"]
        for end in ends:
            expected = "satisfied" if meant(name, rows, scope) else "violated"
            assert check(formula, trace_of(rows, end)).status == expected, (end, rows)
        status = check(formula, trace_of(rows, "interrupted")).status
        for _ in range(6):
            more = random_rows(random, random.randint(0, 4))
            longer = {key: row + more[key] for key, row in rows.items()}
            later = "satisfied" if meant(name, longer, scope) else "violated"
            assert status in ("inconclusive", later), (rows, longer)


def test_bounded_response_is_always_trigger_implies_eventually_reaction() -> None:
    assert bounded_response(P, S, within="0.3") is always(P.implies(eventually(S, within="0.3")))
    assert response(P, S, within=Fraction(3, 10)) is bounded_response(P, S, within="0.3")
    assert str(absence(P)) == "always(not(p > 0))"
    assert universality(P, after=Q, before=R) is universality(P, between=(Q, R))


@pytest.mark.parametrize("pattern", [universality, absence, existence])
def test_a_pattern_takes_one_scope(pattern: Callable[..., n.Formula]) -> None:
    for scope in (
        {"after": Q, "between": (Q, R)},
        {"between": (Q, R), "after_until": (Q, R)},
        {"before": Q, "after_until": (Q, R)},
    ):
        with pytest.raises(FormulaError, match="A pattern takes one scope, found "):
            pattern(P, **scope)
    with pytest.raises(FormulaError, match=r"between takes a pair of formulas, between=\(q, r\)"):
        pattern(P, between=Q)
    with pytest.raises(TypeError, match="'during' is no scope; write before=r"):
        pattern(P, during=Q)
