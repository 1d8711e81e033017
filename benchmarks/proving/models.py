"""Asks the provers about every claim of the ready models; prints the table of the reference.

    python -m benchmarks.proving.models

Seconds are processor time on one core, imports apart.
"""

import time
from collections.abc import Callable
from typing import Any

from safegym_scenarios.models import MODELS, find_model
from safegym_scenarios.models.ready import InductiveClaim, OneStepClaim, ReachClaim, ReadyModel

from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.reach import prove_reach
from safegym.check.neural.proof import prove
from safegym.check.symbolic.model import check_model
from safegym.formula.build import always

NAMES = {False: sorted(MODELS), True: ["double-integrator", "pendulum"]}
"""Models by whether it is to be quick."""


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


def measure(quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Seconds to the answer of each claim; an answer other than the recorded one is wrong."""
    rows = [_row(find_model(name), c) for name in NAMES[quick] for c in find_model(name).claims]
    for row in rows:
        say(
            f"{row['claim']:32} {row['answer']:9} {row['CPU s']:6.2f} s CPU, "
            f"{row['wall s']:6.2f} s wall ({row['how']})"
        )
    wrong = [row["claim"] for row in rows if row["answer"] != row["recorded"]]
    figures = {row["claim"]: row for row in rows} | {"answered otherwise than recorded": wrong}
    return {
        "figures": {"models": figures},
        "ratios": {"model claims wrong": len(wrong)},
        "bars": {"model claims wrong": 0},
    }


def _row(model: ReadyModel, claim: Any) -> dict[str, Any]:
    began, cpu = time.perf_counter(), time.process_time()
    result, how = answer(model, claim)
    return {
        "claim": claim.id,
        "meaning": claim.meaning,
        "how": how,
        "answer": result,
        "recorded": claim.answer,
        "CPU s": time.process_time() - cpu,
        "wall s": time.perf_counter() - began,
    }


def main() -> None:
    """Prints one row a claim."""
    for name in NAMES[False]:
        model = find_model(name)
        for claim in model.claims:
            row = _row(model, claim)
            result = row["answer"]
            wrong = "" if result == claim.answer else f" (recorded: {claim.answer})"
            print(
                f"| `{claim.id}` | {claim.meaning} | {row['how']} | {result}{wrong} "
                f"| {row['CPU s']:.2f} |"
            )


if __name__ == "__main__":
    main()
