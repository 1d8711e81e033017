"""A batch of episodes: robustness and truth at every index of each, in one call.

No rival has a batch, so each of its traces is a call of its own, all made ready beforehand.
"""

import numpy as np

from monitoring import rivals
from monitoring.cases import BATCH, Signals, signals
from monitoring.least import Work, least
from monitoring.offline import PREFIX, Figures
from safegym.check.monitor import compiled, robustness, satisfaction
from safegym.formula.nodes import Formula
from safegym.formula.text import parse
from safegym.trace.batch import TraceBatch

ROWS = 1000


def batch_of(rows: int, samples: int) -> TraceBatch:
    """Gaussian x and y of `rows` episodes, dt = 1 s, whose windows past the end stay open."""
    return TraceBatch.from_arrays(signals(samples, rows), dt=1, end="horizon")


def figures(seconds: float) -> tuple[Figures, dict[str, Figures]]:
    """Returns ns a sample of ours (batch_G, ...) and of each rival (batch_G)."""
    arrays = signals(BATCH.samples, ROWS)
    batch, formula = TraceBatch.from_arrays(arrays, dt=1, end="cut"), parse(BATCH.text)
    copied = np.empty_like(arrays["x"])
    works: dict[str, Work] = {"batch_memory_copy": lambda: np.copyto(copied, arrays["x"])}
    for mode, prefix in PREFIX.items():
        works[f"{prefix}{BATCH.name}"] = _with(mode, robustness, formula, batch)
        works[f"{prefix}{BATCH.name}_status"] = _with(mode, satisfaction, formula, batch)
    asked = _rivals(arrays)
    spent = least({**works, **asked}, seconds)
    each = 1e9 / (ROWS * BATCH.samples)
    ours = {name: spent[name] * each for name in works}
    return ours, {rival: {BATCH.name: spent[rival] * each} for rival in asked}


def _with(mode: compiled.Mode, ask: object, formula: Formula, batch: TraceBatch) -> Work:
    def work() -> object:
        with compiled.use(mode):
            return ask(formula, batch)  # type: ignore[operator]  # robustness or satisfaction

    return work


def _rivals(arrays: Signals) -> dict[str, Work]:
    """Every row by itself."""
    found: dict[str, list[Work]] = {}
    for row in range(ROWS):
        one = {name: values[row] for name, values in arrays.items()}
        for rival, (work, _) in rivals.offline(BATCH, one).items():
            found.setdefault(rival, []).append(work)
    return {rival: _all(works) for rival, works in found.items()}


def _all(works: list[Work]) -> Work:
    return lambda: [work() for work in works]
