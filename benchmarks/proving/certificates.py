"""What a certificate costs to check beside what its proof cost, with python-flint and without."""

import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from safegym.check.neural.certificate import checker, write_certificate
from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.problem import Positive, Problem, Region
from safegym.check.neural.search import search

BAR = 30.0
"""Most times the proof's own time that a check with python-flint may take."""
NETS: dict[str, tuple[tuple[int, ...], Any, float]] = {
    "4-64-64-2 relu": ((4, 64, 64, 2), "relu", 0.5),
    "8-64-64-4 relu": ((8, 64, 64, 4), "relu", 0.1),
    "4-64-64-2 tanh": ((4, 64, 64, 2), "tanh", 0.2),
}


def figures(quick: bool) -> dict[str, Any]:
    """Seconds of processor time of proof, check and pure Python check, and their ratios."""
    found: dict[str, Any] = {}
    for name, (sizes, kind, half) in list(NETS.items())[: 1 if quick else None]:
        found[name] = _one(_problem(sizes, kind, half), 1 if quick else 3)
    ratios = [each["check_over_proof"] for each in found.values() if "check_over_proof" in each]
    worst = max(ratios, default=float("inf"))
    flint = checker.fmpz_mat is not None
    return {"nets": found, "worst_ratio": worst, "bar": BAR, "flint": flint, "ok": worst <= BAR}


def _problem(sizes: tuple[int, ...], kind: Any, half: float) -> Problem:
    random = np.random.default_rng(1)
    builder = GraphBuilder(sizes[0])
    at = builder.apply("cast", builder.input(), precision="float32")
    for layer in range(len(sizes) - 1):
        shape = sizes[layer + 1], sizes[layer]
        weights = (random.normal(size=shape) / np.sqrt(shape[1])).astype(np.float32)
        bias = (0.1 * random.normal(size=shape[0])).astype(np.float32)
        at = builder.linear([(at, weights)], bias, precision="float32")
        if layer < len(sizes) - 2:
            at = builder.apply(kind, at, precision="float32")
    centre = random.uniform(-0.5, 0.5, size=sizes[0])
    points = centre + half * random.uniform(-1, 1, size=(20_000, sizes[0]))
    values = np.asarray(evaluate(builder.graph(), points))[:, 0]
    room = 0.1 * float(np.ptp(values)) - float(values.min())
    builder.linear([(at, np.eye(sizes[-1])[:1])], [room])
    low = tuple(Fraction(float(x - half)) for x in centre)
    high = tuple(Fraction(float(x + half)) for x in centre)
    return Problem(builder.graph(), Region(low, high), ((Positive(0),),))


def _one(problem: Problem, times: int) -> dict[str, Any]:
    proof, outcome = _least(lambda: search(problem, timeout=30, keep_tree=True), times + 1)
    if outcome.result != "PROVED":
        return {"result": outcome.result}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "certificate"
        report = write_certificate(folder, problem, outcome, claim_text="", policy_digest="")
        if report.check is None:
            return {"result": report.result, "reason": report.reason}
        fast, _ = _least(lambda: checker.check(folder), times)
        held, checker.fmpz_mat = checker.fmpz_mat, None
        try:
            plain, _ = _least(lambda: checker.check(folder), 1)
        finally:
            checker.fmpz_mat = held
    return {
        "boxes": outcome.boxes,
        "lines": report.check.lines,
        "bytes": report.bytes,
        "proof_s": proof,
        "check_s": fast,
        "python_check_s": plain,
        "check_over_proof": fast / proof,
        "python_over_proof": plain / proof,
    }


def _least(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(times):
        started = time.process_time()
        result = work()
        best = min(best, time.process_time() - started)
    return best, result


if __name__ == "__main__":
    print(figures(quick=False))
