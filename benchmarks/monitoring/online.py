"""Online monitors: one sample of every episode an update, in steady state, whole cycles averaged.

Monitors that keep sliding aggregates pay now and then for many samples at once, so a figure is the
mean over at least one window's length of updates, after the window has filled once.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from monitoring import rivals
from safegym.check.monitor import Monitor
from safegym.formula.text import parse

HORIZONS = (100, 10_000)
BATCHES = (1, 1000)
FORMULAS = {
    "always": "always[0,{0}](abs(x) <= 2.5)",
    "until": "(x > -2) until[0,{0}] (y > 2)",
}
MSTLO = {
    "always": "G[0,{0}]((x <= 2.5) && (x >= -2.5))",
    "until": "(x > -2) U[0,{0}] (y > 2)",
}
RTAMT_LONGEST = 100
"""Longest window that rtamt is given; its cost a sample grows with its square."""
Update = Callable[[int], object]


def figures(seconds: float) -> dict[str, float]:
    """Ns a sample of one episode, e.g. "online_until_B1000_H100", and each flatness in H.

    seconds: CPU time that the filling and each of two measured cycles may take; a monitor too
    slow for it is measured on what it got through.
    """
    found: dict[str, float] = {}
    for word, text in FORMULAS.items():
        for batch in BATCHES:
            for horizon in HORIZONS:
                update = _safegym(text.format(horizon), batch)
                spent = _cycle(update, horizon, seconds)
                found[f"online_{word}_B{batch}_H{horizon}"] = spent / batch * 1e9
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


def _cycle(update: Update, horizon: int, seconds: float) -> float:
    """Least mean CPU seconds of an update over a cycle, after one that fills the window."""
    count = 2 * horizon + 200
    done = _spent(update, 0, count, seconds)[0]
    best = float("inf")
    for _ in range(2):
        more, spent = _spent(update, done, count, seconds)
        done += more
        best = min(best, spent / more)
    return best


def _spent(update: Update, first: int, count: int, seconds: float) -> tuple[int, float]:
    """How many updates were made, and their CPU seconds."""
    begun, done, step = time.process_time(), 0, 50
    while done < count:
        for k in range(first + done, first + done + step):
            update(k)
        done += step
        spent = time.process_time() - begun
        if spent > seconds:
            break
    return done, time.process_time() - begun


def _draws(batch: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    draw = np.random.default_rng(7)
    return draw.normal(size=(1000, batch)), draw.normal(size=(1000, batch))


def _safegym(text: str, batch: int) -> Update:
    formula = parse(text)
    monitor = Monitor(formula, dt=1, batch=batch)
    x, y = _draws(batch)
    names = {signal.name for signal in formula.signals}
    rows = [
        {name: values[k] for name, values in (("x", x), ("y", y)) if name in names}
        for k in range(1000)
    ]
    return lambda k: monitor.update(rows[k % 1000])


def _sentil(word: str, horizon: int) -> Update:
    monitor = rivals.module("sentil").OnlineMonitor(FORMULAS[word].format(horizon))
    x, y = (draw[:, 0].tolist() for draw in _draws(1))
    rows = [[a, b][: monitor.variable_count] for a, b in zip(x, y, strict=True)]
    return lambda k: monitor.update_packed(float(k), rows[k % 1000])


def _rtamt(word: str, horizon: int) -> Update:
    specification = rivals.module("rtamt").StlDiscreteTimeOnlineSpecification()
    rivals.declare(specification, FORMULAS[word].format(horizon))
    specification.pastify()
    x, y = (draw[:, 0].tolist() for draw in _draws(1))
    rows = [[("x", a), ("y", b)] for a, b in zip(x, y, strict=True)]
    return lambda k: specification.update(k, rows[k % 1000])


def _mstlo(word: str, horizon: int) -> Update:
    mstlo = rivals.module("mstlo")
    text = MSTLO[word].format(horizon)
    monitor = mstlo.Monitor(mstlo.parse_formula(text), semantics="DelayedQuantitative")
    x, y = (draw[:, 0].tolist() for draw in _draws(1))

    def update(k: int) -> object:
        first = monitor.update("x", x[k % 1000], float(k))
        return monitor.update("y", y[k % 1000], float(k)) if "y " in text else first

    return update
