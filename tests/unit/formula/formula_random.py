"""Random formulas and statements with units, vectors, modes and sugar, from a seed."""

from random import Random

from safegym.formula import nodes as n
from safegym.formula.build import (
    all_of,
    always,
    any_of,
    between,
    eventually,
    falling,
    fraction,
    historically,
    mean,
    near,
    never,
    next_,
    once,
    previous,
    prob,
    quantile,
    rising,
    weak_next,
    weak_previous,
)
from safegym.formula.functions import (
    convert,
    cos,
    exp,
    maximum,
    minimum,
    norm,
    quantity,
    sin,
    sqrt,
)
from safegym.formula.patterns import absence, existence, precedence, response, universality
from safegym.formula.reading import atoms_of, margin_scale
from safegym.formula.statements import Statement
from safegym.formula.terms import Constant, Signal, Term

D = Signal("d", "m", scale=0.5)
V = Signal("v", "m/s", bounds=(-3, 3))
P = Signal("p", "m", shape=(3,))
Q = Signal("q", "m", shape=(-1,))
K = Signal("k", "km/h")
ANGLE = Signal("angle", "rad", hold="max")
MODE = Signal("mode", labels={"OK": 0, "FAULT": 7, "BACK": -2})
F = Signal("F", "N")
BARE = Signal("x")


def number(draw: Random) -> float:
    return draw.choice(
        [0, 1, -1, 0.5, -0.25, 1e16, 1e-9, 5e-324, draw.uniform(-9, 9), draw.randint(-99, 99)]
    )


def length(draw: Random, depth: int) -> Term:
    """A term in metres."""
    if depth == 0:
        return draw.choice([D, P[0], P[2], Q[4], norm(P), quantity(number(draw), "m")])
    one, other = length(draw, depth - 1), length(draw, depth - 1)
    return draw.choice(
        [
            lambda: one + other,
            lambda: one - number(draw),
            lambda: number(draw) * one,
            lambda: -one,
            lambda: abs(one),
            lambda: minimum(one, other, 1),
            lambda: maximum(P - other),
            lambda: norm(P - one),
            lambda: sqrt(one * other),
            lambda: (one**2) / quantity(2, "m"),
            lambda: one / draw.choice([2, -0.1, 3]),
            lambda: speed(draw, depth - 1) * quantity(0.5, "s"),
            lambda: one * cos(ANGLE) + other * sin(ANGLE),
            lambda: one * exp(BARE),
        ]
    )()


def speed(draw: Random, depth: int) -> Term:
    """A term in metres a second."""
    if depth == 0:
        return draw.choice([V, convert(K, "m/s"), quantity(number(draw), "m/s")])
    return length(draw, depth - 1) / quantity(draw.choice([1, 0.1]), "s")


def atom(draw: Random) -> n.Formula:
    comparison = draw.choice(["<", "<=", ">", ">="])
    kind = draw.randrange(8)
    if kind == 0:
        return MODE.is_(draw.choice(MODE.labels))
    if kind == 1:
        return all_of(near(P, quantity(number(draw), "m"), 0.5))
    if kind == 2:
        return any_of(abs(P) > length(draw, 1))
    if kind == 3:
        return between(V, -1, quantity(2, "m/s"))
    if kind == 4:
        found = n.Atom(F, comparison, quantity(number(draw), "N"))
        return found.scaled(draw.choice([0.5, 3])) if draw.random() < 0.3 else found
    side = speed if kind == 5 else length
    left, right = side(draw, draw.randint(0, 2)), side(draw, draw.randint(0, 2))
    if not left.signals:
        left = V if kind == 5 else D
    return n.Atom(left, comparison, draw.choice([right, Constant(number(draw))]))


def window(draw: Random) -> n.Bounds:
    low = draw.choice([0, 0, "0.1", "1/240", 2, "1e-3"])
    return (low, draw.choice([None, 2, "7/3", 100]))


def formula(draw: Random, depth: int) -> n.Formula:
    if depth == 0 or draw.random() < 0.1:
        return draw.choice([n.TRUE, n.FALSE]) if draw.random() < 0.05 else atom(draw)
    a, b = formula(draw, depth - 1), formula(draw, depth - 1)
    kind = draw.randrange(6)
    if kind == 0:
        word = draw.choice([always, eventually, never, once, historically])
        return word(a, window=window(draw))
    if kind == 1:
        two = draw.choice(["until", "weak_until", "release", "since", "trigger"])
        return getattr(a, two)(b, window=window(draw))
    if kind == 2:
        ones = [next_, weak_next, previous, weak_previous, rising, falling, n.Not]
        return draw.choice(ones)(a)
    if kind == 3:
        return getattr(a, draw.choice(["implies", "iff", "xor"]))(b)
    if kind == 4:
        return draw.choice([all_of, any_of])(a, b, formula(draw, depth - 1))
    scope = draw.choice([{}, {"after": b}, {"before": b}, {"between": (b, atom(draw))}])
    pattern = draw.choice([absence, existence, universality, precedence, response])
    return pattern(a, b, **scope) if pattern in (precedence, response) else pattern(a, **scope)


def statement(draw: Random, depth: int) -> Statement:
    found = formula(draw, depth)
    share = draw.choice([0.1, 0.5, 0.999, draw.random() or 0.5])
    return draw.choice(
        [
            lambda: found,
            lambda: found,
            lambda: prob(found) < share,
            lambda: prob(found) >= share,
            lambda: fraction(found) >= share,
            lambda: mean(fraction(found)) > share,
            lambda: prob(found, given=formula(draw, 1) | atom(draw)) <= share,
            lambda: prob(found, given=formula(draw, 1) & atom(draw)) > share,
            lambda: _quantile(draw, found, share),
        ]
    )()


def _quantile(draw: Random, found: n.Formula, q: float) -> Statement:
    """A bound on a quantile, of a plainer formula where the margins of `found` do not compare."""
    margin = draw.choice([0, 0.25, -1, 1e-9, draw.uniform(-9, 9)])
    fits = margin_scale(found).ok and atoms_of(found)
    taken = quantile(found if fits else eventually(D > number(draw)), q)
    return taken > margin if draw.random() < 0.5 else taken >= margin
