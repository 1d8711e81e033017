"""Exact margins over tensors: whom the gradient goes to, infinities, shapes and types."""

import math

import pytest
import torch
from torch import Tensor

from safegym.check.gradient import DifferentiableMonitor, robustness
from safegym.check.gradient.recorded import recorded
from safegym.formula.build import always, eventually, near, once, prob
from safegym.formula.claim import Claim
from safegym.formula.functions import exp, norm, sqrt
from safegym.formula.nodes import TRUE, Formula
from safegym.formula.terms import Signal
from safegym.formula.text import parse
from safegym.trace.model import Trace

X, Y = Signal("x"), Signal("y")
DT = "0.1"


def wanted(values: object, **options: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True, **options)  # type: ignore[arg-type]  # options


def slope(formula: Formula, at: int = 0, **signals: Tensor) -> list[list[float]]:
    """The gradient of the lower margin at one sample, for each signal."""
    low, _ = robustness(formula, signals, dt=DT, end="cut")
    low[..., at].sum().backward()
    return [[] if v.grad is None else v.grad.tolist() for v in signals.values()]


def test_the_gradient_of_always_goes_to_its_worst_sample_alone() -> None:
    assert slope(always(X > 0), x=wanted([3.0, 1.0, 2.0])) == [[0.0, 1.0, 0.0]]


def test_the_gradient_of_until_goes_to_the_deciding_side() -> None:
    x, y = wanted([5.0, 0.5, 5.0]), wanted([-9.0, -9.0, 2.0])
    assert slope((X > 0).until(Y > 0), x=x, y=y) == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    x, y = wanted([5.0, 3.0, 5.0]), wanted([-9.0, -9.0, 2.0])
    assert slope((X > 0).until(Y > 0), x=x, y=y) == [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_the_gradient_is_divided_by_the_scale_and_turned_by_the_comparison() -> None:
    speed = Signal("x", scale=0.5)
    assert slope(always(speed <= 1), x=wanted([0.0, 0.75])) == [[0.0, -2.0]]


@pytest.mark.parametrize("formula", [always(X > 0), eventually(X > 0), once(X > 0)])
def test_of_tied_samples_one_takes_the_whole_gradient(formula: Formula) -> None:
    (found,) = slope(formula, at=2, x=wanted([1.0, 1.0, 1.0]))
    assert sorted(found) == [0.0, 0.0, 1.0]


def test_tied_operands_give_one_of_them_the_whole_gradient() -> None:
    assert slope((X > 0) & (Y > 0), x=wanted([1.0]), y=wanted([1.0])) == [[1.0], [0.0]]


@pytest.mark.parametrize("smooth", [None, 0.1])
def test_unknown_samples_give_infinite_margins_and_no_gradient(smooth: float | None) -> None:
    x = wanted([3.0, 1.0, 2.0])
    low, high = robustness(always(X > 0, lasting="0.2"), {"x": x}, dt=DT, smooth=smooth)
    assert low[1:].tolist() == [-math.inf, -math.inf]
    assert bool(torch.isfinite(high).all())
    low.sum().backward(retain_graph=True)
    assert x.grad is not None
    assert bool(torch.isfinite(x.grad).all())
    x.grad = None
    low[1:].sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("smooth", [None, 0.1])
@pytest.mark.parametrize("stop", [4, None])
def test_a_formula_that_reads_only_unseen_samples_has_a_zero_gradient(
    smooth: float | None, stop: int | None
) -> None:
    x = wanted([1.0, 2.0])
    formula = always(X > 0, window=(3, stop))
    low = DifferentiableMonitor(formula, 1, smooth=smooth).lower({"x": x})
    low.sum().backward()
    assert low.tolist() == [-math.inf] * 2
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("smooth", [None, 0.1])
def test_an_overflowing_margin_is_infinite_and_its_gradient_is_no_nan(
    smooth: float | None,
) -> None:
    x, y = wanted([1.7e308, 1.0]), wanted([-1.7e308, 1.0])
    low, _ = robustness(eventually(X - 0 > Y), {"x": x, "y": y}, dt=DT, end="cut", smooth=smooth)
    assert float(low[0].detach()) == math.inf
    low.sum().backward()
    for values in (x, y):
        assert values.grad is not None
        assert bool(torch.isfinite(values.grad).all())


@pytest.mark.parametrize("smooth", [None, 0.1])
def test_the_slope_of_a_root_and_a_norm_at_zero_is_zero(smooth: float | None) -> None:
    x, y = wanted([0.0, 4.0]), wanted([0.0, 0.0])
    formula = always((sqrt(X) > -1) & (norm(X, Y) > -1) & (sqrt(abs(Y)) < 1))
    low, _ = robustness(formula, {"x": x, "y": y}, dt=DT, end="cut", smooth=smooth)
    low.sum().backward()
    for values in (x, y):
        assert values.grad is not None
        assert bool(torch.isfinite(values.grad).all())
    assert y.grad is not None
    assert y.grad.tolist() == [0.0, 0.0]


def test_gradients_go_through_functions_of_terms() -> None:
    x = wanted([0.5])
    (found,) = slope(exp(2 * X) > 1, x=x)
    assert found == pytest.approx([2 * math.exp(1.0)])


@pytest.mark.parametrize("rows", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_margins_have_the_rows_type_and_samples_of_the_signals(
    rows: tuple[int, ...], dtype: torch.dtype
) -> None:
    p, v = Signal("p", shape=(2,)), Signal("v", shape=(-1,))
    formula = always((p[1] > 0).implies(eventually(v[2] > X, within="0.2")))
    sizes = {"x": (7,), "p": (7, 2), "v": (7, 3)}
    signals = {name: torch.randn(*rows, *size, dtype=dtype) for name, size in sizes.items()}
    for smooth in (None, 0.5):
        for side in robustness(formula, signals, dt=DT, end="cut", smooth=smooth):
            assert side.shape == (*rows, 7)
            assert side.dtype == dtype
        start = robustness(formula, signals, dt=DT, end="cut", smooth=smooth, at="start")
        assert start.lo.shape == start.hi.shape == rows


def test_margins_of_a_constant_take_their_samples_from_any_signal() -> None:
    found = robustness(TRUE, {"anything": torch.zeros(2, 3)}, dt=DT)
    assert found.lo.tolist() == found.hi.tolist() == [[math.inf] * 3] * 2


def test_both_sides_are_one_tensor_where_the_episode_settles_them() -> None:
    settled = robustness(always(X > 0), {"x": torch.ones(4)}, dt=DT, end="cut")
    assert settled.lo is settled.hi
    assert settled.bound == 0.0


def test_a_claim_is_measured_on_its_episode_property() -> None:
    claim = Claim(id="a.b", statement=prob(eventually(X > 1)) < 0.1, confidence=0.9)
    found = robustness(claim, {"x": torch.tensor([0.0, 3.0])}, dt=DT, end="cut", at="start")
    assert float(found.lo) == -2.0


def test_parsed_text_and_near_work_at_the_start() -> None:
    formula = parse("always[0,0.2](near(x, 1, 0.5))", signals=[X])
    assert formula == always(near(X, 1, 0.5), lasting="0.2")
    x = wanted([1.0, 1.25, 0.5, 9.0])
    low = DifferentiableMonitor(formula, DT, at="start").lower({"x": x})
    low.backward()
    assert low.item() == 0.0
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0, 1.0, 0.0]


def test_a_monitor_is_used_again_on_other_lengths_and_rows() -> None:
    monitor = DifferentiableMonitor(always(X > 0), DT, end="cut")
    for size in ((4,), (2, 9), (1,)):
        x = torch.arange(float(torch.Size(size).numel())).reshape(size) + 1
        assert torch.equal(monitor.lower({"x": x}), x)


def test_the_exact_gradient_can_be_differentiated_again() -> None:
    x = wanted([2.0, 3.0])
    low = DifferentiableMonitor(always(X * X > 0), DT, end="cut", at="start").lower({"x": x})
    (first,) = torch.autograd.grad(low, x, create_graph=True)
    (second,) = torch.autograd.grad(first[0], x)
    assert first.tolist() == [4.0, 0.0]
    assert second.tolist() == [2.0, 0.0]


@pytest.mark.parametrize("smooth", [None, 0.1])
def test_values_in_gaps_stand_for_nothing(smooth: float | None) -> None:
    x, y = wanted([1.0, -5.0, 2.0]), wanted([3.0, 3.0, 3.0])
    formula = always((sqrt(X) > 0.5) & (exp(-200 * X) < 2) & (Y > 0))
    monitor = DifferentiableMonitor(formula, DT, "cut", smooth=smooth)
    low, high = monitor({"x": x, "y": y}, gaps={"x": [(1, 1)]})
    assert low.tolist()[:2] == [-math.inf, -math.inf]
    assert bool(torch.isfinite(high).all())
    (low[2] + high.sum()).backward()
    assert x.grad is not None
    assert bool(torch.isfinite(x.grad).all())
    assert float(x.grad[1]) == 0.0


def test_a_recorded_trace_has_its_gaps_and_units_minded() -> None:
    speed = Signal("speed", unit="m/s")
    trace = Trace.from_arrays(
        {"speed": [36.0, 72.0, 0.0]}, dt=DT, units={"speed": "km/h"}, gaps=[(2, 2)], end="cut"
    )
    found = recorded(always(speed < 25), trace)
    assert found.lo.tolist() == [-math.inf] * 3
    assert found.hi.tolist() == [5.0, 5.0, math.inf]
    assert found.slopes["speed"].tolist() == [0.0, -2.0, 0.0]
