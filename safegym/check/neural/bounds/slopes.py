"""Better lower slopes of relus for one output of each box, by a few steps uphill.

A row's least value is where its coefficients meet the box's corner. Taken through the lines that
the row used, that corner gives each relu an input u; the row's value grows with the lower slope by
its coefficient there times u. Any slope in [0, 1] is sound, so the steps need no care of rounding.
Source: Xu et al. 2021, "Fast and Complete" (alpha-CROWN): slopes as variables.
"""

import numpy as np

from safegym.check.neural.bounds.backward import Indices, bound_rows
from safegym.check.neural.bounds.plan import Step
from safegym.check.neural.bounds.rounding import Array
from safegym.check.neural.bounds.state import State

_STRIDES = (0.5, 0.3, 0.2, 0.1)


def better_lower(state: State, target: int, entry: Indices, steps: int) -> Array:
    """For each box of the state a lower bound (B,) of its entry, at least as good as before.

    Replaces the state's lower slopes.
    """
    every, plus = np.arange(len(entry)), np.ones(len(entry))
    best = np.full(len(entry), -np.inf)
    for count in range(steps + 1):
        seen: dict[int, Array] = {}
        rows = bound_rows(state, target, every, entry, plus, seen)
        best = np.maximum(best, rows.lower)
        if count < steps:
            stride = _STRIDES[min(count, len(_STRIDES) - 1)]
            _climb(state, target, seen, rows.coefficients, stride)
    return best


def _climb(
    state: State, target: int, seen: dict[int, Array], coefficients: Array, stride: float
) -> None:
    """One step of every lower slope that bends, in the direction in which the rows grow."""
    corner = np.where(coefficients > 0.0, state.low, state.high)
    found: list[Array] = []
    prefer: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        for at, step in enumerate(state.plan.steps[: target + 1]):
            inputs = [found[each] for each in step.inputs]
            found.append(_through(state, at, step, inputs, corner, seen.get(at)))
            if step.node.kind == "relu" and at in seen:
                low, high = state.bounds[step.inputs[0]]
                slope = seen[at] * inputs[0]
                uphill = np.where((low < 0.0) & (high > 0.0) & (seen[at] > 0.0), slope, 0.0)
                old = state.lines_at(at).lower_slope
                prefer[at] = np.clip(old + stride * np.sign(np.nan_to_num(uphill)), 0.0, 1.0)
    state.choose(prefer)


def _through(
    state: State, at: int, step: Step, inputs: list[Array], corner: Array, rows: Array | None
) -> Array:
    """A step's value at the corner, by the lines and planes that the rows used."""
    match step.role:
        case "input":
            return corner[:, step.node.first : step.node.first + step.size]
        case "linear":
            total = sum(v @ w.T for v, w in zip(inputs, step.node.weights, strict=True))
            return np.asarray(total if step.node.bias is None else total + step.node.bias)
        case "unary":
            lines = state.lines_at(at)
            plus = True if rows is None else rows > 0.0
            below, above = lines.lower_slope * inputs[0], lines.upper_slope * inputs[0]
            return np.where(plus, below + lines.lower, above + lines.upper)
        case "product":
            return inputs[0] * inputs[1]
        case "difference":
            return inputs[0] - inputs[1]
        case "choice":
            greater = step.node.kind == "max"
            return inputs[1] + inputs[2] if greater else inputs[0] - inputs[2]
