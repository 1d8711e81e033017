"""What every figure of a campaign rests on, in words: written by the run, checked from the log."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from safegym.gate.strata import Strata

DRAWN: Final = (
    "initial states, parameters and disturbances as its reset draws them from fresh seeds"
)
SIGNAL: Final = "signal "
"""How the lines on converted signals begin; only the scenario's own code knows them."""


def assumed(
    scenario: Mapping[str, Any], policy: Mapping[str, Any], strata: Strata | None
) -> tuple[str, ...]:
    """The assumptions that the log names itself.

    scenario: name, digest, horizon, dt (exact text), tail. policy: policy (its digest), mode,
    width. strata: the declared mix, None for the scenario's own draws.
    """
    return (
        f"scenario {scenario['name']} ({scenario['digest']})",
        DRAWN if strata is None else f"{DRAWN}, except {strata.text()}",
        f"horizon {scenario['horizon']} steps of {scenario['dt']} s, tail {scenario['tail']} steps",
        f"policy {policy['policy']}, {policy['mode']}, batch width {policy['width']}",
        "episodes are independent; the simulator stands for the system",
    )


def assumed_fault(
    told: Sequence[str],
    scenario: Mapping[str, Any],
    policy: Mapping[str, Any] | None,
    strata: Strata | None,
) -> str:
    """Say which assumption is not the one that the log gives, or "".

    policy: the record of its freezing, None where the log has none: its line is then not compared.
    """
    card = policy or {"policy": "", "mode": "", "width": 0}
    due = assumed(scenario, card, strata)
    for place, line in enumerate(due):
        skipped = policy is None and line.startswith("policy ")
        found = told[place] if place < len(told) else "nothing"
        if not skipped and found != line:
            return f"assumption {place} comes out as {line!r}, logged {found!r}"
    odd = [line for line in told[len(due) :] if not str(line).startswith(SIGNAL)]
    return f"nothing in the log gives the assumption {odd[0]!r}" if odd else ""
