"""The monitors against rivals and a memory copy, in one run: ns a sample, bars and ratios.

Every monitor gets the same traces and (sentil, rtamt) the same text; they take turns, and each
figure is the least CPU time of several calls. Rivals are measured where they are installed:
`pip install -e '.[rivals]' mstlo-python`. G is an `always` over a window, GF a response, UU an
until inside an until; `monitoring/cases.py` has their texts. A rival's ratio is its time over ours.

Run: python benchmarks/monitors.py [--quick] [--json] [--svg docs/images/monitors.svg]
"""

import argparse
import json
from pathlib import Path
from typing import Any

import offline_figures
from monitoring import batch, first_call, memory, offline, online, rivals
from monitoring.cases import UU
from monitoring.picture import picture
from monitoring.table import table

COMPILED = {"G": 8.0, "GF": 20.0, "UU10": 25.0, "UU1000": 25.0}
PLAIN = {"G": 40.0, "GF": 80.0, "UU10": 120.0, "UU1000": 120.0}
BARS = {
    **COMPILED,
    **{f"{name}_n1e6": bar for name, bar in COMPILED.items() if name != "G"},
    "flat_in_window": 1.5,
    **{f"numpy_{name}": bar for name, bar in PLAIN.items()},
    **{f"numpy_{name}_n1e6": bar for name, bar in PLAIN.items() if name != "G"},
    "numpy_flat_in_window": 1.5,
    "batch_G": 8.0,
    "batch_G_status": 3.0,
    **{f"online_{word}_B1000_H{h}": 20.0 for word in online.FORMULAS for h in online.HORIZONS},
    **{f"online_{word}_B1_H{h}": 1500.0 for word in online.FORMULAS for h in online.HORIZONS},
    **{f"flat_{word}_B{size}": 1.3 for word in online.FORMULAS for size in online.BATCHES},
    "memory_buffers": 3.0,
    "numpy_memory_buffers": 3.0,
    "first_call_compiling_s": 1.5,
    "first_call_cached_s": 0.1,
    "first_call_auto_s": 0.1,
}
"""At most: ns a sample; times (flat_*); buffers of one signal of the batch; seconds (*_s)."""
Result = dict[str, Any]


def measure(*, quick: bool) -> Result:
    """Everything; quick: fewer repeats."""
    figures, theirs = offline.figures(0.15 if quick else 2.0)
    batched, batched_theirs = batch.figures(0.15 if quick else 2.0)
    figures |= batched
    figures |= offline_figures.figures(0.05 if quick else 1.0)
    figures |= online.figures(0.25 if quick else 4.0)
    online_theirs = online.rival_figures(0.25 if quick else 4.0)
    figures |= memory.figures(1000, 1000)
    figures |= first_call.figures(UU.text, 1 if quick else 3)
    for more in (batched_theirs, online_theirs):
        for rival, found in more.items():
            theirs.setdefault(rival, {}).update(found)
    missed = sorted(name for name, bar in BARS.items() if figures[name] > bar)
    return {
        "figures": {name: _rounded(value) for name, value in figures.items()},
        "rivals": {name: _all(theirs.get(name), said) for name, said in rivals.versions().items()},
        "ratios": ratios(figures, theirs),
        "bars": BARS,
        "missed": missed,
        "ok": not missed,
    }


def ratios(figures: dict[str, float], theirs: dict[str, dict[str, float]]) -> Result:
    """Of each figure, what a rival takes over what we take, and what we take over a copy."""
    found: Result = {}
    for rival, values in theirs.items():
        for name, value in values.items():
            for ours in (name, name.replace("_B1_", "_B1000_")):
                found.setdefault(ours, {})[rival] = _rounded(value / figures[ours])
    for name, copy in (("G", "memory_copy"), ("batch_G", "batch_memory_copy")):
        found.setdefault(name, {})["memory_copy"] = _rounded(figures[copy] / figures[name])
    return found


def _all(values: dict[str, float] | None, said: str) -> dict[str, Any] | str:
    """A rival's version and figures, or why there are none."""
    if values is None:
        return said
    return {"version": said, **{name: _rounded(value) for name, value in values.items()}}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def main() -> int:
    """Prints the figures; exit code 0 where all bars are met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, under 45 s")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--svg", type=Path, help="also draw the figures into this file")
    options = parser.parse_args()
    result = measure(quick=options.quick)
    if options.svg is not None:
        options.svg.write_text(picture(result), encoding="utf-8")
    print(json.dumps(result) if options.json else table(result))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
