"""How often the whole gate releases a policy that is really above the threshold.

Every run screens and certifies six policies whose failure probability is .012 against a claim of
.01, through recorder, campaign, monitor, e-process and ledger; failing episodes are 30 times
longer than safe ones, or 30 times shorter. `--quick` does 20 runs of each, else 300.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "gate"))

from releasing import released

FAILURE = 0.012
BAR = 0.05
DIRECTIONS = {"failing episodes long": (1, 30), "failing episodes short": (30, 1)}


def share(lengths: tuple[int, int], runs: int) -> float:
    """Share of runs that released a policy."""
    with tempfile.TemporaryDirectory() as home:
        count = 0
        for seed in range(runs):
            count += released(Path(home) / str(seed), FAILURE, lengths, seed, epochs=6)
            if sys.stderr.isatty():
                print(f"\r{lengths}: {seed + 1} of {runs}", end="", file=sys.stderr)
    return count / runs


def main() -> int:
    """Run both directions and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 runs of each direction")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    runs = 20 if options.quick else 300
    begun = time.perf_counter()
    figures = {name: share(lengths, runs) for name, lengths in DIRECTIONS.items()}
    ok = all(value <= BAR for value in figures.values())
    if options.json:
        bars = dict.fromkeys(figures, BAR)
        result = {"figures": figures, "rivals": {}, "ratios": {}, "bars": bars, "ok": ok}
        print(json.dumps({**result, "runs": runs}))
    else:
        for name, value in figures.items():
            print(f"{name}: released in {value:.3f} of {runs} runs (at most {BAR})")
        print(f"{time.perf_counter() - begun:.0f} s")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
