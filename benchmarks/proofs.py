"""Proofs: seconds to an answer about neural policies, and how many answers are wrong: none may be.

control nets: nets fitted to a saturated feedback law (4-64-64-2, 8-64-64-4, 8-256-256-8 relu,
4-64-64-2 tanh), ten properties each, true, false and near the limit; the median CPU time over all
is held against its bar. A proof is wrong if one of 100 000 samples or a rival contradicts it, a
counterexample if it does not replay in binary32 inside its region or a rival proves the property.
z3 alone and Marabou (where installed) are asked the same in the same run with their own limit.

ACAS Xu: `--acas FOLDER` with the files of VNN-COMP 2022 (see proving/acas.py); 116 s on two
processes for each instance unless `--timeout` and `--workers` say otherwise. With
`--results FILE` what is done is kept, and a run that was stopped goes on. For the figure of 40 s on
one core: `--timeout 40 --workers 1`.

    python benchmarks/proofs.py [--quick] [--json] [--acas FOLDER [--results FILE]] [--only PART]
"""

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proving import acas, control

FURTHER = ("loops", "certificates")


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
    parser.add_argument("--only", help="one part: control, acas, " + ", ".join(FURTHER))
    options = parser.parse_args()
    say: Callable[[str], None] = (lambda _: None) if options.json else _say
    result = merged(parts(options, say))
    if options.json:
        print(json.dumps(result))
    else:
        say(f"ratios {result['ratios']}, bars {result['bars']}, ok {result['ok']}")
    return 0 if result["ok"] else 1


def parts(options: argparse.Namespace, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """What each part measured."""
    wanted = options.only
    found: list[dict[str, Any]] = []
    if wanted in (None, "control"):
        found.append(control.measure(options.quick, say))
    for name in FURTHER:
        if wanted in (None, name):
            part = _part(name)
            if part is not None:
                found.append(part.measure(options.quick, say))
    if options.acas is not None and wanted in (None, "acas"):
        rows = acas.run(
            options.acas, options.timeout, options.workers, options.results, say, options.every
        )
        found.append(acas.measured(rows))
    elif wanted in (None, "acas"):
        say("not measured: ACAS Xu (name the folder of its files with --acas)")
    return found


def merged(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The house form; a ratio may not be above its bar."""
    result: dict[str, Any] = {"figures": {}, "rivals": {}, "ratios": {}, "bars": {}}
    for part in found:
        for key, kept in result.items():
            kept.update(part.get(key, {}))
    ratios, bars = result["ratios"], result["bars"]
    result["ok"] = bool(bars) and all(
        name in ratios and ratios[name] <= bar for name, bar in bars.items()
    )
    return result


def _part(name: str) -> Any:
    try:
        return importlib.import_module(f"proving.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"proving.{name}":
            return None
        raise


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
