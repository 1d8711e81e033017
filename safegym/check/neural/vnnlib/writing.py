"""Properties as VNN-LIB texts; every decimal is exact, and reads back as the same number."""

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Literal

from safegym.check.neural.problem import Problem, Region
from safegym.check.neural.vnnlib.atoms import LinearAtom, Piece, VnnlibProperty
from safegym.errors import RunFolderError, UnsupportedError

Version = Literal["1.0", "2.0"]
Element = Literal["float32", "float64", "Real"]
"""Type of the tensors that version 2.0 declares: that of the ONNX model."""
_MAX_DIGITS = 1900
"""Decimal digits of a number that is written, at most; the reader takes words a little longer."""


def write_vnnlib(
    asked: VnnlibProperty | Problem,
    path: str | Path,
    *,
    version: Version = "2.0",
    element: Element = "float32",
) -> None:
    """Write the text of `vnnlib_text`. Raises RunFolderError where it cannot be written."""
    path, text = Path(path), vnnlib_text(asked, version=version, element=element)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise RunFolderError(f"Writing {path} failed: {error.strerror or error}.") from error


def vnnlib_text(
    asked: VnnlibProperty | Problem, *, version: Version = "2.0", element: Element = "float32"
) -> str:
    """The text that asks for a counterexample: an input of a region, and a clause that fails.

    A problem's outputs are those of its own graph. Reading the text gives the same property.
    Raises UnsupportedError for a number of more than 1900 digits.
    """
    if version not in ("1.0", "2.0"):
        raise UnsupportedError(f'VNN-LIB {version!r} is not written; use version="1.0" or "2.0".')
    if element not in ("float32", "float64", "Real"):
        raise UnsupportedError(f"A tensor of {element!r} is not written; use float32 or float64.")
    if isinstance(asked, Problem):
        asked = _of_problem(asked)
    lines = [*_declarations(asked, version, element), ""]
    if len(asked.pieces) == 1:
        lines.extend(f"(assert {each})" for each in _region(asked.pieces[0].region, version))
        lines.append(f"(assert {_clauses(asked.pieces[0], version)})")
    else:
        lines.append("(assert (or")
        for piece in asked.pieces:
            parts = [*_region(piece.region, version), _clauses(piece, version)]
            lines.append(f"  (and {' '.join(parts)})")
        lines.append("))")
    return "\n".join(lines) + "\n"


def _of_problem(problem: Problem) -> VnnlibProperty:
    clauses = tuple(
        tuple(
            LinearAtom((), ((literal.output, Fraction(1)),), Fraction(0), literal.strict)
            for literal in clause
        )
        for clause in problem.clauses
    )
    graph = problem.graph
    return VnnlibProperty(graph.inputs, graph.outputs, (Piece(problem.region, clauses),))


def _declarations(asked: VnnlibProperty, version: Version, element: Element) -> Iterator[str]:
    if version == "2.0":
        yield "(vnnlib-version <2.0>)"
        yield ""
        yield "(declare-network network"
        yield f"  (declare-input X {element} [{asked.inputs}])"
        yield f"  (declare-output Y {element} [{asked.outputs}])"
        yield ")"
        return
    for letter, size in (("X", asked.inputs), ("Y", asked.outputs)):
        for at in range(size):
            yield f"(declare-const {letter}_{at} Real)"


def _region(region: Region, version: Version) -> Iterator[str]:
    for at, (low, high) in enumerate(zip(region.low, region.high, strict=True)):
        for sign, limit in ((">=", low), ("<=", high)):
            variable = _product(Fraction(limit.denominator), "X", at, version)
            if _is_decimal(limit):
                yield f"({sign} {_name('X', at, version)} {_decimal(limit)})"
            else:
                yield f"({sign} {variable} {_decimal(Fraction(limit.numerator))})"
    for cut in region.cuts:
        terms = [(at, c) for at, c in enumerate(cut.coefficients) if c]
        yield _condition(terms, [], -cut.bound, "<=", version)


def _clauses(piece: Piece, version: Version) -> str:
    """Some clause of which no atom holds."""
    failing = [_failing(clause, version) for clause in piece.clauses]
    return failing[0] if len(failing) == 1 else f"(or {' '.join(failing)})"


def _failing(clause: tuple[LinearAtom, ...], version: Version) -> str:
    parts = [
        _condition(
            list(atom.inputs),
            list(atom.outputs),
            atom.constant,
            "<=" if atom.strict else "<",
            version,
        )
        for atom in clause
    ]
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


def _condition(
    inputs: list[tuple[int, Fraction]],
    outputs: list[tuple[int, Fraction]],
    constant: Fraction,
    sign: str,
    version: Version,
) -> str:
    """The sum compared with 0, multiplied up where a number is no decimal."""
    factor = 1
    for number in [c for _, c in (*inputs, *outputs)] + [constant]:
        if not _is_decimal(number * factor):
            factor *= (number * factor).denominator
    terms = [_product(c * factor, "Y", at, version) for at, c in outputs]
    terms += [_product(c * factor, "X", at, version) for at, c in inputs]
    left = f"(+ {' '.join(terms)})" if len(terms) > 1 else (terms or ["0.0"])[0]
    return f"({sign} {left} {_decimal(-constant * factor)})"


def _product(factor: Fraction, letter: str, at: int, version: Version) -> str:
    name = _name(letter, at, version)
    return name if factor == 1 else f"(* {_decimal(factor)} {name})"


def _name(letter: str, at: int, version: Version) -> str:
    return f"{letter}_{at}" if version == "1.0" else f"{letter}[{at}]"


def _is_decimal(number: Fraction) -> bool:
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _decimal(number: Fraction) -> str:
    """All digits, without an exponent."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > 4 * _MAX_DIGITS:
        raise UnsupportedError(f"A number of the property has more than {_MAX_DIGITS} digits.")
    places, rest = 0, number.denominator
    twos = fives = 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives, 1)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    if len(digits) > _MAX_DIGITS:
        raise UnsupportedError(f"A number of the property has more than {_MAX_DIGITS} digits.")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"
