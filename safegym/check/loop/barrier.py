"""Barrier conditions in discrete time: a function of the state that a loop keeps at 0 or above."""

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


def prove_barrier(
    plant: Plant,
    policy: Any,
    initial: StateSet,
    safe: StateSet,
    barrier: Term,
    domain: StateSet,
    *,
    gamma: float = 1.0,
    timeout: float = 60.0,
    semantics: Semantics = "deployed float32",
    workers: int = 1,
    certificate: str | Path | None = None,
    claim_id: str = "loop.barrier",
    listener: Listener | None = None,
) -> LoopProof:
    """Whether `barrier` >= 0 shows that the loop, from `initial`, stays in `safe` for ever.

    Four obligations: initial states lie in the domain with h >= 0; where h >= 0 in the domain it is
    safe; from there the next state is in the domain; and h(next) >= (1 - gamma) h(now) there, under
    every disturbance. barrier: h, a term over the states. domain: bounded by linear comparisons.
    gamma: in (0, 1]; 1 asks for h(next) >= 0 alone. The rest is as in `prove_inductive`.
    """
    check_semantics(semantics)
    dynamics = refuse_flow(plant, "A barrier")
    graph = as_policy_graph(policy, plant)
    check_reads("barrier", (barrier,), plant.states)
    if not 0.0 < gamma <= 1.0:
        raise UnsupportedError(f"gamma is {gamma}; it must be above 0 and at most 1.")
    start, kept, room = (
        as_formula(given, plant, word)
        for given, word in ((initial, "initial"), (safe, "safe"), (domain, "domain"))
    )
    check_some(start, plant, "the initial set")
    folder = None if certificate is None else Path(certificate)
    budget = Budget(timeout, workers, folder, listener, graph.digest)
    above = all_of(room, barrier >= Constant(0.0))
    found = [
        within("initial", "initial states are in the domain, h >= 0", plant, start, above, budget),
        within("safe", "where h >= 0 in the domain, it is safe", plant, above, kept, budget),
    ]
    left = 1.0 - gamma
    said = f"where h >= 0 in the domain, h(next) >= {left!r} h(now), under every disturbance"
    stays, first = transition(
        "domain",
        "where h >= 0 in the domain, the next state is in the domain",
        dynamics,
        graph,
        above,
        lands_in(room),
        semantics,
        budget,
    )
    keeps, second = transition(
        "condition", said, dynamics, graph, above, _keeps(barrier, left), semantics, budget
    )
    return concluded(
        "barrier",
        plant,
        graph,
        [*found, stays, keeps],
        text=f"from {start}, always {kept}; h is {barrier}, domain {room}, gamma {gamma!r}",
        claim_id=claim_id,
        semantics=semantics,
        budget=budget,
        witness=first or second,
    )


def _keeps(barrier: Term, left: float) -> Rule:
    """h(next) - left * h(now) >= 0."""

    def rule(step: Step) -> list[list[Literal]]:
        now = node_of(barrier, step)
        after = term_node(barrier, step.builder, step.next)
        parts = [(after, [[1.0]]), (now, [[-left]])]
        return [[(step.builder.linear(parts), False)]]

    return rule
