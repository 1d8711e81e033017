"""One small formula for each node, term and statement of the language, and what it is judged on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from safegym.formula import nodes as n
from safegym.formula.build import fraction, mean, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.statements import Statement
from safegym.formula.terms import Apply, Component, Constant, Operation, Signal, Term, Window
from safegym.trace.model import EndKind, Trace

X, Y = Signal("x"), Signal("y")
P = Signal("p", shape=(2,))
A: Formula = X > 0
B: Formula = Y >= 1
SHORT = Window("0.1", "0.2")
"""A window of two samples at the probes' clock of 0.1 s."""
DT = "0.1"
HORIZON = 8
STREAMS = 5
"""Random episodes that online answers are compared on."""
SAMPLES: dict[str, NDArray[np.float64]] = {
    "x": np.array([1.0, 2.0, 0.0, -1.0, 2.0, 1.0]),
    "y": np.array([0.0, 1.0, 2.0, 1.0, -1.0, 1.0]),
    "p": np.array([[1.0, 0.0], [0.5, -2.0], [0.0, 3.0], [1.0, 1.0], [-1.0, 0.0], [2.0, 2.0]]),
}
Group = Literal["formula nodes", "terms", "statements"]


@dataclass(frozen=True, slots=True)
class Probe:
    """A subject to put to every backend. kinds: the classes (or operation) that it stands for."""

    group: Group
    name: str
    subject: Formula | Claim
    kinds: tuple[Any, ...]


def probes() -> tuple[Probe, ...]:
    """Returns all probes, in the order of the page."""
    return (*_nodes(), *_terms(), *_statements())


def unprobed() -> tuple[str, ...]:
    """Returns the names of node, term and statement kinds that no probe stands for."""
    covered = {kind for probe in probes() for kind in probe.kinds}
    kinds: list[Any] = [*leaves(Formula), *leaves(Term), *get_args(Operation)]
    kinds += [kind for kind in get_args(Statement) if kind is not Formula]
    return tuple(str(getattr(kind, "__name__", kind)) for kind in kinds if kind not in covered)


def leaves(kind: type[Any]) -> Iterator[type[Any]]:
    """Yields the classes below `kind` that have none below them."""
    for below in kind.__subclasses__():
        if below.__subclasses__():
            yield from leaves(below)
        elif below.__module__.startswith("safegym.") and getattr(below, "judged", True):
            yield below


def _nodes() -> Iterator[Probe]:
    def probe(name: str, formula: Formula) -> Probe:
        return Probe("formula nodes", name, formula, (type(formula),))

    yield Probe("formula nodes", "true, false", n.all_of(A, n.TRUE), (n.Boolean,))
    yield probe("< <= > >=", A)
    yield probe("and", A & B)
    yield probe("or", A | B)
    for unary in (n.Not, n.Next, n.WeakNext, n.Previous, n.WeakPrevious):
        yield probe(unary.word, unary(A))
    for binary in (n.Implies, n.Iff, n.Xor):
        yield probe(binary.word, binary(A, B))
    for one in (n.Always, n.Eventually, n.Once, n.Historically):
        yield probe(f"{one.word}[a,b]", one(A, SHORT))
        yield probe(one.word, one(A))
    for two in (n.Until, n.Release, n.Since, n.Trigger):
        yield probe(f"{two.word}[a,b]", two(A, B, SHORT))
        yield probe(two.word, two(A, B))
    yield probe("fraction(f) >= c", n.Fraction(A, ">=", 0.5))


_TWO: dict[str, Callable[[], Term]] = {
    "/": lambda: X / 2,
    "min": lambda: Apply("min", (X, Y)),
    "max": lambda: Apply("max", (X, Y)),
    "norm": lambda: Apply("norm", (P[0], P[1])),
    "sqrt": lambda: Apply("sqrt", (Apply("abs", (X,)),)),
}


def _terms() -> Iterator[Probe]:
    def probe(name: str, term: Term, *kinds: Any) -> Probe:
        return Probe("terms", name, n.Always(term >= -3), (*kinds, type(term)))

    yield probe("x, 3", X, Constant)
    yield probe("p[1]", P[1], Component)
    every = n.all_of(abs(P) <= 3)
    yield Probe("terms", "all_of(p <= c)", n.Always(every), (type(abs(P)),))
    for operation in get_args(Operation):
        if operation in _TWO:
            term = _TWO[operation]()
        elif operation in ("+", "-", "*"):
            term = Apply(operation, (X, Y))
        else:
            term = Apply(operation, (X,))
        yield probe(operation, term, operation)


def _statements() -> Iterator[Probe]:
    def probe(name: str, statement: Statement) -> Probe:
        claim = Claim(id="probe.claim", statement=statement, confidence=0.95)
        return Probe("statements", name, claim, (cast(Any, type(statement)),))

    yield probe("f", n.Always(A))
    yield probe("prob(f) < p", prob(n.Eventually(A)) < 0.9)
    yield probe("prob(f) >= p", prob(n.Eventually(A)) >= 0.1)
    yield probe("prob(f, given=b) < p", prob(n.Eventually(A), given=n.Once(B)) < 0.9)
    yield probe("prob(f, given=b) >= p", prob(n.Always(A), given=n.Eventually(B)) >= 0.1)
    yield probe("quantile(f, q) > m", quantile(n.Eventually(A), 0.05) > 0.5)
    yield probe("quantile(f, q) >= m", quantile(n.Always(A), 0.05) >= -1.5)
    yield probe("fraction(f) >= c", fraction(A) >= 0.5)
    yield probe("mean(fraction(f)) >= c", mean(fraction(A)) >= 0.5)


def trace_of(kind: EndKind) -> Trace:
    """Returns the trace of six samples with that end, at or before its horizon."""
    horizon = {"horizon": len(SAMPLES["x"]) - 1, "cut": None}.get(kind, HORIZON)
    return Trace.from_arrays(SAMPLES, dt=DT, end=kind, horizon=horizon)


def streams() -> dict[str, NDArray[np.float64]]:
    """Returns samples of `STREAMS` episodes a little longer than the horizon, time first."""
    draw = np.random.default_rng(11)
    shape = (HORIZON + 3, STREAMS)
    return {
        "x": draw.integers(-2, 3, shape).astype(float),
        "y": draw.integers(-2, 3, shape).astype(float),
        "p": draw.integers(-2, 3, (*shape, 2)).astype(float),
    }
