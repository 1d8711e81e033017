"""Falsification: success rate and median episodes to the first find, each method alone.

Every problem is searched by each method by itself (guided ones begin with a batch of random
episodes, which counts) and by the whole search as users get it, several times with other seeds.
Corners and random search are the baselines that every other row stands against, in the same run.
The bars: over all problems the whole search succeeds at least 0.95 times as often as the better
baseline of each problem (chosen afterwards, so it is no method that one could have picked), and
finds on systems with a known answer are in the middle no larger than that.

Rivals are compared where a Python that has them is named: `python -m venv rival && rival/bin/pip
install psy-taliro`, then `--psy-taliro rival/bin/python`; likewise `--verifai`.

    python benchmarks/falsification.py [--quick] [--json] [--psy-taliro PYTHON] [--verifai PYTHON]
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence

import numpy as np
from falsifying import rivals, single
from falsifying.problems import Problem, problems
from falsifying.systems import RULES, SMALLEST

Firsts = dict[str, list[int | None]]
WHOLE = "whole search"
BARS = {"whole_over_best_baseline": 0.95, "finds_over_smallest": 1.0}
RIVAL_PROBLEM = "switches"


def searched(problem: Problem, budget: int, repeats: int) -> tuple[Firsts, list[int]]:
    """First finds by method, and the sizes of the whole search's finds."""
    names = ["corners", "random", "cma", "annealing"]
    if single.has_gradient(problem):
        names.append("gradient")
    firsts: Firsts = {
        name: [single.first_find(problem, name, budget, seed) for seed in range(repeats)]
        for name in names
    }
    results = [single.whole(problem, budget, seed) for seed in range(repeats)]
    firsts[WHOLE] = [
        min((each.first for each in result.methods if each.first), default=None)
        for result in results
    ]
    return firsts, [len(find.components) for result in results for find in result.finds]


def compared(problem: Problem, pythons: dict[str, str], budget: int, repeats: int) -> Firsts:
    """First finds of the rivals that are there."""
    found: Firsts = {}
    for family, python in pythons.items():
        for kind in rivals.KINDS[family]:
            found[kind] = [
                rivals.first_find(problem, kind, python, budget, seed) for seed in range(repeats)
            ]
    return found


def success(firsts: Sequence[int | None]) -> float:
    """Share of the searches that found something."""
    return float(np.mean([first is not None for first in firsts]))


def middle(firsts: Sequence[int | None], budget: int) -> float:
    """Median episodes to the first find; one more than the budget where there was none."""
    return float(np.median([budget + 1 if first is None else first for first in firsts]))


def row(firsts: Sequence[int | None], budget: int) -> str:
    """A cell for people."""
    typical = middle(firsts, budget)
    return f"{success(firsts):.0%}, " + (f"{typical:g}" if typical <= budget else f"> {budget}")


def main() -> int:
    """Print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--psy-taliro", help="a Python that has psy-taliro")
    parser.add_argument("--verifai", help="a Python that has verifai")
    options = parser.parse_args()
    say: Callable[[str], None] = (lambda _: None) if options.json else print
    given = {"psy-taliro": options.psy_taliro, "verifai": options.verifai}
    pythons = {family: python for family, python in given.items() if python}
    budget, repeats, slow = (150, 3, 1) if options.quick else (200, 10, 3)
    tables: dict[str, Firsts] = {}
    sizes: dict[str, list[int]] = {}
    theirs: Firsts = {}
    say(f"success rate and median episodes to the first find, of at most {budget}:")
    for problem in problems(quick=options.quick):
        times = repeats if problem.name in RULES else slow
        tables[problem.name], sizes[problem.name] = searched(problem, budget, times)
        if problem.name == RIVAL_PROBLEM:
            theirs = compared(problem, pythons, budget, repeats)
        say(f"{problem.name} ({times} searches)")
        shown = {**tables[problem.name], **(theirs if problem.name == RIVAL_PROBLEM else {})}
        for name, firsts in shown.items():
            say(f"    {name:24} {row(firsts, budget)}")
        if problem.name in SMALLEST:
            say(f"    components of the finds: {sizes[problem.name]}, {SMALLEST[problem.name]} do")
    for family in given:
        if family not in pythons:
            say(f"not compared: {family} (name a Python that has it with --{family})")
    result = summary(tables, sizes, theirs, budget)
    if options.json:
        print(json.dumps(result))
    else:
        say(f"ratios {result['ratios']}, bars {result['bars']}, ok {result['ok']}")
    return 0 if result["ok"] else 1


def summary(
    tables: dict[str, Firsts], sizes: dict[str, list[int]], theirs: Firsts, budget: int
) -> dict[str, object]:
    """The house form."""
    figures = {
        f"{problem}: {name}": {"success": success(firsts), "median": middle(firsts, budget)}
        for problem, table in tables.items()
        for name, firsts in table.items()
    }
    ours = float(np.mean([success(table[WHOLE]) for table in tables.values()]))
    baselines = [
        max(success(table["corners"]), success(table["random"])) for table in tables.values()
    ]
    best = float(np.mean(baselines))
    excess = [
        float(np.median(sizes[problem])) / smallest
        for problem, smallest in SMALLEST.items()
        if sizes.get(problem)
    ]
    ratios = {
        "whole_over_best_baseline": ours / best if best else float(ours >= best),
        "finds_over_smallest": max(excess, default=0.0),
    }
    held = (
        ratios["whole_over_best_baseline"] >= BARS["whole_over_best_baseline"],
        0.0 < ratios["finds_over_smallest"] <= BARS["finds_over_smallest"],
    )
    rival_figures = {
        f"{RIVAL_PROBLEM}: {name}": {"success": success(firsts), "median": middle(firsts, budget)}
        for name, firsts in theirs.items()
    }
    return {
        "figures": figures,
        "rivals": rival_figures,
        "ratios": ratios,
        "bars": BARS,
        "ok": all(held),
    }


if __name__ == "__main__":
    sys.exit(main())
