"""What a VNN-LIB text says: over each region, some atom of each clause holds."""

from dataclasses import dataclass
from fractions import Fraction

from safegym.check.neural.problem import Region

Coefficients = tuple[tuple[int, Fraction], ...]
"""(variable, coefficient), in order of variable, none of them 0."""


@dataclass(frozen=True, slots=True)
class LinearAtom:
    """inputs . x + outputs . y + constant > 0 (strict), or >= 0; exact."""

    inputs: Coefficients
    outputs: Coefficients
    constant: Fraction
    strict: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """For every x in the region, each clause has an atom that holds of (x, network(x))."""

    region: Region
    clauses: tuple[tuple[LinearAtom, ...], ...]


@dataclass(frozen=True, slots=True)
class VnnlibProperty:
    """The property whose negation a VNN-LIB text asks to be satisfied.

    A text names the unsafe set: "sat" is a counterexample, "unsat" means that all pieces hold.
    inputs, outputs: sizes of the network's flattened input and output. version: "1.0" or "2.0".
    """

    inputs: int
    outputs: int
    pieces: tuple[Piece, ...]
    version: str = "2.0"
