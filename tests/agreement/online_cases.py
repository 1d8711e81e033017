"""Streams of samples, resets and formulas for the online monitor, and what they must agree with."""

import pickle
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from reference_cases import DT, random_atom, random_case

from safegym.check.monitor import Monitor, Outcome, Update, judge, robustness
from safegym.formula import nodes as n
from safegym.formula.build import rising
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.terms import Window
from safegym.trace.model import Trace

Streams = dict[str, NDArray[np.float64]]
Row = tuple[bool, bool, float, float]


def random_online_formula(random: Random, depth: int = 3) -> Formula:
    """Any formula, or one of the shapes that `nested` tells of."""
    if random.random() < 0.3:
        return nested_window(random)
    return random_case(random, depth=depth).formula


def nested_window(random: Random) -> Formula:
    """A window, mostly over the present or the past, among others, in always or eventually."""
    window = Window(0, None) if random.random() < 0.3 else _window(random)
    inner = random.choice([n.Eventually, n.Always])(_now(random), window)
    body: Formula = inner
    if random.random() < 0.8:
        others = [_now(random) for _ in range(random.randint(1, 2))]
        body = random.choice([n.any_of, n.all_of])([*others, inner])
    if random.random() < 0.2:
        body = random.choice([n.any_of, n.all_of])([body, _now(random)])
    if random.random() < 0.1:
        body = random.choice([n.Next(body), n.Always(body, _window(random))])
    around = Window(random.choice([0, 0, 1, 2]) * DT, None)
    around = around if random.random() < 0.4 else _window(random)
    found = random.choice([n.Always, n.Eventually])(body, around)
    return n.Next(found) if random.random() < 0.15 else found


def _window(random: Random) -> Window:
    low = random.choice([0, 0, 0, 1, 2])
    return Window(low * DT, (low + random.choice([0, 1, 2, 3, 5])) * DT)


def _now(random: Random) -> Formula:
    """Mostly of the present or the past."""
    pick = random.random()
    if pick < 0.6:
        return random_atom(random)
    if pick < 0.75:
        return rising(random_atom(random))
    if pick < 0.85:
        return n.Once(random_atom(random), _window(random))
    if pick < 0.92:
        return n.Next(random_atom(random))
    return n.all_of([random_atom(random), random_atom(random)])


def streams(random: Random, samples: int, batch: int) -> Streams:
    """Small whole numbers, so that ties and zeros are frequent."""
    shape = (samples, batch)
    draw = np.random.default_rng(random.randrange(2**32))
    return {
        "x": draw.integers(-2, 3, shape).astype(float),
        "y": draw.integers(-2, 3, shape).astype(float),
        "p": draw.integers(-2, 3, (*shape, 2)).astype(float),
    }


@dataclass
class Told:
    """One update of one episode. prefix: its samples so far. age: index of the last."""

    update: Update
    row: int
    age: int
    prefix: dict[str, NDArray[np.float64]]


@dataclass
class OnlineCase:
    """A formula, three episodes with random resets, and a horizon."""

    formula: Formula
    horizon: int | None
    samples: int
    random: Random

    @classmethod
    def draw(cls, seed: int, depth: int = 3, longest: int = 24) -> "OnlineCase":
        random = Random(seed)
        formula = random_online_formula(random, depth)
        horizon = random.choice([None, 1, 3, 6, 9, 20])
        return cls(formula, horizon, random.randint(4, longest), random)

    def play(self, monitor: Monitor, batch: int = 3) -> list[Told]:
        """Updates of a monitor, reset by random masks and pickled now and then."""
        random, data = Random(self.samples), streams(self.random, self.samples, batch)
        begun, told = [0] * batch, list[Told]()
        for k in range(self.samples):
            if random.random() < 0.12:
                mask = [random.random() < 0.4 for _ in range(batch)]
                monitor.reset(mask)
                begun = [k if new else old for new, old in zip(mask, begun, strict=True)]
            if random.random() < 0.05:
                monitor = pickle.loads(pickle.dumps(monitor))
            update = monitor.update({name: values[k] for name, values in data.items()})
            for row in range(batch):
                first = begun[row]
                prefix = {name: values[first : k + 1, row] for name, values in data.items()}
                told.append(Told(update, row, k - first, prefix))
        return told

    def check(self, told: Told, monitor: Monitor) -> None:
        """Compares one update with the offline answer on its prefix."""
        trace = Trace.from_arrays(told.prefix, dt=DT, end="interrupted", horizon=self.horizon)
        verdict = judge(self.formula, trace)
        assert verdict.robustness is not None
        status = verdict.status
        wanted = (
            status == "satisfied",
            status != "violated",
            verdict.robustness.lo,
            verdict.robustness.hi,
        )
        found = row_of(told.update.episode, told.row)
        words = f"{self.formula}, H = {self.horizon}, sample {told.age}, {told.prefix}"
        if monitor.tight or self.is_settled(told.age, monitor):
            assert found == wanted, words
        else:
            assert encloses(found, wanted), words
        if isinstance(self.formula, n.Fraction):
            return
        low, high = robustness(self.formula, trace)
        at = told.age - monitor.look_ahead
        margins = (low[at], high[at]) if at >= 0 else (-np.inf, np.inf)
        lagging = row_of(told.update.delayed, told.row)
        if self.endless:
            assert lagging[2] <= margins[0] <= margins[1] <= lagging[3], words
        else:
            assert lagging[2:] == margins, words

    @property
    def endless(self) -> bool:
        """Whether an unbounded future operator is in the formula."""
        future = (n.Always, n.Eventually, n.Until, n.Release)
        return any(
            isinstance(part, future) and part.window.hi is None for part in postorder(self.formula)
        )

    def is_settled(self, age: int, monitor: Monitor) -> bool:
        """Whether all that the property reads at sample 0 is there."""
        if self.horizon is not None:
            return age >= self.horizon + monitor.look_ahead
        return (
            not self.endless
            and not isinstance(self.formula, n.Fraction)
            and (age >= monitor.look_ahead)
        )


def row_of(outcome: Outcome, row: int) -> Row:
    """must, may, lo, hi of one episode."""
    assert outcome.lo is not None
    assert outcome.hi is not None
    low, high = float(outcome.lo[row]), float(outcome.hi[row])
    return bool(outcome.must[row]), bool(outcome.may[row]), low, high


def encloses(found: Row, wanted: Row) -> bool:
    return (
        found[0] <= wanted[0]
        and wanted[1] <= found[1]
        and found[2] <= wanted[2]
        and wanted[3] <= found[3]
    )
