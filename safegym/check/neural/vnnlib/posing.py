"""A property of a network as problems: its atoms become exact nodes on the network's graph."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from safegym.check.neural.graph import Graph, GraphBuilder, Vector
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Positive, Problem, Semantics
from safegym.check.neural.vnnlib.atoms import LinearAtom, VnnlibProperty
from safegym.errors import UnsupportedError


def problems(
    asked: VnnlibProperty,
    network: Graph | PolicyGraph,
    semantics: Semantics = "deployed float32",
) -> tuple[Problem, ...]:
    """One problem for each region; the property holds where all of them do.

    A violated one is a "sat" in VNN-LIB's words. Raises UnsupportedError where the sizes differ,
    and for a network that ends in a choice, whose output is no vector of numbers.
    """
    if isinstance(network, PolicyGraph) and network.kind == "discrete":
        raise UnsupportedError(
            f"{network.name} ends in a choice (ArgMax), and a VNN-LIB property speaks of its "
            "values; use a network that ends at the values."
        )
    graph = network.graph if isinstance(network, PolicyGraph) else network
    if (graph.inputs, graph.outputs) != (asked.inputs, asked.outputs):
        raise UnsupportedError(
            f"The property is about {asked.inputs} inputs and {asked.outputs} outputs, the network "
            f"has {graph.inputs} and {graph.outputs}."
        )
    found: list[Problem] = []
    for piece in asked.pieces:
        atoms = {atom: None for clause in piece.clauses for atom in clause}
        at = {atom: place for place, atom in enumerate(atoms)}
        clauses = tuple(
            tuple(Positive(at[atom], atom.strict) for atom in clause) for clause in piece.clauses
        )
        found.append(Problem(_with_atoms(graph, tuple(atoms)), piece.region, clauses, semantics))
    return tuple(found)


def _with_atoms(graph: Graph, atoms: Sequence[LinearAtom]) -> Graph:
    """The graph with one exact output an atom, each a positive multiple of the atom's sum.

    Decimals are no binary fractions; so each atom is multiplied up to whole numbers, down by a
    power of two, and a number longer than binary64 is split into several.
    """
    if not atoms:
        raise UnsupportedError("The property has an alternative without conditions on outputs.")
    builder = GraphBuilder(graph.inputs)
    inputs = builder.input()
    outputs = builder.append(graph, inputs)
    whole = [_whole(atom) for atom in atoms]
    parts: list[tuple[int, Vector]] = []
    parts.extend((outputs, layer) for layer in _layers([y for _, y, _ in whole], graph.outputs))
    parts.extend((inputs, layer) for layer in _layers([x for x, _, _ in whole], graph.inputs))
    biases = _layers([((0, c),) if c else () for _, _, c in whole], 1)
    parts = parts or [(outputs, np.zeros((len(atoms), graph.outputs)))]
    bias = biases[0][:, 0] if biases else None
    for further in biases[1:]:
        rows = np.zeros((len(atoms), graph.inputs))
        parts.append((builder.linear([(inputs, rows)], further[:, 0]), np.eye(len(atoms))))
    return builder.graph(builder.linear(parts, bias))


Whole = tuple[tuple[int, Fraction], ...]


def _whole(atom: LinearAtom) -> tuple[Whole, Whole, Fraction]:
    """Coefficients of inputs and outputs and the constant, times one positive number."""
    numbers = [c for _, c in (*atom.inputs, *atom.outputs)] + [atom.constant]
    factor = Fraction(1)
    for number in numbers:
        factor *= (number * factor).denominator
    greatest = max(abs(number * factor) for number in numbers)
    factor /= Fraction(2) ** max(0, int(greatest).bit_length() - 1)
    return (
        tuple((entry, c * factor) for entry, c in atom.inputs),
        tuple((entry, c * factor) for entry, c in atom.outputs),
        atom.constant * factor,
    )


def _layers(rows: Sequence[Whole], size: int) -> list[Vector]:
    """Matrices (rows, size) of binary64 numbers whose sum is exactly the given one."""
    left = [dict(row) for row in rows]
    found: list[Vector] = []
    while any(left):
        matrix = np.zeros((len(rows), size))
        for at, row in enumerate(left):
            for entry in list(row):
                number = float(row[entry])
                if number == 0.0 or len(found) > 40:
                    raise UnsupportedError(
                        "A number of the property is too fine for binary64 beside the others."
                    )
                matrix[at, entry] = number
                row[entry] -= Fraction(number)
                if not row[entry]:
                    del row[entry]
        found.append(matrix)
    return found
