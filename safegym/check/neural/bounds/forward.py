"""Cheap forward bounds: each entry as a linear function of the box's own coordinates, plus a rest.

An entry of a step is `centre + sum of slopes * e + r` with every e in [-1, 1] and |r| <= rest,
exactly: whatever rounding loses is added to the rest. One product with the weights carries a whole
batch through a layer, so these bounds cost a small part of the backward ones; they spare those
for most entries whose sign they settle.
"""

from typing import NamedTuple

import numpy as np

from safegym.check.neural.bounds.plan import Step
from safegym.check.neural.bounds.relaxations.lines import Lines
from safegym.check.neural.bounds.rounding import TINY, UNIT, Array, up, without_nan

Interval = tuple[Array, Array]


class Form(NamedTuple):
    """terms (B, n+1, size): slopes, then the centre; rest (B, size); reach: sum of |slopes|."""

    terms: Array
    rest: Array
    reach: Array


def form_of_box(low: Array, high: Array, first: int, inputs: int) -> Form:
    """The entries `first` and on of the input, on boxes (B, size) of them."""
    boxes, size = low.shape
    terms = np.zeros((boxes, inputs + 1, size))
    centre = 0.5 * low + 0.5 * high
    radius = up(np.maximum(high - centre, centre - low))
    terms[:, first + np.arange(size), np.arange(size)] = radius
    terms[:, inputs] = centre
    return Form(terms, np.zeros_like(low), radius)


def form_interval(form: Form) -> Interval:
    """Bounds (B, size), outward."""
    centre = form.terms[:, -1]
    radius = (form.reach + form.rest) * (1.0 + 8.0 * UNIT) + np.abs(centre) * (4.0 * UNIT) + TINY
    return without_nan(centre - radius, centre + radius)


def linear_form(step: Step, inputs: list[Form], error: Array) -> Form:
    """Through a linear step. error (B, size): of the step, rounding and deployment."""
    terms: Array | None = None
    rest = error * (1.0 + 4.0 * step.gamma)
    for form, matrix, absolute in zip(inputs, step.node.weights, step.absolute, strict=True):
        flat = form.terms.reshape(-1, form.terms.shape[2]) @ matrix.T
        flat = flat.reshape(len(rest), form.terms.shape[1], step.size)
        terms = flat if terms is None else terms + flat
        size = form.reach + np.abs(form.terms[:, -1])
        rest = (
            rest + (form.rest * (1.0 + 4.0 * step.gamma) + size * (4.0 * step.gamma)) @ absolute.T
        )
    if terms is None:
        terms = np.zeros((len(rest), 1, step.size))
    if step.node.bias is not None:
        terms[:, -1] += step.node.bias
    # the sums' own rounding is in the gammas above, the bias's in `error`.
    return _closed(terms, rest, 2.0 * UNIT)


def sum_form(left: Form, right: Form, sign: float) -> Form:
    """The sum left + sign * right, entry by entry."""
    return _closed(left.terms + sign * right.terms, left.rest + right.rest, 4.0 * UNIT)


def relu_form(form: Form, lines: Lines, low: Array, high: Array) -> Form:
    """0 <= relu(x) - s x <= upper for the chord's slope s in [0, 1] on an interval around 0."""
    bends = (low < 0.0) & (high > 0.0)
    half = np.where(bends, 0.5 * np.maximum(lines.upper, 0.0), 0.0)
    slope = np.where(bends, np.clip(lines.upper_slope, 0.0, 1.0), (low >= 0.0) * 1.0)
    # the clipped slope is another one than the lines' if rounding took it past 1; pay for it.
    past = np.abs(lines.upper_slope - slope) * np.maximum(np.abs(low), np.abs(high)) * bends
    rest = half + past * (1.0 + 4.0 * UNIT)
    closed = np.isfinite(low) & np.isfinite(high)  # else the lines are flat ones of the result
    return _scaled(form, slope, half, rest if closed.all() else np.where(closed, rest, np.inf))


def band_form(form: Form, lines: Lines, low: Array, high: Array) -> Form:
    """Any operation between its two lines: a band of their mean slope."""
    slope = 0.5 * lines.lower_slope + 0.5 * lines.upper_slope
    above = np.maximum(*(_over(lines.upper_slope, lines.upper, slope, x, 1.0) for x in (low, high)))
    below = np.minimum(
        *(_over(lines.lower_slope, lines.lower, slope, x, -1.0) for x in (low, high))
    )
    middle = 0.5 * above + 0.5 * below
    half = up(np.maximum(above - middle, middle - below))
    return _scaled(form, slope, middle, half)


def product_form(left: Form, right: Form, first: Interval, second: Interval) -> Form:
    """By x y = m y + k x - k m + (x - k)(y - m), k and m the middles of their intervals."""
    k, m = (0.5 * low + 0.5 * high for low, high in (first, second))
    reaches = [up(np.maximum(high - at, at - low)) for (low, high), at in ((first, k), (second, m))]
    bump = up(reaches[0] * reaches[1])
    moved = k * m
    rest = bump + np.abs(moved) * (4.0 * UNIT)
    one = _scaled(left, m, -moved, rest)
    return sum_form(one, _scaled(right, k, np.zeros_like(k), np.zeros_like(k)), 1.0)


def _over(own: Array, intercept: Array, slope: Array, x: Array, sign: float) -> Array:
    """(own - slope) * x + intercept, moved outward (up for sign 1, down for -1)."""
    tilt = own - slope
    moved = tilt * x
    slack = (np.abs(own) + np.abs(slope)) * np.abs(x) + np.abs(moved) + np.abs(intercept)
    return moved + intercept + sign * (slack * (4.0 * UNIT) + TINY)


def _scaled(form: Form, slope: Array, shift: Array, rest: Array) -> Form:
    """The form slope * form + shift, give or take `rest`."""
    terms = form.terms * slope[:, None, :]
    size = np.abs(slope)
    reach = size * form.reach * (1.0 + 8.0 * UNIT) + TINY * form.terms.shape[1]
    # each term is rounded by a unit of its size, the centre once more by the shift.
    lost = (reach + np.abs(terms[:, -1]) + np.abs(shift)) * (8.0 * UNIT)
    terms[:, -1] += shift
    rest = size * form.rest * (1.0 + 8.0 * UNIT) + rest + lost + 1e-300 * (1.0 + reach)
    return Form(terms, rest * (1.0 + 8.0 * UNIT), reach)


def _closed(terms: Array, rest: Array, relative: float) -> Form:
    """A form whose terms were each rounded by at most `relative` of their size."""
    reach = np.abs(terms[:, :-1]).sum(axis=1)
    reach *= 1.0 + (terms.shape[1] + 4) * UNIT
    size = reach + np.abs(terms[:, -1])
    return Form(terms, rest * (1.0 + 8.0 * UNIT) + (size * relative + 1e-300 * (1.0 + size)), reach)
