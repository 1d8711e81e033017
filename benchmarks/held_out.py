"""How often the library's good policies keep their claims on seeds that nobody tuned on.

`safegym scenarios verify` runs seeds 0 to 19, on which limits, ranges and policies were tuned. Here
the good policy of each core scenario runs on twenty others, from 3000 on; an episode counts if all
claims of the scenario hold on it. The share of scenarios with at least 19 of 20 is held against
the bar, the share that verification asks for on its own seeds.

Run: python benchmarks/held_out.py [--quick] [--json]
"""

import argparse
import json
import sys

from safegym.check.monitor import judge
from safegym.check.tail import tail_steps
from safegym.formula.rewrite import to_steps
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find, names
from safegym.scenario.spec import ScenarioSpec

FIRST, SEEDS, NEEDED = 3000, 20, 19
BAR = 0.95
"""Least share of scenarios with 19 of 20 or more."""
QUICK = 8


def kept(spec: ScenarioSpec) -> int:
    """On how many seeds the good policy keeps every claim."""
    tail = max(
        tail_steps(to_steps(claim.property, spec.clock.dt, rounding=claim.rounding), spec.horizon)
        for claim in spec.claims
    )
    policy = spec.good() if spec.good else None
    with Campaign(
        spec,
        policy,  # type: ignore[arg-type] # every core scenario has one
        seed_of=lambda index: FIRST + index,
        tail=tail,
        copies=SEEDS,
        episodes=SEEDS,
    ) as campaign:
        traces = [trace for _, trace in campaign]
    return sum(
        all(judge(claim, trace).status == "satisfied" for claim in spec.claims) for trace in traces
    )


def main() -> int:
    """Runs and prints; 1 if the share is below the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="eight scenarios")
    parser.add_argument("--json", action="store_true", help="one object for machines")
    arguments = parser.parse_args()
    chosen = names("core")
    if arguments.quick:
        chosen = chosen[:: len(chosen) // QUICK][:QUICK]
    found = {}
    for name in chosen:
        found[name] = kept(find(name))
        if not arguments.json and found[name] < SEEDS:
            print(f"{name:40} {found[name]} of {SEEDS}", flush=True)
    share = sum(count >= NEEDED for count in found.values()) / len(found)
    counts = {str(count): sum(n == count for n in found.values()) for count in set(found.values())}
    result = {
        "figures": {"scenarios": len(found), "by_count": counts, "share": share},
        "rivals": {"verification's own seeds": "0 to 19"},
        "ratios": {"share": share},
        "bars": {"share": BAR},
        "ok": share >= BAR,
    }
    print(json.dumps(result) if arguments.json else f"share with {NEEDED} or more: {share:.4f}")
    return 0 if share >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
