"""What the end of an attempt must say of the episodes that were run again."""

from collections.abc import Mapping
from typing import Any

from safegym.gate.plan import GatePlan
from safegym.gate.recount import Campaign
from safegym.gate.repeats import chosen, reason
from safegym.gate.tally import Outcome
from safegym.scenario.determinism import Difference


def repeats_fault(
    repeated: Mapping[str, Any], campaign: Campaign, outcome: Outcome | None, plan: GatePlan
) -> str:
    """Say what is wrong with the record of repeated episodes, or "".

    Which episodes had to be run again follows from their seeds; a difference must name one of
    them. outcome: of the counts alone.
    """
    seeds = campaign.seeds
    due: list[int] = []
    if outcome == "certified":
        due = list(chosen(seeds.__getitem__, len(seeds), plan.repeats))
    if repeated["indices"] != due:
        return f"episodes {due} were to be run again, logged {repeated['indices']}"
    for difference in repeated["differences"]:
        index = difference["index"]
        if index not in due or difference["seed"] != str(seeds[index]):
            return f"a difference names episode {index}, which was not run again"
    return ""


def reasons_of(repeated: Mapping[str, Any]) -> list[str]:
    """The reasons that these differences give."""
    return [
        reason(
            Difference(
                seed=int(item["seed"]),
                step=int(item["step"]),
                what=str(item["what"]),
                first=float(item["first"]),
                second=float(item["second"]),
                index=int(item["index"]),
            )
        )
        for item in repeated["differences"]
    ]
