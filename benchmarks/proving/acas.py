"""ACAS Xu: the 186 instances of the competition VNN-COMP, from a folder of files.

The files carry no licence and are not part of this project: `acasxu_instances.csv`, the networks
`ACASXU_run2a_*_batch_2000.onnx` and `prop_*.vnnlib`, as in the benchmarks of VNN-COMP 2022. The
answers to compare with are those on which alpha-beta-CROWN and nnenum agree in the published
results of VNN-COMP 2022, and nnenum's where the other ran out of time (property 8).
"""

import csv
import json
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.importing import onnx_graph
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.search import search
from safegym.check.neural.vnnlib import LinearAtom, Piece, problems, read_vnnlib

BAR, OF = 180, 186
_PROVED_2 = ("1_1", "1_7", "1_8", "1_9", "3_3", "4_2")
_VIOLATED_34 = ("1_7", "1_8", "1_9")


def published(network: str, prop: str) -> str:
    """The published answer: "holds" or "violated"."""
    name, number = network.removeprefix("ACASXU_run2a_")[:3], int(prop[5:-7])
    violated = {
        2: name not in _PROVED_2,
        3: name in _VIOLATED_34,
        4: name in _VIOLATED_34,
        7: True,
        8: True,
    }
    return "violated" if violated.get(number, False) else "holds"


def instances(folder: Path) -> list[tuple[str, str, float]]:
    """(network, property, seconds) of each instance."""
    if not (folder / "acasxu_instances.csv").is_file():
        raise SystemExit(
            f"{folder} has no acasxu_instances.csv; name the folder of the files with --acas."
        )
    with (folder / "acasxu_instances.csv").open(encoding="utf-8") as lines:
        return [(row[0], row[1], float(row[2])) for row in csv.reader(lines) if row]


def solve(folder: Path, network: str, prop: str, timeout: float, workers: int) -> dict[str, Any]:
    """One instance: the answer, seconds of wall and of this process, boxes, and whether right."""
    policy = onnx_graph(folder / network)
    asked = read_vnnlib(folder / prop, 5, 5)
    began, cpu = time.monotonic(), time.process_time()
    answer, boxes, reason = "holds", 0, ""
    for piece, problem in zip(asked.pieces, problems(asked, policy), strict=True):
        left = timeout - (time.monotonic() - began)
        if left <= 0:
            answer, reason = "unknown", "time"
            break
        outcome = search(problem, timeout=left, workers=workers, replay=_replay(policy, piece))
        boxes += outcome.boxes
        if outcome.result == "COUNTEREXAMPLE":
            answer, reason = "violated", outcome.reason
            break
        if outcome.result == "UNKNOWN":
            answer, reason = "unknown", outcome.reason
    seconds = time.monotonic() - began
    return {
        "network": network,
        "property": prop,
        "answer": answer,
        "published": published(network, prop),
        "seconds": round(seconds, 3),
        "cpu of this process": round(time.process_time() - cpu, 3),
        "boxes": boxes,
        "timeout": timeout,
        "workers": workers,
        "reason": reason,
    }


def _replay(policy: PolicyGraph, piece: Piece) -> Callable[[NDArray[Any]], bool]:
    """Whether onnxruntime's outputs at a point of the exact region fail a clause, exactly."""

    def test(point: NDArray[Any]) -> bool:
        single = np.asarray(point, dtype=np.float32)
        if not piece.region.contains([float(each) for each in single]):
            return False
        output = np.asarray(policy.predict(single[None])).ravel()
        return any(
            not any(_holds(atom, single, output) for atom in clause) for clause in piece.clauses
        )

    return test


def _holds(atom: LinearAtom, inputs: NDArray[Any], outputs: NDArray[Any]) -> bool:
    value = atom.constant
    for coefficients, numbers in ((atom.inputs, inputs), (atom.outputs, outputs)):
        for at, coefficient in coefficients:
            value += coefficient * Fraction(float(numbers[at]))
    return value > 0 if atom.strict else value >= 0


def run(
    folder: Path,
    timeout: float | None,
    workers: int,
    results: Path | None,
    say: Callable[[str], None],
    every: int = 1,
) -> list[dict[str, Any]]:
    """All instances; those that `results` (JSON lines) has with these limits are not run again."""
    done = {
        (row["network"], row["property"], row["timeout"], row["workers"]): row
        for row in _known(results)
    }
    wanted = instances(folder)[::every]
    rows: list[dict[str, Any]] = []
    for number, (network, prop, limit) in enumerate(wanted, 1):
        row = done.get((network, prop, timeout or limit, workers))
        if row is None:
            row = solve(folder, network, prop, timeout or limit, workers)
            if results is not None:
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        rows.append(row)
        right = sum(each["answer"] == each["published"] for each in rows)
        mark = "" if row["answer"] in (row["published"], "unknown") else "  WRONG"
        say(
            f"[{number:3}/{len(wanted)}] {right:3} solved  {network[:16]} {prop:14} "
            f"{row['answer']:9} {row['seconds']:8.2f} s {row['boxes']:7} boxes{mark}"
        )
    return rows


def _known(results: Path | None) -> Iterator[dict[str, Any]]:
    if results is None or not results.exists():
        return
    with results.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def measured(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures, ratios and bars of the instances that were run.

    The bar of solved instances is for 116 s on two processes; with other limits it is a figure.
    """
    solved = [row for row in rows if row["answer"] == row["published"]]
    wrong = [
        f"{row['network'][:16]} {row['property']}"
        for row in rows
        if row["answer"] not in (row["published"], "unknown")
    ]
    open_ = [
        f"{row['network'][:16]} {row['property']}" for row in rows if row["answer"] == "unknown"
    ]
    seconds = [row["seconds"] for row in rows]
    figures = {
        "instances": len(rows),
        "solved": len(solved),
        "hold": sum(row["answer"] == "holds" for row in rows),
        "violated": sum(row["answer"] == "violated" for row in rows),
        "wrong": wrong,
        "unknown": open_,
        "seconds": sum(seconds),
        "median s": float(np.median(seconds)) if seconds else 0.0,
        "solved within 40 s of wall time": sum(row["seconds"] <= 40.0 for row in solved),
        "CPU s of the searching process": sum(row["cpu of this process"] for row in rows),
        "timeouts": sorted({row["timeout"] for row in rows}),
        "most s": max(seconds, default=0.0),
        "workers": sorted({row["workers"] for row in rows}),
    }
    standard = bool(rows) and figures["workers"] == [2] and figures["timeouts"] == [116.0]
    missing = max(BAR * len(rows) / OF - len(solved), 0.0)
    short = {"ACAS Xu short of the bar": missing} if standard else {}
    return {
        "figures": {"ACAS Xu": figures},
        "rivals": {"ACAS Xu, published": {"alpha-beta-CROWN 2022": 185, "nnenum 2022": 186}},
        "ratios": {**short, "ACAS Xu wrong": len(wrong)},
        "bars": {**dict.fromkeys(short, 0.0), "ACAS Xu wrong": 0},
    }
