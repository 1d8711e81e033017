"""Arithmetic of VNN-LIB as exact linear expressions of inputs and outputs."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from safegym.check.neural.vnnlib.lists import Group, Part, Word, place
from safegym.errors import FormulaError, UnsupportedError

Variable = tuple[Literal["input", "output"], int]
ZERO, ONE, MINUS_ONE = Fraction(0), Fraction(1), Fraction(-1)
_MAX_BITS = 20_000
"""Bits of a numerator or denominator, at most."""
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sum:
    """constant + sum of coefficients times variables."""

    constant: Fraction
    terms: Mapping[Variable, Fraction]

    def times(self, factor: Fraction) -> "Sum":
        """Each number times the factor."""
        if factor == MINUS_ONE:
            return Sum(-self.constant, {key: -value for key, value in self.terms.items()})
        terms = {key: value * factor for key, value in self.terms.items() if factor}
        return Sum(self.constant * factor, terms)


def added(values: Iterable[Sum]) -> Sum:
    """Their sum, without terms that cancel."""
    constant, terms = ZERO, dict[Variable, Fraction]()
    for each in values:
        if each.constant:
            constant += each.constant
        for key, value in each.terms.items():
            terms[key] = terms[key] + value if key in terms else value
    return Sum(constant, {key: value for key, value in terms.items() if value})


@dataclass(frozen=True, slots=True)
class Tensor:
    """A declared variable: which entries of the flattened input or output it stands for."""

    kind: Literal["input", "output"]
    first: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many entries it has."""
        count = 1
        for each in self.shape:
            count *= each
        return count


@dataclass(slots=True)
class Scope:
    """The text, for messages, and its declared variables."""

    text: str
    names: dict[str, Tensor] = field(default_factory=dict[str, Tensor])

    def error(self, part: Part, message: str) -> FormulaError:
        """An error that says where."""
        return FormulaError(f"{place(self.text, part.at)}: {message}")

    def expression(self, parts: tuple[Part, ...]) -> list[Sum]:
        """The expressions that stand one after the other; indices in brackets belong to a name."""
        found: list[Sum] = []
        at = 0
        while at < len(parts):
            part = parts[at]
            if isinstance(part, Group):
                found.append(self._operation(part))
                at += 1
            elif _NUMBER.fullmatch(part.text):
                found.append(Sum(Fraction(part.text), {}))
                at += 1
            else:
                indices, at = self._indices(parts, at + 1)
                found.append(self._variable(part, indices))
        return found

    def _operation(self, group: Group) -> Sum:
        head = group.head
        if head not in ("+", "-", "*"):
            raise self.error(group, f"{head[:40]!r} is no arithmetic that is read; use + - *.")
        values = self.expression(group.parts[1:])
        if not values:
            raise self.error(group, f"{head} needs at least one number.")
        if head == "*":
            return self._product(group, values)
        if head == "+":
            return added(values)
        kept = 1 if len(values) > 1 else 0
        return added([*values[:kept], *(each.times(MINUS_ONE) for each in values[kept:])])

    def _product(self, group: Group, values: list[Sum]) -> Sum:
        total = values[0]
        for value in values[1:]:
            if total.terms and value.terms:
                raise UnsupportedError(
                    f"{place(self.text, group.at)}: a product of two variables is not linear; only "
                    "linear properties are read."
                )
            total = total.times(value.constant) if not value.terms else value.times(total.constant)
            if any(
                max(c.numerator.bit_length(), c.denominator.bit_length()) > _MAX_BITS
                for c in (total.constant, *total.terms.values())
            ):
                raise self.error(group, "a product has too many digits.")
        return total

    def _indices(self, parts: tuple[Part, ...], at: int) -> tuple[list[int] | None, int]:
        first = parts[at] if at < len(parts) else None
        if not (isinstance(first, Word) and first.text == "["):
            return None, at
        found: list[int] = []
        for place_, part in enumerate(parts[at + 1 :], at + 1):
            if not isinstance(part, Word):
                break
            if part.text == "]":
                return found, place_ + 1
            if part.text != ",":
                if not re.fullmatch(r"[0-9]{1,9}", part.text):
                    raise self.error(part, f"{part.text[:40]!r} is no index.")
                found.append(int(part.text))
        raise self.error(first, "this bracket is never closed.")

    def _variable(self, word: Word, indices: list[int] | None) -> Sum:
        tensor = self.names.get(word.text)
        if tensor is None:
            known = "is not declared" if _NAME.fullmatch(word.text) else "is no number and no name"
            raise self.error(word, f"{word.text[:40]!r} {known}.")
        entry = tensor.first
        given = [] if indices is None else indices
        if len(given) != len(tensor.shape):
            raise self.error(
                word,
                f"{word.text} has {len(tensor.shape)} dimensions, it is given {len(given)}.",
            )
        offset = 0
        for index, size in zip(given, tensor.shape, strict=True):
            if index >= size:
                raise self.error(word, f"index {index} of {word.text} is not below {size}.")
            offset = offset * size + index
        return Sum(ZERO, {(tensor.kind, entry + offset): ONE})
