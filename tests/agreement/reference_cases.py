"""Random formulas and traces that hit the corners: ties, one sample, tails, nested windows."""

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from reference import Reference

from safegym.formula import nodes as n
from safegym.formula.build import falling, rising
from safegym.formula.nodes import Formula
from safegym.formula.terms import Apply, Constant, Signal, Term, Window
from safegym.trace.model import Trace

DT = Fraction(1, 10)
X, Y = Signal("x"), Signal("y")
P = Signal("p", shape=(2,))
KINDS = ("absorbed", "failed", "horizon", "interrupted", "cut")

ONE = (n.Not, n.Next, n.WeakNext, n.Previous, n.WeakPrevious)
TWO = (n.Implies, n.Iff, n.Xor)
WINDOWED_ONE = (n.Always, n.Eventually, n.Once, n.Historically)
WINDOWED_TWO = (n.Until, n.Release, n.Since, n.Trigger)


@dataclass
class Case:
    """A formula, and one trace twice: for the monitor and for the reference."""

    formula: Formula
    trace: Trace
    reference: Reference


def random_term(random: Random, depth: int) -> Term:
    if depth == 0 or random.random() < 0.6:
        return random.choice([X, Y, P[0], P[1]])
    operation = random.choice(["+", "-", "*", "/", "neg", "abs", "min", "max", "norm"])
    first = random_term(random, depth - 1)
    if operation in ("neg", "abs"):
        return Apply(operation, (first,))
    if operation == "/":
        return first / random.choice([2, -4])
    return Apply(operation, (first, random_term(random, depth - 1)))


def random_atom(random: Random) -> Formula:
    left = random_term(random, 1)
    right = random.choice([-1, 0, 0, 1, 2])
    return n.Atom(left, random.choice(["<", "<=", ">", ">="]), Constant(right))


def random_window(random: Random) -> Window:
    low = random.choice([0, 0, 0, 1, 2, 3])
    if random.random() < 0.3:
        return Window(low * DT, None)
    wide = random.choice([0, 1, 2, 3, 5]) if random.random() < 0.95 else 40
    return Window(low * DT, (low + wide) * DT)


def random_formula(random: Random, depth: int, shared: list[Formula]) -> Formula:
    """Of at most `depth` operators on a path; parts in `shared` come back, so slots are shared."""
    if shared and random.random() < 0.15:
        return random.choice(shared)
    pick = random.random()
    if depth == 0 or pick < 0.05:
        found = random_atom(random)
    elif pick < 0.07:
        found = n.Boolean(random.random() < 0.5)
    else:
        found = _operator(random, depth, shared)
    shared.append(found)
    return found


def _operator(random: Random, depth: int, shared: list[Formula]) -> Formula:
    def part() -> Formula:
        return random_formula(random, depth - 1, shared)

    group = random.randrange(6)
    if group == 0:
        return random.choice(ONE)(part())
    if group == 1:
        fold = random.choice([n.all_of, n.any_of])
        return fold([part() for _ in range(random.randint(2, 3))])
    if group == 2:
        if random.random() < 0.3:
            return random.choice([rising, falling])(part())
        return random.choice(TWO)(part(), part())
    if group in (3, 4):
        return random.choice(WINDOWED_ONE)(part(), random_window(random))
    return random.choice(WINDOWED_TWO)(part(), part(), random_window(random))


def random_case(
    random: Random, *, depth: int = 4, longest: int = 14, with_gaps: bool = False
) -> Case:
    formula = random_formula(random, random.randint(0, depth), [])
    if random.random() < 0.07:
        comparison = random.choice(["<", "<=", ">", ">="])
        edge = 1.0 if comparison in ("<", ">=") else 0.0
        formula = n.Fraction(formula, comparison, random.choice([0.1, 0.25, 0.5, 0.9, edge]))
    return case_of(random, formula, longest=longest, with_gaps=with_gaps)


def case_of(
    random: Random,
    formula: Formula,
    *,
    kind: str = "",
    longest: int = 14,
    with_gaps: bool = False,
) -> Case:
    samples = random.choice([1, 1, 2, random.randint(1, longest), random.randint(3, longest)])
    kind = kind or random.choice(KINDS)
    last = samples - 1
    horizon = random.choice([None, last, max(last - 2, 1), last + 3, random.randint(1, longest)])
    if horizon is not None and (horizon < 1 or (kind == "horizon" and horizon > last)):
        horizon = None
    signals: dict[str, list[object]] = {
        "x": [random.randint(-2, 2) for _ in range(samples)],
        "y": [random.randint(-2, 2) for _ in range(samples)],
        "p": [[random.randint(-2, 2), random.randint(-2, 2)] for _ in range(samples)],
    }
    gaps = random_gaps(random, list(signals), last) if with_gaps else {}
    trace = Trace.from_arrays(signals, dt=DT, end=kind, horizon=horizon, gaps=gaps)  # type: ignore[arg-type]  # a kind
    return Case(formula, trace, Reference(signals, DT, kind, horizon, gaps=gaps))


def random_gaps(random: Random, names: list[str], last: int) -> dict[str, list[tuple[int, int]]]:
    """Gaps that all signals share, or gaps of some of them."""
    if random.random() < 0.4:
        return dict.fromkeys(names, random_intervals(random, last))
    return {name: random_intervals(random, last) for name in names if random.random() < 0.7}


def random_intervals(random: Random, last: int) -> list[tuple[int, int]]:
    """Disjoint intervals within 0..last, in order: none, short ones, one to the end, everything."""
    found: list[tuple[int, int]] = []
    at = random.choice([0, 0, 1, random.randint(0, last)])
    while at <= last and random.random() < 0.85:
        stop = min(last, at + random.choice([0, 0, 1, 2, last]))
        found.append((at, stop))
        at = stop + random.choice([2, 2, 3, 5])
    return found
