"""VNN-LIB 1.0 and 2.0, read and written with exact decimals.

`read_vnnlib(path, inputs, outputs) -> VnnlibProperty`, `problems(property, graph) -> Problem`s,
`write_vnnlib(property or problem, path)`.
"""

from safegym.check.neural.vnnlib.atoms import LinearAtom, Piece, VnnlibProperty
from safegym.check.neural.vnnlib.posing import problems
from safegym.check.neural.vnnlib.reading import parse_vnnlib, read_vnnlib
from safegym.check.neural.vnnlib.writing import vnnlib_text, write_vnnlib

__all__ = [
    "LinearAtom",
    "Piece",
    "VnnlibProperty",
    "parse_vnnlib",
    "problems",
    "read_vnnlib",
    "vnnlib_text",
    "write_vnnlib",
]
