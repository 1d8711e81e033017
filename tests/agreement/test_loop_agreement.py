"""Closed loops against z3: piecewise affine plants, whose greatest values z3 works out exactly."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import z3
from gymnasium import spaces

from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.reach import prove_reach
from safegym.check.neural.importing import policy_graph
from safegym.check.neural.policy import PolicyGraph
from safegym.formula.choice import if_
from safegym.formula.dynamics import Dynamics
from safegym.formula.nodes import Always
from safegym.formula.terms import Signal, Term
from safegym.policy.network import NetworkPolicy
from safegym.policy.network_layers import Layer

X, V, IDLE = Signal("x"), Signal("v"), Signal("idle")
WIND = Signal("wind", bounds=(-0.125, 0.0625))
STEPS = 3
Row = tuple[float, ...]


@dataclass(frozen=True)
class Loop:
    """If test . (x, v, wind, 1) > 0 (or >= 0) then one affine step, else another; rows of four."""

    test: Row
    strict: bool
    then: tuple[Row, Row]
    otherwise: tuple[Row, Row]
    start: tuple[tuple[float, float], tuple[float, float]]

    @classmethod
    def drawn(cls, draw: np.random.Generator, largest: int = 6) -> "Loop":
        """Of coefficients in eighths, so that a mode's border is met exactly."""

        def row() -> Row:
            return tuple((draw.integers(-largest, largest + 1, 4) / 8).tolist())

        low = draw.integers(-8, 5, 2) / 8
        high = low + draw.integers(0, 5, 2) / 8
        start = (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))
        return cls(row(), bool(draw.random() < 0.5), (row(), row()), (row(), row()), start)

    def plant(self) -> Dynamics:
        """As declared dynamics; the action has no weight."""
        test = _term(self.test)
        condition: Any = test > 0.0 if self.strict else test >= 0.0
        pairs = zip(self.then, self.otherwise, strict=True)
        after = [if_(condition, _term(one), _term(two)) for one, two in pairs]
        return Dynamics(
            "piecewise",
            states=[X, V],
            actions=[IDLE],
            disturbances=[WIND],
            next={"x": after[0], "v": after[1]},
            dt="0.1",
        )

    def after(self, state: Any, wind: Any) -> list[Any]:
        """The next state in z3."""
        test = _exact(self.test, state, wind)
        pairs = zip(self.then, self.otherwise, strict=True)
        return [
            z3.If(
                test > 0 if self.strict else test >= 0,
                _exact(one, state, wind),
                _exact(two, state, wind),
            )
            for one, two in pairs
        ]

    def greatest(self, steps: int) -> Fraction:
        """The least upper bound of x at the samples 0..steps."""
        solver, listed = self.unrolled(steps)
        best = z3.Real("best")
        solver.add(z3.Or([best == state[0] for state in listed]))
        goal = solver.maximize(best)
        assert solver.check() == z3.sat
        _, value, _ = solver.upper_values(goal)  # infinite part, number, epsilon
        return Fraction(str(value))

    def unrolled(self, steps: int) -> tuple[Any, list[Any]]:
        """A z3 optimiser that knows the paths, and the states at samples 0..steps."""
        solver = z3.Optimize()
        solver.set("timeout", 20_000)
        state: list[Any] = [z3.Real("x"), z3.Real("v")]
        for each, (low, high) in zip(state, self.start, strict=True):
            solver.add(each >= _real(low), each <= _real(high))
        listed = [state]
        for at in range(steps):
            wind = z3.Real(f"wind{at}")
            assert WIND.bounds is not None
            solver.add(wind >= _real(WIND.bounds[0]), wind <= _real(WIND.bounds[1]))
            state = self.after(state, wind)
            listed.append(state)
        return solver, listed

    def breaks(self, bound: float) -> bool:
        """Whether some path has x > bound at a sample."""
        solver, listed = self.unrolled(STEPS)
        solver.add(z3.Or([state[0] > _real(bound) for state in listed]))
        found = solver.check()
        assert found != z3.unknown
        return bool(found == z3.sat)


def _term(row: Row) -> Term:
    return row[0] * X + row[1] * V + row[2] * WIND + row[3] + 0.0 * IDLE


def _exact(row: Row, state: Any, wind: Any) -> Any:
    parts = zip(row, (*state, wind, z3.RealVal(1)), strict=True)
    return sum((_real(weight) * each for weight, each in parts), z3.RealVal(0))


def _real(value: float) -> Any:
    exact = Fraction(value)
    return z3.Q(exact.numerator, exact.denominator)


def idle() -> PolicyGraph:
    """A policy that does nothing."""
    return policy_graph(
        NetworkPolicy(
            [Layer(np.zeros((1, 2), dtype=np.float32), np.zeros(1, dtype=np.float32))],
            observation_space=spaces.Box(-50.0, 50.0, (2,), np.float32),
            action_space=spaces.Box(-1.0, 1.0, (1,), np.float32),
        )
    )


@pytest.mark.slow
def test_reach_sets_of_piecewise_affine_loops_agree_with_z3_at_the_very_limit() -> None:
    draw = np.random.default_rng(5)
    policy = idle()
    told = {"PROVED": 0, "VIOLATED": 0, "UNKNOWN": 0}
    for _ in range(20):
        loop = Loop.drawn(draw)
        limit = float(loop.greatest(STEPS))
        for bound in (limit - 1e-2, limit - 1e-12, limit, limit + 1e-12, limit + 1e-2):
            broken = loop.breaks(bound)
            proof = prove_reach(
                loop.plant(), policy, Always(X <= bound), _box(loop), steps=STEPS, timeout=0.2
            )
            assert proof.result != ("PROVED" if broken else "VIOLATED"), (loop, bound)
            told[proof.result] += 1
    assert told["PROVED"] >= 20, "limits with room are proved"
    assert told["VIOLATED"] >= 15, "and clear violations found"


@pytest.mark.slow
def test_inductive_boxes_of_piecewise_affine_loops_agree_with_z3_at_the_very_limit() -> None:
    draw = np.random.default_rng(6)
    policy = idle()
    told = {"PROVED": 0, "VIOLATED": 0, "UNKNOWN": 0}
    for _ in range(40):
        loop = Loop.drawn(draw, 3)
        for room in (0.0, 1e-12, 0.05):
            held = {"x": (-1.0, 1.0 - room), "v": (-1.0, 1.0)}
            leaves = _leaves(loop, held)
            proof = prove_inductive(loop.plant(), policy, held, held, held, timeout=0.2)
            step = next(each for each in proof.obligations if each.name == "step")
            assert step.result != ("PROVED" if leaves else "VIOLATED"), (loop, held)
            told[step.result] += 1
    assert told["PROVED"] >= 10
    assert told["VIOLATED"] >= 10


def _box(loop: Loop) -> dict[str, tuple[float, float]]:
    return dict(zip(("x", "v"), loop.start, strict=True))


def _leaves(loop: Loop, held: dict[str, tuple[float, float]]) -> bool:
    """Whether some step from the box ends outside of it, exactly."""
    solver = z3.Solver()
    state, wind = [z3.Real("x"), z3.Real("v")], z3.Real("wind")
    ends = [(_real(low), _real(high)) for low, high in held.values()]
    for each, (low, high) in zip(state, ends, strict=True):
        solver.add(each >= low, each <= high)
    assert WIND.bounds is not None
    solver.add(wind >= _real(WIND.bounds[0]), wind <= _real(WIND.bounds[1]))
    after = loop.after(state, wind)
    pairs = zip(after, ends, strict=True)
    solver.add(z3.Or([z3.Or(each < low, each > high) for each, (low, high) in pairs]))
    found = solver.check()
    assert found != z3.unknown
    return bool(found == z3.sat)
