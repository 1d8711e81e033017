"""Asks the provers about every claim of the ready models; prints the table of the reference.

    python -m benchmarks.proving.models

Seconds are processor time on one core, imports apart.
"""

import time
from typing import Any

from safegym_scenarios.models import MODELS, find_model
from safegym_scenarios.models.ready import InductiveClaim, OneStepClaim, ReachClaim, ReadyModel

from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.reach import prove_reach
from safegym.check.neural.proof import prove
from safegym.check.symbolic.model import check_model
from safegym.formula.build import always


def answer(model: ReadyModel, claim: Any) -> tuple[str, str]:
    """What the prover of that kind of claim says, and how it was asked."""
    policy, plant = model.policy(), model.dynamics
    match claim:
        case OneStepClaim():
            found: Any = prove(policy, claim.formula, region=claim.limits)
            return found.result, "network, one step"
        case InductiveClaim():
            found = prove_inductive(plant, policy, claim.initial, claim.safe, claim.inductive)
            return found.result, "inductive set"
        case ReachClaim():
            start, steps = claim.start, claim.steps
            found = prove_reach(plant, policy, always(claim.safe), start, steps=steps)
            return found.result, f"reach sets, {steps} steps"
        case _:
            found = check_model(
                plant,
                model.policy("tree"),
                always(claim.always),
                initial=claim.start,
                steps=claim.steps,
                method=claim.method,
            )
            return found.result, f"tree, z3, {claim.method}"


def main() -> None:
    """Prints one row a claim."""
    for name in sorted(MODELS):
        model = find_model(name)
        for claim in model.claims:
            began = time.process_time()
            result, how = answer(model, claim)
            took = time.process_time() - began
            wrong = "" if result == claim.answer else f" (recorded: {claim.answer})"
            print(f"| `{claim.id}` | {claim.meaning} | {how} | {result}{wrong} | {took:.2f} |")


if __name__ == "__main__":
    main()
