"""Atoms as outputs of a graph: exact nodes after the policy's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.property.affine import Affine, Known, affine
from safegym.check.neural.property.layout import ACTION, Layout, Place
from safegym.check.neural.terms import Entry, atom_node
from safegym.formula.nodes import Atom

Sources = Mapping[Place, Entry]
"""Where each place stands in the graph."""


@dataclass(frozen=True, slots=True)
class Margin:
    """What is positive where a literal holds: an affine form, or the margin of an atom.

    strict: whether 0 does not do. known: numbers that stand for places that the atom reads.
    """

    strict: bool
    row: Affine | None
    atom: Atom | None = None
    known: tuple[tuple[Place, Fraction], ...] = ()

    @property
    def settled(self) -> bool | None:
        """Whether it holds everywhere or nowhere, where that needs no policy and no region."""
        if self.row is None or not self.row.fixed:
            return None
        return self.row.constant > 0 if self.strict else self.row.constant >= 0

    @property
    def key(self) -> object:
        """Equal for margins that are the same function with the same strictness."""
        if self.row is None:
            return self.atom, self.known
        return self.strict, frozenset(self.row.coefficients.items()), self.row.constant


def margin_of(atom: Atom, layout: Layout, known: Known | None = None) -> Margin:
    """The margin of an atom, some places of which may be known numbers."""
    left, right = (affine(side, layout, known) for side in (atom.left, atom.right))
    strict = atom.comparison in ("<", ">")
    numbers = tuple((known or {}).items())
    if left is None or right is None:
        return Margin(strict, None, atom, numbers)
    below = atom.comparison in ("<", "<=")
    less, more = (left, right) if below else (right, left)
    return Margin(strict, more.plus(less, Fraction(-1)), atom, numbers)


def append_margins(
    builder: GraphBuilder,
    margins: Sequence[Margin],
    sources: Sources,
    layout: Layout,
) -> int:
    """A node with one entry a margin, in order. Affine ones share one linear node.

    A coefficient that binary64 cannot hold is built up from the term's own constants instead. A
    margin that the action's own limits keep at 0 or above (action[0] <= its upper limit) is clipped
    there, which changes nothing, and lets bounds see in spite of rounding that it is not below 0.
    Raises UnsupportedError for a term that has no bound.
    """
    rows = [at for at, margin in enumerate(margins) if _exact(margin)]
    parts: list[tuple[list[int], int]] = []
    if rows:
        parts.append((rows, _linear(builder, [margins[at] for at in rows], sources)))
    for at, margin in enumerate(margins):
        if at not in rows and margin.atom is not None:
            entries = _entries(builder, sources, layout, dict(margin.known))
            parts.append(([at], atom_node(margin.atom, builder, entries)[0]))
    if len(parts) == 1:
        return _not_below(builder, parts[0][1], margins, sources)
    placed: list[tuple[int, NDArray[np.float64]]] = []
    for ats, node in parts:
        matrix = np.zeros((len(margins), len(ats)))
        matrix[ats, np.arange(len(ats))] = 1.0
        placed.append((node, matrix))
    return _not_below(builder, builder.linear(placed), margins, sources)


def _not_below(
    builder: GraphBuilder, node: int, margins: Sequence[Margin], sources: Sources
) -> int:
    """The margins, clipped at 0 from below where the clip that ends the policy implies it."""
    least = [0.0 if _kept(margin, builder, sources) else -np.inf for margin in margins]
    return builder.clip(node, least, np.inf) if 0.0 in least else node


def _kept(margin: Margin, builder: GraphBuilder, sources: Sources) -> bool:
    """Whether a margin of actions alone has 0 as its least value on their limits, exactly."""
    if margin.strict or margin.row is None or margin.row.fixed:
        return False
    least = margin.row.constant
    for place, factor in margin.row.coefficients.items():
        index, entry = sources[place]
        node = builder.nodes[index]
        if place[0] != ACTION or node.kind != "clip" or node.low is None or node.high is None:
            return False
        end = float((node.low if factor > 0 else node.high)[entry])
        if not np.isfinite(end):
            return False
        least += factor * Fraction(end)
    return least == 0


def _exact(margin: Margin) -> bool:
    if margin.row is None:
        return False
    numbers = (*margin.row.coefficients.values(), margin.row.constant)
    return margin.atom is None or all(held(value) is not None for value in numbers)


def held(value: Fraction) -> float | None:
    """The binary64 number that is exactly this, or None."""
    try:
        near = float(value)
    except OverflowError:
        return None
    return near if Fraction(near) == value else None


def _linear(builder: GraphBuilder, margins: Sequence[Margin], sources: Sources) -> int:
    weights: dict[int, NDArray[np.float64]] = {}
    bias = np.zeros(len(margins))
    for at, margin in enumerate(margins):
        row = margin.row or Affine({}, Fraction(0))
        bias[at] = float(row.constant)
        for place, value in row.coefficients.items():
            node, entry = sources[place]
            if node not in weights:
                weights[node] = np.zeros((len(margins), builder.nodes[node].size))
            weights[node][at, entry] += float(value)
    if not weights:
        whole = builder.input()
        weights[whole] = np.zeros((len(margins), builder.inputs))
    return builder.linear(list(weights.items()), bias)


def _entries(
    builder: GraphBuilder, sources: Sources, layout: Layout, known: Known
) -> dict[tuple[str, int], Entry]:
    """What terms may read, by the names of the language; known places become constants."""
    found = {place: entry for place, entry in sources.items() if place[0] != "value"}
    for place, value in known.items():
        whole = builder.input()
        number = builder.linear([(whole, np.zeros((1, builder.inputs)))], [float(value)])
        found[place] = (number, 0)
    for name, place in layout.fields.items():
        if place in found:
            found[name, 0] = found[place]
    return found
