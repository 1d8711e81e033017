"""Random terms and formulas, and a small recursive second opinion on what they mean."""

from collections.abc import Callable
from fractions import Fraction as Rational
from typing import Any

from hypothesis import strategies as st

from safegym.formula import nodes as n
from safegym.formula.terms import Apply, Component, Constant, Signal, Term
from safegym.formula.windows import UNBOUNDED, Window

X = Signal("x")
Y = Signal("y", scale=2.0, bounds=(-5.0, 5.0), max_rate=1.0, hold="max")
P = Signal("p", shape=(3,))
LEAVES = (X, Y, P[0], P[2])

numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.1, -0.5, 1e-9, 1e16, 5e-324]),
)


def _signal_terms(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    constant = numbers.map(Constant)
    divisor = numbers.filter(lambda value: value != 0).map(Constant)
    both = st.one_of(inner, constant)
    return st.one_of(
        st.builds(lambda o, a, b: Apply(o, (a, b)), st.sampled_from("+-*"), inner, both),
        st.builds(lambda o, a, b: Apply(o, (a, b)), st.sampled_from("+-*"), both, inner),
        st.builds(lambda a, b: Apply("/", (a, b)), inner, divisor),
        st.builds(
            lambda o, a: Apply(o, (a,)), st.sampled_from(["neg", "abs", "sin", "exp"]), inner
        ),
        st.builds(
            lambda o, a: Apply(o, tuple(a)),
            st.sampled_from(["min", "max", "norm"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.just(Apply("+", (Apply("neg", (Constant(0.5),)), X))),
    )


terms: st.SearchStrategy[Term] = st.recursive(st.sampled_from(LEAVES), _signal_terms, max_leaves=5)
comparisons = st.sampled_from(["<", "<=", ">", ">="])
atoms = st.builds(
    n.Atom,
    terms,
    comparisons,
    st.one_of(numbers.map(Constant), terms),
    st.one_of(st.none(), st.just(0.25)),
)
simple_atoms = st.builds(
    n.Atom, st.sampled_from(LEAVES[:2]), comparisons, st.integers(-2, 2).map(Constant)
)


def windows(bounds: st.SearchStrategy[Rational], *, unbounded: bool = True) -> Any:
    pairs = st.tuples(bounds, bounds).map(lambda pair: Window(min(pair), max(pair)))
    if not unbounded:
        return pairs
    return st.one_of(st.just(UNBOUNDED), pairs, bounds.map(lambda low: Window(low, None)))


any_windows = windows(st.fractions(0, 50, max_denominator=240))
step_windows = windows(st.integers(0, 3).map(Rational))
FUTURE = (n.Always, n.Eventually), (n.Until, n.Release), (n.Next, n.WeakNext)
PAST = (n.Once, n.Historically), (n.Since, n.Trigger), (n.Previous, n.WeakPrevious)


def formulas(
    leaves: Any, window: Any, *, past: bool = True, connectives: bool = True, size: int = 6
) -> st.SearchStrategy[n.Formula]:
    groups = [FUTURE, PAST] if past else [FUTURE]
    one = [kind for group in groups for kind in group[0]]
    two = [kind for group in groups for kind in group[1]]
    bare = [kind for group in groups for kind in group[2]] + ([n.Not] if connectives else [])
    pairs = [n.Implies, n.Iff, n.Xor] if connectives else []

    def grow(inner: st.SearchStrategy[n.Formula]) -> st.SearchStrategy[n.Formula]:
        options = [
            st.builds(lambda k, f: k(f), st.sampled_from(bare), inner),
            st.builds(lambda k, f, w: k(f, w), st.sampled_from(one), inner, window),
            st.builds(lambda k, f, g, w: k(f, g, w), st.sampled_from(two), inner, inner, window),
            st.lists(inner, min_size=2, max_size=3).map(n.all_of),
            st.lists(inner, min_size=2, max_size=3).map(n.any_of),
        ]
        if pairs:
            options.append(st.builds(lambda k, f, g: k(f, g), st.sampled_from(pairs), inner, inner))
        return st.one_of(options)

    return st.recursive(
        st.one_of(leaves, st.sampled_from([n.TRUE, n.FALSE])), grow, max_leaves=size
    )


any_formulas = formulas(atoms, any_windows)
shares = st.builds(n.Fraction, any_formulas, comparisons, st.floats(0.01, 0.99, allow_nan=False))
roots = st.one_of(any_formulas, shares)
step_formulas = formulas(simple_atoms, step_windows)

Samples = dict[str, list[float]]
samples: st.SearchStrategy[Samples] = st.integers(1, 7).flatmap(
    lambda size: st.fixed_dictionaries(
        {
            name: st.lists(st.integers(-3, 3).map(float), min_size=size, max_size=size)
            for name in ("x", "y")
        }
    )
)
INF = float("inf")


def margin(f: n.Formula, trace: Samples, k: int, dt: Rational = Rational(1)) -> float:
    """Robustness at sample k on a cut trace, straight from the definitions (windows in seconds)."""

    def at(g: n.Formula, j: int) -> float:
        return margin(g, trace, j, dt)

    last = len(trace["x"]) - 1
    match f:
        case n.Boolean():
            return INF if f.value else -INF
        case n.Atom():
            left, right = _value(f.left, trace, k), _value(f.right, trace, k)
            return right - left if f.comparison in ("<", "<=") else left - right
        case n.Next() | n.WeakNext():
            return at(f.argument, k + 1) if k < last else -INF if isinstance(f, n.Next) else INF
        case n.Previous() | n.WeakPrevious():
            return at(f.argument, k - 1) if k else -INF if isinstance(f, n.Previous) else INF
        case n.WindowedUnary() | n.WindowedBinary():
            past = isinstance(f, (n.Once, n.Historically, n.Since, n.Trigger))
            places = range(k, -1, -1) if past else range(k, last + 1)
            return _windowed(f, k, [j for j in places if _inside(abs(j - k) * dt, f.window)], at)
    return _connective(f, lambda g: at(g, k))


At = Callable[[n.Formula, int], float]


def _connective(f: n.Formula, now: Callable[[n.Formula], float]) -> float:
    match f:
        case n.Not():
            return -now(f.argument)
        case n.And():
            return min(now(g) for g in f.arguments)
        case n.Or():
            return max(now(g) for g in f.arguments)
        case n.Implies():
            return max(-now(f.left), now(f.right))
        case n.Iff():
            a, b = now(f.left), now(f.right)
            return max(min(a, b), min(-a, -b))
        case n.Xor():
            a, b = now(f.left), now(f.right)
            return max(min(a, -b), min(-a, b))
    raise AssertionError(type(f))


def _windowed(f: n.Formula, k: int, places: list[int], at: At) -> float:
    match f:
        case n.Always() | n.Historically():
            return min((at(f.argument, j) for j in places), default=INF)
        case n.Eventually() | n.Once():
            return max((at(f.argument, j) for j in places), default=-INF)
        case n.Until() | n.Since():
            reached = (min(at(f.right, j), *_held(f.left, k, j, at), INF) for j in places)
            return max(reached, default=-INF)
        case n.Release() | n.Trigger():
            freed = (max(at(f.right, j), *_held(f.left, k, j, at), -INF) for j in places)
            return min(freed, default=INF)
    raise AssertionError(type(f))


def _held(f: n.Formula, k: int, j: int, at: At) -> list[float]:
    between = range(k, j) if j >= k else range(j + 1, k + 1)
    return [at(f, i) for i in between]


def _inside(offset: Rational, window: Window) -> bool:
    return window.lo <= offset and (window.hi is None or offset <= window.hi)


def _value(term: Term, trace: Samples, k: int) -> float:
    match term:
        case Constant():
            return term.value
        case Signal():
            return trace[term.name][k]
        case Component():
            return trace[term.signal.name][k]
    raise AssertionError(type(term))
