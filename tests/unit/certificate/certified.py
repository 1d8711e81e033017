"""Small proved problems, their certificates, and faults planted in them and sealed again."""

import hashlib
import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from safegym.check.neural.certificate import checker, write_certificate
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.problem import Positive, Problem, Region
from safegym.check.neural.search import search


def small_problem(
    kind: str = "relu",
    *,
    seed: int = 0,
    sizes: tuple[int, ...] = (2, 6, 6, 2),
    slack: float = 0.05,
    semantics: Any = "deployed float32",
) -> Problem:
    """A net on a box, and that its first output stays above its least sampled value less slack."""
    random = np.random.default_rng(seed)
    builder = GraphBuilder(sizes[0])
    at = builder.apply("cast", builder.input(), precision="float32")
    for layer, (wide, tall) in enumerate(pairwise(sizes)):
        weights = random.normal(size=(tall, wide)).astype(np.float32)
        bias = random.normal(size=tall).astype(np.float32)
        at = builder.linear([(at, weights)], bias, precision="float32")
        if layer < len(sizes) - 2:
            at = builder.apply(kind, at, precision="float32")  # type: ignore[arg-type]
    low = [Fraction(-3, 10)] * sizes[0]
    high = [Fraction(7, 10)] * sizes[0]
    points = random.uniform(-0.4, 0.8, size=(8000, sizes[0])).clip(-0.3, 0.7)
    values = sampled(builder.graph(), points)[:, 0]
    room = slack * float(np.ptp(values)) + 1e-3
    builder.linear([(at, np.eye(sizes[-1])[:1])], [room - float(values.min())])
    clauses = ((Positive(0),),)
    return Problem(builder.graph(), Region(tuple(low), tuple(high)), clauses, semantics)


def sampled(graph: Any, points: np.ndarray) -> np.ndarray:
    """Values in binary64 by the plainest evaluation."""
    done: list[np.ndarray] = []
    for node in graph.nodes:
        came = [done[i] for i in node.inputs]
        match node.kind:
            case "input":
                done.append(points[:, node.first : node.first + node.size])
            case "linear":
                pairs = zip(node.weights, came, strict=True)
                done.append(sum(x @ w.T for w, x in pairs) + node.bias)
            case "relu":
                done.append(np.maximum(came[0], 0.0))
            case "leaky_relu":
                done.append(np.where(came[0] > 0, came[0], node.slope * came[0]))
            case "clip":
                done.append(np.clip(came[0], node.low, node.high))
            case "divide":
                done.append(came[0] / node.divisor)
            case "product":
                done.append(came[0] * came[1])
            case "max" | "min":
                done.append(getattr(np, node.kind + "imum")(*came))
            case "sigmoid":
                done.append(1.0 / (1.0 + np.exp(-came[0])))
            case "cast":
                done.append(came[0])
            case kind:
                done.append(getattr(np, kind)(came[0]))
    return done[-1]


def certify(folder: Path, problem: Problem, claim: str = "x stays safe") -> Path:
    """A certificate of the problem, which must be provable."""
    outcome = search(problem, timeout=30, keep_tree=True)
    assert outcome.result == "PROVED", outcome.reason
    report = write_certificate(folder, problem, outcome, claim_text=claim, policy_digest="abc")
    assert report.result == "CERTIFIED", report.reason
    return folder


def planted(
    source: Path,
    target: Path,
    *,
    tree: Callable[[list[Any]], None] | None = None,
    statement: Callable[[dict[str, Any]], None] | None = None,
    network: Callable[[dict[str, Any]], None] | None = None,
    seal: bool = True,
) -> Path:
    """A copy with a fault in it; sealed, every digest in it is made to fit the faulty files."""
    shutil.copytree(source, target)
    lines = [json.loads(line) for line in (target / "tree.jsonl").read_bytes().splitlines()]
    verdict = json.loads((target / "verdict.json").read_bytes())
    net = json.loads((target / "network.json").read_bytes())
    for change, value in ((tree, lines), (statement, verdict["statement"]), (network, net)):
        if change is not None:
            change(value)  # type: ignore[operator]
    text = b"".join(checker.written(line) for line in lines)
    (target / "tree.jsonl").write_bytes(text)
    (target / "network.json").write_bytes(checker.written(net))
    if seal:
        body = (target / "network.json").read_bytes()
        verdict["tree_sha256"] = hashlib.sha256(text).hexdigest()
        verdict["statement"]["network_sha256"] = hashlib.sha256(body).hexdigest()
        said = checker.written(verdict["statement"])
        verdict["statement_sha256"] = hashlib.sha256(said).hexdigest()
    (target / "verdict.json").write_bytes(checker.written(verdict))
    return target
