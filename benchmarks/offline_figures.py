"""What a call costs beside its samples, and what raggedness costs a batch.

`figures(seconds)` returns CPU time: us a call on one episode of 1000 samples (`judge_us`,
`settling_us`, `robustness_us`, `satisfaction_us`), and ns a sample on 1000 episodes of 500 to 1500
samples, all of different lengths (`ragged_G`, `ragged_G_status`, and with open ends
`ragged_open_G`), with the compiled kernels and, prefixed `numpy_`, without.
"""

from functools import partial

import numpy as np
from monitoring.cases import signals
from monitoring.least import Work, least

from safegym.check.monitor import compiled, judge, robustness, satisfaction, settling
from safegym.formula.text import parse
from safegym.trace.batch import TraceBatch
from safegym.trace.model import Trace

Figures = dict[str, float]
PREFIX: dict[compiled.Mode, str] = {"numba": "", "numpy": "numpy_"}
CALLS = 50
"""Calls timed at once: one takes microseconds."""


def figures(seconds: float) -> Figures:
    """All of them; seconds: CPU time for each."""
    return calls(seconds) | ragged(seconds)


def calls(seconds: float) -> Figures:
    """Returns us a call on an episode of 1000 samples that satisfies `always(abs(x) <= 9)`."""
    trace, formula = (
        Trace.from_arrays(signals(1000), dt=1, end="horizon"),
        parse("always(abs(x) <= 9)"),
    )
    asked = {
        "judge_us": judge,
        "settling_us": settling,
        "robustness_us": robustness,
        "satisfaction_us": satisfaction,
    }
    works = {name: partial(_repeat, partial(ask, formula, trace)) for name, ask in asked.items()}
    return {name: spent / CALLS * 1e6 for name, spent in least(works, seconds).items()}


def ragged(seconds: float, rows: int = 1000, longest: int = 1500) -> Figures:
    """Returns ns a sample of `always` over a window of 100 samples, every length another."""
    lengths = np.random.default_rng(7).permutation(np.linspace(500, longest, rows).astype(int))
    arrays = signals(longest, rows)
    cut = TraceBatch.from_arrays(arrays, dt=1, end="cut", lengths=lengths)
    left_open = TraceBatch.from_arrays(arrays, dt=1, end="interrupted", lengths=lengths)
    formula = parse("always[0,100](abs(x) <= 2.5)")
    asked = {
        "ragged_G": partial(robustness, formula, cut),
        "ragged_G_status": partial(satisfaction, formula, cut),
        "ragged_open_G": partial(robustness, formula, left_open),
    }
    works: dict[str, Work] = {
        prefix + name: partial(_in_mode, mode, ask)
        for mode, prefix in PREFIX.items()
        for name, ask in asked.items()
    }
    samples = int(lengths.sum())
    return {name: spent / samples * 1e9 for name, spent in least(works, seconds).items()}


def _repeat(ask: Work) -> None:
    for _ in range(CALLS):
        ask()


def _in_mode(mode: compiled.Mode, ask: Work) -> object:
    with compiled.use(mode):
        return ask()
