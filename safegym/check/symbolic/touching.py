"""Atoms whose threshold is a bound that their signal declares: their margins have one side only."""

from collections.abc import Iterator, Mapping

from safegym.formula.checks import number_text
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.nodes import Atom, Comparison
from safegym.formula.reading import atoms_of
from safegym.formula.terms import Apply, Component, Constant, Signal, Term


def touching(claim: Claim, declared: Mapping[str, Signal]) -> Iterator[tuple[Atom, str]]:
    """Yields each atom of the claim whose threshold is its signal's own bound, and what is amiss.

    declared: declarations that replace the claim's. Atoms over one signal, one component, or the
    absolute value of one are looked at.
    """
    statement = claim.statement
    formulas = (claim.formula,) if claim.kind == "trace" else getattr(statement, "formulas", ())
    atoms = dict.fromkeys(atom for formula in formulas for atom in atoms_of(formula))
    for atom in atoms:
        problem = _problem(atom, declared)
        if problem:
            yield atom, problem


def _problem(atom: Atom, declared: Mapping[str, Signal]) -> str:
    read, limit, comparison = atom.left, atom.right, atom.comparison
    if isinstance(read, Constant):
        read, limit, comparison = limit, read, _TURNED[comparison]
    if not isinstance(limit, Constant):
        return ""
    signal, bounds = _bounds(read, declared)
    if bounds is None or limit.value not in bounds:
        return ""
    at_low = limit.value == bounds[0]
    never_negative = at_low == (comparison in (">", ">="))
    side = "negative" if never_negative else "positive"
    return (
        f"`{short(atom)}` asks for the bound {number_text(limit.value)} that {signal} declares, so "
        f"its margin is never {side}: 0 is all that it can say on that side, and neither training "
        "nor a search finds a slope there. State a limit inside the bounds, or declare wider ones."
    )


_TURNED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _bounds(term: Term, declared: Mapping[str, Signal]) -> tuple[str, tuple[float, float] | None]:
    """The signal's name, and the least and greatest value that the term can have; None: unknown."""
    if isinstance(term, Apply) and term.operation == "abs":
        name, bounds = _bounds(term.arguments[0], declared)
        if bounds is None:
            return name, None
        inside = bounds[0] < 0 < bounds[1]
        ends = (abs(bounds[0]), abs(bounds[1]))
        return name, (0.0 if inside else min(ends), max(ends))
    signal = term.signal if isinstance(term, Component) else term
    if not isinstance(signal, Signal) or signal.coding:
        return "", None
    other = declared.get(signal.name, signal)
    return signal.name, other.bounds if other.unit == signal.unit else None
