"""Checks of the bounds where tight rounding, overflow, mixed formats and dropped entries meet."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from random_graphs import ordered
from soundness_battery import EXACT, LIBRARY, Kit, enclosed, interesting, relaxation, wrong_points

from safegym.check.neural.evaluate import evaluate_deployed
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.graph import Graph, GraphBuilder

_NARROW = [(x, x * (1.0 + k * 2.0**-52)) for x in (0.3, 1.7, 37.3, 1e3 / 3.0) for k in (1, 2, 3, 7)]
_ODD = [(0.0, 0.0), (-0.0, 0.0), (0.0, 5e-324), (-5e-324, 0.0), *_NARROW]
_EDGE = [(1e6 - 2.0, 1e6), (-1e6, -1e6 + 2.0), (1e6 - 2.0, 1e6 - 1e-9), (1e6, 1e6 + 2.0)]
_TURNS = [(k * 0.5 * np.pi - 0.05, k * 0.5 * np.pi + 0.05) for k in range(-4, 5)]
_OPERATIONS = {"exponential": "exp", "square_root": "sqrt", "sine": "sin", "cosine": "cos"}


def odd_intervals_enclose(kit: Kit) -> list[str]:
    """Lines and intervals at zeros, neighbours, quarter turns and the ends of the waves' range."""
    found: list[str] = []
    for name in (*EXACT, *LIBRARY):
        ends = _ODD + ((_EDGE + _TURNS) if name in ("sine", "cosine") else [])
        ends = [each for each in ends if each[0] >= 0.0 or name != "square_root"]
        low, high = (np.array([[each[i]] for each in ends]) for i in (0, 1))
        lines = relaxation(kit, name)(low, high)
        plain = kit["entries"]._PLAIN.get(_OPERATIONS.get(name, name))
        spans = plain(low, high) if plain is not None else None
        for at, (a, b) in enumerate(ends):
            own = [each[at] for each in lines]
            points = interesting(a, b, [float(own[0][0]), float(own[2][0])])
            points += list(np.linspace(a, b, 41)) if b - a > 0.01 else []
            found += wrong_points(name, own, a, b, points)
            if spans is None:
                continue
            for x in points:
                least, greatest = enclosed(name, Fraction(x))
                if spans[0][at, 0] > greatest or spans[1][at, 0] < least:
                    found.append(f"the interval of {name} on [{a!r}, {b!r}]")
    return found


# ---- graphs of a purpose -----------------------------------------------------------------------


def half_dead() -> Graph:
    """40 relus of which every second one is never on, so that they are left out."""
    random = np.random.default_rng(5)
    builder = GraphBuilder(2)
    at = builder.input()
    for size in (40, 40):
        weight = random.normal(size=(size, builder.nodes[at].size)) / 4.0
        bias = np.where(np.arange(size) % 2 == 0, -50.0, random.normal(size=size))
        at = builder.apply("relu", builder.linear([(at, weight)], bias))
    builder.linear([(at, random.normal(size=(2, 40)))], [0.0, 1.0])
    return builder.graph()


def creeping() -> Graph:
    """A large constant to which 200 constants are added that binary64 rounds up each time."""
    builder = GraphBuilder(1)
    at = builder.input()
    for _ in range(200):
        at = builder.linear([(at, [[1.0]])], [0.6 * 2.0**-25])
    builder.linear([(at, [[1.0]])], [2.0**27])
    return builder.graph()


def signed_root() -> Graph:
    """Roots of sums whose terms are of one sign or not."""
    builder = GraphBuilder(2)
    x = builder.input()
    squares = builder.apply("square", x)
    total = builder.linear([(squares, [[1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])], [0.0, -1.0, 0.0])
    builder.clip(builder.apply("sqrt", total), -1.0, 1.0)
    return builder.graph()


def purposes_hold_exactly(kit: Kit) -> list[str]:
    """Those graphs' bounds at corners, in rationals."""
    found: list[str] = []
    random = np.random.default_rng(2)
    for graph in (half_dead(), creeping()):
        bounds = kit["engine"].Bounds(graph, "real")
        centre = random.normal(size=(4, graph.inputs)) * (graph.inputs > 1)
        width = np.array([0.0, 0.0, 1e-6, 0.8])[:, None]
        low, high = centre - width, centre + width
        linear = bounds.linear(low, high, upper=True)
        for box in range(4):
            for x in (
                low[box],
                high[box],
                np.where(linear.coefficients[box, 0] > 0, low, high)[box],
            ):
                exact = evaluate_exact(graph, [Fraction(float(each)) for each in x])
                for at, (least, greatest) in enumerate(exact):
                    if linear.lower[box, at] > greatest or linear.upper[box, at] < least:
                        found.append(f"{linear.lower[box, at]!r} of output {at} at {x}")
    return found


def _deployed(parts: Callable[[GraphBuilder], Any], inputs: int = 1) -> Graph:
    builder = GraphBuilder(inputs)
    parts(builder)
    return builder.graph()


def _clipped(b: GraphBuilder) -> None:
    held = b.apply("cast", b.input(), precision="float32")
    b.apply("square", b.clip(held, -0.1, 0.1), precision="float32")


def _cancelled(b: GraphBuilder) -> None:
    held = b.apply("cast", b.input(), precision="float32")
    b.apply("tanh", b.linear([(held, [[2.0, -2.0]])], precision="float32"), precision="float32")


def _chosen(b: GraphBuilder) -> None:
    held = b.apply("cast", b.input(), precision="float32")
    total = b.linear([(held, [[2.0, -2.0]])], precision="float32")
    b.pair("max", total, b.linear([(held, [[0.0, 0.0]])], [7.0]))


def _nothing_times(b: GraphBuilder) -> None:
    grown = b.apply("square", b.input(), precision="float32")
    b.linear([(grown, [[0.0, 1e-30]])], [1.0], precision="float32")


def _turned(b: GraphBuilder) -> None:
    b.apply("sin", b.apply("exp", b.input(), precision="float32"), precision="float32")


def _summed(b: GraphBuilder) -> None:
    held = b.apply("cast", b.input(), precision="float32")
    rest = b.linear([(held, [[0.0] + [0.1] * 6])], precision="float32")
    both = b.linear([(held, [[1.0] + [0.0] * 6, [-1.0] + [0.0] * 6])], precision="float32")
    mixed = b.linear([(b.apply("relu", both), [[1.0, -1.0]])], precision="float32")
    b.linear([(rest, [[-1.0]]), (b.apply("relu", mixed), [[1.0]])], [0.5])


def _skipped(b: GraphBuilder) -> None:
    held = b.apply("cast", b.input(), precision="float32")
    rest = b.linear([(held, [[0.0] + [-0.1] * 6])], precision="float32")
    b.linear([(b.apply("relu", rest), [[1.0]]), (rest, [[1.0]])])


_CASES: tuple[tuple[Graph, Sequence[float]], ...] = (
    (_deployed(_clipped), (0.3,)),
    (_deployed(_cancelled, 2), (3e38, 3e38)),
    (_deployed(_chosen, 2), (3e38, 3e38)),
    (_deployed(_nothing_times, 2), (1e30, 1.0)),
    (_deployed(_turned), (120.0,)),
    (_deployed(lambda b: b.linear([(b.input(), [[1e-10]])], precision="float32")), (1e39,)),
    (_deployed(lambda b: b.linear([(b.input(), [[3e-46]])], precision="float32")), (1e38,)),
    (_deployed(lambda b: b.linear([(b.input(), [[1e38]])], precision="float32")), (1.1e-45,)),
    (
        _deployed(lambda b: b.apply("leaky_relu", b.input(), slope=3e-46, precision="float32")),
        (-1e38,),
    ),
    (_deployed(lambda b: b.apply("cast", b.input(), precision="float32")), (1e39,)),
    (_deployed(lambda b: b.apply("square", b.input(), precision="float32")), (1e30,)),
)


def deployed_extremes_are_inside(kit: Kit) -> list[str]:
    """Results next to binary32's ends are inside; infinity and what is no number have no bounds."""
    found: list[str] = []
    random = np.random.default_rng(0)
    for index, (graph, point) in enumerate(_CASES):
        x = np.array([point])
        bounds = kit["engine"].Bounds(graph, "deployed float32")
        linear, spans = bounds.linear(x, x, upper=True), bounds.interval(x, x)[-1]
        below = max(linear.lower[0, 0], bounds.best(x, x)[0, 0], spans[0][0, 0])
        above = min(linear.upper[0, 0], spans[1][0, 0])
        with np.errstate(all="ignore"):
            results = [evaluate_deployed(graph, x)[0, 0], ordered(graph, x, random)[0, 0]]
        for y in results:
            inside = below <= y <= above if np.isfinite(y) else (below, above) == (-np.inf, np.inf)
            if not inside:
                found.append(f"case {index}: {y!r} is not in [{below!r}, {above!r}]")
    return found


def sums_keep_their_deployed_error(kit: Kit) -> list[str]:
    """Where better slopes improved a bound, and where a relu that is off reads the sum as well."""
    found = list[str]()
    random = np.random.default_rng(4)
    rest = random.uniform(1.0, 9.0, size=(60, 6)).astype(np.float32).astype(np.float64)
    low, high = (np.concatenate([np.full((60, 1), e), rest], axis=1) for e in (-1e-12, 1e-12))
    for parts in (_summed, _skipped):
        graph = _deployed(parts, 7)
        linear = kit["engine"].Bounds(graph, "deployed float32").linear(low, high, climb=2)
        for _ in range(20):
            if (ordered(graph, low, random) < linear.lower - 1e-11).any():
                found.append(f"a deployed result below its bound, {parts.__name__}")
    return found


def open_ends_reach_their_side(kit: Kit) -> list[str]:
    """Of a sum of what overflows binary64, read with either sign."""
    builder = GraphBuilder(1)
    builder.linear([(builder.apply("exp", builder.input()), [[1.0], [-1.0]])])
    graph = builder.graph()
    low, high = kit["engine"].Bounds(graph, "real").interval([[700.0]], [[800.0]])[-1]
    exact = evaluate_exact(graph, [Fraction(800)])
    return [
        f"output {at} is not in [{low[0, at]}, {high[0, at]}]"
        for at, (least, greatest) in enumerate(exact)
        if low[0, at] > greatest or high[0, at] < least
    ]


def roots_of_what_may_be_negative_have_no_bound(kit: Kit) -> list[str]:
    """Not even behind a clip; and a sum of squares keeps its root."""
    linear = kit["engine"].Bounds(signed_root(), "real").linear([[-0.3, -0.2]], [[0.2, 0.3]])
    if not (linear.lower[0, 0] > -1e-9 and (linear.lower[0, 1:] == -np.inf).all()):
        return [f"roots are bounded by {linear.lower[0]}"]
    return []


def logistic_tails_allow_for_rational_functions(kit: Kit) -> list[str]:
    """ONNX Runtime's logistic function at -17.929 is 1.66e-7 too large or small."""
    graph = _deployed(lambda b: b.apply("sigmoid", b.input(), precision="float32"))
    x = np.array([[-17.929]])
    linear = kit["engine"].Bounds(graph, "deployed float32").linear(x, x, upper=True)
    value = float(evaluate_deployed(graph, x)[0, 0])
    inside = linear.lower[0, 0] <= 0.0 and linear.upper[0, 0] >= value + 1.66e-7
    return [] if inside else [f"the logistic function's tail is at most {linear.upper[0, 0]}"]


EXTREMES: tuple[Callable[[Kit], list[str]], ...] = (
    deployed_extremes_are_inside,
    roots_of_what_may_be_negative_have_no_bound,
    logistic_tails_allow_for_rational_functions,
    sums_keep_their_deployed_error,
    open_ends_reach_their_side,
    purposes_hold_exactly,
    odd_intervals_enclose,
)
