"""VNN-LIB texts as properties: declarations, assertions, regions and clauses."""

from collections.abc import Sequence
from pathlib import Path

from safegym.check.neural.problem import Region
from safegym.check.neural.vnnlib.atoms import Coefficients, LinearAtom, Piece, VnnlibProperty
from safegym.check.neural.vnnlib.declarations import declared
from safegym.check.neural.vnnlib.linear import Scope, Sum
from safegym.check.neural.vnnlib.lists import MAX_CHARACTERS, Group, groups
from safegym.check.neural.vnnlib.regions import region_of
from safegym.check.neural.vnnlib.unsafe import (
    Alternatives,
    Condition,
    alternatives,
    conjunction,
)
from safegym.errors import FormulaError, UnsupportedError

MAX_CLAUSES = 200_000
"""Most clauses over all regions."""
MAX_REGIONS = 500_000
"""Most pairs of a condition on inputs alone and an alternative with its own."""
Clauses = dict[tuple[LinearAtom, ...], None]


def read_vnnlib(path: str | Path, inputs: int, outputs: int) -> VnnlibProperty:
    """The property of a VNN-LIB file for a network of these sizes (flattened).

    Raises FormulaError for a text that is not well formed, with its line, and UnsupportedError for
    a file that cannot be read, and for what is no property of one network with linear conditions
    in a bounded box.
    """
    path = Path(path)
    try:
        if not path.is_file():
            raise UnsupportedError(f"There is no VNN-LIB file {path}.")
        if path.stat().st_size > MAX_CHARACTERS:
            raise UnsupportedError(
                f"{path} is larger than the {MAX_CHARACTERS} bytes that are read."
            )
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnsupportedError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise FormulaError(f"{path} is no UTF-8 text: {error}.") from error
    try:
        return parse_vnnlib(text, inputs, outputs)
    except FormulaError as error:
        raise FormulaError(f"{path}, {error}") from error
    except UnsupportedError as error:
        raise UnsupportedError(f"{path}: {error}") from error


def parse_vnnlib(text: str, inputs: int, outputs: int) -> VnnlibProperty:
    """The property of a VNN-LIB text; see `read_vnnlib`."""
    commands = groups(text)
    scope = Scope(text)
    version, assertions = declared(commands, scope, inputs, outputs)
    on_inputs, others = _sorted(assertions, scope)
    pieces = _pieces(conjunction(on_inputs), conjunction(others), inputs)
    if not pieces:
        raise UnsupportedError("No input satisfies the property's conditions: its region is empty.")
    return VnnlibProperty(inputs, outputs, pieces, version)


def _sorted(
    assertions: Sequence[Group], scope: Scope
) -> tuple[list[Alternatives], list[Alternatives]]:
    """Assertions that read inputs alone, and the others."""
    on_inputs: list[Alternatives] = []
    others: list[Alternatives] = []
    for assertion in assertions:
        if len(assertion.parts) != 2:
            raise scope.error(assertion, "an assert holds one condition.")
        found = alternatives(assertion.parts[1], scope)
        alone = all(each.reads_inputs_only for one in found for each in one)
        (on_inputs if alone else others).append(found)
    return on_inputs, others


def _pieces(on_inputs: Alternatives, others: Alternatives, inputs: int) -> tuple[Piece, ...]:
    """The clauses of each region: of each alternative, the opposite of one of its conditions."""
    found: dict[Region, Clauses] = {}
    count = 0
    split = [_split(each) for each in others]
    own = sum(1 for further, _ in split if further)
    if len(on_inputs) * own > MAX_REGIONS:
        raise UnsupportedError(
            f"The property has more than {MAX_REGIONS} regions when it is multiplied out; split it "
            "into several files."
        )
    for outer in on_inputs:
        limits, literals = _split(outer)
        base: Region | None = None
        if any(not further for further, _ in split):
            base = region_of(limits, inputs)
        for further, atoms in split:
            region = region_of([*limits, *further], inputs) if further else base
            if region is None:
                continue
            if not (literals or atoms):
                raise UnsupportedError(
                    "An alternative of the property has no condition on outputs: every input of "
                    "its region would violate it."
                )
            count += 1
            if count > MAX_CLAUSES:
                raise UnsupportedError(f"The property has more than {MAX_CLAUSES} clauses.")
            found.setdefault(region, {})[(*literals, *atoms)] = None
    return tuple(Piece(region, tuple(clauses)) for region, clauses in found.items())


def _split(
    conditions: Sequence[Condition],
) -> tuple[list[Condition], tuple[LinearAtom, ...]]:
    """Conditions of the region, and the opposites of the rest.

    A region is closed: a strict condition on inputs bounds it, and its opposite is an atom too.
    """
    limits = [each for each in conditions if each.reads_inputs_only]
    rest = [each for each in conditions if not each.reads_inputs_only or each.strict]
    atoms = {_opposite(each): None for each in rest}
    return limits, tuple(atoms)


def _opposite(condition: Condition) -> LinearAtom:
    return LinearAtom(
        _coefficients(condition.sum, "input"),
        _coefficients(condition.sum, "output"),
        condition.sum.constant,
        strict=not condition.strict,
    )


def _coefficients(value: Sum, wanted: str) -> Coefficients:
    return tuple(sorted((entry, c) for (kind, entry), c in value.terms.items() if kind == wanted))
