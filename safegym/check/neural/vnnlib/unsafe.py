"""Assertions as alternatives: each a conjunction of linear conditions, sum <= 0 or sum < 0."""

from dataclasses import dataclass

from safegym.check.neural.vnnlib.linear import MINUS_ONE, Scope, Sum, added
from safegym.check.neural.vnnlib.lists import Group, Part
from safegym.errors import UnsupportedError

MAX_ALTERNATIVES = 20_000
"""Most alternatives that one property may have."""
_MAX_CONDITIONS = 1_000_000
"""Most conditions of all alternatives together."""


@dataclass(frozen=True, slots=True)
class Condition:
    """sum < 0 (strict), or sum <= 0."""

    sum: Sum
    strict: bool

    @property
    def reads_inputs_only(self) -> bool:
        """Whether no output occurs in it."""
        return all(kind == "input" for kind, _ in self.sum.terms)


Alternatives = list[tuple[Condition, ...]]
"""At least one of them, and of that one all conditions."""


def alternatives(part: Part, scope: Scope) -> Alternatives:
    """A Boolean expression in disjunctive form. Raises FormulaError, UnsupportedError."""
    if not isinstance(part, Group):
        raise scope.error(part, f"{part.text[:40]!r} is no condition.")
    head, rest = part.head, part.parts[1:]
    if head in ("and", "or"):
        if not rest:
            raise scope.error(part, f"({head}) without conditions.")
        inner = [alternatives(each, scope) for each in rest]
        return conjunction(inner) if head == "and" else limited([a for each in inner for a in each])
    if head not in ("<=", "<", ">=", ">", "=", "==", "!="):
        raise scope.error(
            part, f"{head[:40]!r} is no condition that is read; use and, or, <=, <, >=, >, ==, !=."
        )
    sides = scope.expression(rest)
    if len(sides) != 2:
        raise scope.error(part, f"{head} compares two numbers, it is given {len(sides)}.")
    difference = added([sides[0], sides[1].times(MINUS_ONE)])
    return _comparison(head, difference)


def conjunction(parts: list[Alternatives]) -> Alternatives:
    """All of the parts, in disjunctive form."""
    single = [part[0] for part in parts if len(part) == 1]
    together: Alternatives = [tuple(condition for each in single for condition in each)]
    for part in parts:
        if len(part) == 1:
            continue
        conditions = sum(map(len, together)) * len(part) + sum(map(len, part)) * len(together)
        if len(together) * len(part) > MAX_ALTERNATIVES or conditions > _MAX_CONDITIONS:
            raise _too_many()
        together = limited([before + each for before in together for each in part])
    return together


def limited(found: Alternatives) -> Alternatives:
    """The alternatives themselves. Raises UnsupportedError where they are too many."""
    if len(found) > MAX_ALTERNATIVES or sum(map(len, found)) > _MAX_CONDITIONS:
        raise _too_many()
    return found


def _too_many() -> UnsupportedError:
    return UnsupportedError(
        f"The property has more than {MAX_ALTERNATIVES} alternatives when it is multiplied out; "
        "split it into several files."
    )


def _comparison(head: str, difference: Sum) -> Alternatives:
    strict = head in ("<", ">", "!=")
    if head in ("<=", "<"):
        return [(Condition(difference, strict),)]
    opposite = Condition(difference.times(MINUS_ONE), strict)
    if head in (">=", ">"):
        return [(opposite,)]
    both = Condition(difference, strict), opposite
    return [(each,) for each in both] if head == "!=" else [both]
