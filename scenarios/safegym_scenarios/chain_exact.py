"""Exact probabilities on a Markov chain, in rationals: the oracle that simulations answer to.

An episode property is followed by an automaton over the samples. Up to a horizon the product of
chain and automaton is carried on exactly, step by step; without one, its states are eliminated
(Gauss) until only ends are left. No number is ever rounded.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeVar

from safegym.errors import ScenarioError
from safegym_scenarios.chain_model import Chain

K = TypeVar("K", bound=Hashable)
Sample = Mapping[str, float]
Memory = Any
"""Whatever an automaton remembers; hashable."""
End = Literal["absorbed", "failed", "horizon"]
Ends = dict[tuple[Memory, End], Fraction]
"""What an episode ends with: (memory, kind of end) -> probability."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """What a property must remember of the samples so far.

    first: memory after sample 0. then: (memory, sample, whether it lies past the horizon) -> the
    next memory. fails: (memory, end) -> whether the episode breaks the property.
    """

    first: Callable[[Sample], Memory]
    then: Callable[[Memory, Sample, bool], Memory]
    fails: Callable[[Memory, End], bool]


def ends_within(chain: Chain, automaton: Automaton, horizon: int, tail: int = 0) -> Ends:
    """How episodes of at most horizon + tail steps end, by exact steps of the product."""
    ended: Ends = {}
    alive = _start(chain, automaton)
    for step in range(1, horizon + tail + 1):
        onward: dict[tuple[str, Memory], Fraction] = {}
        for (state, memory), mass in alive.items():
            for target, share in chain.moves[state].items():
                after = automaton.then(memory, chain.sample(target), step > horizon)
                kind = chain.model.terminals.get(target)
                if kind is None:
                    _add(onward, (target, after), mass * share)
                else:
                    _add(ended, (after, kind), mass * share)
        alive = onward
    for (_, memory), mass in alive.items():
        _add(ended, (memory, "horizon"), mass)
    return ended


def ends(chain: Chain, automaton: Automaton) -> Ends:
    """How episodes without a horizon end: the linear system of the product, solved by elimination.

    Raises ScenarioError if an episode need not end at all.
    """
    start = _start(chain, automaton)
    rows = _product(chain, automaton, start)
    found: Ends = {}
    solved = _eliminated(rows, start)
    for target, mass in solved.items():
        _add(found, target, mass)
    return found


def failing(found: Ends, automaton: Automaton) -> Fraction:
    """Probability that an episode breaks the property."""
    return _total(mass for (memory, end), mass in found.items() if automaton.fails(memory, end))


def failing_given(
    found: Ends, fails: Callable[[Memory, End], bool], given: Callable[[Memory, End], bool]
) -> Fraction:
    """P(fails | given). Raises ScenarioError if `given` never happens."""
    met = {key: mass for key, mass in found.items() if given(*key)}
    whole = _total(met.values())
    if whole == 0:
        raise ScenarioError("The condition has probability 0, so nothing is conditional on it.")
    return _total(mass for key, mass in met.items() if fails(*key)) / whole


def expected(found: Ends, value: Callable[[Memory, End], Fraction]) -> Fraction:
    """Mean of a number that memory and end decide, such as a share of samples."""
    return _total(mass * value(*key) for key, mass in found.items())


def distribution(found: Ends, value: Callable[[Memory, End], float]) -> dict[float, Fraction]:
    """Value -> probability, sorted: of a robustness, say; running sums give P(value <= v)."""
    shares: dict[float, Fraction] = {}
    for key, mass in found.items():
        _add(shares, value(*key), mass)
    return dict(sorted(shares.items()))


def quantile(shares: Mapping[float, Fraction], q: Fraction) -> float:
    """The least value v with P(value <= v) >= q."""
    reached = Fraction(0)
    for value, mass in sorted(shares.items()):
        reached += mass
        if reached >= q:
            return value
    raise ScenarioError(f"The shares sum to {reached}, below q = {q}.")


def _start(chain: Chain, automaton: Automaton) -> dict[tuple[str, Memory], Fraction]:
    found: dict[tuple[str, Memory], Fraction] = {}
    for state, mass in chain.initial.items():
        _add(found, (state, automaton.first(chain.sample(state))), mass)
    return found


_Node = tuple[str, Memory]
_Rows = dict[_Node, tuple[dict[_Node, Fraction], Ends]]


def _product(chain: Chain, automaton: Automaton, start: Iterable[_Node]) -> _Rows:
    """Each reachable node's moves to other nodes, and to ends."""
    rows: _Rows = {}
    pending = list(start)
    while pending:
        node = pending.pop()
        if node in rows:
            continue
        state, memory = node
        inner: dict[_Node, Fraction] = {}
        outer: Ends = {}
        for target, share in chain.moves[state].items():
            after = automaton.then(memory, chain.sample(target), False)
            kind = chain.model.terminals.get(target)
            if kind is None:
                _add(inner, (target, after), share)
            else:
                _add(outer, (after, kind), share)
        rows[node] = (inner, outer)
        pending.extend(inner)
    return rows


def _eliminated(rows: _Rows, start: Mapping[_Node, Fraction]) -> Ends:
    """Eliminates one node after another from x = Q x + r; returns start . x.

    A node's own loop of weight s divides its row by 1 - s; then the row is put in wherever the
    node stands. Nodes that few rows mention go first.
    """
    sources: dict[_Node, set[_Node]] = {node: set() for node in rows}
    for node, (inner, _) in rows.items():
        for target in inner:
            sources[target].add(node)
    entry: tuple[dict[_Node, Fraction], Ends] = (dict(start), {})
    while rows:
        node = min(rows, key=lambda each: len(sources[each]) * len(rows[each][0]))
        inner, outer = rows.pop(node)
        loop = inner.pop(node, Fraction(0))
        if loop == 1:
            raise ScenarioError(f"From state {node[0]} an episode may never end.")
        scale = 1 / (1 - loop)
        for source in sources.pop(node) - {node}:
            _put_in(rows[source], node, inner, outer, scale)
            for target in inner:
                sources[target].add(source)
        for target in inner:
            sources[target].discard(node)
        if node in entry[0]:
            _put_in(entry, node, inner, outer, scale)
    return entry[1]


def _put_in(
    row: tuple[dict[_Node, Fraction], Ends],
    node: _Node,
    inner: Mapping[_Node, Fraction],
    outer: Ends,
    scale: Fraction,
) -> None:
    mass = row[0].pop(node) * scale
    for target, share in inner.items():
        _add(row[0], target, mass * share)
    for end, share in outer.items():
        _add(row[1], end, mass * share)


def _add(into: dict[K, Fraction], key: K, mass: Fraction) -> None:
    into[key] = into.get(key, Fraction(0)) + mass


def _total(masses: Iterable[Fraction]) -> Fraction:
    return sum(masses, Fraction(0))
