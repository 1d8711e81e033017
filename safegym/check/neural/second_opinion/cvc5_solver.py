"""cvc5: exact rational arithmetic, with a proof whose holes are counted."""

import time
from fractions import Fraction
from importlib import import_module
from typing import Any

from safegym.check.neural.problem import Problem
from safegym.check.neural.second_opinion.opinion import Opinion, violates
from safegym.check.neural.second_opinion.smtlib import smtlib

OPTIONS = {
    "produce-models": "true",
    "produce-proofs": "true",
    "proof-granularity": "dsl-rewrite",
}


def ask_cvc5(problem: Problem, timeout: float) -> Opinion:
    """cvc5's answer within `timeout` seconds. Raises ImportError where cvc5 is missing."""
    cvc5: Any = import_module("cvc5")
    started = time.monotonic()
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    for name, value in OPTIONS.items():
        solver.setOption(name, value)
    solver.setOption("tlimit-per", str(max(1, int(1000 * timeout))))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smtlib(problem), "problem")
    symbols, answer = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, symbols).strip() or answer
    terms = {str(term): term for term in symbols.getDeclaredTerms()}
    spent = time.monotonic() - started
    if answer == "sat":
        inputs = [terms[f"x{at}"] for at in range(problem.graph.inputs)]
        point = tuple(Fraction(solver.getValue(term).getRealValue()) for term in inputs)
        if violates(problem, point):
            return Opinion("cvc5", "VIOLATED", "A point replayed exactly.", spent, point)
        return Opinion("cvc5", "UNKNOWN", "Its point does not replay in exact arithmetic.", spent)
    if answer == "unsat":
        return _proved(cvc5, solver, started)
    reason = f"It gave up within the time limit of {timeout:g} s ({answer or 'no answer'})."
    return Opinion("cvc5", "UNKNOWN", reason, spent)


def _proved(cvc5: Any, solver: Any, started: float) -> Opinion:
    proofs = solver.getProof()
    text = "\n".join(str(solver.proofToString(each, cvc5.ProofFormat.CPC)) for each in proofs)
    holes = sum(_holes(each) for each in proofs)
    spent = time.monotonic() - started
    if holes:
        reason = f"Its proof has {holes} holes, so it is no proof."
        return Opinion("cvc5", "UNKNOWN", reason, spent, None, text, "CPC", holes)
    return Opinion("cvc5", "HOLDS", "A proof without holes.", spent, None, text, "CPC", 0)


def _holes(proof: Any) -> int:
    """Steps of a proof that are only asserted; each step is counted once."""
    seen, waiting, count = set[Any](), [proof], 0
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        count += "TRUST" in str(each.getRule()).upper()
        waiting.extend(each.getChildren())
    return count
