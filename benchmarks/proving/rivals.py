"""The same questions to z3 alone and to Marabou, each with a time limit of its own.

Both are asked about the net in real numbers, as they cannot ask about binary32. Their times are CPU
seconds of this process; their limits are wall seconds.
"""

import os
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import z3

from proving.claims import Case

Word = Literal["holds", "fails", "unknown"]


def ask_z3(case: Case, seconds: float) -> tuple[Word, float]:
    """z3's answer to the plain encoding, and CPU seconds."""
    began, cpu = time.perf_counter(), time.process_time()
    solver = z3.Solver()
    solver.set("timeout", int(1000 * seconds))
    x: list[Any] = [z3.Real(f"x{at}") for at in range(case.net.inputs)]
    for each, low, high in zip(x, case.low, case.high, strict=True):
        solver.add(each >= _q(low), each <= _q(high))
    values = x
    for at, (weights, bias) in enumerate(case.net.layers):
        sums: list[Any] = []
        for row, offset in zip(weights, bias, strict=True):
            if time.perf_counter() - began > seconds:
                return "unknown", time.process_time() - cpu
            sums.append(_sum(row, values, offset))
        last = at == len(case.net.layers) - 1
        values = sums if last else [z3.If(each > 0, each, 0) for each in sums]
    outputs = [_sum(row, values, c) for row, c in zip(case.rows, case.offsets, strict=True)]
    failing = [z3.And(*[outputs[each.output] <= 0 for each in clause]) for clause in case.clauses]
    solver.add(z3.Or(*failing))
    left = seconds - (time.perf_counter() - began)
    solver.set("timeout", max(int(1000 * left), 1))
    answer = str(solver.check())
    word: Word = "holds" if answer == "unsat" else "fails" if answer == "sat" else "unknown"
    return word, time.process_time() - cpu


def ask_marabou(case: Case, seconds: float) -> tuple[Word, float]:
    """Marabou's answer, a query for each clause, and CPU seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from maraboupy import Marabou, MarabouNetwork

    began, cpu = time.perf_counter(), time.process_time()
    for clause in case.clauses:
        left = seconds - (time.perf_counter() - began)
        if left <= 0:
            return "unknown", time.process_time() - cpu
        net = MarabouNetwork.MarabouNetwork()
        outputs = _marabou_net(net, case)
        for each in clause:
            net.addInequality([outputs[each.output]], [1.0], 0.0)
        options = Marabou.createOptions(verbosity=0, timeoutInSeconds=max(int(left), 1))
        with _silence():
            answer, _, _ = net.solve(verbose=False, options=options)
        if answer == "sat":
            return "fails", time.process_time() - cpu
        if answer != "unsat":
            return "unknown", time.process_time() - cpu
    return "holds", time.process_time() - cpu


def has_marabou() -> bool:
    """Whether maraboupy is here."""
    return find_spec("maraboupy") is not None


def _marabou_net(net: Any, case: Case) -> list[int]:
    values = [net.getNewVariable() for _ in range(case.net.inputs)]
    net.inputVars = [np.array(values)]
    for each, low, high in zip(values, case.low, case.high, strict=True):
        net.setLowerBound(each, float(low))
        net.setUpperBound(each, float(high))
    for at, (weights, bias) in enumerate(case.net.layers):
        sums = _marabou_rows(net, values, weights, bias)
        if at == len(case.net.layers) - 1:
            values = sums
            continue
        values = [net.getNewVariable() for _ in sums]
        for before, after in zip(sums, values, strict=True):
            net.addRelu(before, after)
    outputs = _marabou_rows(net, values, case.rows, case.offsets)
    net.outputVars = [np.array(outputs)]
    return outputs


def _marabou_rows(net: Any, values: list[int], weights: Any, bias: Any) -> list[int]:
    found: list[int] = []
    for row, offset in zip(weights, bias, strict=True):
        variable = net.getNewVariable()
        used = [at for at in range(len(values)) if row[at] != 0.0]
        net.addEquality(
            [values[at] for at in used] + [variable],
            [float(row[at]) for at in used] + [-1.0],
            -float(offset),
        )
        found.append(variable)
    return found


def _sum(row: Any, values: list[Any], offset: float) -> Any:
    parts = [_q(w) * v for w, v in zip(row, values, strict=True) if w != 0.0]
    return z3.Sum(*parts, _q(offset)) if parts else _q(offset)


def _q(value: float) -> Any:
    top, bottom = float(value).as_integer_ratio()
    return z3.Q(top, bottom)


@contextmanager
def _silence() -> Generator[None]:
    """Marabou writes to the process's own output."""
    null, kept = os.open(os.devnull, os.O_WRONLY), os.dup(1)
    os.dup2(null, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(null)
        os.close(kept)
