"""The report of a long run: bytes of the page, and processor seconds to draw it.

A run of 200 epochs and 20 claims through the run's own writers (a screen each epoch, an attempt
each 50th, judged by compiled monitors), then its page, without deriving verdicts again, and its
PDF. The rival is verifying the same log to the same depth, which the page has to do too: the ratio
says what reading and drawing cost on top. Times are of the processor, the best of a few.

    python benchmarks/report_speed.py [--quick] [--json]
"""

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safegym.audit.report import render_report
from safegym.audit.report.compare import compare
from safegym.audit.report.drawing import drawing_of
from safegym.audit.sign import public_key
from safegym.audit.verify import verify
from safegym.gate.plan import GatePlan

BYTES = 2_000_000
SECONDS = 10.0
TRAIL = Path(__file__).resolve().parents[1] / "tests" / "unit" / "report"
"""Where the writer of made-up runs is kept, which the report's tests use."""


def written(folder: Path, epochs: int, claims: int) -> Any:
    """A closed run of so many epochs and claims; returns the key that signed it."""
    sys.path.append(str(TRAIL))
    from trail import SIGNER, Trail, many, policy  # pyright: ignore[reportMissingImports] # in TRAIL

    plan = GatePlan(screen_episodes=6, cap=400)
    trail = Trail(folder, claims=many(claims), plan=plan)
    trail.register()
    for number in range(1, epochs + 1):
        digest = policy(f"e{number}")
        trail.epoch(number, float(number % 17), {"drone.tilt": number % 5})
        trail.freeze(digest, number)
        bad = ["drone.collision"] if number % 3 else ["drone.tilt"]
        looked = trail.screen(digest, number, {number % 6: bad}, episodes=6)
        if number % max(1, epochs // 4):
            trail.decide("hold", number, digest, looked)
            continue
        broken = {40: ["drone.tilt"]} if number < epochs else {}
        outcome, shown = trail.attempt(digest, 4 * number // epochs, broken)
        action = "promote" if outcome == "certified" else "hold"
        trail.decide(action, number, digest, [*looked, *shown])
    trail.close("promoted")
    return public_key(SIGNER)


def best(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """Least processor seconds of a few runs, and the last result."""
    spent, found = list[float](), None
    for _ in range(times):
        begun = time.process_time()
        found = work()
        spent.append(time.process_time() - begun)
    return min(spent), found


def measure(epochs: int, claims: int, times: int) -> dict[str, Any]:
    """Figures for a run of so many epochs and claims."""
    with tempfile.TemporaryDirectory() as name:
        run = Path(name) / "run"
        keys = [written(run, epochs, claims)]
        checked, report = best(lambda: verify(run, keys=keys), times)
        drawn, page = best(lambda: render_report(run, keys=keys), times)
        both, paired = best(lambda: compare(run, run, keys=lambda place: keys), 1)
        figures = {
            "epochs": epochs,
            "claims": claims,
            "records": report.size,
            "page bytes": len(page),
            "page s": round(drawn, 2),
            "comparison bytes": len(paired),
            "comparison s": round(both, 2),
        }
        if importlib.util.find_spec("typst") is not None:
            from safegym.audit.report.pdf import pdf_of

            found = drawing_of(run, keys=keys)
            figures["PDF s, after drawing"], pdf = best(lambda: pdf_of(found), 1)
            figures["PDF s, after drawing"] = round(figures["PDF s, after drawing"], 2)
            figures["PDF bytes"] = len(pdf)
    met = {"page bytes": len(page) < BYTES, "page s": drawn < SECONDS}
    return {
        "figures": figures,
        "rivals": {"verify the same log s": round(checked, 2)},
        "ratios": {"page over verifying": round(drawn / checked, 2)},
        "bars": {
            "page bytes": {"bar": BYTES, "met": met["page bytes"]},
            "page s": {"bar": SECONDS, "met": met["page s"]},
        },
        "ok": all(met.values()),
    }


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="12 epochs of 5 claims")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(12, 5, 1) if asked.quick else measure(200, 20, 3)
    if asked.json:
        print(json.dumps(found))
    else:
        for part in ("figures", "rivals", "ratios", "bars"):
            print(f"{part}: {json.dumps(found[part], indent=1)}")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
