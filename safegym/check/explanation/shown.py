"""How an atom is shown: the lines to draw, its limits, and what it says at one sample."""

from dataclasses import dataclass
from functools import lru_cache

from safegym.check.explanation.amounts import amount, exact_amount
from safegym.formula.checks import Coding, number_text
from safegym.formula.expression import text_up_to
from safegym.formula.nodes import Atom, Comparison
from safegym.formula.terms import Apply, Component, Constant, Signal, Term

LONGEST_NAME = 60
"""Characters of a term's name."""
_TURNED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Shown:
    """An atom as a reader sees it.

    lines: the terms drawn, one against constant limits or two against each other. limits: levels
    in `unit`. band: whether the limits are the two ends of a band. inside: whether the value must
    be in it; for one limit, whether it must be below. comparison: of the first line with what
    limits it. label: the name of the value, for an atom about a mode.
    """

    name: str
    unit: str
    lines: tuple[Term, ...]
    comparison: Comparison
    limits: tuple[float, ...] = ()
    centre: float = 0.0
    tolerance: float = 0.0
    band: bool = False
    label: str = ""

    @property
    def inside(self) -> bool:
        """Whether the atom asks for small values."""
        return self.comparison in ("<", "<=")

    @property
    def coding(self) -> Coding:
        """Names and numbers of the values of the line drawn, empty unless it is a mode."""
        line = self.lines[0]
        return line.coding if isinstance(line, Signal) else ()

    def value_text(self, value: float) -> str:
        """Returns a value of the first line: its name where it has one, else with its unit."""
        return _label(self.coding, value) or amount(value, self.unit)

    def words(self, sides: tuple[float, ...], *, holds: bool) -> str:
        """Returns what the atom says where its lines have these values.

        "speed was 0.62 m/s, 0.12 m/s above the limit of 0.5 m/s".
        """
        value = sides[0]
        if self.label:
            return f"{self.name} was {self.value_text(value)}"
        if self.band:
            return self._band_words(value, holds=holds)
        limit = sides[1] if len(sides) > 1 else self.limits[0]
        what = f"{self.name} was {amount(value, self.unit, limit)}"
        if len(sides) > 1:
            against = f"{name_of(self.lines[1])} ({amount(limit, self.unit, value)})"
        else:
            against = f"the limit of {exact_amount(limit, self.unit)}"
        if value == limit:
            ruling = "still meets" if holds else "does not meet"
            return f"{what}, exactly {against}, which {ruling} `{self.comparison}`"
        side = "above" if value > limit else "below"
        return f"{what}, {amount(abs(value - limit), self.unit)} {side} {against}"

    def _band_words(self, value: float, *, holds: bool) -> str:
        beyond = abs(value - self.centre) - self.tolerance
        nearest = self.limits[0] if value < self.centre else self.limits[1]
        what = f"{self.name} was {amount(value, self.unit, nearest)}"
        band = f"\N{PLUS-MINUS SIGN}{exact_amount(self.tolerance, self.unit)}"
        if self.centre:
            band = f"{number_text(self.centre)} {band}"
        if beyond == 0.0:
            ruling = "still meets" if holds else "does not meet"
            return f"{what}, exactly on the edge of {band}, which {ruling} `{self.comparison}`"
        side = "outside" if beyond > 0 else "inside"
        return f"{what}, {amount(abs(beyond), self.unit)} {side} {band}"


@lru_cache(maxsize=4096)
def shown(atom: Atom) -> Shown:
    """Returns how an atom is shown."""
    left, comparison, right = atom.left, atom.comparison, atom.right
    if isinstance(left, Constant):
        left, comparison, right = right, _TURNED[comparison], left
    if not isinstance(right, Constant):
        return Shown(name_of(left), _unit(left) or _unit(right), (left, right), comparison)
    unit = _unit(left) or ("" if right.unit is None else right.unit)
    if isinstance(left, Apply) and left.operation == "abs" and right.value >= 0:
        return _banded(left.arguments[0], comparison, right.value, unit)
    return Shown(name_of(left), unit, (left,), comparison, (right.value,))


def _banded(inner: Term, comparison: Comparison, tolerance: float, unit: str) -> Shown:
    """`abs(x - c) <= tol` as x and a band."""
    centre = 0.0
    if isinstance(inner, Apply) and inner.operation == "-":
        one, other = inner.arguments
        if isinstance(other, Constant) and not isinstance(one, Constant):
            inner, centre = one, other.value
    label = ""
    if isinstance(inner, Signal) and tolerance == 0.5:
        label = _label(inner.coding, centre)
    limits = (centre - tolerance, centre + tolerance)
    name = name_of(inner)
    return Shown(name, unit, (inner,), comparison, limits, centre, tolerance, True, label)


def _label(coding: Coding, value: float) -> str:
    """The name of a value, empty where it has none."""
    return next((name for name, code in coding if code == value), "")


def name_of(term: Term) -> str:
    """Returns the term's text; the norm of a whole vector by the vector's name."""
    if isinstance(term, Apply) and term.operation == "norm":
        first = term.arguments[0]
        if isinstance(first, Component) and term.arguments == tuple(_whole(first.signal)):
            return f"norm({first.signal.name})"
    return text_up_to(term, LONGEST_NAME)


def _whole(signal: Signal) -> tuple[Term, ...]:
    return () if signal.any_length else tuple(signal)


def _unit(term: Term) -> str:
    if isinstance(term, Signal):
        return term.unit
    if isinstance(term, Component):
        return term.signal.unit
    return "" if term.unit_or_none is None else str(term.unit_or_none)
