"""Formulas and terms as a reader is told them: units beside numbers, patterns by their names."""

from safegym.check.explanation.amounts import exact_amount, with_unit
from safegym.check.explanation.shown import shown
from safegym.formula import nodes
from safegym.formula.expression import text_up_to
from safegym.formula.interning import postorder
from safegym.formula.nodes import Atom, Formula
from safegym.rational import rational_text

LONGEST = 160
"""Characters of a formula's text; a longer one is cut and ends in "..."."""


def quoted(formula: Formula) -> str:
    """Returns the formula's text in backquotes, an atom's limit with its unit."""
    return f"`{told(formula)}`"


def told(formula: Formula) -> str:
    """Returns the formula's text, an atom's limit with its unit."""
    if isinstance(formula, Atom):
        view = shown(formula)
        if view.label:
            return f"{view.name} is {'' if view.inside else 'not '}{view.label}"
        if view.band:
            return f"{text_up_to(formula, LONGEST)}{with_unit('', view.unit)}"
        if len(view.lines) == 1:
            return f"{view.name} {view.comparison} {exact_amount(view.limits[0], view.unit)}"
    return named(formula, text_up_to(formula, LONGEST))


def named(formula: Formula, text: str) -> str:
    """Returns a formula's text with `mode is FAULT` for `abs(mode - 2) <= 0.5`."""
    if "abs(" not in text:
        return text
    for part in postorder(formula):
        if isinstance(part, Atom) and shown(part).label:
            text = text.replace(str(part), told(part))
    return text


def condition_words(condition: Formula, *, certain: bool) -> str:
    """Returns how a condition came about: "`fault >= 1` became true", "`x > 0` held"."""
    if not isinstance(condition, nodes.And):
        return f"{quoted(condition)} {'held' if certain else 'is to hold'}"
    rest, last = nodes.all_of(condition.arguments[:-1]), condition.arguments[-1]
    if last is nodes.Not(nodes.Previous(rest)):
        return f"{quoted(rest)} became true"
    if isinstance(last, nodes.Previous) and rest is nodes.Not(last.argument):
        return f"{quoted(last.argument)} ended"
    return f"{quoted(condition)} {'held' if certain else 'is to hold'}"


def duty_words(duty: Formula, start: str, deadline: str | None) -> str:
    """Returns what a duty asked for: "`x <= 1 m` was due within 0.3 s (by 3.5 s)".

    start: the moment it fell due; deadline: the moment its window ends, None for the episode's end.
    """
    by = "before the episode's end" if deadline is None else f"by {deadline}"
    if isinstance(duty, nodes.Eventually):
        return f"{_held(duty.argument)} was due{_window(duty, by)}"
    if isinstance(duty, nodes.Always):
        if duty.window.hi is None:
            return f"{quoted(duty.argument)} had to hold from then on"
        if duty.window.lo:
            return f"{quoted(duty.argument)} had to hold{_window(duty, f'until {deadline}')}"
        return (
            f"{quoted(duty.argument)} had to hold for {rational_text(duty.window.hi)} s "
            f"(until {deadline})"
        )
    if isinstance(duty, nodes.Until):
        first, then = quoted(duty.left), quoted(duty.right)
        return f"{then} was due{_window(duty, by)}, with {first} holding until then"
    at_once = deadline is not None and deadline == start
    return f"{quoted(duty)} {'had to hold then' if at_once else f'was due {by}'}"


def _held(formula: Formula) -> str:
    """`always[0,1](x)` as something that comes and stays."""
    if not isinstance(formula, nodes.Always) or formula.window.hi is None or formula.window.lo:
        return quoted(formula)
    return f"{quoted(formula.argument)} for {rational_text(formula.window.hi)} s"


def _window(node: nodes.WindowedUnary | nodes.WindowedBinary, by: str) -> str:
    low, high = rational_text(node.window.lo), node.window.hi
    if high is None:
        return f" {by}" if not node.window.lo else f" {low} s later or after that"
    if not node.window.lo:
        return f" within {rational_text(high)} s ({by})"
    return f" {low} s to {rational_text(high)} s later ({by})"
