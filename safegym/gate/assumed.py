"""What every figure of a campaign rests on, in words: written by the run, checked from the log."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from safegym.gate.strata import Strata
from safegym.trace.model import Trace

DRAWN: Final = (
    "initial states, parameters and disturbances as its reset draws them from fresh seeds"
)
SIGNAL: Final = "signal "
"""How the lines on converted signals begin; only the scenario's own code knows them."""

INDEPENDENT: Final = "episodes are independent; the simulator stands for the system"
REPORTS: Final = "policy."
"""How the kinds of events begin that a policy reports of itself."""


def reported(traces: Iterable[Trace]) -> Counter[str]:
    """How often the policy reported what, in these episodes: kind of event -> count."""
    return Counter(
        event.kind for trace in traces for event in trace.events if event.kind.startswith(REPORTS)
    )


def reported_line(counts: Mapping[str, int]) -> tuple[str, ...]:
    """What is said of a policy's reports beside every figure; nothing where there are none."""
    if not counts:
        return ()
    told = ", ".join(f"{kind} {counts[kind]}" for kind in sorted(counts))
    return (f"observed in these episodes, which count as they went: {told}",)


def further(assumptions: Sequence[str]) -> tuple[str, ...]:
    """Those that not every figure rests on: of this policy, of what it reported, of signals."""
    lines = list(assumptions)
    return tuple(lines[lines.index(INDEPENDENT) + 1 :] if INDEPENDENT in lines else ())


def assumed(
    scenario: Mapping[str, Any], policy: Mapping[str, Any], strata: Strata | None
) -> tuple[str, ...]:
    """The assumptions that the log names itself.

    scenario: name, digest, horizon, dt (exact text), tail. policy: policy (its digest), mode,
    width, and assumptions where its card makes some. strata: the declared mix, None for the
    scenario's own draws.
    """
    return (
        f"scenario {scenario['name']} ({scenario['digest']})",
        DRAWN if strata is None else f"{DRAWN}, except {strata.text()}",
        f"horizon {scenario['horizon']} steps of {scenario['dt']} s, tail {scenario['tail']} steps",
        f"policy {policy['policy']}, {policy['mode']}, batch width {policy['width']}",
        INDEPENDENT,
        *policy.get("assumptions", ()),
    )


def assumed_fault(
    told: Sequence[str],
    scenario: Mapping[str, Any],
    policy: Mapping[str, Any] | None,
    strata: Strata | None,
    counts: Mapping[str, int],
) -> str:
    """Say which assumption is not the one that the log gives, or "".

    policy: the record of its freezing, None where the log has none: its line is then not compared.
    counts: what the policy reported in the episodes (`reported`).
    """
    card = policy or {"policy": "", "mode": "", "width": 0}
    due = (*assumed(scenario, card, strata), *reported_line(counts))
    for place, line in enumerate(due):
        skipped = policy is None and line.startswith("policy ")
        found = told[place] if place < len(told) else "nothing"
        if not skipped and found != line:
            return f"assumption {place} comes out as {line!r}, logged {found!r}"
    odd = [line for line in told[len(due) :] if not str(line).startswith(SIGNAL)]
    return f"nothing in the log gives the assumption {odd[0]!r}" if odd else ""
