"""Reading what was printed: every node, sugar, statement and unit; claims through JSON."""

import json
from random import Random

import pytest
from formula_random import formula, statement

from safegym.formula import nodes as n
from safegym.formula.claim import Claim
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.rewrite import negate, nnf
from safegym.formula.terms import Apply
from safegym.formula.text import parse_statement


def _round_trips(count: int, seed: int) -> set[str]:
    """Prints and reads `count` statements. Returns the kinds of node and operation met."""
    draw = Random(seed)
    met: set[str] = set()
    for _ in range(count):
        stated = statement(draw, draw.randint(0, 3))
        parts = (stated,) if isinstance(stated, Formula) else stated.formulas
        found = parse_statement(str(stated), {s: None for part in parts for s in part.signals})
        assert found == stated
        if isinstance(stated, Formula):
            assert found is stated
        for node in (node for part in parts for node in postorder(part)):
            met.add(node.operation if isinstance(node, Apply) else type(node).__name__)
    return met


EVERY = {
    *("Boolean", "Atom", "Not", "And", "Or", "Implies", "Iff", "Xor", "Next", "WeakNext"),
    *("Previous", "WeakPrevious", "Until", "Release", "Since", "Trigger", "Always", "Eventually"),
    *("Once", "Historically", "Fraction", "Signal", "Component", "Constant", "Window"),
    *("+", "-", "*", "/", "neg", "abs", "min", "max", "norm", "sqrt", "exp", "sin", "cos"),
}


def test_a_thousand_random_statements_read_back_and_meet_every_node_and_operation() -> None:
    assert _round_trips(1000, seed=1) == EVERY


@pytest.mark.slow
def test_ten_thousand_random_statements_read_back() -> None:
    assert _round_trips(10_000, seed=2) == EVERY


def test_random_claims_survive_json() -> None:
    draw = Random(3)
    for number in range(200):
        claim = Claim(id=f"random.c{number}", statement=statement(draw, 2), confidence=0.9)
        again = Claim.from_json(json.loads(json.dumps(claim.to_json())))
        assert again == claim
        assert again.digest == claim.digest


def test_normal_forms_of_random_formulas_read_back() -> None:
    draw = Random(4)
    for _ in range(300):
        found = formula(draw, 3)
        for normal in (nnf(found), negate(found)):
            assert parse_statement(str(normal), normal.signals) is normal
            assert not any(
                isinstance(node, (n.Not, n.Implies, n.Iff, n.Xor)) for node in postorder(normal)
            )
