"""The witness at the end of a path: its time, raw values and margin, and the chain down to it."""

from safegym.check.monitor.explain import Path
from safegym.check.monitor.robustness import Run
from safegym.check.monitor.strip import take
from safegym.check.monitor.words import word_of
from safegym.formula.nodes import Atom
from safegym.formula.terms import Term
from safegym.trace.clock import Clock
from safegym.verdict import Witness


def witness_of(run: Run, path: Path, clock: Clock) -> Witness:
    """Returns the witness of a path.

    A duty that lies past the last sample is told at the last one; its margin is infinite where
    the end itself failed it, and where no atom decides. At a sample at which the atom is not known
    (an undecided share in a gap) it has no values, and its margin is infinite.
    """
    step = min(path.sample, run.frame.last)
    slot = run.plan.slots[path.slots[-1]]
    texts = tuple(word_of(run.plan, index) for index in path.slots)
    raw = float("inf") if path.ranked > 0 else float("-inf")
    values: dict[str, float | tuple[float, ...]] = {}
    if isinstance(slot.formula, Atom) and _known(run, path.slots[-1], step):
        if not ended_by_failure(run, path):
            raw = _raw(run, slot.formula, step)
        values = _values(run, slot.formula, step)
    return Witness(
        time=clock.time(step),
        step=step,
        subformula=texts[-1],
        values=values,
        margin=raw,
        chain=texts,
    )


def ended_by_failure(run: Run, path: Path) -> bool:
    """Whether what decides is the end of a failed episode, not a sample of it."""
    return path.sample > run.frame.last and run.frame.beyond == "false"


def _known(run: Run, index: int, step: int) -> bool:
    """Whether all that the slot reads was seen at a sample: no gap lies there."""
    sides = run.truth.lower[index], run.truth.upper[index]
    must, may = (bool(take(side, step, step)[0]) for side in sides)
    return must == may


def _raw(run: Run, atom: Atom, step: int) -> float:
    left, right = (side_at(run, side, step) for side in (atom.left, atom.right))
    return right - left if atom.comparison in ("<", "<=") else left - right


def side_at(run: Run, term: Term, step: int) -> float:
    """Returns the value of one side of an atom at a sample, in the side's unit."""
    values = run.readings.value(term)
    return float(values[step] if values.ndim else values)


def _values(run: Run, atom: Atom, step: int) -> dict[str, float | tuple[float, ...]]:
    found: dict[str, float | tuple[float, ...]] = {}
    for signal in run.plan.reads[atom]:
        value = run.arrays[signal.name][step]
        found[signal.name] = tuple(map(float, value)) if signal.shape else float(value)
    return found
