"""Terms and atoms of a plan, as instructions.

`exp`, `sin` and `cos` are left to numpy, whose last bits a compiled call need not share; a term
over one of them takes a row of its own, filled before each update (`intake`).
"""

from collections.abc import Iterable
from typing import cast

from safegym.check.monitor.plan import Plan
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.records import Key
from safegym.errors import UnsupportedError
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.nodes import Atom
from safegym.formula.terms import Apply, Component, Constant, Signal, Term

OUTSIDE = ("exp", "sin", "cos")
_FOLDS = {
    "+": (w.ADD, {"SIGN": 1, "CHECKED": 1}),
    "-": (w.ADD, {"SIGN": -1, "CHECKED": 1}),
    "*": (w.MULTIPLY, {"CHECKED": 1}),
    "/": (w.DIVIDE, {"CHECKED": 1}),
    "min": (w.MOST, {"SIGN": -1, "OTHER": -1}),
    "max": (w.MOST, {"SIGN": 1, "OTHER": 1}),
}


def atoms_of(plan: Plan) -> tuple[Atom, ...]:
    """Returns the plan's distinct atoms."""
    return tuple(cast(Atom, slot.formula) for slot in plan.slots if slot.kind == "atom")


def outside(plan: Plan) -> tuple[Apply, ...]:
    """Returns the terms that are computed before each update."""
    found = [
        part
        for part in _parts(side for atom in atoms_of(plan) for side in (atom.left, atom.right))
        if isinstance(part, Apply) and part.operation in OUTSIDE
    ]
    return tuple(dict.fromkeys(found))


def _parts(terms: Iterable[Term]) -> Iterable[Term]:
    for term in terms:
        yield from (part for part in postorder(term) if isinstance(part, Term))


class Terms:
    """Rows of terms. given: rows that are filled before each update."""

    def __init__(self, program: Program, given: dict[Term, int]) -> None:
        self._program = program
        self._rows = dict(given)

    def key(self, atom: Atom, scale: float | None) -> Key:
        """Returns the keys of an atom; of its truth alone where scale is None."""
        program = self._program
        left, right = self._row(atom.left), self._row(atom.right)
        if atom.comparison in ("<", "<="):
            left, right = right, left
        difference = program.term(w.ADD, left, right, SIGN=-1)
        scaled = difference
        if scale is not None and scale != 1.0:
            scaled = program.term(w.DIVIDE, difference, program.number(scale))
        zero = -1 if atom.comparison in ("<", ">") else 0
        bare = -1 if scale is None else 0
        return Key(program.term(w.KEY, difference, scaled, ZERO=zero, BARE=bare))

    def _row(self, term: Term) -> int:
        if term not in self._rows:
            for part in postorder(term):  # parts first, so that no depth of a term is too deep
                if isinstance(part, Term) and part not in self._rows:
                    self._rows[part] = self._build(part)
        return self._rows[term]

    def _build(self, term: Term) -> int:
        program = self._program
        if isinstance(term, Constant):
            return program.number(term.value)
        if isinstance(term, Signal | Component):
            return -1  # a vector: only its components are read, and they are given
        if not isinstance(term, Apply):
            raise UnsupportedError(f"The monitor cannot evaluate the term {short(term)}.")
        rows = [self._rows[argument] for argument in term.arguments]
        first = rows[0]
        if term.operation in _FOLDS:
            code, fields = _FOLDS[term.operation]
            for row in rows[1:]:
                first = program.term(code, first, row, **fields)
            return first
        if term.operation == "neg":
            return program.term(w.MULTIPLY, first, program.number(-1.0))
        if term.operation == "abs":
            return program.term(w.MOST, first, first, SIGN=1, OTHER=-1)
        if term.operation == "sqrt":
            return program.term(w.ROOT, first, first, CHECKED=1)
        if term.operation == "norm":
            return self._norm(rows)
        raise UnsupportedError(f"The monitor cannot evaluate the term {short(term)}.")

    def _norm(self, rows: list[int]) -> int:
        program = self._program
        squares = [program.term(w.MULTIPLY, row, row, CHECKED=1) for row in rows]
        total = squares[0]
        for square in squares[1:]:
            total = program.term(w.ADD, total, square, SIGN=1, CHECKED=1)
        return program.term(w.ROOT, total, total, CHECKED=1)
