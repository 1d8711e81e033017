"""Proofs: seconds to an answer about neural policies, and how many answers are wrong: none may be.

control nets: nets fitted to a saturated feedback law (4-64-64-2, 8-64-64-4, 8-256-256-8 relu,
4-64-64-2 tanh), ten properties each, true, false and near the limit; the median CPU time over all
is held against its bar. A proof is wrong if one of 100 000 samples or a rival contradicts it, a
counterexample if it does not replay in binary32 inside its region or a rival proves the property.
z3 alone and Marabou (where installed) are asked the same in the same run with their own limit.

ACAS Xu: `--acas FOLDER` with the files of VNN-COMP 2022 (see proving/acas.py); 116 s on two
processes for each instance unless `--timeout` and `--workers` say otherwise. With
`--results FILE` what is done is kept, and a run that was stopped goes on. For the figure of 40 s on
one core: `--timeout 40 --workers 1`; the bar is for 116 s on two processes alone.

loops, certificates, models, shield: see the modules of these names in proving/.

Times are CPU seconds, as a bar has to hold on a machine that does other things as well; the wall
time of each part is printed and kept beside its CPU time. ACAS Xu's are wall seconds.

    python benchmarks/proofs.py [--quick] [--json] [--acas FOLDER [--results FILE]] [--only PART]
"""

import argparse
import importlib
import json
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for `python -m benchmarks.proofs`

PARTS = ("control", "loops", "certificates", "models", "shield")
Say = Callable[[str], None]


def main() -> int:
    """Print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--acas", type=Path, help="folder of the ACAS Xu files")
    parser.add_argument(
        "--results", type=Path, help="file of ACAS Xu results, kept and gone on with"
    )
    parser.add_argument("--timeout", type=float, help="seconds for an ACAS Xu instance (116)")
    parser.add_argument("--workers", type=int, default=2, help="processes for ACAS Xu (2)")
    parser.add_argument("--every", type=int, default=1, help="only each n-th ACAS Xu instance")
    parser.add_argument("--only", choices=(*PARTS, "acas"), help="one part")
    options = parser.parse_args()
    if options.only == "acas" and options.acas is None:
        parser.error("--only acas needs the folder of its files: --acas FOLDER")
    say: Say = (lambda _: None) if options.json else _say
    result = merged(parts(options, say))
    if options.json:
        print(json.dumps(result))
    else:
        say(f"ratios {result['ratios']}, bars {result['bars']}, ok {result['ok']}")
    return 0 if result["ok"] else 1


def parts(options: argparse.Namespace, say: Say) -> list[dict[str, Any]]:
    """What each part measured."""
    found: list[dict[str, Any]] = []
    for name in PARTS if options.only is None else [options.only]:
        if name != "acas":
            found.append(_timed(name, partial(_part, name, options.quick, say), say))
    if options.acas is not None and options.only in (None, "acas"):
        found.append(_timed("acas", partial(_acas, options, say), say))
    elif options.acas is None:
        say("not measured: ACAS Xu (name the folder of its files with --acas)")
    return found


def merged(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The house form; a ratio may not be above its bar. One that is not a number is null."""
    result: dict[str, Any] = {"figures": {"seconds": {}}, "rivals": {}, "ratios": {}, "bars": {}}
    for part in found:
        result["figures"]["seconds"].update(part["seconds"])
        for key in ("figures", "rivals", "ratios", "bars"):
            result[key].update(part.get(key, {}))
    ratios = {k: v if math.isfinite(v) else None for k, v in result["ratios"].items()}
    bars, result["ratios"] = result["bars"], ratios
    result["ok"] = bool(bars or found) and all(
        ratios.get(name) is not None and ratios[name] <= bar for name, bar in bars.items()
    )
    return result


def _timed(name: str, work: Callable[[], dict[str, Any]], say: Say) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    part = work()
    spent = {"CPU s": time.process_time() - cpu, "wall s": time.perf_counter() - wall}
    say(f"{name} in all: {spent['CPU s']:.1f} s CPU, {spent['wall s']:.1f} s wall")
    return {**part, "seconds": {name: spent}}


def _part(name: str, quick: bool, say: Say) -> dict[str, Any]:
    module = importlib.import_module(f"proving.{name}")
    if name == "certificates":
        return _certificates(module.figures(quick), say)
    found: dict[str, Any] = module.measure(quick, say)
    return found


def _certificates(found: dict[str, Any], say: Say) -> dict[str, Any]:
    """Its bar is for python-flint; a net without a certificate is none that was cheap to check."""
    for name, row in found["nets"].items():
        say(f"certificate of {name}: {row}")
    missing = [name for name, row in found["nets"].items() if "check_over_proof" not in row]
    ratios: dict[str, Any] = {"certificates missing": len(missing)}
    bars: dict[str, Any] = {"certificates missing": 0}
    if found["flint"]:
        ratios["certificate check over proof"] = found["worst_ratio"]
        bars["certificate check over proof"] = found["bar"]
    else:
        say("not measured: certificate checks with python-flint (pip install python-flint)")
    return {"figures": {"certificates": found}, "ratios": ratios, "bars": bars}


def _acas(options: argparse.Namespace, say: Say) -> dict[str, Any]:
    acas: Any = importlib.import_module("proving.acas")
    rows = acas.run(
        options.acas, options.timeout, options.workers, options.results, say, options.every
    )
    found: dict[str, Any] = acas.measured(rows)
    return found


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
