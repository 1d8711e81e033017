"""Interval bounds of one step from those of its inputs, outward (interval bound propagation)."""

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.bounds.deployed import linear_error
from safegym.check.neural.bounds.entries import Interval
from safegym.check.neural.bounds.plan import Step
from safegym.check.neural.bounds.relaxations.bilinear import product_interval
from safegym.check.neural.bounds.rounding import TINY, UNIT, Array, down, magnitude, up, without_nan

Flags = NDArray[np.bool_]


def linear_interval(
    step: Step, inputs: list[Interval], deployed: bool
) -> tuple[Array, Array, Array]:
    """Bounds (B, size) of a linear step, and an error (B, size): rounding here and as deployed.

    The error is what one unit of coefficient on an entry costs when the step is replaced by its
    inputs: the product of the coefficients with the weights is rounded by at most gamma of
    |weights| |inputs| + |bias|, and the deployed result differs by `linear_error`.
    """
    open_ended = not all(np.isfinite(end).all() for each in inputs for end in each)
    closed = [_closed(*each) for each in inputs] if open_ended else inputs
    with np.errstate(invalid="ignore", over="ignore"):
        centre, radius, weighted = _sums(step, closed)
        error = weighted * (step.gamma * 2.0) + TINY * (8.0 * step.gamma / UNIT)
        if deployed:
            sizes = sum(magnitude(*each).sum(axis=1, keepdims=True) for each in closed)
            error = error + linear_error(step.node, weighted + error, np.asarray(sizes))
        low, high = without_nan(centre - radius - error, centre + radius + error)
        error[np.isnan(error)] = np.inf
    if open_ended:
        below, above = _open_sides(step, inputs)
        low, high = np.where(below, -np.inf, low), np.where(above, np.inf, high)
        error = np.where(below | above, np.inf, error)
        if deployed and step.node.precision != "exact":  # 0 * inf is no number
            lost = _open_boxes(inputs)
            low, high = np.where(lost, -np.inf, low), np.where(lost, np.inf, high)
            error = np.where(lost, np.inf, error)
    if step.under_root:
        low = np.where(_never_negative(step, inputs), np.maximum(low, 0.0), low)
    return low, high, error


def _sums(step: Step, inputs: list[Interval]) -> tuple[Array, Array, Array]:
    """Centre, radius and |weights| |inputs|, each within gamma of the exact sum."""
    bias = step.node.bias if step.node.bias is not None else np.zeros(step.size)
    shape = (len(inputs[0][0]), step.size)
    centre, radius = np.broadcast_to(bias, shape), np.zeros(shape)
    weighted = np.broadcast_to(np.abs(bias), shape)
    for (low, high), matrix, absolute in zip(inputs, step.node.weights, step.absolute, strict=True):
        middle = 0.5 * low + 0.5 * high
        reach = up(np.maximum(high - middle, middle - low))
        centre = centre + middle @ matrix.T
        spread = reach @ absolute.T
        radius = radius + spread
        weighted = weighted + (np.abs(middle) @ absolute.T + spread)
    return centre, radius, weighted


def _closed(low: Array, high: Array) -> Interval:
    """An interval whose infinite ends are replaced by its other end, or by 0."""
    ends = np.isfinite(low), np.isfinite(high)
    return (
        np.where(ends[0], low, np.where(ends[1], high, 0.0)),
        np.where(ends[1], high, np.where(ends[0], low, 0.0)),
    )


def _open_sides(step: Step, inputs: list[Interval]) -> tuple[Flags, Flags]:
    """Where an infinite end of an input reaches the sum's lower end, and its upper one."""
    shape = (len(inputs[0][0]), step.size)
    below, above = np.zeros(shape), np.zeros(shape)
    for (low, high), matrix in zip(inputs, step.node.weights, strict=True):
        open_low, open_high = (~np.isfinite(end) * 1.0 for end in (low, high))
        plus, minus = (matrix > 0.0).T * 1.0, (matrix < 0.0).T * 1.0
        below = below + open_low @ plus + open_high @ minus
        above = above + open_high @ plus + open_low @ minus
    return below > 0.0, above > 0.0


def _open_boxes(inputs: list[Interval]) -> Flags:
    """Boxes (B, 1) in which some input has no bound on some side."""
    closed = [np.isfinite(low) & np.isfinite(high) for low, high in inputs]
    return np.asarray(~np.concatenate(closed, axis=1).all(axis=1, keepdims=True))


def _never_negative(step: Step, inputs: list[Interval]) -> Array:
    """Where no term of the sum can be negative: a sum of squares is no less than 0, exactly."""
    bias = np.zeros(step.size) if step.node.bias is None else step.node.bias
    negative = np.broadcast_to((bias < 0.0).astype(np.float64), (len(inputs[0][0]), step.size))
    for (low, high), matrix in zip(inputs, step.node.weights, strict=True):
        plus, minus = (matrix > 0.0).T.astype(np.float64), (matrix < 0.0).T.astype(np.float64)
        below, above = (~(low >= 0.0)).astype(np.float64), (~(high <= 0.0)).astype(np.float64)
        negative = negative + below @ plus + above @ minus
    return np.asarray(negative == 0.0)


def pair_interval(step: Step, left: Interval, right: Interval) -> Interval:
    """Bounds of a product, a difference, or a choice between two inputs."""
    with np.errstate(invalid="ignore", over="ignore"):
        if step.role == "difference":
            return without_nan(down(left[0] - right[1]), up(left[1] - right[0]))
        if step.role == "product":
            return without_nan(*product_interval(*left, *right))
    choose = np.maximum if step.node.kind == "max" else np.minimum
    low, high = choose(left[0], right[0]), choose(left[1], right[1])
    for ends in (left, right):  # what may be no number is chosen, whatever the other one
        nothing = (ends[0] == -np.inf) & (ends[1] == np.inf)
        low, high = np.where(nothing, -np.inf, low), np.where(nothing, np.inf, high)
    return low, high
