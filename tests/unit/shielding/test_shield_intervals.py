"""The shield's interval arithmetic, against exact rational numbers and against sampling."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from safegym.check.loop.shield_intervals import IntervalProgram, Unbounded
from safegym.formula.functions import cos, exp, maximum, minimum, norm, sin, sqrt
from safegym.formula.interning import postorder
from safegym.formula.terms import Apply, Constant, Signal, Term

X, Y = Signal("x"), Signal("y")


def enclosed(term: Term, x: tuple[float, float], y: tuple[float, float]) -> tuple[float, float]:
    program = IntervalProgram(2)
    at = program.term(term, {"x": 0, "y": 1}, {})
    return program.run([x, y])[at]


def exactly(term: Term, x: Fraction, y: Fraction) -> Fraction:
    """The term in exact arithmetic; no sine, root or exponential."""
    found: dict[Any, Fraction] = {}
    for part in postorder(term):
        if isinstance(part, Constant):
            found[part] = Fraction(part.value)
        elif isinstance(part, Signal):
            found[part] = x if part is X else y
        elif isinstance(part, Apply):
            a = [found[each] for each in part.arguments]
            match part.operation:
                case "+":
                    found[part] = a[0] + a[1]
                case "-":
                    found[part] = a[0] - a[1]
                case "*":
                    found[part] = a[0] * a[1]
                case "/":
                    found[part] = a[0] / a[1]
                case "neg":
                    found[part] = -a[0]
                case "abs":
                    found[part] = abs(a[0])
                case "min":
                    found[part] = min(a)
                case _:
                    found[part] = max(a)
    return found[term]


def drawn(rng: np.random.Generator, depth: int) -> Term:
    if depth == 0:
        return (X, Y, Constant(float(rng.normal())))[int(rng.integers(3))]
    left, right = drawn(rng, depth - 1), drawn(rng, depth - 1)
    return [
        lambda: left + right,
        lambda: left - right,
        lambda: left * right,
        lambda: left * left,
        lambda: -left,
        lambda: abs(left),
        lambda: minimum(left, right),
        lambda: maximum(left, right),
        lambda: left / float(rng.choice([-3.0, 0.1, 7.0])),
    ][int(rng.integers(9))]()


@pytest.mark.parametrize("seed", range(60))
def test_the_exact_value_at_every_point_lies_in_the_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    term = drawn(rng, 4)
    width = float(rng.choice([0.0, 1e-12, 0.3, 10.0]))
    lows = rng.normal(size=2) * 10.0 ** rng.integers(-3, 3)
    box = [(float(low), float(low) + width * float(rng.random())) for low in lows]
    low, high = enclosed(term, *box)
    corners = [(x, y) for x in box[0] for y in box[1]]
    points = [
        *corners,
        *(tuple(float(rng.uniform(*side)) for side in box) for _ in range(20)),
    ]
    for x, y in points:
        assert Fraction(low) <= exactly(term, Fraction(x), Fraction(y)) <= Fraction(high)


@pytest.mark.parametrize("function", [sin, cos])
def test_a_wave_is_enclosed_and_its_peaks_are_met(function: Any) -> None:
    rng = np.random.default_rng(0)
    plain = math.sin if function is sin else math.cos
    for _ in range(500):
        low = float(rng.uniform(-20, 20))
        high = low + float(rng.choice([0.0, 1e-9, 0.1, 2.0, 7.0])) * float(rng.random())
        least, most = enclosed(function(X), (low, high), (0.0, 0.0))
        values = [plain(float(at)) for at in np.linspace(low, high, 200)]
        assert least <= min(values)
        assert max(values) <= most
        assert most - least <= max(values) - min(values) + 0.01
    peak = math.pi / 2 if function is sin else 0.0
    assert enclosed(function(X), (peak - 0.1, peak + 0.1), (0.0, 0.0))[1] == 1.0
    assert (
        enclosed(function(X), (peak + math.pi - 0.1, peak + math.pi + 0.1), (0.0, 0.0))[0] == -1.0
    )
    assert enclosed(function(X), (1e7, 1e7), (0.0, 0.0)) == (-1.0, 1.0)


def test_roots_exponentials_and_lengths_are_enclosed() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        low = float(rng.uniform(0, 5))
        high = low + float(rng.random())
        for term, plain in ((sqrt(X), math.sqrt), (exp(X), math.exp)):
            least, most = enclosed(term, (low, high), (0.0, 0.0))
            for at in np.linspace(low, high, 20):
                assert least <= plain(float(at)) <= most
        least, most = enclosed(norm(X, Y), (low, high), (-high, low))
        assert least <= math.hypot(low, low) <= most


def test_what_is_not_finite_or_not_defined_has_no_interval() -> None:
    for term, x in (
        (X * X, (1e200, 1e200)),
        (X * Y, (1e300, 1e300)),
        (sqrt(X), (-1.0, 1.0)),
        (exp(X), (0.0, 1e6)),
    ):
        with pytest.raises(Unbounded):
            enclosed(term, x, (1e300, 1e300))
