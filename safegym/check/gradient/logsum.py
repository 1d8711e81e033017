"""Logarithms of sums of exponentials, with gradients that are finite where values are infinite.

sign: 1 for log(sum exp x), -1 for its mirror image -log(sum exp(-x)).
"""

import math
from typing import Any

import torch
from torch import Tensor

from safegym.check.gradient.scan import Count, scan
from safegym.check.gradient.strip import Values


def soft(a: Tensor, b: Tensor, sign: int) -> Tensor:
    """Returns the sum of two at each sample: never below the maximum, or above the minimum."""
    found: Tensor
    if sign > 0:
        found = _LogAddExp.apply(a, b)  # type: ignore[no-untyped-call]  # torch gives apply no types
        return found
    found = _LogAddExp.apply(-a, -b)  # type: ignore[no-untyped-call]  # torch gives apply no types
    return -found


def cumulated(x: Tensor, sign: int) -> Tensor:
    """Returns the sum of everything up to each sample."""
    found: Tensor
    found = _LogCumSumExp.apply(x if sign > 0 else -x)  # type: ignore[no-untyped-call]  # torch gives apply no types
    return found if sign > 0 else -found


def sliding(x: Tensor, width: int, sign: int) -> Tensor:
    """Returns the sum over each run of `width` neighbours; length n - width + 1."""
    if width == 1:
        return x
    upright = x if sign > 0 else -x
    summed = _LogSumExp.apply if width <= NARROW else _windows
    found: Tensor = summed(upright, width)
    return found if sign > 0 else -found


NARROW = 16
"""Windows up to this length are summed one by one: fewer calls, and no slower."""


def _windows(x: Tensor, width: int) -> Tensor:
    """A window is the suffix of one block and the start of the next, which never overlap."""
    n = x.shape[-1]
    if n == width:
        return cumulated(x, 1)[..., -1:]
    count, blocks = n - width + 1, n // width + 1
    rest = x.new_full((*x.shape[:-1], blocks * width - n), -math.inf)
    cut = torch.cat((x, rest), -1).reshape(*x.shape[:-1], blocks, width)
    ends = cumulated(cut.flip(-1), 1).flip(-1).flatten(-2)
    nothing = cut.new_full((*cut.shape[:-1], 1), -math.inf)
    starts = torch.cat((nothing, cumulated(cut, 1)[..., :-1]), -1).flatten(-2)
    return soft(ends[..., :count], starts[..., width : width + count], 1)


class _LogAddExp(torch.autograd.Function):
    """log(exp a + exp b); where both are the same infinity the gradient is b's."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        return torch.logaddexp(a, b)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor]:
        (grad,) = grad_outputs
        a, b = ctx.saved_tensors
        gap = a - b
        first = grad * torch.sigmoid(gap.masked_fill(gap.isnan(), -math.inf))
        return first, grad - first


class _LogCumSumExp(torch.autograd.Function):
    """y_k = log(sum over j <= k of exp x_j); none of the gradient goes through infinite y.

    The gradient of x_j is the sum over k >= j of g_k exp(x_j - y_k), again a sum of exponentials:
    one for the positive g, one for the negative. Second derivatives go through a scan of pairs.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = torch.logcumsumexp(x, -1)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> Tensor:
        (grad,) = grad_outputs
        x, y = ctx.saved_tensors
        if torch.is_grad_enabled():
            (again,) = scan((x,), _pair)
            pulled: Tensor = torch.autograd.grad(again, x, grad, create_graph=True)[0]
            return pulled
        size = grad.abs().log_().sub_(y)
        negative = grad < 0
        found = _pulled(x, size.masked_fill(negative, -math.inf))
        if bool(negative.any()):
            found = found - _pulled(x, size.masked_fill(~negative, -math.inf))
        return found


class _LogSumExp(torch.autograd.Function):
    """log(sum of exp x) over each of the windows of a few samples."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, width: int) -> Tensor:
        y = torch.logsumexp(x.unfold(-1, width, 1), -1)
        ctx.width = width
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        (grad,) = grad_outputs
        x, y = ctx.saved_tensors
        if torch.is_grad_enabled():
            again = _windows(x, ctx.width)
            return torch.autograd.grad(again, x, grad, create_graph=True)[0], None
        found, count = torch.zeros_like(x), y.shape[-1]
        for late in range(ctx.width):
            seen = slice(late, late + count)
            found[..., seen] += (x[..., seen] - y).exp_().nan_to_num_(0.0, 0.0).mul_(grad)
        return found, None


def _pair(a: Values, b: Values, m: Count, n: Count) -> Values:
    return (soft(a[0], b[0], 1),)


def _pulled(x: Tensor, size: Tensor) -> Tensor:
    """exp(x_j) times the sum over k >= j of exp(size_k); 0 where x_j is infinite."""
    later = torch.logcumsumexp(size.flip(-1), -1).flip(-1)
    return later.add_(x).exp_().nan_to_num_(0.0, 0.0)
