"""Episodes needed and errors made, against pydsmc and Clopper-Pearson, on the same chains.

The question is whether p < .01 at 95 %. Chains fail with an exactly known p; failing episodes are
30 times longer than safe ones; 8 copies run together. Ours looks after every episode. pydsmc runs
as its documentation says (default, epsilon=.005, `sound=True`); it claims p < .01 where it reports
convergence to an interval below. Clopper-Pearson is read once at a fixed n, and after every
episode. Shown for each p: the share of runs that claim p < .01, that give limits which exclude the
true p, that answer [0, 0], and mean episodes.

pydsmc is measured where it is installed (`pip install pydsmc`), or under another interpreter that
has it: `--pydsmc PYTHON`, or SAFEGYM_PYDSMC=PYTHON.

    python benchmarks/statistics_rivals.py [--quick] [--json] [--pydsmc PYTHON]
"""

import argparse
import json
import math
import sys
from fractions import Fraction
from typing import Any

from statistical_rivals import asking
from statistical_rivals.streams import (
    LEVEL,
    Concluded,
    e_process,
    fixed_clopper_pearson,
    outcomes,
    peeked_clopper_pearson,
)

FAILURES = ("1/2000", "1/1000", "1/200", "1/100", "0.0101", "3/250")
WRONG = ("0.0101", "3/250")
"""Where p < .01 is false, so that each claim of it is an error."""
LENGTHS = (1, 30)
CAP = 3_000
APART = 1_000
"""Runs of one p start this many seeds after those of the last, so that no two share draws."""
SLOW = "sound, epsilon=.005"
"""Takes 38 650 episodes a run, so it is repeated less."""
Table = dict[str, dict[str, float]]


def summed(runs: list[Concluded]) -> dict[str, float]:
    """Shares and means over runs."""
    count = len(runs)
    return {
        "claims": sum(each.claims for each in runs) / count,
        "misses": sum(each.misses for each in runs) / count,
        "zero": sum(each.zero for each in runs) / count,
        "episodes": sum(each.episodes for each in runs) / count,
        "runs": float(count),
    }


def ours_and_clopper_pearson(repeats: int, cap: int) -> Table:
    """Rules that read one stream: each gets the very same episodes."""
    rules = {
        "safegym": e_process,
        "Clopper-Pearson at n = 299": lambda found, p: fixed_clopper_pearson(found, p, 299),
        "Clopper-Pearson at n = 1000": lambda found, p: fixed_clopper_pearson(found, p, 1_000),
        "Clopper-Pearson, peeked at": peeked_clopper_pearson,
    }
    table: Table = {}
    for at, failure in enumerate(FAILURES):
        p = float(Fraction(failure))
        streams = []
        for seed in range(repeats):
            streams.append(outcomes(failure, LENGTHS, 8, seed + APART * at, cap))
            progress(f"p = {failure}: {seed + 1} of {repeats}")
        for name, rule in rules.items():
            table[f"{name} | {failure}"] = summed([rule(found, p) for found in streams])
    return table


def theirs(python: str, repeats: int, slow: int) -> tuple[str, Table]:
    """The same forks under pydsmc."""
    version, table = "", {}
    for kind in asking.KINDS:
        for at, failure in enumerate(FAILURES):
            progress(f"pydsmc, {kind}, p = {failure}")
            times = slow if kind == SLOW else repeats
            jobs = [asking.job(kind, failure, seed + APART * at) for seed in range(times)]
            version, answers = asking.ask(python, jobs)
            p = float(Fraction(failure))
            read = [asking.read(answer, p) for answer in answers]
            table[f"pydsmc {version}, {kind} | {failure}"] = summed(read)
    blind, seeing = (
        asking.ask(python, [asking.job("default", "1/2", 0, sees=sees)])[1][0]["mean"]
        for sees in ("end", "reward")
    )
    table["pydsmc, hazard seen in observations | 1/2"] = {"share": blind}
    table["pydsmc, hazard seen in rewards | 1/2"] = {"share": seeing}
    return version, table


def ratios(ours: Table, others: Table) -> dict[str, float]:
    """Episodes of a rule over ours, where both claim p < .01 rightly in most runs."""
    found: dict[str, float] = {}
    for name, row in {**ours, **others}.items():
        rule, _, failure = name.partition(" | ")
        mine = ours.get(f"safegym | {failure}")
        if rule != "safegym" and mine and "claims" in row and failure not in WRONG:
            found[f"episodes, {rule} / safegym, p = {failure}"] = row["episodes"] / mine["episodes"]
    return found


def progress(text: str) -> None:
    """One line that overwrites itself, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{text:60}", end="", file=sys.stderr, flush=True)


def show(table: Table) -> None:
    """The table, a line for each rule and p."""
    print(f"{'':58} {'claims':>7} {'misses':>7} {'[0,0]':>7} {'episodes':>9} {'runs':>5}")
    for name, row in table.items():
        if "claims" not in row:
            print(f"{name:58} {row['share']:7.3f}")
            continue
        wrong = " <- an error" if name.partition(" | ")[2] in WRONG and row["claims"] else ""
        print(
            f"{name:58} {row['claims']:7.3f} {row['misses']:7.3f} {row['zero']:7.3f} "
            f"{row['episodes']:9.0f} {row['runs']:5.0f}{wrong}"
        )


def main() -> int:
    """Run it; 0 if ours keeps its promise in this run's own limits."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="4 short runs of each instead of 40")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--pydsmc", help=f"a Python that has pydsmc (or {asking.VARIABLE})")
    options = parser.parse_args()
    repeats, slow, cap = (4, 1, 1_200) if options.quick else (40, 10, CAP)
    ours = ours_and_clopper_pearson(repeats, cap)
    python = asking.interpreter(options.pydsmc)
    version, others = ("", {}) if python is None else theirs(python, repeats, slow)
    bar = LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / repeats)
    bars = {f"safegym | {p}": {"claims": bar} for p in WRONG}
    bars |= {
        f"safegym | {p}": {**bars.get(f"safegym | {p}", {}), "misses": 2 * bar} for p in FAILURES
    }
    ok = all(ours[name][what] <= most for name, row in bars.items() for what, most in row.items())
    if options.json:
        figures = {name: row for name, row in ours.items() if name.startswith("safegym")}
        rivals: dict[str, Any] = {
            **{name: row for name, row in ours.items() if name not in figures},
            **others,
        }
        result = {"figures": figures, "rivals": rivals, "ratios": ratios(ours, others)}
        print(json.dumps({**result, "bars": bars, "ok": ok, "pydsmc": version or None}))
    else:
        show({**ours, **others})
        if python is None:
            print(f"pydsmc is not installed here: pip install pydsmc, or set {asking.VARIABLE}.")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
