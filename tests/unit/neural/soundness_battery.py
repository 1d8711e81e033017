"""Checks that sound bounds pass and planted faults fail, for the bounds and for mutants of them."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from random_graphs import KINDS, ROUNDED, anything, bare, cancelling, network, ordered, single

from safegym.check.neural import enclosures
from safegym.check.neural.evaluate import evaluate_deployed, values
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.graph import Graph

PACKAGE = "safegym.check.neural.bounds"
ORDER = (
    "rounding",
    "relaxations.lines",
    "relaxations.piecewise",
    "relaxations.sigmoidal",
    "relaxations.curved",
    "relaxations.waves",
    "relaxations.bilinear",
    "deployed",
    "plan",
    "entries",
    "interval",
    "elementwise",
    "forward",
    "state",
    "backward",
    "slopes",
    "engine",
)
"""The modules of the bounds, each after those that it imports."""

Kit = dict[str, Any]
"""Module name within the package -> module."""


def plain_kit() -> Kit:
    """The bounds as they are."""
    return {name: importlib.import_module(f"{PACKAGE}.{name}") for name in ORDER}


@contextmanager
def mutant(module: str, old: str, new: str) -> Iterator[Kit]:
    """The bounds compiled anew with one piece of one module's source replaced."""
    originals = plain_kit()
    kit: Kit = {}
    try:
        for name in ORDER:
            path = originals[name].__file__
            with open(path, encoding="utf-8") as file:
                source = file.read()
            if name == module:
                assert source.count(old) >= 1, f"{module} has no `{old}`"
                source = source.replace(old, new, 1)
            fresh = ModuleType(f"{PACKAGE}.{name}")
            fresh.__file__ = path
            sys.modules[fresh.__name__] = fresh
            exec(compile(source, path, "exec"), fresh.__dict__)
            kit[name] = fresh
        yield kit
    finally:
        for name, original in originals.items():
            sys.modules[f"{PACKAGE}.{name}"] = original


def failures(kit: Kit, *, first_only: bool = False) -> list[str]:
    """What the kit's bounds get wrong, in words."""
    found: list[str] = []
    for check in CHECKS:
        try:
            found += check(kit)
        except Exception as error:  # a mutant may break in any way
            found.append(f"{check.__name__} raised {error!r}")
        if found and first_only:
            break
    return found


# ---- relaxations, one interval at a time -------------------------------------------------------

EXACT: dict[str, Callable[[Fraction], Fraction]] = {
    "relu": lambda x: max(x, Fraction(0)),
    "absolute": abs,
    "square": lambda x: x * x,
    "clip": lambda x: min(max(x, Fraction(-1, 2)), Fraction(3, 4)),
    "leaky": lambda x: x if x >= 0 else x / 8,
    "steep": lambda x: x if x >= 0 else 3 * x,
    "backward": lambda x: x if x >= 0 else -x / 2,
    "tilted": lambda x: x if x >= 0 else x / 8,
    "leaning": lambda x: max(x, Fraction(0)),
}
LIBRARY = {
    "tanh": enclosures.tanh,
    "sigmoid": enclosures.sigmoid,
    "exponential": enclosures.exp,
    "square_root": enclosures.sqrt,
    "sine": enclosures.sin,
    "cosine": enclosures.cos,
}


def relaxation(kit: Kit, name: str) -> Callable[[Any, Any], Any]:
    """A relaxation of intervals by its name above."""
    piecewise = kit["relaxations.piecewise"]
    own = {
        "relu": piecewise.relu,
        "absolute": piecewise.absolute,
        "square": kit["relaxations.curved"].square,
        "clip": lambda low, high: piecewise.clip(
            low, high, np.full_like(low, -0.5), np.full_like(low, 0.75)
        ),
        "leaky": lambda low, high: piecewise.leaky_relu(low, high, 0.125),
        "steep": lambda low, high: piecewise.leaky_relu(low, high, 3.0),
        "backward": lambda low, high: piecewise.leaky_relu(low, high, -0.5),
        "tilted": lambda low, high: piecewise.leaky_relu(low, high, 0.125, np.full_like(low, 0.3)),
        "leaning": lambda low, high: piecewise.relu(low, high, np.full_like(low, 0.7)),
        "tanh": kit["relaxations.sigmoidal"].tanh,
        "sigmoid": kit["relaxations.sigmoidal"].sigmoid,
        "exponential": kit["relaxations.curved"].exponential,
        "square_root": kit["relaxations.curved"].square_root,
        "sine": kit["relaxations.waves"].sine,
        "cosine": kit["relaxations.waves"].cosine,
    }
    return own[name]


def enclosed(name: str, x: Fraction) -> tuple[Fraction, Fraction]:
    """The function's value, as an interval of rationals."""
    if name in EXACT:
        value = EXACT[name](x)
        return value, value
    return LIBRARY[name](x, 30)


def wrong_points(name: str, lines: Any, low: float, high: float, points: list[float]) -> list[str]:
    """Points at which a line is on the wrong side, decided in rationals."""
    found: list[str] = []
    slope_low, lower, slope_high, upper = (Fraction(float(np.ravel(each)[0])) for each in lines)
    for point in points:
        x = Fraction(min(max(point, low), high))
        least, greatest = enclosed(name, x)
        if slope_low * x + lower > greatest or slope_high * x + upper < least:
            found.append(f"{name} on [{low!r}, {high!r}] at {float(x)!r}")
    return found


def interesting(low: float, high: float, slopes: list[float]) -> list[float]:
    """Ends, knots, the middle, a grid, and where a smooth function's slope is a line's."""
    points = [low, high, 0.0, -0.5, 0.75, 0.5 * low + 0.5 * high]
    points += list(np.linspace(low, high, 7))
    with np.errstate(all="ignore"):
        for slope in slopes:
            root = np.arctanh(np.sqrt(np.clip(1.0 - slope, 0.0, 1.0 - 1e-16)))
            turn = np.arccos(np.clip(slope, -1.0, 1.0))
            cycles = np.arange(-2, 3) * 2.0 * np.pi
            guesses = [slope / 2.0, root, -root, 2.0 * root, -2.0 * root]
            guesses += [
                float(np.log(np.maximum(slope, 1e-300))),
                float(np.divide(np.divide(0.25, slope), slope)),
            ]
            guesses += [*(turn + cycles), *(-turn + cycles)]
            guesses += [*(turn - np.pi / 2 + cycles), *(-turn - np.pi / 2 + cycles)]
            points += [float(each) for each in guesses if np.isfinite(each)]
    return [point for point in points if low <= point <= high]


def _intervals(name: str) -> list[tuple[float, float]]:
    random = np.random.default_rng(3)
    found = [(-1.0, 2.0), (-2.0, 1.0), (0.25, 0.75), (-3.0, -1.0), (0.3, 0.3), (-0.1, 0.1)]
    for scale in (1e-6, 0.3, 2.0, 8.0):
        centres = random.normal(size=3) * scale
        widths = np.abs(random.normal(size=3)) * scale
        found += [(float(c - w), float(c + w)) for c, w in zip(centres, widths, strict=True)]
    if name == "square_root":
        found = [(abs(a), abs(a) + (b - a)) for a, b in found]
    return found


def relaxations_enclose(kit: Kit) -> list[str]:
    """Each relaxation's lines, at interesting points, in rationals."""
    found: list[str] = []
    for name in (*EXACT, *LIBRARY):
        ends = _intervals(name)
        low, high = (np.array([[each[i]] for each in ends]) for i in (0, 1))
        lines = relaxation(kit, name)(low, high)
        for at, (a, b) in enumerate(ends):
            own = [each[at] for each in lines]
            points = interesting(a, b, [float(own[0][0]), float(own[2][0])])
            found += wrong_points(name, own, a, b, points)
    return found


def planes_enclose(kit: Kit) -> list[str]:
    """The planes of a product at the corners and inside, in rationals."""
    random = np.random.default_rng(5)
    ends = np.sort(random.normal(size=(40, 2, 2)), axis=2)
    found: list[str] = []
    for second in (False, True):
        planes = kit["relaxations.bilinear"].product(
            ends[:, :1, 0], ends[:, :1, 1], ends[:, 1:, 0], ends[:, 1:, 1], second
        )
        for at, (left, right) in enumerate(ends):
            a, b, c, d, e, f = (Fraction(float(each[at, 0])) for each in planes)
            for share in ((0, 0), (0, 1), (1, 0), (1, 1), (0.3, 0.6)):
                x, y = (
                    Fraction(float(v[0] + (v[1] - v[0]) * s)) if s not in (0, 1) else Fraction(v[s])
                    for v, s in zip((left, right), share, strict=True)
                )
                if not a * x + b * y + c <= x * y <= d * x + e * y + f:
                    found.append(f"product on {left} x {right}")
    return found


# ---- graphs ------------------------------------------------------------------------------------


def _graphs() -> list[Graph]:
    return [
        *(single(kind) for kind in KINDS),
        *(bare(kind) for kind in KINDS),
        network((2, 8, 8, 8, 2), "relu", "exact", seed=1),
        network((2, 20, 20, 20, 2), "relu", "exact", seed=7),
        network((2, 6, 6, 2), "tanh", "exact", seed=2),
        network((2, 6, 2), "sigmoid", "exact", seed=3),
        cancelling(activation=None),
        cancelling(activation="relu"),
        *(anything(seed, "exact", 7) for seed in (1, 4, 6, 9)),
    ]


def _boxes(graph: Graph, seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    centre = random.normal(size=(6, graph.inputs))
    if graph.inputs == 2 and len(graph.nodes) <= 6 and graph.nodes[1].size == 64:
        centre[:] = 1.0
    width = np.array([2.0, 0.5, 0.05, 1e-3, 1e-9, 0.0])[:, None]
    return centre - width, centre + width


def graphs_hold_exactly(kit: Kit) -> list[str]:
    """Bounds, linear functions and cheap bounds of graphs at points, in rationals."""
    found: list[str] = []
    for index, graph in enumerate(_graphs()):
        bounds = kit["engine"].Bounds(graph, "real")
        low, high = _boxes(graph, index)
        linear, cheap = bounds.linear(low, high, upper=True, climb=2), bounds.best(low, high)
        spans = bounds.interval(low, high)[-1]
        random = np.random.default_rng(index)
        for box in range(len(low)):
            ends = [low[box], high[box]]
            for row in linear.coefficients[box]:
                ends.append(np.where(row > 0.0, low[box], high[box]))
            ends.append(random.uniform(low[box], high[box]))
            for x in ends:
                point = [Fraction(float(each)) for each in x]
                for at, (least, greatest) in enumerate(evaluate_exact(graph, point, digits=30)):
                    line = _line(linear.coefficients[box, at], linear.constants[box, at], point)
                    if (
                        line > greatest
                        or max(linear.lower[box, at], cheap[box, at], spans[0][box, at]) > greatest
                        or min(linear.upper[box, at], spans[1][box, at]) < least
                    ):
                        found.append(f"graph {index}, box {box}, output {at}")
    return found


def _line(coefficients: Any, constant: float, point: list[Fraction]) -> Any:
    if constant == -np.inf:
        return constant
    parts = zip(coefficients, point, strict=True)
    return Fraction(float(constant)) + sum(Fraction(float(a)) * x for a, x in parts)


def many_samples_inside(kit: Kit) -> list[str]:
    """Binary64 samples inside every node's interval and every output's bounds."""
    found: list[str] = []
    for index, graph in enumerate([*_graphs(), *(anything(seed) for seed in range(20, 26))]):
        bounds = kit["engine"].Bounds(graph, "real")
        low, high = _boxes(graph, index + 100)
        linear, spans = bounds.linear(low, high, upper=True), bounds.interval(low, high)
        random = np.random.default_rng(index)
        x = random.uniform(size=(300, *low.shape)) * (high - low) + low
        x = np.clip(x, low, high)
        every = values(graph, x.reshape(-1, graph.inputs))
        for value, span in zip(every, spans, strict=True):
            shaped = value.reshape(300, len(low), -1)
            slack = 1e-9 * (1.0 + np.abs(shaped).max())
            if (shaped < span[0] - slack).any() or (shaped > span[1] + slack).any():
                found.append(f"interval of graph {index}")
        shaped = every[-1].reshape(300, len(low), -1)
        slack = 1e-9 * (1.0 + np.abs(shaped).max())
        if (shaped < linear.lower - slack).any() or (shaped > linear.upper + slack).any():
            found.append(f"bounds of graph {index}")
    return found


def deployed_results_inside(kit: Kit) -> list[str]:
    """Binary32 results, sums in several orders, inside the bounds, without any tolerance."""
    found: list[str] = []
    for index, activation in enumerate(("relu", "tanh", "sigmoid", "leaky_relu")):
        graph = network((3, 12, 12, 2), activation, "float32", seed=index)
        found += deployed_failures(kit, graph, index)
    for seed in (2, 3, 5, 8, 11, 12):
        found += deployed_failures(kit, anything(seed, "float32", 6), seed)
    for kind in ROUNDED:
        found += deployed_failures(kit, single(kind, "float32"), 1)
        found += deployed_failures(kit, bare(kind, "float32"), 1)
    return found


def deployed_failures(kit: Kit, graph: Graph, seed: int) -> list[str]:
    """Where a binary32 result of one graph leaves the bounds."""
    found: list[str] = []
    random = np.random.default_rng(seed)
    bounds = kit["engine"].Bounds(graph, "deployed float32")
    centre = random.normal(size=(40, graph.inputs))
    for width in (0.0, 1e-6, 1e-2):
        low, high = centre - width, centre + width
        linear, spans = bounds.linear(low, high, upper=True), bounds.interval(low, high)[-1]
        for order in range(4):
            x = low if order == 0 else random.uniform(low, high)
            y = evaluate_deployed(graph, x) if order == 0 else ordered(graph, x, random)
            below = np.maximum(linear.lower, spans[0])
            if (y < below).any() or (y > np.minimum(linear.upper, spans[1])).any():
                found.append(f"deployed result of a graph, width {width}, order {order}")
    return found


CHECKS: tuple[Callable[[Kit], list[str]], ...] = (
    relaxations_enclose,
    planes_enclose,
    many_samples_inside,
    deployed_results_inside,
    graphs_hold_exactly,
)
