"""Which samples of a panel are shaded: where its atom fails and the deciding window minds."""

import numpy as np

from safegym.check.explanation.findings import Findings, Level, levels_of, stretches
from safegym.check.explanation.scene import Interval
from safegym.check.monitor.explain import Path
from safegym.check.monitor.robustness import Run
from safegym.check.monitor.strip import take
from safegym.formula.nodes import Formula


def failures(
    found: Findings, run: Run, path: Path, above: tuple[Level, ...]
) -> tuple[Interval, ...]:
    """Returns where the atom at the end of a path surely fails, inside the innermost window.

    Only samples at which the window's whole operand fails too: in `always(x or y)` a sample with y
    is no failure of x. above: operators over the path's start, for a path that begins below them.
    """
    first, last, operand = _window(found, run, path, above)
    first, last = max(first, 0), min(last, found.run.frame.last)
    if last < first:
        return ()
    slots = found.run.plan.slots
    atom = run.plan.slots[path.slots[-1]].formula
    failed = np.ones(last - first + 1, dtype=np.bool_)
    for index, slot in enumerate(slots):
        if slot.formula in (atom, operand):
            failed &= ~take(found.run.truth.upper[index], first, last)
    return tuple(stretches(failed, first))


def _window(
    found: Findings, run: Run, path: Path, above: tuple[Level, ...]
) -> tuple[int, int, Formula]:
    """First and last sample of the innermost window, and what it asks for."""
    inside = levels_of(run, path)
    if inside or above:
        level = (inside or above)[-1]
        return (level.at if level.is_left else level.first), level.last, level.part
    if found.run.plan.share is not None:
        return 0, found.run.frame.end, found.run.plan.slots[-1].formula
    return path.samples[0], path.samples[0], run.plan.slots[path.slots[0]].formula
