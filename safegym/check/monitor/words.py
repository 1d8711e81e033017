"""The user's words for a plan's slots: texts of the normal form, with windows in seconds again."""

from functools import lru_cache

from safegym.check.monitor.plan import Plan, Slot
from safegym.formula import nodes
from safegym.formula.expression import text_up_to
from safegym.formula.nodes import Formula
from safegym.formula.terms import Window

LONGEST = 1000
"""Characters of a text; a longer one is cut and ends in "..."."""


@lru_cache(maxsize=4096)
def word_of(plan: Plan, index: int) -> str:
    """Returns the canonical text of a slot, windows in seconds."""
    return text_up_to(formula_of(plan, index), LONGEST)


def formula_of(plan: Plan, index: int) -> Formula:
    """Returns a slot's formula in negation normal form, windows in seconds."""
    return _formulas(plan)[index]


@lru_cache(maxsize=1024)
def _formulas(plan: Plan) -> tuple[Formula, ...]:
    """Each slot's formula, windows in seconds."""
    formulas: list[Formula] = []
    for slot in plan.slots:
        formulas.append(in_seconds(slot, [formulas[i] for i in slot.operands], plan))
    return tuple(formulas)


def in_seconds(slot: Slot, operands: list[Formula], plan: Plan) -> Formula:
    """Returns a slot's formula over these operands, its window in seconds."""
    formula = slot.formula
    if isinstance(formula, nodes.And):
        return nodes.all_of(operands)
    if isinstance(formula, nodes.Or):
        return nodes.any_of(operands)
    if isinstance(formula, nodes.Unary):
        return type(formula)(operands[0])
    hi = None if slot.hi is None else slot.hi * plan.dt
    if isinstance(formula, nodes.WindowedUnary):
        return type(formula)(operands[0], Window(slot.lo * plan.dt, hi))
    if isinstance(formula, nodes.WindowedBinary):
        return type(formula)(operands[0], operands[1], Window(slot.lo * plan.dt, hi))
    return formula
