"""The checker's bounds of random graphs, against exact rational values with rounding put in."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from safegym.check.neural.certificate import checker

ONE = checker.ONE


def logistic(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


CURVES: dict[str, Any] = {
    "tanh": mpmath.tanh,
    "sigmoid": logistic,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
}
UNITS = {"exact": Fraction(0), "float32": Fraction(1, 1 << 24), "float64": Fraction(1, 1 << 53)}


def operation(kind: str, x: Fraction) -> Fraction:
    if kind in CURVES:
        with mpmath.workprec(400):
            value = CURVES[kind](mpmath.mpf(x.numerator) / x.denominator)
            return Fraction(int(mpmath.nint(mpmath.ldexp(value, 300))), 1 << 300)
    return {"cast": x, "relu": max(x, Fraction(0)), "square": x * x}[kind]


def random_record(random: Any, sizes: list[int]) -> dict[str, Any]:
    kind = str(random.choice(["linear"] * 5 + list(CURVES) + ["cast", "relu", "relu", "square"]))
    unit = str(random.choice(list(UNITS)))
    record = {"kind": kind, "precision": unit, "scale": 1, "bias": [], "weights": []}
    if kind != "linear":
        return record | {"inputs": [int(random.integers(len(sizes)))]}
    inputs = [int(x) for x in random.integers(len(sizes), size=random.integers(4))]
    size, scale = int(random.integers(1, 4)), int(random.choice([1, 3, 1 << 20, (1 << 31) + 1]))

    def numbers(*shape: int) -> Any:
        return (random.integers(-9, 10, shape) * scale // random.choice([1, 5, 40])).tolist()

    matrices = [numbers(size, sizes[j]) for j in inputs]
    return record | {"inputs": inputs, "scale": scale, "weights": matrices, "bias": numbers(size)}


def deployed(random: Any, record: dict[str, Any], values: list[list[Fraction]]) -> list[Fraction]:
    """The node's values, each off by as much as its rule in the reference allows, either way."""
    came, kind = [values[j] for j in record["inputs"]], record["kind"]
    found, terms = list[Fraction](), checker.ROUNDINGS[kind]
    for matrix in record["weights"]:
        terms += max(sum(x != 0 for x in row) for row in matrix)
    u = UNITS[record["precision"]] * terms
    for i in range(len(record["bias"]) or len(came[0])):
        if kind == "linear":
            parts = [Fraction(record["bias"][i])]
            for matrix, x in zip(record["weights"], came, strict=True):
                parts += [w * y for w, y in zip(matrix[i], x, strict=True)]
            value, most = sum(parts) / record["scale"], sum(map(abs, parts)) / record["scale"]
        else:
            value = operation(kind, came[0][i])
            most = max(abs(value), Fraction(int(kind in ("sin", "cos", "sigmoid"))))
        found.append(value + int(random.integers(-1, 2)) * most * u / (1 - u))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_forms_and_margins_hold_every_deployed_value_of_random_graphs(seed: int) -> None:
    """Nodes used twice, sums of several inputs or of none, and boxes without width among them."""
    random, held = np.random.default_rng(seed), 0
    for _ in range(40):
        n = int(random.integers(1, 4))
        sizes, records, net = [n], list[Any](), list[checker.Node]()
        for _ in range(random.integers(1, 7)):
            records.append(random_record(random, sizes))
            net.append(checker.Node(records[-1], sizes, True))
            sizes.append(net[-1].size)
        sides = [int(x) for x in random.choice([0, 1, 1 << 40, ONE >> 3, ONE, ONE << 4], size=n)]
        low = [int(x * ONE) for x in random.normal(size=n)]
        high = [x + y for x, y in zip(low, sides, strict=True)]
        cuts = random.integers(-3, 4, size=(2, n + 1)).tolist()
        outs = [[int(random.integers(sizes[-1])), int(random.integers(1, 9))] for _ in range(2)]
        more = [[int(random.integers(2)), int(random.integers(1, 5))]]
        try:
            bound, _ = checker.margin(net, low, high, [outs, more], cuts)
        except checker.Refused:
            continue
        held += 1
        states = forms(net, low, high, sides)
        for _ in range(4):
            share = [Fraction(float(x)) for x in random.choice([0, 1, random.random()], size=n)]
            steps = [t * Fraction(y, ONE) for t, y in zip(share, sides, strict=True)]
            values = [[Fraction(x, ONE) + y for x, y in zip(low, steps, strict=True)]]
            for record, state in zip(records, states, strict=True):
                values.append(deployed(random, record, values))
                for sign, form in zip((1, -1), state[:2], strict=True):
                    for i, value in enumerate(values[-1]):
                        line = Fraction(form[-1][i], ONE << 40)
                        for k, step in enumerate(steps):
                            line += Fraction(form[k + 1][i], 1 << 40) * step
                        assert sign * line <= sign * value, record
                        assert sign * Fraction(form[0][i], ONE) <= sign * value, record
            total = sum(f * values[-1][o] for o, f in outs)
            for i, g in more:
                inside = sum(c * x for c, x in zip(cuts[i][:-1], values[0], strict=True))
                total += g * (inside - cuts[i][-1])
            assert Fraction(bound, ONE << 40) <= total, records
    assert held > 30


def forms(net: list[checker.Node], low: Any, high: Any, sides: Any) -> list[Any]:
    """The state of each node on a box, from the input's."""
    n = len(low)
    unit = [[int(i == j) << 40 for i in range(n)] for j in range(n)]
    corner = [x << 40 for x in low]
    states: list[Any] = [([low, *unit, corner], [high, *unit, corner])]
    for node in net:
        states.append(node.state([states[j] for j in node.inputs], sides))
    return states[1:]
