"""Other solvers' answers: replayed, without holes, missing or late in words, never silent."""

import sys
from fractions import Fraction

import pytest
from certified import small_problem

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.problem import Positive, Problem, Region
from safegym.check.neural.second_opinion import (
    DisagreementError,
    cvc5_solver,
    second_opinion,
    smtlib,
)
from safegym.errors import UnsupportedError


def line(bias: float, strict: bool = True) -> Problem:
    """relu(x) - relu(-x) + bias = x + bias on [1/3, 1]."""
    builder = GraphBuilder(1)
    x = builder.input()
    up = builder.apply("relu", x)
    down = builder.apply("relu", builder.linear([(x, [[-1.0]])]))
    at = builder.linear([(up, [[1.0]]), (down, [[-1.0]])], [bias])
    region = Region((Fraction(1, 3),), (Fraction(1),))
    return Problem(builder.graph(at), region, ((Positive(0, strict),),), "real")


def test_cvc5_proves_without_holes_what_holds() -> None:
    pytest.importorskip("cvc5")
    (opinion,) = second_opinion(line(-0.25), ("cvc5",), ours="PROVED")
    assert (opinion.answer, opinion.holes) == ("HOLDS", 0)
    assert opinion.proof_format == "CPC"
    assert "(step" in opinion.proof or "(assume" in opinion.proof


def test_cvc5_finds_a_point_that_replays_where_it_fails() -> None:
    pytest.importorskip("cvc5")
    (opinion,) = second_opinion(line(-0.5), ("cvc5",), ours="COUNTEREXAMPLE")
    assert opinion.answer == "VIOLATED"
    assert opinion.point is not None
    assert Fraction(1, 3) <= opinion.point[0] <= Fraction(1, 2)


def test_strictness_decides_a_tie_in_exact_arithmetic() -> None:
    pytest.importorskip("cvc5")
    builder = GraphBuilder(1)
    at = builder.apply("relu", builder.input())
    region = Region((Fraction(-1),), (Fraction(1),))
    for strict, answer in ((True, "VIOLATED"), (False, "HOLDS")):
        problem = Problem(builder.graph(at), region, ((Positive(0, strict),),), "real")
        assert second_opinion(problem, ("cvc5",))[0].answer == answer


def test_marabou_agrees_and_its_point_is_replayed() -> None:
    pytest.importorskip("maraboupy")
    holds = small_problem(seed=0, slack=0.3, semantics="real")
    assert second_opinion(holds, ("marabou",), ours="PROVED")[0].answer == "HOLDS"
    (opinion,) = second_opinion(line(-0.5), ("marabou",), ours="COUNTEREXAMPLE")
    assert opinion.answer == "VIOLATED"
    assert opinion.point is not None


def test_a_point_of_marabou_that_does_not_replay_is_unknown() -> None:
    """2.0.0 calls this one satisfiable, at a point where the output is 1/12."""
    pytest.importorskip("maraboupy")
    (opinion,) = second_opinion(line(-0.25), ("marabou",), ours="PROVED")
    assert opinion.answer == "UNKNOWN"
    assert "does not replay" in opinion.reason


def test_a_disagreement_is_an_error_with_both_answers() -> None:
    pytest.importorskip("cvc5")
    with pytest.raises(DisagreementError, match=r"Ours: PROVED. cvc5: VIOLATED at \["):
        second_opinion(line(-0.5), ("cvc5",), ours="PROVED")
    with pytest.raises(DisagreementError, match=r"Ours: COUNTEREXAMPLE. cvc5: HOLDS"):
        second_opinion(line(-0.25), ("cvc5",), ours="COUNTEREXAMPLE")


def test_a_proof_with_holes_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cvc5")
    monkeypatch.setattr(cvc5_solver, "_holes", lambda _: 2)
    (opinion,) = second_opinion(line(-0.25), ("cvc5",))
    assert opinion.answer == "UNKNOWN"
    assert "holes, so it is no proof" in opinion.reason


def test_a_missing_solver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    monkeypatch.setitem(sys.modules, "maraboupy", None)
    monkeypatch.setitem(sys.modules, "maraboupy.Marabou", None)
    for opinion in second_opinion(line(-0.25)):
        assert opinion.answer == "UNKNOWN"
        assert "pip install 'safegym[second-opinion]'" in opinion.reason


def test_a_time_limit_of_another_solver_is_unknown_in_words() -> None:
    pytest.importorskip("cvc5")
    problem = small_problem(seed=2, sizes=(4, 40, 40, 2), semantics="real")
    (opinion,) = second_opinion(problem, ("cvc5",), timeout=0.3)
    assert opinion.answer == "UNKNOWN"
    assert "time limit of 0.3 s" in opinion.reason


def test_a_node_that_is_not_piecewise_linear_is_named() -> None:
    for opinion in second_opinion(small_problem("tanh")):
        assert opinion.answer == "UNKNOWN"
        assert "'tanh' is not piecewise linear" in opinion.reason or "install" in opinion.reason


def test_what_is_asked_wrongly_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"known are \['cvc5', 'marabou'\]"):
        second_opinion(line(-0.25), ("yices",))
    with pytest.raises(UnsupportedError, match="timeout must be positive"):
        second_opinion(line(-0.25), timeout=0.0)


def test_the_text_for_solvers_is_exact_and_satisfiable_only_by_violations() -> None:
    z3 = pytest.importorskip("z3")
    text = smtlib(line(-0.5))
    assert "(/ 1 3)" in text
    for bias, answer in ((-0.5, "sat"), (-0.25, "unsat")):
        solver = z3.Solver()
        solver.from_string(smtlib(line(bias)).replace("(check-sat)", ""))
        assert str(solver.check()) == answer
