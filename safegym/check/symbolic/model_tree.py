"""A decision tree over z3 reals: nested choices, pruned by what each observation can be."""

from collections.abc import Sequence
from fractions import Fraction

from safegym.check.symbolic.affine import Interval
from safegym.check.symbolic.encode import q
from safegym.check.symbolic.engine import Bool, Real, z3
from safegym.check.symbolic.rounding import FORMATS
from safegym.policy.tree import LEAF, TreePolicy

Value = tuple[Real, Interval]


class TreeEncoding:
    """The tree's actions over observations.

    deployed: an observation is read after rounding to binary64 or binary32, so that one nearer to a
    threshold than that goes either way; else exactly as the numbers are.
    """

    def __init__(self, tree: TreePolicy, *, deployed: bool) -> None:
        self._tree, self._deployed = tree, deployed

    def values(
        self, observations: Sequence[Real], ranges: Sequence[Interval], at: int
    ) -> tuple[list[Value], list[Bool]]:
        """Each action and what it can be, and constraints on the questions' answers."""
        constraints: list[Bool] = []
        built: dict[int, list[Value]] = {}
        order = self._reached(ranges)
        for node in reversed(order):
            ways = self._ways(node, ranges)
            if ways == ():
                built[node] = self._leaf(node)
            elif len(ways) == 1:
                built[node] = built[ways[0]]
            else:
                asked, rules = self._question(node, observations, at)
                constraints += rules
                built[node] = [
                    (z3.If(asked, one, other), (min(a, c), max(b, d)))
                    for (one, (a, b)), (other, (c, d)) in zip(
                        built[ways[0]], built[ways[1]], strict=True
                    )
                ]
        return built[0], constraints

    def _reached(self, ranges: Sequence[Interval]) -> list[int]:
        """Nodes that some observation in the ranges comes to, parents first."""
        order, waiting = list[int](), [0]
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting.extend(self._ways(node, ranges))
        return sorted(order)

    def _ways(self, node: int, ranges: Sequence[Interval]) -> tuple[int, ...]:
        """() at a leaf; else the nodes that come next, `below` first."""
        feature = int(self._tree.feature[node])
        if feature == LEAF:
            return ()
        least, most = self._band(node)
        low, high = ranges[feature]
        ways: list[int] = []
        if low <= most:
            ways.append(int(self._tree.below[node]))
        if high > least or (self._deployed and high >= least):
            ways.append(int(self._tree.above[node]))
        return tuple(ways)

    def _leaf(self, node: int) -> list[Value]:
        tree = self._tree
        if tree.index is not None:
            numbers = [float(tree.index[node])]
        else:
            numbers = [] if tree.value is None else [float(v) for v in tree.value[node]]
        exact = [Fraction(number) for number in numbers]
        return [(q(number), (number, number)) for number in exact]

    def _question(
        self, node: int, observations: Sequence[Real], at: int
    ) -> tuple[Bool, list[Bool]]:
        """Whether the row goes below, and what that says of the exact observation."""
        seen = observations[int(self._tree.feature[node])]
        least, most = self._band(node)
        if not self._deployed:
            return seen <= q(most), []
        asked = z3.Bool(f"below{node}@{at}")
        return asked, [z3.Implies(asked, seen <= q(most)), z3.Or(asked, seen >= q(least))]

    def _band(self, node: int) -> tuple[Fraction, Fraction]:
        """Observations from the first up may go above, up to the second may go below."""
        threshold = Fraction(float(self._tree.threshold[node]))
        if not self._deployed:
            return threshold, threshold
        single = FORMATS["float32"]
        ends = [
            (threshold + side * single.tiny) / (1 + way * single.unit)
            for side in (-1, 1)
            for way in (-1, 1)
        ]
        return min(ends), max(ends)
