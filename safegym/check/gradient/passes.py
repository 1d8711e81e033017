"""Running a plan over tensors: the exact pass, and the smooth one held to its side of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from safegym.check.gradient.bounds import bound_of
from safegym.check.gradient.evaluate import Hidden, Leaves, evaluate, settled
from safegym.check.gradient.exact import Exact, bank_of, leaf
from safegym.check.gradient.readings import Readings
from safegym.check.gradient.smooth import Smooth
from safegym.check.gradient.strip import Strip, Values, take
from safegym.check.gradient.terms import Terms
from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.plan import Plan
from safegym.formula.nodes import Atom
from safegym.trace.gaps import union


def margins_of(
    plan: Plan, frame: Frame, spans: tuple[Span, ...], readings: Readings
) -> dict[Atom, Tensor]:
    """Returns each atom's margins, (..., n), over the samples at which it is read."""
    ends = {
        slot.formula: min(span.last, frame.last)
        for slot, span in zip(plan.slots, spans, strict=True)
        if isinstance(slot.formula, Atom)
    }
    stop = max(ends.values(), default=0) + 1
    terms = Terms(
        {
            signal.name: _up_to(readings.tensors[signal.name], stop, vector=bool(signal.shape))
            for signal in plan.signals
        },
        readings.like,
        readings.gaps,
    )
    return {
        atom: terms.margin(atom, plan.scales[atom])[..., : last + 1] for atom, last in ends.items()
    }


def hidden_of(plan: Plan, readings: Readings) -> Hidden:
    """Returns the samples at which some signal of each atom is not known."""
    return {
        atom: union(readings.gaps.get(signal.name, ()) for signal in signals)
        for atom, signals in plan.reads.items()
    }


def _up_to(values: Tensor, stop: int, *, vector: bool) -> Tensor:
    return values[..., :stop, :] if vector else values[..., :stop]


@dataclass(frozen=True)
class Passes:
    """One plan over one batch. needed: the root is wanted at samples 0..needed."""

    plan: Plan
    frame: Frame
    spans: tuple[Span, ...]
    needed: int
    margins: Mapping[Atom, Tensor]
    hidden: Hidden
    like: Tensor
    _lower: list[Strip] = field(default_factory=list[Strip])

    @property
    def settled(self) -> list[bool]:
        """Which slots have one margin, not an interval."""
        return settled(self.plan, self.frame, self.spans, self.hidden)

    def exact(self, side: int) -> Values:
        """Returns the lower (side -1) or upper (side 1) margins and their places in the bank."""
        with torch.no_grad():
            if not self._lower:
                self._lower.extend(self._exact(-math.inf, {}))
            if side < 0:
                return self._root(self._lower)
            known = {i: self._lower[i] for i, one in enumerate(self.settled) if one}
            return self._root(self._exact(math.inf, known))

    def _exact(self, unknown: float, known: Mapping[int, Strip]) -> list[Strip]:
        values: dict[Atom, Values] = {}
        offset = 0
        for atom, margin in self.margins.items():
            values[atom] = leaf(margin, offset)
            offset += margin.shape[-1]
        leaves = Leaves(values, self.hidden, leaf(self.like, 0))
        algebra = Exact(offset)
        return evaluate(self.plan, self.frame, self.spans, leaves, algebra, unknown, known)

    def _root(self, strips: list[Strip]) -> Values:
        return take(strips[-1], 0, self.needed)

    def selected(self, side: int) -> Tensor:
        """Returns exact margins with their gradients."""
        bank = bank_of(list(self.margins.values()), self.like)
        return bank.gather(-1, self.exact(side)[1])

    def smooth(self, side: int, temperature: float) -> Tensor:
        """Returns smooth margins as computed: rounding may put them a few ulps off their side."""
        values = {atom: (margin / temperature,) for atom, margin in self.margins.items()}
        leaves = Leaves(values, self.hidden, (self.like,))
        algebra = Smooth(under=side < 0)
        unknown = math.inf * side
        strips = evaluate(self.plan, self.frame, self.spans, leaves, algebra, unknown, {})
        return self._attached(self._root(strips)[0] * temperature)

    def _attached(self, found: Tensor) -> Tensor:
        """A value that no atom decides (all unknown) still has a gradient, which is zero."""
        for margin in self.margins.values():
            if margin.requires_grad and not found.requires_grad:
                return torch.cat((found, margin[..., :1]), -1)[..., :-1]
        return found

    def bound(self, temperature: float) -> float:
        """Returns how far smooth margins may be from exact ones."""
        return temperature * bound_of(self.plan, self.frame, self.spans)

    def held(self, side: int, temperature: float) -> Tensor:
        """Returns smooth margins on their side of the exact ones, within the bound, to the bit."""
        exact, bound = self.exact(side)[0], self.bound(temperature)
        low, high = (exact - bound, exact) if side < 0 else (exact, exact + bound)
        found: Tensor
        found = _Within.apply(self.smooth(side, temperature), low, high)  # type: ignore[no-untyped-call]  # torch gives apply no types
        return found


class _Within(torch.autograd.Function):
    """The value between low and high, whose gradient is the value's own; none where infinite."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, low: Tensor, high: Tensor) -> Tensor:
        found = torch.minimum(torch.maximum(value, low), high)
        ctx.save_for_backward(torch.isfinite(found))
        return found

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None, None]:
        (grad,) = grad_outputs
        (finite,) = ctx.saved_tensors
        return torch.where(finite, grad, 0.0), None, None
