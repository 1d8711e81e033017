"""A claim in plain words, for a reader who does not know the language."""

from safegym.formula import nodes
from safegym.formula.claim import Claim
from safegym.formula.formulas import Formula
from safegym.formula.nodes import Atom
from safegym.formula.statements import ProbBound
from safegym.formula.terms import signals_of
from safegym.formula.windows import Window
from safegym.rational import rational_text


def claim_words(claim: Claim) -> str:
    """Returns the claim in words, on one line: "drone.tilt: keep this: at every moment, ...".

    What has no short form in words is given as it is written.
    """
    statement = claim.statement
    if isinstance(statement, Formula):
        said = f"in every episode: {formula_words(statement)}"
    elif isinstance(statement, ProbBound):
        share = f"{100 * statement.threshold:.6g} %"
        if statement.below:
            said = f"in fewer than {share} of the episodes: {formula_words(statement.formulas[0])}"
        else:
            said = f"in at least {share} of the episodes: {formula_words(statement.formulas[0])}"
    else:
        said = f"`{statement}`"
    hazard = f" (hazard: {claim.hazard})" if claim.hazard else ""
    return f"{claim.id}: {said}{hazard}"


def formula_words(formula: Formula) -> str:
    """Returns a formula in words; operators without a short form in words as they are written."""
    if isinstance(formula, Atom):
        return _atom(formula)
    if isinstance(formula, nodes.Not):
        return f"not ({formula_words(formula.argument)})"
    if isinstance(formula, nodes.And):
        return " and ".join(map(_part, formula.arguments))
    if isinstance(formula, nodes.Or):
        return " or ".join(map(_part, formula.arguments))
    if isinstance(formula, nodes.Implies):
        return f"whenever {_part(formula.left)}, then {_part(formula.right)}"
    if isinstance(formula, nodes.Always):
        return f"at every moment{_window(formula.window)}, {_part(formula.argument)}"
    if isinstance(formula, nodes.Eventually):
        return f"at some moment{_window(formula.window)}, {_part(formula.argument)}"
    if isinstance(formula, nodes.Until):
        left, right = _part(formula.left), _part(formula.right)
        return f"{left} until, at some moment{_window(formula.window)}, {right}"
    return f"`{formula}`"


def _part(formula: Formula) -> str:
    words = formula_words(formula)
    return words if isinstance(formula, Atom | nodes.Not) else f"({words})"


def _atom(formula: Atom) -> str:
    units = {signal.unit for signal in signals_of(formula)}
    unit = units.pop() if len(units) == 1 else "1"
    return f"{formula}" if unit == "1" else f"{formula} {unit}"


def _window(window: Window) -> str:
    low, high = rational_text(window.lo), window.hi
    if high is None:
        return "" if not window.lo else f" from {low} s on"
    if not window.lo:
        return f" of the next {rational_text(high)} s"
    return f" from {low} s to {rational_text(high)} s later"
