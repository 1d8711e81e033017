"""What explanations cost: a witness beside plain robustness, words and picture of a long trace.

Run: python benchmarks/explanations.py [--quick] [--json]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import safegym as sg
from safegym.check.explanation import explain
from safegym.check.monitor import robustness
from safegym.check.monitor.judge import run_of, verdict_of
from safegym.formula.nodes import Formula

WITNESS_SHARE = 0.25
"""A witness may cost this share of robustness at every sample, at most."""
PICTURE_MS = 200.0
PICTURE_BYTES = 100_000


def formulas() -> dict[str, Formula]:
    """Violated ones, so that whole windows are walked; windows in samples of 1 s."""
    x, y = sg.Signal("x"), sg.Signal("y")
    return {
        "always": sg.always(abs(x) <= 2.5),
        "response": sg.always((x > 1).implies(sg.eventually(y < -9, within=10_000))),
        "nested": sg.always(sg.eventually(sg.always(x > 2, lasting=100), within=10_000)),
        "until": sg.always((x < 9).until((y < 9).until(x > 9, within=1_000), within=10_000)),
    }


def least(work: Callable[[], object], times: int) -> float:
    """Milliseconds of the quickest run."""
    found = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        work()
        found = min(found, time.perf_counter() - begun)
    return found * 1e3


def measure(n: int, times: int) -> dict[str, Any]:
    """Figures, ratios and bars."""
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=n))
    x = walk / np.abs(walk).max() * 2.6
    trace = sg.Trace.from_arrays({"x": x, "y": rng.normal(size=n)}, dt=1, end="cut")
    figures: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for name, formula in formulas().items():
        run = run_of(formula, trace)
        assert verdict_of(run, formula, trace).status == "violated", name
        plain = least(lambda f=formula: robustness(f, trace), times)  # type: ignore[misc]  # bound now
        witness = least(lambda f=formula, r=run: verdict_of(r, f, trace), times)  # type: ignore[misc]  # bound now
        why = explain(formula, trace)
        figures[f"{name}_robustness_ms"] = plain
        figures[f"{name}_witness_ms"] = witness
        figures[f"{name}_explain_ms"] = least(lambda f=formula: explain(f, trace), times)  # type: ignore[misc]  # bound now
        figures[f"{name}_svg_ms"] = least(lambda w=why: w.svg, times)  # type: ignore[misc]  # bound now
        figures[f"{name}_svg_bytes"] = len(why.svg)
        ratios[f"{name}_witness_over_robustness"] = witness / plain
    bars = {
        "witness_share": max(ratios.values()) <= WITNESS_SHARE,
        "picture_ms": max(v for k, v in figures.items() if k.endswith("svg_ms")) <= PICTURE_MS,
        "picture_bytes": max(v for k, v in figures.items() if k.endswith("bytes")) <= PICTURE_BYTES,
    }
    figures = {name: round(value, 4) for name, value in figures.items()}
    ratios = {name: round(value, 4) for name, value in ratios.items()}
    ok = all(bars.values())
    return {"figures": figures, "rivals": {}, "ratios": ratios, "bars": bars, "ok": ok}


def main() -> int:
    """Print the figures; exit 0 when every bar is reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^5 samples, once")
    parser.add_argument("--json", action="store_true", help="one object")
    arguments = parser.parse_args()
    result = measure(100_001, 2) if arguments.quick else measure(1_000_001, 5)
    if arguments.json:
        print(json.dumps(result))
    else:
        for part in ("figures", "ratios", "bars"):
            for name, value in result[part].items():
                print(f"{name:36} {value}")
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
