"""Control nets: CPU seconds to an answer, and wrong answers, beside z3 and Marabou."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from proving import rivals
from proving.claims import Case, cases
from proving.nets import SHAPES, trained
from safegym.check.neural.outcome import SearchOutcome
from safegym.check.neural.search import search

TIMEOUT = 20.0  # seconds
SAMPLES = 100_000
WORDS = {"PROVED": "holds", "COUNTEREXAMPLE": "fails", "UNKNOWN": "unknown"}


def measure(quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Figures by shape; the ratio is the median over all cases, in CPU seconds."""
    figures: dict[str, Any] = {}
    theirs: dict[str, Any] = {}
    every: list[float] = []
    wrong = 0
    for shape in SHAPES:
        made = [
            case for seed in range(1 if quick else 3) for case in cases(trained(shape, seed), seed)
        ]
        answers = [_ours(case) for case in made]
        seconds = [taken for _, taken, _ in answers]
        every += seconds
        compared = _compared(made, quick)
        bad = [
            case.name
            for index, (case, (outcome, _, _)) in enumerate(zip(made, answers, strict=True))
            if _is_wrong(case, outcome, [table[index][0] for table in compared.values()])
        ]
        wrong += len(bad)
        words = [WORDS[outcome.result] for outcome, _, _ in answers]
        figures[shape] = {
            "cases": len(made),
            "median s": float(np.median(seconds)),
            "median wall s": float(np.median([wall for _, _, wall in answers])),
            "most s": max(seconds),
            **{word: words.count(word) for word in ("holds", "fails", "unknown")},
            "wrong": bad,
        }
        say(f"{shape:18} {_line(figures[shape])}")
        for name, table in compared.items():
            asked = [each for each in table if each[1] > 0.0]
            if not asked:
                continue
            theirs[f"{name}, {shape}"] = {
                "cases": len(asked),
                "median s": float(np.median([taken for _, taken in asked])),
                **{
                    word: [each for each, _ in asked].count(word)
                    for word in ("holds", "fails", "unknown")
                },
            }
            say(f"    {name:14} {_line(theirs[f'{name}, {shape}'])}")
    return {
        "figures": figures,
        "rivals": theirs,
        "ratios": {"control nets median s": float(np.median(every)), "control nets wrong": wrong},
        "bars": {"control nets median s": 0.05, "control nets wrong": 0},
    }


def _ours(case: Case) -> tuple[SearchOutcome, float, float]:
    """The outcome, CPU seconds of this process, which works alone, and wall seconds."""
    problem = case.problem
    wall, began = time.perf_counter(), time.process_time()
    outcome = search(problem, timeout=TIMEOUT)
    return outcome, time.process_time() - began, time.perf_counter() - wall


def _compared(made: list[Case], quick: bool) -> dict[str, list[tuple[rivals.Word, float]]]:
    """Answers of the rivals; ("unknown", 0) where one was not asked."""
    found: dict[str, list[tuple[rivals.Word, float]]] = {}
    names = ["z3 alone"] + (["Marabou"] if rivals.has_marabou() else [])
    for name in names:
        ask = rivals.ask_z3 if name == "z3 alone" else rivals.ask_marabou
        limit = 1.0 if quick else 5.0
        step = 4 if quick else 1
        found[name] = [
            ask(case, limit)
            if case.net.activation == "relu" and index % step == 0
            else ("unknown", 0.0)
            for index, case in enumerate(made)
        ]
    return found


def _is_wrong(case: Case, outcome: SearchOutcome, others: list[rivals.Word]) -> bool:
    """A proof against a sample or a rival's answer; a counterexample that does not replay."""
    if outcome.result == "PROVED":
        sampled = case.fails(case.samples(SAMPLES, 7), single=True).any()
        return bool(sampled) or case.expected == "fails" or "fails" in others
    if outcome.result == "COUNTEREXAMPLE" and outcome.point is not None:
        point = outcome.point[None]
        inside = ((case.low <= point) & (point <= case.high)).all()
        replays = bool(case.fails(point, single=True)[0])
        return not inside or not replays or "holds" in others
    return False


def _line(row: dict[str, Any]) -> str:
    wall = f" CPU ({row['median wall s']:.4f} s wall)" if "median wall s" in row else " CPU"
    return (
        f"{row['cases']:3} cases, median {row['median s']:.4f} s{wall}: {row['holds']} hold, "
        f"{row['fails']} fail, {row['unknown']} unknown"
        + (f", WRONG: {row['wrong']}" if row.get("wrong") else "")
    )
