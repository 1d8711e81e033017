"""Obligations as problems of the search: clauses over the nodes of a step's graph."""

from collections.abc import Sequence

from safegym.check.loop.compact import compacted
from safegym.check.loop.graph import Entries
from safegym.check.loop.unfolding import unfolded
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.problem import Positive, Problem, Region, Semantics
from safegym.check.neural.property.clauses import AtomClause, clauses
from safegym.check.neural.terms import atom_node
from safegym.formula.formulas import Formula

Literal = tuple[int, bool]
"""A node of one entry, and whether it must be above 0 rather than at least 0."""


def atom_clauses(formula: Formula) -> tuple[AtomClause, ...]:
    """The formula's clauses, with abs, min and max taken apart. Raises UnsupportedError."""
    return clauses(unfolded(formula))


def literals(clause: AtomClause, builder: GraphBuilder, entries: Entries) -> list[Literal]:
    """The clause's atoms over the entries, in a fixed order."""
    return [atom_node(atom, builder, entries) for atom in sorted(clause, key=str)]


def problem_of(
    builder: GraphBuilder,
    listed: Sequence[Sequence[Literal]],
    region: Region,
    semantics: Semantics,
) -> Problem:
    """The problem that each clause holds over the region."""
    nodes = list(dict.fromkeys(node for clause in listed for node, _ in clause))
    place = {node: at for at, node in enumerate(nodes)}
    outputs = nodes or [builder.linear([(builder.input(0, 1), [[0.0]])])]
    graph = compacted(builder.graph(builder.stack(outputs)))
    found = tuple(
        tuple(Positive(place[node], strict) for node, strict in clause) for clause in listed
    )
    return Problem(graph, region, found, semantics)
