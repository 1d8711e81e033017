"""Robustness with gradients: time and memory of a forward and a backward pass, on one thread.

Prints CPU ns per sample for G (bounded always), GF (response), U (bounded until) and UI (unbounded
until), exact and smooth, at n samples and a window of w, beside robustness without gradients
(`numpy`) and beside the unfolded form (`unfold`), which lays every window out side by side as
masking formulations do, in O(n w) time and memory. stlcg++ is of that kind, O(n^2) in memory; it
has no licence, so it is not installed and not run: `unfold` is our own. Memory is the most that
the process holds during forward and backward, in bytes per sample, from the kernel's high-water
mark.

Run: python benchmarks/gradient.py [--quick] [--json]
"""

import argparse
import ctypes
import gc
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from safegym.check.gradient import DifferentiableMonitor
from safegym.check.monitor import robustness
from safegym.formula.build import always, eventually
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

X, Y = Signal("x"), Signal("y")
TEMPERATURE = 0.1
BARS = {
    "exact_G_flat_in_window": 2.0,
    "smooth_G_flat_in_window": 2.0,
    "exact_memory_growth": 2.5,
    "smooth_memory_growth": 2.5,
    "exact_G_over_unfold_w1000": 0.2,
    "smooth_G_over_unfold_w1000": 0.2,
}
"""Window 10^4 against 10, peak memory at 2n against n, and time against `unfold`: at most."""
RIVALS = {"stlcg++": "no licence file, not installed: O(n^2) memory by its own account"}


def formulas(window: int) -> dict[str, Formula]:
    """The formulas over `window` samples."""
    return {
        "G": always(abs(X) <= 2.5, lasting=window),
        "GF": always((X > 1).implies(eventually(Y < -1, within=window))),
        "U": (X > -2).until(Y > 1, within=window),
        "UI": (X > -2).until(Y > 1),
    }


def signals(*shape: int) -> dict[str, Tensor]:
    """Gaussian x and y, float64, that gradients are wanted of."""
    draw = np.random.default_rng(7)
    return {name: torch.tensor(draw.normal(size=shape), requires_grad=True) for name in "xy"}


def least(work: Callable[[], object], repeats: int) -> float:
    """Least CPU seconds of one call."""
    work()
    best = float("inf")
    for _ in range(repeats):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best


def passes(monitor: DifferentiableMonitor, given: dict[str, Tensor]) -> Callable[[], None]:
    """A forward and a backward pass of the lower margins at all samples."""

    def work() -> None:
        low = monitor.lower(given)
        low[torch.isfinite(low)].mean().backward()

    return work


def unfolded(window: int, given: dict[str, Tensor], smooth: bool) -> Callable[[], None]:
    """The same for G by laying all windows out."""

    def work() -> None:
        margin = 2.5 - given["x"].abs()
        end = torch.full((window,), torch.inf, dtype=margin.dtype)
        laid = torch.cat((margin, end)).unfold(-1, window + 1, 1)
        soft = -TEMPERATURE * torch.logsumexp(-laid / TEMPERATURE, -1) if smooth else None
        (laid.amin(-1) if soft is None else soft).mean().backward()

    return work


def time_figures(samples: int, windows: tuple[int, ...], repeats: int) -> dict[str, float]:
    """Ns per sample of everything at one length."""
    given, found = signals(samples), {}
    arrays = {name: values.detach().numpy() for name, values in given.items()}
    trace = Trace.from_arrays(arrays, dt=1, end="cut")
    for window in windows:
        for name, formula in formulas(window).items():
            if name == "UI" and window != windows[0]:
                continue
            where = f"{name}_n{samples}_w{'inf' if name == 'UI' else window}"
            for kind, smooth in (("exact", None), ("smooth", TEMPERATURE)):
                monitor = DifferentiableMonitor(formula, 1, end="cut", smooth=smooth)
                found[f"{kind}_{where}"] = least(passes(monitor, given), repeats)
            found[f"numpy_{where}"] = least(lambda f=formula: robustness(f, trace), repeats)  # type: ignore[misc]  # bound now
        if samples * window > 20_000_000:
            continue
        for kind in ("exact", "smooth"):
            laid = unfolded(window, given, kind == "smooth")
            found[f"unfold_{kind}_G_n{samples}_w{window}"] = least(laid, min(repeats, 3))
    return {name: spent / samples * 1e9 for name, spent in found.items()}


def batch_figures(rows: int, samples: int, window: int, repeats: int) -> dict[str, float]:
    """Ns per sample of a batch."""
    given, found = signals(rows, samples), {}
    for name in ("G", "U"):
        for kind, smooth in (("exact", None), ("smooth", TEMPERATURE)):
            monitor = DifferentiableMonitor(formulas(window)[name], 1, end="cut", smooth=smooth)
            spent = least(passes(monitor, given), repeats) / (rows * samples)
            found[f"{kind}_{name}_{rows}x{samples}_w{window}"] = spent * 1e9
    return found


def peak(work: Callable[[], None]) -> float:
    """Bytes that the process holds at most during the work, above what it held before."""
    work()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _held("VmRSS")
    work()
    return _held("VmHWM") - before


def _held(field: str) -> float:
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return 1024.0 * int(found.group(1)) if found else float("nan")


def memory_figures(samples: int) -> dict[str, float]:
    """Bytes per sample: until with a window of 10^4, and G unfolded with a window of 100."""
    found = {}
    for kind, smooth in (("exact", None), ("smooth", TEMPERATURE)):
        for times in (1, 2):
            monitor = DifferentiableMonitor(formulas(10_000)["U"], 1, end="cut", smooth=smooth)
            used = peak(passes(monitor, signals(times * samples)))
            found[f"{kind}_peak_bytes_U_n{times * samples}_w10000"] = used / (times * samples)
        used = peak(unfolded(100, signals(samples), kind == "smooth"))
        found[f"unfold_{kind}_peak_bytes_G_n{samples}_w100"] = used / samples
        one, two = (found[f"{kind}_peak_bytes_U_n{t * samples}_w10000"] * t for t in (1, 2))
        found[f"{kind}_memory_growth"] = two / one
    return found


def measure(quick: bool) -> dict[str, Any]:
    """All figures, their ratios, and the bars."""
    repeats = 3 if quick else 10
    figures = time_figures(1000, (10, 1000), repeats)
    figures |= time_figures(100_000, (10, 100, 1000, 10_000), repeats)
    figures |= batch_figures(64, 1000, 100, repeats)
    figures |= memory_figures(200_000 if quick else 1_000_000)
    for kind in ("exact", "smooth"):
        at = f"{kind}_G_n100000_w"
        figures[f"{kind}_G_flat_in_window"] = figures[at + "10000"] / figures[at + "10"]
        small = f"{kind}_G_n1000_w1000"
        figures[f"{kind}_G_over_unfold_w1000"] = figures[small] / figures[f"unfold_{small}"]
    ratios = {
        f"{name}/numpy": value / figures[name.replace(kind, "numpy", 1)]
        for kind in ("exact", "smooth")
        for name, value in figures.items()
        if name.startswith(f"{kind}_") and name.replace(kind, "numpy", 1) in figures
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
    torch.set_num_threads(1)
    result = measure(options.quick)
    if options.json:
        print(json.dumps(result))
        return 0 if result["ok"] else 1
    for name, value in result["figures"].items():
        bar = result["bars"].get(name)
        print(f"{name:42s} {value:12.2f}" + ("" if bar is None else f"   bar {bar}"))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
