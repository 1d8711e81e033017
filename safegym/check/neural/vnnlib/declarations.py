"""Declarations of VNN-LIB 1.0 (constants X_i and Y_i) and 2.0 (a network with its tensors)."""

import re
from collections.abc import Sequence

from safegym.check.neural.vnnlib.linear import Scope, Tensor
from safegym.check.neural.vnnlib.lists import Group, Part, Word
from safegym.errors import UnsupportedError

_CONSTANT = re.compile(r"([XY])_(0|[1-9][0-9]{0,8})", re.ASCII)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_TYPES = ("Real", "float32", "float64")


def declared(
    commands: Sequence[Group], scope: Scope, inputs: int, outputs: int
) -> tuple[str, list[Group]]:
    """Version and assertions; the variables go into the scope.

    Raises FormulaError for what is not well formed, UnsupportedError for more than one network,
    hidden nodes, other types than floats, and sizes that are not the network's.
    """
    newer = bool(commands) and commands[0].head == "vnnlib-version"
    assertions = [each for each in commands if each.head == "assert"]
    rest = [each for each in commands[newer:] if each.head != "assert"]
    if newer:
        version = _version(commands[0], scope)
        _check_order(commands[1:], scope)
        for command in rest:
            _network(command, scope, rest)
    else:
        version = "1.0"
        for command in rest:
            _constant(command, scope)
    _check_sizes(scope, inputs, outputs)
    if not assertions:
        raise UnsupportedError("The property has no assertions.")
    return version, assertions


def _version(command: Group, scope: Scope) -> str:
    word = command.parts[1] if len(command.parts) == 2 else None
    if not isinstance(word, Word) or not re.fullmatch(r"<[0-9]{1,4}\.[0-9]{1,4}>", word.text):
        raise scope.error(command, "a version is written (vnnlib-version <2.0>).")
    if not word.text.startswith("<2."):
        raise UnsupportedError(f"VNN-LIB version {word.text} is not read; 1.0 and 2.x are.")
    return "2.0"


def _check_order(commands: Sequence[Group], scope: Scope) -> None:
    asserted = False
    for command in commands:
        if command.head == "assert":
            asserted = True
        elif asserted:
            raise scope.error(command, "declarations stand before the assertions.")


def _constant(command: Group, scope: Scope) -> None:
    words = [part.text for part in command.parts if isinstance(part, Word)]
    constant = command.head == "declare-const" and len(words) == len(command.parts) == 3
    function = command.head == "declare-fun" and len(words) == 3 and len(command.parts) == 4
    if not (constant or function):
        raise scope.error(
            command,
            f"{command.head[:40]!r} is not read here; VNN-LIB 1.0 has (declare-const X_0 Real) and "
            "(assert ...), 2.0 begins with (vnnlib-version <2.0>).",
        )
    match = _CONSTANT.fullmatch(words[1])
    if match is None or words[2] != "Real":
        raise scope.error(command, "constants are called X_0, X_1, ... and Y_0, ..., and are Real.")
    if words[1] in scope.names:
        raise scope.error(command, f"{words[1]} is declared twice.")
    kind = "input" if match[1] == "X" else "output"
    scope.names[words[1]] = Tensor("input" if kind == "input" else "output", int(match[2]), ())


def _network(command: Group, scope: Scope, rest: Sequence[Group]) -> None:
    if command.head != "declare-network":
        raise scope.error(command, f"{command.head[:40]!r} is no command of VNN-LIB 2.0.")
    if len(rest) > 1:
        raise UnsupportedError("The property is about several networks; one is read.")
    name = command.parts[1] if len(command.parts) > 1 else None
    if not isinstance(name, Word) or not _NAME.fullmatch(name.text):
        raise scope.error(command, "a network needs a name.")
    for part in command.parts[2:]:
        if not isinstance(part, Group):
            raise scope.error(part, "a declaration was expected.")
        if part.head in ("declare-hidden", "isomorphic-to", "equal-to"):
            raise UnsupportedError(f"The property uses {part.head}, which is not read.")
        if part.head not in ("declare-input", "declare-output"):
            raise scope.error(part, f"{part.head[:40]!r} is no declaration.")
        _tensor(part, scope)


def _tensor(group: Group, scope: Scope) -> None:
    parts = group.parts
    if len(parts) < 5 or not all(isinstance(part, Word) for part in parts):
        raise scope.error(group, "a tensor is declared as (declare-input X Real [3]).")
    words = [part.text for part in parts if isinstance(part, Word)]
    name, kind = words[1], words[2]
    if not _NAME.fullmatch(name) or name in scope.names:
        raise scope.error(group, f"{name[:40]!r} is no name, or is declared twice.")
    if kind not in _TYPES:
        raise UnsupportedError(f"{name} is of type {kind[:40]}; {', '.join(_TYPES)} are read.")
    shape, after = _shape(parts, 3, scope)
    if after != len(parts):
        raise UnsupportedError(f"{name} is declared with {words[after][:40]!r}, which is not read.")
    side = "input" if group.head == "declare-input" else "output"
    first = sum(each.size for each in scope.names.values() if each.kind == side)
    scope.names[name] = Tensor("input" if side == "input" else "output", first, shape)


def _shape(parts: Sequence[Part], at: int, scope: Scope) -> tuple[tuple[int, ...], int]:
    words = [part.text if isinstance(part, Word) else "" for part in parts]
    if words[at] != "[" or "]" not in words[at:]:
        raise scope.error(parts[at], "a shape is written [1,5], that of a number [].")
    end = words.index("]", at)
    sizes = [word for word in words[at + 1 : end] if word != ","]
    if not all(re.fullmatch(r"[0-9]{1,9}", word) and int(word) > 0 for word in sizes):
        raise scope.error(parts[at], "a shape holds whole numbers above 0.")
    if len(sizes) > 16:
        raise scope.error(parts[at], "a shape has at most 16 dimensions.")
    return tuple(int(word) for word in sizes), end + 1


def _check_sizes(scope: Scope, inputs: int, outputs: int) -> None:
    for kind, size, letter in (("input", inputs, "X"), ("output", outputs, "Y")):
        tensors = [each for each in scope.names.values() if each.kind == kind]
        entries = sum(each.size for each in tensors)
        reach = max((each.first + each.size for each in tensors), default=0)
        if entries != size or reach != size:
            raise UnsupportedError(
                f"The property declares {entries} {kind}s ({letter}), the network has {size}."
            )
