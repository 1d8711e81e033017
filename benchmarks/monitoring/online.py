"""Online monitors: one sample of every episode an update, in steady state, whole cycles averaged.

Monitors that keep sliding aggregates pay now and then for many samples at once, so a figure is the
mean over at least one window's length of updates, after the window has filled once.
"""

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from monitoring import rivals
from monitoring.offline import PREFIX
from safegym.check.monitor import Monitor, compiled
from safegym.formula.text import parse

HORIZONS = (100, 10_000)
BATCHES = (1, 1000)
FORMULAS = {
    "always": "always[0,{0}](abs(x) <= 2.5)",
    "until": "(x > -2) until[0,{0}] (y > 2)",
    "response": "always((x > 1) implies eventually[0,{0}](y < -1))",
}
INNER = FORMULAS | {"response": "(x > 1) implies eventually[0,{0}](y < -1)"}
"""What rivals get: no unbounded operator, which rtamt and mstlo lack and sentil never settles."""
MSTLO = {
    "always": "G[0,{0}]((x <= 2.5) && (x >= -2.5))",
    "until": "(x > -2) U[0,{0}] (y > 2)",
    "response": "(x > 1) -> F[0,{0}](y < -1)",
}
RTAMT_LONGEST = 100
"""Longest window that rtamt is given; its cost a sample grows with its square."""
ROWS = 1024
"""Samples that are taken again and again."""
Updates = Callable[[int, int], None]
"""Makes the updates of samples first..first + count - 1."""


def figures(seconds: float) -> dict[str, float]:
    """Returns ns a sample of one episode, e.g. "online_until_B1000_H100", and flatness in H.

    Compiled, which `auto` comes to after 10 000 updates (250 where numba is imported); prefixed
    `numpy_`, what it does until then. seconds: CPU time that the filling and each of three measured
    cycles may take, a quarter of it in numpy; a monitor too slow for it is measured on what it got
    through.
    """
    found: dict[str, float] = {}
    for mode, prefix in PREFIX.items():
        spare = seconds if mode == "numba" else seconds / 4
        with compiled.use(mode):
            for word, batch, horizon in product(FORMULAS, BATCHES, HORIZONS):
                spent = _cycle(_safegym(FORMULAS[word].format(horizon), batch), horizon, spare)
                found[f"{prefix}online_{word}_B{batch}_H{horizon}"] = spent / batch * 1e9
    for word, batch in product(FORMULAS, BATCHES):
        short, long = (found[f"online_{word}_B{batch}_H{h}"] for h in HORIZONS)
        found[f"flat_{word}_B{batch}"] = long / short
    return found


def rival_figures(seconds: float) -> dict[str, dict[str, float]]:
    """The same of rivals, one episode; none has a batch, so more episodes cost as much each."""
    found: dict[str, dict[str, float]] = {}
    for word in FORMULAS:
        for horizon in HORIZONS:
            name = f"online_{word}_B1_H{horizon}"
            for rival, make in (("sentil", _sentil), ("rtamt", _rtamt), ("mstlo", _mstlo)):
                if rivals.module(rival) and (rival != "rtamt" or horizon <= RTAMT_LONGEST):
                    spent = _cycle(make(word, horizon), horizon, seconds)
                    found.setdefault(rival, {})[name] = spent * 1e9
    return found


def _cycle(updates: Updates, horizon: int, seconds: float) -> float:
    """Least mean CPU seconds of an update over a cycle, after one that fills the window."""
    count = 2 * horizon + 200
    done = _spent(updates, 0, count, seconds)[0]
    best = float("inf")
    for _ in range(3):
        more, spent = _spent(updates, done, count, seconds)
        done += more
        best = min(best, spent / more)
    return best


def _spent(updates: Updates, first: int, count: int, seconds: float) -> tuple[int, float]:
    """How many updates were made, and their CPU seconds."""
    begun, done, step, spent = time.process_time(), 0, 50, 0.0
    while done < count and spent < seconds:
        updates(first + done, step)
        done += step
        spent = time.process_time() - begun
    return done, spent


def _draws(batch: int) -> tuple[Any, Any]:
    draw = np.random.default_rng(7)
    return draw.normal(size=(ROWS, batch)), draw.normal(size=(ROWS, batch))


def _safegym(text: str, batch: int) -> Updates:
    formula = parse(text)
    update = Monitor(formula, dt=1, batch=batch).update
    x, y = _draws(batch)
    names = {signal.name for signal in formula.signals}
    rows = [
        {name: values[k] for name, values in (("x", x), ("y", y)) if name in names}
        for k in range(ROWS)
    ]

    def updates(first: int, count: int) -> None:
        for k in range(first, first + count):
            update(rows[k % ROWS])

    return updates


def _sentil(word: str, horizon: int) -> Updates:
    monitor = rivals.module("sentil").OnlineMonitor(INNER[word].format(horizon))
    update, width = monitor.update_packed, monitor.variable_count
    rows = [row[:width] for row in _pairs()]

    def updates(first: int, count: int) -> None:
        for k in range(first, first + count):
            update(float(k), rows[k % ROWS])

    return updates


def _rtamt(word: str, horizon: int) -> Updates:
    specification = rivals.module("rtamt").StlDiscreteTimeOnlineSpecification()
    rivals.declare(specification, INNER[word].format(horizon))
    specification.pastify()
    rows = [list(zip("xy", row, strict=True)) for row in _pairs()]

    def updates(first: int, count: int) -> None:
        for k in range(first, first + count):
            specification.update(k, rows[k % ROWS])

    return updates


def _mstlo(word: str, horizon: int) -> Updates:
    mstlo = rivals.module("mstlo")
    text = MSTLO[word].format(horizon)
    update = mstlo.Monitor(mstlo.parse_formula(text), semantics="DelayedQuantitative").update
    rows, both = _pairs(), "y " in text

    def updates(first: int, count: int) -> None:
        for k in range(first, first + count):
            update("x", rows[k % ROWS][0], float(k))
            if both:
                update("y", rows[k % ROWS][1], float(k))

    return updates


def _pairs() -> list[list[float]]:
    """X and y of one episode, sample by sample."""
    x, y = _draws(1)
    return np.column_stack([x[:, 0], y[:, 0]]).tolist()  # type: ignore[no-any-return]  # floats
