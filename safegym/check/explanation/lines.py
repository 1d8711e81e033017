"""The lines of a panel: a term's values at all samples, and its limits."""

import numpy as np
from numpy.typing import NDArray

from safegym.check.explanation.amounts import amount, exact_amount
from safegym.check.explanation.findings import Findings
from safegym.check.explanation.scene import Limit, Line
from safegym.check.explanation.shown import Shown, name_of
from safegym.check.monitor.readings import Readings
from safegym.errors import TraceError
from safegym.formula.terms import Signal, Term


def line_of(found: Findings, term: Term) -> Line:
    """Returns a term's line; flags and modes are drawn as steps."""
    values = _values(found, term)
    stepped = isinstance(term, Signal) and (term.hold == "any" or bool(term.coding))
    return Line(name_of(term), values, stepped or _is_flag(values))


def limits_of(view: Shown) -> tuple[Limit, ...]:
    """Returns an atom's limits; none of two terms against each other."""
    if len(view.lines) > 1:
        return ()
    if view.label:
        return (Limit(view.centre, f"{'' if view.inside else 'not '}{view.label}"),)
    if view.band:
        return tuple(Limit(level, amount(level, view.unit)) for level in view.limits)
    level = view.limits[0]
    return (Limit(level, f"{view.comparison} {exact_amount(level, view.unit)}"),)


def _values(found: Findings, term: Term) -> NDArray[np.float64]:
    """The term at all samples, or at those that were read where it has no value beyond them."""
    try:
        values = Readings(found.run.arrays, found.trace.unseen).value(term)
    except TraceError:
        values = found.run.readings.value(term)
    if not values.ndim:
        values = np.full(found.run.frame.last + 1, float(values))
    return np.asarray(values, dtype=np.float64)


def _is_flag(values: NDArray[np.float64]) -> bool:
    return bool(((values == 0.0) | (values == 1.0)).all())
