"""Lyapunov conditions in discrete time: a function of the state that falls until it is small."""

from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

from safegym.check.loop.budget import Budget
from safegym.check.loop.finishing import concluded
from safegym.check.loop.graph import Step, node_of
from safegym.check.loop.plant import Plant, as_policy_graph
from safegym.check.loop.posing import Literal
from safegym.check.loop.result import LoopProof
from safegym.check.loop.sets import StateSet, as_formula, check_some
from safegym.check.loop.settling import within
from safegym.check.loop.stating import check_semantics
from safegym.check.loop.transition import Rule, lands_in, refuse_flow, transition
from safegym.check.neural.problem import Semantics
from safegym.check.neural.search import Listener
from safegym.check.neural.terms import term_node
from safegym.errors import UnsupportedError
from safegym.formula.declared import check_reads
from safegym.formula.nodes import all_of
from safegym.formula.terms import Constant, Term


def prove_lyapunov(
    plant: Plant,
    policy: Any,
    function: Term,
    domain: StateSet,
    *,
    level: float,
    inner: float,
    decrease: float,
    initial: StateSet | None = None,
    timeout: float = 60.0,
    semantics: Semantics = "deployed float32",
    workers: int = 1,
    certificate: str | Path | None = None,
    claim_id: str = "loop.lyapunov",
    listener: Listener | None = None,
) -> LoopProof:
    """Whether the loop comes to where `function` <= inner, in a known number of steps, and stays.

    From every state of the domain with V <= level, under every disturbance: the next state is in
    the domain; where V >= inner, V falls by at least `decrease` in a step; where V <= inner, it
    still is in the next. So V <= inner within (level - inner) / decrease steps, and from then on.
    function: V, a term over the states; level > inner and decrease > 0 in its unit. domain: bounded
    by linear comparisons. initial: states that are to lie in the domain with V <= level; without it
    the statement is about those that do. The rest is as in `prove_inductive`.
    """
    check_semantics(semantics)
    dynamics = refuse_flow(plant, "A Lyapunov function")
    graph = as_policy_graph(policy, plant)
    check_reads("function", (function,), plant.states)
    if not (inner < level and decrease > 0.0):
        raise UnsupportedError(
            f"level {level}, inner {inner}, decrease {decrease}: level must be above inner, and "
            "decrease above 0."
        )
    room = as_formula(domain, plant, "domain")
    check_some(room, plant, "the domain")
    folder = None if certificate is None else Path(certificate)
    budget = Budget(timeout, workers, folder, listener, graph.digest)
    whole = all_of(room, function <= Constant(level))
    outside = all_of(whole, function >= Constant(inner))
    inside = all_of(room, function <= Constant(inner))
    asked: list[tuple[str, str, Any, Rule]] = [
        ("domain", "where V <= level, the next state is in the domain", whole, lands_in(room)),
        (
            "decrease",
            f"where inner <= V <= level, V(next) <= V(now) - {decrease!r}",
            outside,
            _falls(function, decrease),
        ),
        (
            "inner",
            "where V <= inner, V(next) <= inner",
            inside,
            lands_in(function <= Constant(inner)),
        ),
    ]
    found, witness = [], None
    if initial is not None:
        start = as_formula(initial, plant, "initial")
        check_some(start, plant, "the initial set")
        said = "initial states are in the domain, V <= level"
        found.append(within("initial", said, plant, start, whole, budget))
    for name, said, before, rule in asked:
        each, trace = transition(name, said, dynamics, graph, before, rule, semantics, budget)
        found.append(each)
        witness = witness or trace
    steps = ceil((Fraction(level) - Fraction(inner)) / Fraction(decrease))
    return concluded(
        "Lyapunov function",
        plant,
        graph,
        found,
        text=(
            f"from V <= {level!r} in {room}, V <= {inner!r} within {steps} steps and ever after; V "
            f"is {function}, falling by {decrease!r} a step"
        ),
        claim_id=claim_id,
        semantics=semantics,
        budget=budget,
        witness=witness,
    )


def _falls(function: Term, decrease: float) -> Rule:
    """V(now) - decrease - V(next) >= 0."""

    def rule(step: Step) -> list[list[Literal]]:
        now = node_of(function, step)
        after = term_node(function, step.builder, step.next)
        parts = [(now, [[1.0]]), (after, [[-1.0]])]
        return [[(step.builder.linear(parts, [-decrease]), False)]]

    return rule
