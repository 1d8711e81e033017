"""Coverage of what the gate claims, end to end, on chains whose failure probability is exact.

Every episode goes through recorder, campaign (8 and 64 copies; failing episodes 30 times longer
than safe ones, and the reverse), monitor and tally. Printed: how often p < .01 is claimed, how
often anytime limits at 95 % hold the true p at every n, mean episodes to a decision, what a gate
of 100 epochs releases of policies at p = .012 (next to "299 clean episodes in each epoch"), and
what counting in finishing order would claim. A limit on a share is three standard deviations of
its own number of repeats wide. `--repeats 300 --cap 1200` ends in a minute.

    python benchmarks/coverage.py [--repeats 2000] [--cap 5000] [--quick] [--json]
"""

if __name__ == "coverage":  # imported from beside it, by who looks for the package of that name
    raise ImportError("benchmarks/coverage.py is a script; the package coverage is not here")

import argparse
import json
import math
import sys
import time
from fractions import Fraction
from typing import Any

import numpy as np
from covering.epochs import hundred_epochs
from covering.finishing import claims_below, claims_below_in_order
from covering.lanes import ORDERS, Lanes
from covering.sequences import UNSPENT, Ended, covered, tallied

from safegym.check.statistics import operating, spent_level

FAILURES = ("0.01", "0.0101", "0.005", "0.001")
TOGETHER = 5
"""Lanes of each probability in one campaign; more would blur outcome and finishing order."""
LEVEL = 0.05
GATE_FAILURE = "0.012"
GATE_LANES = 40
ATTACKED = "0.02"
ATTACK_CAP = 600
MEAN_BARS = {"0.001": 500.0, "0.005": 2800.0}
ERRORS = (
    "claims p < .01 at p = 0.01",
    "claims p < .01 at p = 0.0101",
    "refutes p < .01 at p = 0.01",
    "refutes p < .01 at p = 0.005",
    "refutes p < .01 at p = 0.001",
)
SAID = {"least": "at least", "most": "at most", "near": "exact"}
Figures = dict[str, float]
Bar = tuple[str, str, float]
"""Figure, side ("least", "most", "near"), number."""


def shares(repeats: int, cap: int) -> Figures:
    """Decisions and coverage at each probability, over all orders."""
    ended: dict[str, list[Ended]] = {failure: [] for failure in FAILURES}
    holds: dict[str, list[Any]] = {failure: [] for failure in FAILURES}
    campaigns = math.ceil(repeats / TOGETHER)
    for number in range(campaigns):
        with Lanes(FAILURES * TOGETHER, ORDERS[number % len(ORDERS)], number) as lanes:
            violated = lanes.more(cap)
        for at, failure in enumerate(FAILURES):
            own = range(at, len(FAILURES) * TOGETHER, len(FAILURES))
            holds[failure].append(
                covered(violated[:, at :: len(FAILURES)], Fraction(failure), LEVEL)
            )
            claims = lanes.spec.claims
            ended[failure] += [tallied(claims[lane], violated[:, lane], cap) for lane in own]
        progress(f"campaign {number + 1} of {campaigns}")
    figures: Figures = {}
    for failure in FAILURES:
        figures |= summed(
            failure, ended[failure][:repeats], np.concatenate(holds[failure])[:repeats]
        )
    return figures


def summed(failure: str, ended: list[Ended], holds: Any) -> Figures:
    """The figures of one probability."""
    return {
        f"claims p < .01 at p = {failure}": share(each.outcome == "certified" for each in ended),
        f"refutes p < .01 at p = {failure}": share(each.outcome == "refuted" for each in ended),
        f"mean episodes at p = {failure}": float(np.mean([each.episodes for each in ended])),
        f"upper limit covers at p = {failure}": float(holds[:, 0].mean()),
        f"lower limit covers at p = {failure}": float(holds[:, 1].mean()),
    }


def gate(runs: int) -> Figures:
    """How often a gate of 100 epochs releases a policy at p = .012, and the naive rule does."""
    released = naively = done = 0
    while done < runs:
        lanes = min(GATE_LANES, runs - done)
        found = hundred_epochs(GATE_FAILURE, lanes, ORDERS[(done // GATE_LANES) % 4], 1_000 + done)
        released, naively, done = released + found[0], naively + found[1], done + lanes
        progress(f"gate {done} of {runs}")
    return {
        "100 epochs at p = .012, released": released / runs,
        "100 epochs at p = .012, released by 299 clean": naively / runs,
    }


def attack(repeats: int) -> Figures:
    """P(claims p < .01) at p = .02 with 64 copies, in finishing order and in index order."""
    both = {"finishing": claims_below, "index": claims_below_in_order}
    return {
        f"claims p < .01 at p = .02, {word} order": share(
            rule(ATTACKED, (1, 30), 64, seed, ATTACK_CAP) for seed in range(repeats)
        )
        for word, rule in both.items()
    }


def share(found: Any) -> float:
    """Share of those that are true."""
    return float(np.mean([bool(each) for each in found]))


def bars(figures: Figures, repeats: int, gate_runs: int, cap: int) -> list[Bar]:
    """What the figures must reach.

    near: the exact chance, by dynamic programming over the tally's own boundary.
    """
    found: list[Bar] = []
    for name in figures:
        if "covers" in name:
            found.append((name, "least", floor3(1 - allowed(repeats))))
        elif name in ERRORS:
            found.append((name, "most", 1 - floor3(1 - allowed(repeats))))
    for failure in FAILURES:
        exact = operating(float(failure), 0.01, spent_level(UNSPENT, 1), cap=cap).below
        found.append((f"claims p < .01 at p = {failure}", "near", exact))
        if cap >= 5_000 and repeats >= 2_000 and failure in MEAN_BARS:
            found.append((f"mean episodes at p = {failure}", "most", MEAN_BARS[failure]))
    most = LEVEL if gate_runs >= 300 else allowed(gate_runs)
    found.append(("100 epochs at p = .012, released", "most", most))
    found.append(("claims p < .01 at p = .02, index order", "most", LEVEL))
    return found


def allowed(repeats: int) -> float:
    """The level, and three standard deviations of a share of that many repeats."""
    return LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / repeats)


def floor3(value: float) -> float:
    """Three decimals, rounded down: .935 at 2000 repeats, .912 at 300."""
    return math.floor(value * 1_000) / 1_000


def met(value: float, side: str, bar: float, repeats: int) -> bool:
    """Whether a figure is where it must be; near: within four standard deviations, one repeat."""
    if side == "near":
        return abs(value - bar) <= 4 * math.sqrt(bar * (1 - bar) / repeats) + 1 / repeats
    return value >= bar if side == "least" else value <= bar


def progress(text: str) -> None:
    """One line that overwrites itself, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{text:40}", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Run it and print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=2_000, help="repeats of each probability")
    parser.add_argument(
        "--cap", type=int, help="episodes of each; 5000, or 1200 below 2000 repeats"
    )
    parser.add_argument("--gate-runs", type=int, help="runs of the 100-epoch gate")
    parser.add_argument("--quick", action="store_true", help="40 repeats, in seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    repeats = 40 if options.quick else options.repeats
    cap = options.cap or (5_000 if repeats >= 2_000 else 1_200)
    runs = options.gate_runs or (300 if repeats >= 2_000 else 10 if options.quick else GATE_LANES)
    begun = time.perf_counter()
    figures = {**shares(repeats, cap), **gate(runs), **attack(min(repeats // 15, 100))}
    asked = bars(figures, repeats, runs, cap)
    failed = [each for each in asked if not met(figures[each[0]], *each[1:], repeats)]
    if options.json:
        result = {
            "figures": figures,
            "rivals": {},
            "ratios": {},
            "bars": {f"{name}, {SAID[side]}": bar for name, side, bar in asked},
            "missed": [f"{name}, {SAID[side]}" for name, side, _ in failed],
            "ok": not failed,
            "repeats": repeats,
            "cap": cap,
            "gate_runs": runs,
        }
        print(json.dumps(result))
    else:
        print(f"{repeats} repeats of {cap} episodes, {runs} runs of the gate")
        for name, value in figures.items():
            wanted = "; ".join(f"{SAID[side]} {bar:.4g}" for at, side, bar in asked if at == name)
            print(f"{name:48} {value:9.4f}   {wanted}")
        print(f"missed: {len(failed)}; {time.perf_counter() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
