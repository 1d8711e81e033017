"""Inductive sets: what a closed loop never leaves, proved in one step for all time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from safegym.check.loop.budget import Budget
from safegym.check.loop.finishing import concluded
from safegym.check.loop.plant import Plant, as_policy_graph
from safegym.check.loop.reach.prove import prove_reach
from safegym.check.loop.result import LoopProof, Obligation
from safegym.check.loop.sets import Box, StateSet, as_formula, check_some
from safegym.check.loop.settling import within
from safegym.check.loop.stating import check_semantics
from safegym.check.loop.transition import lands_in, transition
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Semantics
from safegym.check.neural.search import Listener
from safegym.formula.dynamics import Dynamics
from safegym.formula.formulas import Formula
from safegym.formula.nodes import Always, all_of
from safegym.formula.terms import Window
from safegym.trace.model import Trace

CELLS = 400
"""Cells that a flow's set is first cut into."""


def prove_inductive(
    plant: Plant,
    policy: Any,
    initial: StateSet,
    safe: StateSet,
    inductive: StateSet,
    *,
    box: Box | None = None,
    timeout: float = 60.0,
    semantics: Semantics = "deployed float32",
    workers: int = 1,
    certificate: str | Path | None = None,
    claim_id: str = "loop.inductive",
    listener: Listener | None = None,
) -> LoopProof:
    """Whether the loop, from `initial`, stays in `safe` for ever, because `inductive` holds it.

    Three obligations, each proved for itself: `initial` lies within S, S lies within `safe`, and
    from every state of S, under every disturbance, the next state is in S, with the action clipped
    as deployed. inductive: S, a box, a polytope, a union, or any formula over the states, bounded
    by linear comparisons; box: further limits, which become part of S. For a Flow a fourth: from S
    the states between the instants are safe too. timeout: seconds for all of them. certificate: a
    new folder for certificates of the searches. A violated obligation says that S does not do, with
    a replayed point; it does not say that the loop is unsafe. Raises UnsupportedError for what
    cannot be asked.
    """
    check_semantics(semantics)
    graph = as_policy_graph(policy, plant)
    start, kept, held = (
        as_formula(given, plant, word)
        for given, word in ((initial, "initial"), (safe, "safe"), (inductive, "inductive"))
    )
    if box is not None:
        held = all_of(held, as_formula(box, plant, "box"))
    check_some(start, plant, "the initial set")
    folder = None if certificate is None else Path(certificate)
    budget = Budget(timeout, workers, folder, listener, graph.digest)
    obligations = [
        within("initial", "every initial state is in S", plant, start, held, budget),
        within("safe", "every state of S is safe", plant, held, kept, budget),
    ]
    witness: Trace | None = None
    if isinstance(plant, Dynamics):
        said = "from every state of S, under every disturbance, the next state is in S"
        found, witness = transition(
            "step", said, plant, graph, held, lands_in(held), semantics, budget
        )
        obligations.append(found)
    else:
        flown, witness = _flow_obligations(plant, graph, kept, held, semantics, budget)
        obligations += flown
    return concluded(
        "inductive set",
        plant,
        graph,
        obligations,
        text=f"from {start}, always {kept}; S is {held}",
        claim_id=claim_id,
        semantics=semantics,
        budget=budget,
        witness=witness,
        judged=Always(held),
    )


def _flow_obligations(
    plant: Plant,
    policy: PolicyGraph,
    kept: Formula,
    held: Formula,
    semantics: Semantics,
    budget: Budget,
) -> tuple[list[Obligation], Trace | None]:
    """The step and what lies between the instants, on reach sets of one period."""
    found: list[Obligation] = []
    witness: Trace | None = None
    once = Window(plant.dt, plant.dt)
    asked = (
        ("step", "instants", Always(held, once), "the next state is in S"),
        (
            "between",
            "throughout",
            Always(kept, Window(0, plant.dt)),
            "the states until then are safe",
        ),
    )
    for name, when, formula, said in asked:
        if budget.left <= 0.0:
            why = f"the time limit of {budget.timeout:g} s was reached"
            found.append(Obligation(name, said, "UNKNOWN", "none", why, 0.0))
            continue
        proof = prove_reach(
            plant,
            policy,
            formula,
            held,
            steps=1,
            when="throughout" if when == "throughout" else "instants",
            cells=CELLS,
            timeout=budget.left,
            semantics=semantics,
            listener=budget.listener,
        )
        statement = f"from every state of S, under every disturbance, {said}"
        found.append(replace(proof.obligations[0], name=name, statement=statement))
        witness = witness or proof.witness
    return found, witness
