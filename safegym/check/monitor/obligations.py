"""Implications on the way to a violation: what was asked for, and was not met.

The witness of a violated `always(a.implies(b))` is the part with the deciding margin, which can be
the condition: for a 0/1 flag `a` the value of `not a` is nearer to its limit than that of `b`. So
the verdict also says in words which implication failed.
"""

from collections.abc import Iterator
from functools import lru_cache

from safegym.check.monitor.explain import Path
from safegym.check.monitor.robustness import Run
from safegym.formula import nodes
from safegym.formula.claim import Rounding
from safegym.formula.expression import text_up_to
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.rewrite import implications
from safegym.rational import Exact
from safegym.trace.model import Trace

LONGEST = 300
"""Characters of each side's text."""
_FUTURE = (
    *(nodes.Next, nodes.WeakNext, nodes.Always, nodes.Eventually, nodes.Until, nodes.Release),
)


def unmet(
    run: Run, path: Path, formula: Formula, rounding: Rounding, trace: Trace
) -> Iterator[str]:
    """Yields a line for each implication of `formula` that the path of a violation passes."""
    written = _implications(formula, run.plan.dt, rounding)
    for index, sample in zip(path.slots, path.samples, strict=True):
        found = written.get(run.plan.slots[index].formula)
        if found is None or sample > run.frame.last:
            continue
        condition, duty = text_up_to(found.left, LONGEST), text_up_to(found.right, LONGEST)
        place = f"At sample {sample} ({trace.clock.time(sample):g} s)"
        if any(isinstance(part, _FUTURE) for part in postorder(found.left)):
            yield f"{place} `{condition}` implies `{duty}`, which was not met."
        else:
            yield f"{place} `{condition}` held and `{duty}` did not."


@lru_cache(maxsize=1024)
def _implications(formula: Formula, dt: Exact, rounding: Rounding) -> dict[Formula, nodes.Implies]:
    return implications(formula, dt, rounding=rounding)
