"""Online updates against a memory copy: cost for each batch, window and formula, in one run.

Prints CPU time of one `Monitor.update` in us for B = 1 and in ns per sample (of one episode) for
B = 1000, with windows of 100 and of 10^4 samples, compiled and in numpy, and how little the window
matters. Every window is full before anything is measured. Rivals' own figures (other runs, same
formulas, one episode) are in the table `RIVALS`.

    python benchmarks/online.py --quick --json
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor import Monitor, compiled
from safegym.formula.build import always, eventually
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal

X, Y = Signal("x"), Signal("y")
SHORT, LONG, MANY = 100, 10_000, 1000
RIVALS = {"sentil_us": {"always": 0.7, "until_100": 1.0, "until_10000": 30.6}}
SHAPES: dict[str, Callable[[int], Formula]] = {
    "always": lambda h: always(abs(X) <= 2.5, lasting=h),
    "until": lambda h: (X > -2).until(X > 1, within=h),
    "response": lambda h: always((X > 1).implies(eventually(Y < -1, within=h))),
}
BARS: dict[str, float] = {}
for _shape in SHAPES:
    BARS |= {f"{_shape}_one_us": 1.5, f"{_shape}_many_ns": 20.0}
    BARS |= {f"{_shape}_one_flat": 1.3, f"{_shape}_many_flat": 1.3}
BARS |= {"cached_first_call_s": 0.1}

Sample = dict[str, NDArray[np.float64]]


def samples_of(batch: int) -> list[Sample]:
    """Gaussian x and y, to be taken again and again."""
    draw = np.random.default_rng(7)
    return [{"x": draw.normal(size=batch), "y": draw.normal(size=batch)} for _ in range(64)]


class Running:
    """A monitor whose windows are full."""

    def __init__(self, formula: Formula, window: int, batch: int) -> None:
        self.monitor = Monitor(formula, dt=1, batch=batch)
        self.samples = samples_of(batch)
        self.batch = batch
        self.spend(window + 2 * SHORT)

    def spend(self, updates: int) -> float:
        """CPU seconds of so many updates."""
        update, samples = self.monitor.update, self.samples
        begun = time.process_time()
        for k in range(updates):
            update(samples[k & 63])
        return time.process_time() - begun


def costs(shape: str, batch: int, updates: int, repeats: int) -> tuple[float, float]:
    """Least CPU seconds of an update with the short window and with the long one, in turns."""
    pair = [Running(SHAPES[shape](window), window, batch) for window in (SHORT, LONG)]
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for side, running in enumerate(pair):
            best[side] = min(best[side], running.spend(updates) / updates)
    return best[0], best[1]


def mode_figures(mode: compiled.Mode, prefix: str, updates: int, repeats: int) -> dict[str, float]:
    """Each formula's costs in one mode. flat: long window over short one."""
    figures: dict[str, float] = {}
    with compiled.use(mode):
        for shape in SHAPES:
            short, long = costs(shape, 1, updates * 4, repeats)
            figures[f"{prefix}{shape}_one_us"] = long * 1e6
            figures[f"{prefix}{shape}_one_flat"] = long / short
            short, long = costs(shape, MANY, updates, repeats)
            figures[f"{prefix}{shape}_many_ns"] = long / MANY * 1e9
            figures[f"{prefix}{shape}_many_flat"] = long / short
    return figures


FIRST_CALL = """
import time, numpy, numba
@numba.njit(cache=False)
def other(x): return x
other(1)  # what numba itself does before its first call is not ours
from safegym.check.monitor import Monitor, compiled, Update
from safegym.formula.text import parse
m = Monitor(parse("always[0,9](x > 0)"), dt=1)
begun = time.process_time()
with compiled.use("numba"):
    m.update({"x": numpy.ones(1)})
print(time.process_time() - begun)
"""


def first_call() -> float:
    """CPU seconds of the first compiled update in a process that finds its machine code cached."""
    found = 0.0
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True
        )
        found = float(done.stdout)
    return found


def copy_ns(repeats: int) -> float:
    """A memory copy, in ns per float64."""
    data, best = np.zeros(1_000_000), float("inf")
    out = np.empty_like(data)
    for _ in range(5 * repeats):
        begun = time.process_time()
        np.copyto(out, data)
        best = min(best, time.process_time() - begun)
    return best / len(data) * 1e9


def measure(*, quick: bool) -> dict[str, Any]:
    """All figures, their ratios to a memory copy, and the bars."""
    repeats = 5 if quick else 25
    figures = mode_figures("numba", "", 1000, repeats)
    figures |= mode_figures("numpy", "numpy_", 100, max(repeats // 3, 2))
    figures["cached_first_call_s"] = first_call()
    figures["memory_copy_ns"] = copy_ns(repeats)
    ratios = {
        name: figures[name] / figures["memory_copy_ns"] for name in figures if "many_ns" in name
    }
    return {
        "figures": {name: round(value, 3) for name, value in figures.items()},
        "rivals": RIVALS,
        "ratios": {name: round(value, 2) for name, value in ratios.items()},
        "bars": BARS,
        "ok": all(figures[name] <= bar for name, bar in BARS.items()),
    }


def main() -> int:
    """Prints the figures; exit code 0 where all bars are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, under 45 s")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    result = measure(quick=options.quick)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result["figures"].items():
            bar = result["bars"].get(name)
            print(f"{name:30s} {value:10.3f}" + ("" if bar is None else f"   bar {bar}"))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
