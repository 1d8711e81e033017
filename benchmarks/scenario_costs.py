"""What recording an episode and judging its claims costs, as a share of a MuJoCo scenario's step.

For each core scenario on MuJoCo, eight episodes of its good policy's actions are stepped in bare
environments and, in turn, recorded as a campaign records them, and the traces judged on all claims
by compiled monitors. CPU time in one run; the fastest of a few repeats counts on either side, as a
busy machine only ever adds. Sub-step readings belong to the step: a scenario has them whether or
not anybody records. The share of the median scenario is held against the bar.

Run: python benchmarks/scenario_costs.py [--quick] [--json]
"""

import argparse
import json
import statistics
import sys
import time
from typing import Any

import numpy as np

from safegym.check.monitor import judge
from safegym.scenario.campaign import Campaign
from safegym.scenario.hands import Hands
from safegym.scenario.registry import find, names
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.wrap import recorded

BAR = 0.05
"""Largest share of the median scenario's step."""
QUICK = 6
COPIES = 8


def measured(spec: ScenarioSpec, repeats: int) -> dict[str, float]:
    """Microseconds a step of the environment, of recording and of judging, and their share."""
    policy = spec.good() if spec.good else None
    with Campaign(spec, policy, seed_of=int, tail=0, copies=COPIES, episodes=COPIES) as campaign:  # type: ignore[arg-type] # every core scenario has one
        actions = [trace.actions for _, trace in campaign]
    bare, watched = [[make() for _ in actions] for make in (spec.make_env, lambda: recorded(spec))]
    best = np.full(3, np.inf)
    for _ in range(repeats + 1):
        best = np.minimum(best, (_stepped(bare, actions), *_recorded(spec, watched, actions)))
    for env in (*bare, *watched):
        env.close()
    steps = sum(map(len, actions))
    step, both, judging = (float(ns) / steps / 1e3 for ns in best)
    return {
        "step_us": step,
        "recorder_us": both - step,
        "claims_us": judging,
        "share": (both - step + judging) / step,
    }


def _rounds(actions: list[Any]) -> list[Any]:
    """Actions of all copies, one array a round; those of an episode that is over are its last."""
    longest = max(map(len, actions))
    rows = [given[[min(k, len(given) - 1) for k in range(longest)]] for given in actions]
    return list(np.stack(rows, axis=1))


def _stepped(envs: list[Any], actions: list[Any]) -> int:
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    whole, lengths = actions[0].ndim == 1, [len(given) for given in actions]
    rounds = _rounds(actions)
    begin = time.process_time_ns()
    for index, row in enumerate(rounds):
        given = row.tolist() if whole else row
        for env, action, length in zip(envs, given, lengths, strict=True):
            if index < length:
                env.step(action)
    return time.process_time_ns() - begin


def _recorded(spec: ScenarioSpec, envs: list[Any], actions: list[Any]) -> tuple[int, int]:
    """As a campaign steps, with the ends of episodes, which make their traces; and judging them."""
    first = [env.reset(seed=seed)[0] for seed, env in enumerate(envs)]
    hands = Hands(np.array(first))
    for slot, env in enumerate(envs):
        hands.take(slot, env)
    whole, rounds = actions[0].ndim == 1, _rounds(actions)
    begin = time.process_time_ns()
    for row in rounds:
        hands.step_all(row, whole)
    stepped = time.process_time_ns()
    for env in envs:
        for claim in spec.claims:
            judge(claim, env.trace)
    return stepped - begin, time.process_time_ns() - stepped


def main() -> int:
    """Measures and prints; 1 if the share is above the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="six scenarios")
    parser.add_argument("--json", action="store_true", help="one object for machines")
    arguments = parser.parse_args()
    chosen = [name for name in names("core") if "mujoco" in find(name).physics]
    if arguments.quick:
        chosen = chosen[:: max(1, len(chosen) // QUICK)][:QUICK]
    figures = {name: measured(find(name), 3 if arguments.quick else 6) for name in chosen}
    share = statistics.median(each["share"] for each in figures.values())
    found = {
        "figures": {"scenarios": len(chosen), "median_share": share, "by_scenario": figures},
        "rivals": {"the environment's own step": "in the same run"},
        "ratios": {"median_share": share},
        "bars": {"median_share": BAR},
        "ok": share <= BAR,
    }
    if arguments.json:
        print(json.dumps(found))
        return 0 if share <= BAR else 1
    for name, each in figures.items():
        print(
            f"{name:36} step {each['step_us']:7.1f} us  recorder {each['recorder_us']:5.2f}  "
            f"claims {each['claims_us']:5.2f}  share {each['share']:.3f}"
        )
    verdict = "within" if share <= BAR else "above"
    print(f"median share over {len(chosen)} scenarios: {share:.4f}, {verdict} the bar of {BAR}")
    return 0 if share <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
