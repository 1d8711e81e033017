"""What is known of every step on a batch of boxes while its bounds are computed."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.bounds.elementwise import lines_of, sides_of
from safegym.check.neural.bounds.entries import Interval, unary_interval
from safegym.check.neural.bounds.forward import (
    Form,
    band_form,
    form_interval,
    form_of_box,
    linear_form,
    product_form,
    relu_form,
    sum_form,
)
from safegym.check.neural.bounds.interval import (
    linear_interval,
    pair_interval,
)
from safegym.check.neural.bounds.plan import Plan
from safegym.check.neural.bounds.relaxations.bilinear import Planes, product
from safegym.check.neural.bounds.relaxations.lines import Lines
from safegym.check.neural.bounds.rounding import TINY, UNIT, Array, gamma, magnitude


@dataclass(slots=True, eq=False)
class State:
    """Bounds (B, size) of the steps done so far, their errors, lines and planes.

    forms: forward linear bounds of each step so far, where `symbolic`. prefer: lower slopes of
    relus, where chosen. second: which of the two planes of products is taken.
    """

    plan: Plan
    deployed: bool
    low: Array
    high: Array
    bounds: list[Interval] = field(default_factory=list[Interval])
    errors: list[Array] = field(default_factory=list[Array])
    lines: dict[int, Lines] = field(default_factory=dict[int, Lines])
    sides: dict[int, Array] = field(default_factory=dict[int, Array])
    planes: dict[tuple[int, bool], Planes] = field(default_factory=dict[tuple[int, bool], Planes])
    second: bool = False
    prefer: dict[int, Array] = field(default_factory=dict[int, Array])
    forms: list[Form] = field(default_factory=list[Form])
    symbolic: bool = False

    def advance(self) -> int:
        """Bounds of the next step from its inputs, without going back; returns its index."""
        at = len(self.bounds)
        step = self.plan.steps[at]
        inputs = [self.bounds[each] for each in step.inputs]
        none = np.zeros((len(self.low), step.size))
        match step.role:
            case "input":
                entries = slice(step.node.first, step.node.first + step.size)
                found = self.low[:, entries], self.high[:, entries], none
            case "linear":
                found = linear_interval(step, inputs, self.deployed)
            case "unary":
                found = unary_interval(step, inputs[0], self.deployed)
            case _:
                found = *pair_interval(step, inputs[0], inputs[1]), none
        self.bounds.append((found[0], found[1]))
        self.errors.append(found[2])
        if self.symbolic:
            with np.errstate(invalid="ignore", over="ignore"):
                self.forms.append(self._form(at))
                if step.role != "input":
                    self.tighten(at, *form_interval(self.forms[at]))
        return at

    def _form(self, at: int) -> Form:
        step = self.plan.steps[at]
        forms = [self.forms[each] for each in step.inputs]
        bounds = [self.bounds[each] for each in step.inputs]
        match step.role:
            case "input":
                return form_of_box(*self.bounds[at], step.node.first, self.low.shape[1])
            case "linear":
                return linear_form(step, forms, self.errors[at])
            case "unary" if step.node.kind == "relu":
                return relu_form(forms[0], self.lines_at(at), *bounds[0])
            case "unary":
                return band_form(forms[0], self.lines_at(at), *bounds[0])
            case "product":
                return product_form(forms[0], forms[1], bounds[0], bounds[1])
            case "difference":
                return sum_form(forms[0], forms[1], -1.0)
            case "choice":
                greater = step.node.kind == "max"
                return sum_form(forms[1 if greater else 0], forms[2], 1.0 if greater else -1.0)

    def tighten(self, at: int, low: Array, high: Array) -> None:
        """Intersect a step's bounds with others that hold too."""
        old = self.bounds[at]
        self.bounds[at] = np.maximum(old[0], low), np.minimum(old[1], high)

    def lines_at(self, at: int) -> Lines:
        """Lines of a unary step, from the bounds as they are when first asked for."""
        found = self.lines.get(at)
        if found is None:
            step = self.plan.steps[at]
            source = step.inputs[0]
            left = self.errors[source] if self.plan.steps[source].folded else None
            found = lines_of(
                step,
                self.bounds[source],
                self.bounds[at],
                self.errors[at],
                left,
                self.prefer.get(at),
            )
            self.lines[at] = found
        return found

    def sides_at(self, at: int) -> Array:
        """The lines of a unary step as `sides_of` has them, (B, 4, size)."""
        found = self.sides.get(at)
        if found is None:
            source = self.plan.steps[at].inputs[0]
            found = self.sides[at] = sides_of(self.lines_at(at), self.bounds[source])
        return found

    def planes_at(self, at: int) -> Planes:
        """Planes of a product step; their intercepts pay for rounding coefficient * slope."""
        found = self.planes.get((at, self.second))
        if found is None:
            step = self.plan.steps[at]
            left, right = (self.bounds[each] for each in step.inputs)
            with np.errstate(invalid="ignore", over="ignore"):
                found = product(*left, *right, self.second)
                sizes = magnitude(*left), magnitude(*right)
                share = gamma(step.size + 8) * 3.0
                costs = [
                    (np.abs(a) * sizes[0] + np.abs(b) * sizes[1]) * (4.0 * UNIT)
                    + np.abs(c) * share
                    + TINY
                    for a, b, c in (found[:3], found[3:])
                ]
                costs = [each * (1.0 + share) for each in costs]
                found = found._replace(lower=found.lower - costs[0], upper=found.upper + costs[1])
            self.planes[at, self.second] = found
        return found

    def choose(self, prefer: dict[int, Array]) -> None:
        """Take other lower slopes (B, size), 0 to 1, for the relus named."""
        self.prefer.update(prefer)
        for at in prefer:
            self.lines.pop(at, None)
            self.sides.pop(at, None)

    def part(self, boxes: NDArray[np.intp]) -> "State":
        """The same of some of the boxes, without forward bounds."""
        taken = State(self.plan, self.deployed, self.low[boxes], self.high[boxes])
        taken.bounds = [(low[boxes], high[boxes]) for low, high in self.bounds]
        taken.errors = [error[boxes] for error in self.errors]
        return taken

    def underflow(self) -> Array:
        """Far above the sum of all that underflow may lose: 2**-1022 an operation, times a size."""
        total = np.full(len(self.low), 10.0)
        for low, high in self.bounds:
            total = total + magnitude(low, high).sum(axis=1)
        return 1e-300 * total
