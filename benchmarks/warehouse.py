"""Warehouse pick-and-place: how many training episodes until success >= 0.92 is certified.

A network learns `arm/warehouse-pick-v0` from the scenario's scripted policy, on the network's own
episodes (on-policy distillation), and goes through the gate. All of its claims are certified
together: success with probability at least 0.92, no drop and no impact with probability 0.99 each.
The bar is 12,000 training episodes.

    python benchmarks/warehouse.py [--quick] [--json] [--rounds N] [--episodes N] [--seed N]

--quick learns from few episodes and certifies nothing: it shows that the parts run, and has no bar.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from safegym.cli.distil_progress import DistilProgress
from safegym.gate.distill import Net, Teacher, distil_teachers
from safegym.gate.plan import GatePlan
from safegym.scenario.registry import find

SCENARIO, SUCCESS = "arm/warehouse-pick-v0", "arm.warehouse_success"
BAR = 12_000


def learned(
    arguments: argparse.Namespace, folder: Path, progress: DistilProgress
) -> dict[str, Any]:
    """The student, what it took, and how its certification ended."""
    spec = find(SCENARIO)
    assert spec.good is not None
    begun = time.perf_counter()
    taught = distil_teachers(
        [Teacher(SCENARIO, spec.good())],
        student=Net(hidden=(64, 64), updates=arguments.updates),
        rounds=arguments.rounds,
        episodes=arguments.episodes,
        certify=not arguments.quick,
        certify_teachers=False,
        budget=arguments.cap,
        plan=GatePlan(lift=0.99),
        out=folder / "student",
        seed=arguments.seed,
        listener=progress.hear,
    )
    return {
        "training_episodes": arguments.rounds * arguments.episodes,
        "seconds": time.perf_counter() - begun,
        "student": taught.to_json(),
        "outcome": taught.joint.outcome,
    }


def main() -> int:
    """Runs and prints; 1 if nothing was certified within the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few episodes, no certification")
    parser.add_argument("--json", action="store_true", help="one object for machines")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--episodes", type=int, default=64, help="of a round")
    parser.add_argument("--updates", type=int, default=4_000, help="of a round")
    parser.add_argument("--cap", type=int, default=3_000, help="episodes of the attempt")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.episodes, arguments.updates = 2, 4, 100
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, DistilProgress() as progress:
        found = learned(arguments, Path(folder), progress)
    few = found["training_episodes"] <= BAR
    ok = few and (arguments.quick or found["outcome"] == "certified")
    if arguments.json:
        empty: dict[str, Any] = {"rivals": {}, "ratios": {}}
        bars = {"training_episodes": BAR, "success": 0.92}
        print(json.dumps({"figures": found, **empty, "bars": bars, "ok": ok}))
    else:
        print(json.dumps(found, indent=2))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
