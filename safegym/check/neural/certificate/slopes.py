"""Slopes of the two lines between which an operation is held over an interval.

Only how tight a bound is hangs on them: the checker finds the intercepts itself, for any slopes.
"""

from collections.abc import Callable
from math import cos, cosh, exp, sin, sqrt, tanh

Line = tuple[float, float, float, float]
"""Slope below, slope above, and the points at which a tangent is laid below and above."""
Curve = Callable[[float], float]


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + exp(-x)) if x > 0 else exp(x) / (1.0 + exp(x))


CURVES: dict[str, tuple[Curve, Curve]] = {
    "tanh": (tanh, lambda x: 1.0 / cosh(min(abs(x), 300.0)) ** 2),
    "sigmoid": (_sigmoid, lambda x: _sigmoid(x) * _sigmoid(-x)),
    "exp": (exp, exp),
    "sqrt": (lambda x: sqrt(max(x, 0.0)), lambda x: 0.5 / sqrt(max(x, 1e-12))),
    "sin": (sin, cos),
    "cos": (cos, lambda x: -sin(x)),
}
"""Each curve and its derivative."""


def line(kind: str, low: float, high: float, divisor: float = 1.0) -> Line:
    """Slopes and tangent points of an operation over [low, high]."""
    if kind == "relu":
        if low >= 0.0 or high <= 0.0:
            slope = 1.0 if low >= 0.0 else 0.0
            return slope, slope, 0.0, 0.0
        return (1.0 if high > -low else 0.0), high / (high - low), 0.0, 0.0
    if kind == "divide":
        return 1.0 / divisor, 1.0 / divisor, 0.0, 0.0
    if kind == "square":
        return low + high, low + high, 0.0, 0.0
    function, derivative = CURVES[kind]
    middle = 0.5 * (low + high)
    if high - low < 1e-9:
        slope = derivative(middle)
        return slope, slope, middle, middle
    chord = (function(high) - function(low)) / (high - low)
    if kind in ("sin", "cos"):
        return _wave(function, derivative, low, high, chord)
    if kind == "exp":
        at = min(middle, low + 1.0)
        return derivative(at), chord, at, middle
    if kind == "sqrt" or low >= 0.0:
        return chord, derivative(middle), middle, middle
    if high <= 0.0:
        return derivative(middle), chord, middle, middle
    below, above = _from_end(function, derivative, low, high), 0.0
    centre = function(0.0)
    above = -_from_end(lambda x: 2.0 * centre - function(-x), derivative, -high, -low)
    return derivative(below), derivative(above), below, above


def _from_end(function: Curve, derivative: Curve, low: float, high: float) -> float:
    """Where the tangent of a curve that bends up, then down touches it and meets its upper end.

    low where no tangent does; there the chord's slope is not above that of the curve.
    """
    top = function(high)
    left, right = low, 0.0
    if function(low) + derivative(low) * (high - low) > top:
        return low
    for _ in range(40):
        middle = 0.5 * (left + right)
        if function(middle) + derivative(middle) * (high - middle) > top:
            right = middle
        else:
            left = middle
    return left


def _wave(function: Curve, derivative: Curve, low: float, high: float, chord: float) -> Line:
    """The best of the chord, of a flat line and of 33 tangents, on 129 points."""
    points = [low + (high - low) * at / 128 for at in range(129)]
    values, middle = [function(x) for x in points], 0.5 * (low + high)
    tries = [(chord, middle), (0.0, middle)] + [(derivative(x), x) for x in points[::4]]

    def best(sign: int) -> tuple[float, float]:
        def worth(tried: tuple[float, float]) -> float:
            slope = tried[0]
            rest = min(sign * (y - slope * x) for x, y in zip(points, values, strict=True))
            return rest + sign * slope * middle

        return max(tries, key=worth)

    (below, c), (above, d) = best(1), best(-1)
    if below == 0.0:
        c = points[min(range(129), key=values.__getitem__)]
    if above == 0.0:
        d = points[max(range(129), key=values.__getitem__)]
    return below, above, c, d
