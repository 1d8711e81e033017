"""Robustness at every index of one long trace: our kernels, rivals and a memory copy, in turns."""

import numpy as np

from monitoring import rivals
from monitoring.cases import CASES, Case, Signals, signals
from monitoring.least import Work, least
from safegym.check.monitor import compiled, robustness
from safegym.formula.nodes import Formula
from safegym.formula.text import parse
from safegym.trace.model import Trace

Figures = dict[str, float]
PREFIX: dict[compiled.Mode, str] = {"numba": "", "numpy": "numpy_"}


def figures(seconds: float) -> tuple[Figures, dict[str, Figures]]:
    """Returns ns a sample of ours ("G", "numpy_G", ...) and of each rival, case by case.

    seconds: CPU time for each monitor on each case.
    """
    ours: Figures = {}
    theirs: dict[str, Figures] = {}
    for case in CASES:
        arrays = signals(case.samples)
        copied = np.empty_like(arrays["x"])
        asked = {} if case.alone else rivals.offline(case, arrays)
        works: dict[str, Work] = {
            **_ours(case, arrays),
            **{name: work for name, (work, _) in asked.items()},
            "memory_copy": lambda x=arrays["x"], y=copied: np.copyto(y, x),  # type: ignore[misc]  # bound now
        }
        spent = least(works, seconds)
        for mode, prefix in PREFIX.items():
            ours[prefix + case.name] = spent[mode] / case.samples * 1e9
        if case.name == "G":
            ours["memory_copy"] = spent["memory_copy"] / case.samples * 1e9
        for name, (_, samples) in asked.items():
            theirs.setdefault(name, {})[case.name] = spent[name] / samples * 1e9
    for prefix in PREFIX.values():
        ours[f"{prefix}flat_in_window"] = ours[f"{prefix}G"] / ours[f"{prefix}G_T10"]
    return ours, theirs


def _ours(case: Case, arrays: Signals) -> dict[str, Work]:
    formula, trace = parse(case.text), Trace.from_arrays(arrays, dt=1, end="cut")
    return {mode: _with(mode, formula, trace) for mode in PREFIX}


def _with(mode: compiled.Mode, formula: Formula, trace: Trace) -> Work:
    def work() -> object:
        with compiled.use(mode):
            return robustness(formula, trace)

    return work
