"""Terms over tensors: the monitor's operations, with gradients that are finite everywhere."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from safegym.errors import TraceError, UnsupportedError
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.nodes import Atom
from safegym.formula.terms import Apply, Component, Constant, Signal, Term, signals_of
from safegym.trace.gaps import GapsBySignal

SELECTING = ("neg", "abs", "min", "max")
"""Operations that cannot make a non-finite value out of finite ones."""


class Terms:
    """Values of terms over signals, each distinct term computed once.

    tensors: signal name -> (..., n) for a scalar, (..., n, d) for a vector. A term's values have
    shape (..., n), or () where it is constant. gaps: samples whose values stand for nothing, so
    that terms need not be finite there.
    """

    def __init__(self, tensors: Mapping[str, Tensor], like: Tensor, gaps: GapsBySignal) -> None:
        self._tensors = tensors
        self._like = like
        self._gaps = gaps
        self._known: dict[Term, Tensor] = {}

    def margin(self, atom: Atom, scale: float) -> Tensor:
        """Returns the atom's margin in multiples of `scale`; 0.0 for -0.0."""
        left, right = self.value(atom.left), self.value(atom.right)
        if atom.comparison in ("<", "<="):
            left, right = right, left
        margin = left - right
        if scale != 1.0:
            margin = margin / self._like.new_tensor(scale)
        return margin + 0.0

    def value(self, term: Term) -> Tensor:
        """Returns the term's values. Raises TraceError where an operation leaves the reals."""
        if term not in self._known:
            for part in postorder(term):
                if isinstance(part, Term) and part not in self._known:
                    self._known[part] = self._compute(part)
        return self._known[term]

    def _compute(self, term: Term) -> Tensor:
        if isinstance(term, Signal):
            return self._tensors[term.name]
        if isinstance(term, Component):
            return self._component(term)
        if isinstance(term, Constant):
            return self._like.new_tensor(term.value)
        if not isinstance(term, Apply):
            raise UnsupportedError(f"There is no gradient rule for the term {short(term)}.")
        result = _apply(term.operation, [self._known[argument] for argument in term.arguments])
        if term.operation in SELECTING:
            return result
        finite = torch.isfinite(result)
        if bool(finite.all()):
            return result
        self._refuse(term, ~finite)
        return torch.where(finite, result, 0.0)

    def _refuse(self, term: Apply, bad: Tensor) -> None:
        """Raises TraceError unless all that is not finite lies in gaps."""
        bad = bad.reshape(1) if bad.ndim == 0 else bad
        for signal in signals_of(term):
            for first, last in self._gaps.get(signal.name, ()):
                bad[..., first : last + 1] = False
        if bool(bad.any()):
            raise TraceError(
                f"The term {short(term)} has no finite value at sample "
                f"{int(torch.nonzero(bad)[0][-1])} (overflow, or an operation outside its domain); "
                "the formula cannot be judged on these signals."
            )

    def _component(self, term: Component) -> Tensor:
        values = self._tensors[term.signal.name]
        if term.index >= values.shape[-1]:
            raise TraceError(
                f"The formula reads {short(term)}, but signal {term.signal.name} has the "
                f"components 0 to {values.shape[-1] - 1} here."
            )
        return values[..., term.index]


def _apply(operation: str, arguments: list[Tensor]) -> Tensor:
    if operation in _FOLDS:
        result = arguments[0]
        for argument in arguments[1:]:
            result = _FOLDS[operation](result, argument)
        return result
    if operation == "norm":
        squares = arguments[0] * arguments[0]
        for argument in arguments[1:]:
            squares = squares + argument * argument
        return _numeric(squares, "sqrt")
    if operation == "neg":
        return -arguments[0]
    return arguments[0].abs() if operation == "abs" else _numeric(arguments[0], operation)


_FOLDS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "+": torch.add,
    "-": torch.sub,
    "*": torch.mul,
    "/": torch.div,
    "min": torch.minimum,
    "max": torch.maximum,
}


class _Numeric(torch.autograd.Function):
    """sqrt, exp, sin, cos: on a processor by numpy, whose last bits the monitor's margins have.

    The square root's slope at 0, which is infinite, is taken as 0.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, operation: str) -> Tensor:
        if x.device.type == "cpu":
            with np.errstate(all="ignore"):
                y = torch.from_numpy(np.asarray(getattr(np, operation)(x.detach().numpy())))
        else:
            y = getattr(torch, operation)(x)
        ctx.operation = operation
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        (grad,) = grad_outputs
        x, y = ctx.saved_tensors
        if ctx.operation == "exp":
            return grad * torch.where(torch.isfinite(y), y, 0.0), None  # infinite in gaps only
        if ctx.operation == "sin":
            return grad * torch.cos(x), None
        if ctx.operation == "cos":
            return -grad * torch.sin(x), None
        steep = y > 0
        return torch.where(steep, grad / (2 * torch.where(steep, y, 1.0)), 0.0), None


def _numeric(x: Tensor, operation: str) -> Tensor:
    found: Tensor
    found = _Numeric.apply(x, operation)  # type: ignore[no-untyped-call]  # torch gives apply no types
    return found
