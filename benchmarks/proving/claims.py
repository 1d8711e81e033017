"""Properties of control nets, true, false and near the limit."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from proving.nets import Net
from safegym.check.neural.problem import Clause, Positive, Problem, Region

Array = NDArray[np.float64]
SAMPLES = 20_000


@dataclass(frozen=True)
class Case:
    """A problem with the rows and offsets that its outputs are made of.

    expected: "holds" or "fails" where samples or construction say so, else "?".
    """

    name: str
    net: Net
    low: Array
    high: Array
    rows: Array
    offsets: Array
    clauses: tuple[Clause, ...]
    expected: str

    @property
    def problem(self) -> Problem:
        """For the search."""
        region = Region(
            tuple(Fraction(float(each)) for each in self.low),
            tuple(Fraction(float(each)) for each in self.high),
        )
        return Problem(self.net.margins(self.rows, self.offsets), region, self.clauses)

    def fails(self, points: Array, *, single: bool = False) -> NDArray[np.bool_]:
        """At which points some clause has no positive literal."""
        action = self.net.single(points) if single else self.net(points)
        values = action @ self.rows.T + self.offsets
        held = [
            np.stack([values[:, each.output] > 0.0 for each in clause]).any(axis=0)
            for clause in self.clauses
        ]
        return np.asarray(~np.stack(held).all(axis=0))

    def samples(self, count: int, seed: int) -> Array:
        """Points (count, n) of binary32 in the region."""
        rng = np.random.default_rng(seed)
        points = self.low + (self.high - self.low) * rng.random((count, len(self.low)))
        return np.clip(points.astype(np.float32).astype(np.float64), self.low, self.high)


def cases(net: Net, seed: int) -> list[Case]:
    """Limits on an action (true, false, near), a robust ball, a choice never made."""
    rng = np.random.default_rng(seed)
    made = list[Case]()
    for width in (0.1, 0.3):
        centre = _single(rng.uniform(-0.6, 0.6, net.inputs))
        low, high = _single(centre - width / 2), _single(centre + width / 2)
        made += _limits(net, f"width {width:g}", low, high)
    centre = _single(rng.uniform(-0.6, 0.6, net.inputs))
    made += [
        _ball(net, centre, 0.02, factor, word) for factor, word in ((1.3, "?"), (0.7, "fails"))
    ]
    made += _choices(net, _single(rng.uniform(-0.5, 0.5, net.inputs)), 0.15)
    return made


def _limits(net: Net, name: str, low: Array, high: Array) -> list[Case]:
    """The first action stays below a limit: above, at and below what samples and ascent reach."""
    points = low + (high - low) * np.random.default_rng(1).random((SAMPLES, len(low)))
    values = net(points)[:, 0]
    most, spread = float(values.max()), float(values.max() - values.min())
    row = np.zeros((1, net.outputs))
    row[0, 0] = -1.0
    found = []
    for word, limit, expected in (
        ("far", most + 0.4 * spread, "?"),
        ("near", most + 0.1 * spread, "?"),
        ("broken", most - 0.05 * spread, "fails"),
    ):
        offsets = np.array([float(np.float32(limit))])
        clauses = ((Positive(0),),)
        found.append(
            Case(
                f"{net.name}: limit {word}, {name}", net, low, high, row, offsets, clauses, expected
            )
        )
    return found


def _ball(net: Net, centre: Array, radius: float, factor: float, expected: str) -> Case:
    """Every action stays within delta of the one at the centre; delta from samples."""
    low, high = _single(centre - radius), _single(centre + radius)
    points = low + (high - low) * np.random.default_rng(2).random((SAMPLES, len(low)))
    middle = net(centre[None])[0]
    delta = factor * float(np.abs(net(points) - middle).max())
    eye = np.eye(net.outputs)
    rows = np.concatenate([eye, -eye])
    offsets = np.concatenate([delta - middle, delta + middle])
    clauses = tuple((Positive(at),) for at in range(2 * net.outputs))
    return Case(f"{net.name}: ball x {factor:g}", net, low, high, rows, offsets, clauses, expected)


def _choices(net: Net, centre: Array, radius: float) -> list[Case]:
    """The least and the second action at the centre are never the greatest (a disjunction)."""
    low, high = _single(centre - radius), _single(centre + radius)
    order = np.argsort(net(centre[None])[0])
    found = []
    for word, kept in (("least", int(order[0])), ("greatest", int(order[-1]))):
        others = [at for at in range(net.outputs) if at != kept]
        rows = np.zeros((len(others), net.outputs))
        rows[np.arange(len(others)), others] = 1.0
        rows[:, kept] = -1.0
        clause = tuple(Positive(at) for at in range(len(others)))
        expected = "fails" if word == "greatest" else "?"
        found.append(
            Case(
                f"{net.name}: never chooses its {word}",
                net,
                low,
                high,
                rows,
                np.zeros(len(others)),
                (clause,),
                expected,
            )
        )
    return found


def _single(values: Array) -> Array:
    return values.astype(np.float32).astype(np.float64)
