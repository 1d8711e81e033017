"""Offline robustness, status and verdicts against a memory copy, in one run.

Prints ns per sample (CPU time) of `robustness` at every index for the three formulas that rivals
were measured on, with the compiled and the numpy kernels, and us per verdict on a 1000-sample
episode. Rivals' own figures (other runs, same formulas) are in the table `RIVALS`.

    python benchmarks/monitor.py --quick --json
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from safegym.check.monitor import Monitor, compiled, judge, robustness, settling
from safegym.check.monitor.frame import frame_of
from safegym.check.monitor.plan import plan_of
from safegym.check.monitor.robustness import arrays_of, run
from safegym.formula.build import always, eventually
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

X, Y = Signal("x"), Signal("y")
RIVALS = {
    "sentil": {"G": 152, "GF": 183, "UU10": 296, "UU1000": 5615},
    "mstlo": {"GF": 1421, "UU10": 1982, "UU1000": 29267},
    "rtamt": {"UU10": 44017},
}
BARS = {"G": 8, "GF": 20, "UU10": 25, "UU1000": 25, "flat_in_window": 1.5}
NUMPY_BARS = {"numpy_G": 40, "numpy_GF": 80, "numpy_UU10": 80, "numpy_UU1000": 80}


def bounded_always(window: int) -> Formula:
    """G: the magnitude stays below 2.5 over `window` samples."""
    return always(abs(X) <= 2.5, lasting=window)


def response(window: int) -> Formula:
    """GF: each excursion is answered within `window` samples."""
    return always((X > 1).implies(eventually(Y < -1, within=window)))


def nested_until(window: int) -> Formula:
    """UU: two bounded untils, one inside the other."""
    return (X > -2).until((Y > -2).until(X > 1, within=window), within=window)


def trace_of(samples: int) -> Trace:
    """Gaussian x and y at dt = 1 s."""
    draw = np.random.default_rng(7)
    return Trace.from_arrays(
        {"x": draw.normal(size=samples), "y": draw.normal(size=samples)}, dt=1, end="cut"
    )


def cost(work: Callable[[], object], repeats: int) -> float:
    """Least CPU seconds of one call."""
    work()
    best = float("inf")
    for _ in range(repeats):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best


def kernel_figures(mode: compiled.Mode, prefix: str, repeats: int) -> dict[str, float]:
    """Each formula's CPU time in ns per sample."""
    cases = {
        "G": (bounded_always(100_000), 1_000_000),
        "G_T10": (bounded_always(10), 1_000_000),
        "GF": (response(1000), 100_000),
        "UU10": (nested_until(10), 10_000),
        "UU1000": (nested_until(1000), 10_000),
    }
    figures = {}
    with compiled.use(mode):
        for name, (formula, samples) in cases.items():
            trace = trace_of(samples)
            times = max(repeats, repeats * 100_000 // samples)
            spent = cost(lambda f=formula, t=trace: robustness(f, t), times)  # type: ignore[misc]  # bound now
            figures[prefix + name] = spent / samples * 1e9
    return figures


def status_figure(repeats: int) -> float:
    """CPU time in us of the truth pass at every index, 1001 samples, window 1000 (one episode)."""
    trace, formula = trace_of(1001), bounded_always(1000)
    plan = plan_of(formula, trace.clock.dt)
    frame = frame_of(trace.steps, trace.end.kind, trace.horizon)

    def truth() -> object:
        return run(plan, frame, arrays_of(plan, trace), needed=trace.steps, margins=False)

    return cost(truth, repeats * 100) * 1e6


def use_figures(repeats: int) -> dict[str, float]:
    """Verdict, settling (1000 samples) and online update in us; a memory copy in ns a sample."""
    trace, formula = trace_of(1000), always(abs(X) <= 9.0)
    clean = np.zeros(8)
    monitor = Monitor(response(10), dt=1, batch=8)
    data = np.zeros(1_000_000)
    out = np.empty_like(data)
    return {
        "judge_us": cost(lambda: judge(formula, trace), repeats * 100) * 1e6,
        "settling_us": cost(lambda: settling(formula, trace), repeats * 100) * 1e6,
        "online_update_us_B8": cost(lambda: monitor.update({"x": clean, "y": clean}), repeats * 60)
        * 1e6,
        "memory_copy": cost(lambda: np.copyto(out, data), repeats * 5) / len(data) * 1e9,
    }


def measure(repeats: int) -> dict[str, Any]:
    """All figures, their ratios to a memory copy, and the bars."""
    figures = use_figures(repeats)
    figures |= kernel_figures("numba", "", repeats)
    figures |= kernel_figures("numpy", "numpy_", repeats)
    figures["status_us_G1000"] = status_figure(repeats)
    figures["flat_in_window"] = figures["G"] / figures["G_T10"]
    bars = BARS | NUMPY_BARS
    ratios = {name: figures[name] / figures["memory_copy"] for name in bars if name in figures}
    return {
        "figures": {name: round(value, 3) for name, value in figures.items()},
        "rivals": RIVALS,
        "ratios": {name: round(value, 2) for name, value in ratios.items()},
        "bars": bars,
        "ok": all(figures[name] <= bar for name, bar in bars.items()),
    }


def main() -> int:
    """Prints the figures; exit code 0 where all bars are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, under 45 s")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    result = measure(3 if options.quick else 12)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result["figures"].items():
            bar = result["bars"].get(name)
            print(f"{name:22s} {value:10.2f}" + ("" if bar is None else f"   bar {bar}"))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
