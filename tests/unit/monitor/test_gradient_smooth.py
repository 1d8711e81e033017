"""Smooth margins: always on their side, bounded as stated, with weights that add up."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from safegym.check.gradient import DifferentiableMonitor, robustness
from safegym.formula.build import all_of, always, any_of, eventually, historically, once
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal

X, Y = Signal("x"), Signal("y")
WINDOWED = (always, eventually, once, historically)


def bound(formula: Formula, samples: int, end: str = "cut") -> float:
    """In multiples of the temperature."""
    return DifferentiableMonitor(formula, 1, end, smooth=1.0).bound(samples)  # type: ignore[arg-type]  # a kind


def test_the_bound_is_the_logarithm_of_the_operands() -> None:
    assert bound(X > 0, 5) == 0.0
    assert bound(all_of(X > 0, X > 1, Y > 0), 5) == math.log(3)
    assert bound(any_of(X > 0, Y > 0), 5) == math.log(2)
    assert bound(always(X > 0), 5) == math.log(5)
    assert bound(eventually(X > 0, window=(1, 3)), 50) == math.log(3)


def test_the_bound_of_until_counts_both_sides() -> None:
    found = bound((X > 0).until(Y > 0, window=(2, 5)), 50)
    assert found == pytest.approx(math.log(4) + math.log(6))
    assert bound((X > 0).since(Y > 0, within=3), 50) == pytest.approx(2 * math.log(4))


def test_bounds_of_nested_operators_add_up() -> None:
    inner = eventually(Y > 0, within=4)
    assert bound(always((X > 0) | inner), 9) == pytest.approx(math.log(9 * 2 * 5))


def test_a_window_longer_than_the_episode_counts_only_what_there_is() -> None:
    assert bound(always(X > 0, lasting=1000), 8) == math.log(8)
    assert bound(once(X > 0, within=1000), 8) == math.log(8)


def test_the_bound_grows_with_the_temperature_and_is_returned() -> None:
    found = robustness(always(X > 0), {"x": torch.zeros(8)}, dt=1, end="cut", smooth=0.25)
    assert found.bound == pytest.approx(0.25 * math.log(8))
    assert DifferentiableMonitor(always(X > 0), 1).bound(8) == 0.0


def test_the_bound_is_reached_where_all_samples_tie() -> None:
    x = torch.full((8,), 2.0, dtype=torch.float64)
    low = robustness(always(X > 0), {"x": x}, dt=1, end="cut", smooth=0.1, at="start")
    assert float(low.lo) == pytest.approx(2.0 - low.bound)
    assert float(low.hi) == pytest.approx(2.0)
    best = robustness(eventually(X > 0), {"x": x}, dt=1, end="cut", smooth=0.1, at="start")
    assert float(best.lo) == pytest.approx(2.0)
    assert float(best.hi) == pytest.approx(2.0 + best.bound)


@pytest.mark.parametrize("operator", [eventually, once])
def test_windows_cut_at_an_end_count_only_the_samples_there_are(operator: object) -> None:
    x = torch.full((30,), 2.0, dtype=torch.float64)
    formula = operator(X > 0, window=(1, 9))  # type: ignore[operator]  # a builder
    low = DifferentiableMonitor(formula, 1, "cut", smooth=1.0).lower({"x": x})
    exact = DifferentiableMonitor(formula, 1, "cut").lower({"x": x})
    torch.testing.assert_close(low, exact)


@pytest.mark.parametrize("window", [None, (0, 63), (0, 47)])
def test_until_is_near_the_exact_margin_where_one_sample_decides(window: object) -> None:
    """Joins lose only the samples that do not reach, meets only those that do not limit."""
    left, right = torch.full((64,), 500.0).double(), torch.full((64,), 500.0).double()
    formula = (X > 0).until(Y > 0, window=window)  # type: ignore[arg-type]  # a window
    monitor = DifferentiableMonitor(formula, 1, "cut", smooth=1.0, at="start")
    left[0], right[0] = 0.0, -500.0
    assert -0.03 < float(monitor({"x": left, "y": right}).lo) <= 0.0
    left[0], right[:] = 500.0, -500.0
    right[0] = 0.0
    assert 0.0 <= float(monitor({"x": left, "y": right}).hi) < 0.03


@pytest.mark.parametrize("operator", WINDOWED)
@pytest.mark.parametrize("width", [0, 1, 2, 6, 15, 16, 63])
def test_windows_weigh_each_sample_once(operator: object, width: int) -> None:
    """Equal samples get equal weights, which is so only if no window counts one twice."""
    x = torch.zeros(80, dtype=torch.float64, requires_grad=True)
    formula = operator(X > 0, window=(0, width))  # type: ignore[operator]  # a builder
    low = DifferentiableMonitor(formula, 1, "cut", smooth=0.7).lower({"x": x})
    for at in (0, 5, 70, 79):
        (weights,) = torch.autograd.grad(low[at], x, retain_graph=True)
        some = weights[weights > 0]
        future = operator in (always, eventually)
        there = min(width + 1, 80 - at) if future else min(width + 1, at + 1)
        assert len(some) == there
        assert some.tolist() == pytest.approx([1 / there] * there)


def test_the_gradients_weights_are_a_convex_combination() -> None:
    draw = torch.Generator().manual_seed(0)
    names = ("x", "y")
    formula = (X > 0).until((Y > 0) & historically(X > -1, window=(1, 7)), within=9)
    for end in ("absorbed", "cut"):
        signals = {
            name: torch.randn(40, generator=draw, dtype=torch.float64).requires_grad_()
            for name in names
        }
        monitor = DifferentiableMonitor(formula, 1, end, smooth=0.4)  # type: ignore[arg-type]  # a kind
        for side in monitor(signals):
            grads = torch.autograd.grad(side[20], list(signals.values()), retain_graph=True)
            assert all(bool((grad >= 0).all()) for grad in grads)
            assert sum(float(grad.sum()) for grad in grads) == pytest.approx(1.0)


def test_colder_is_closer() -> None:
    draw = torch.Generator().manual_seed(1)
    signals = {name: torch.randn(60, generator=draw, dtype=torch.float64) for name in "xy"}
    formula = always((X > 0) | eventually(Y > 0, within=5))
    exact = DifferentiableMonitor(formula, 1, "cut").lower(signals)
    off = [
        float((exact - DifferentiableMonitor(formula, 1, "cut", smooth=t).lower(signals)).max())
        for t in (1.0, 0.1, 0.01, 1e-4)
    ]
    assert all(one > other for one, other in pairwise(off))
    assert 0 <= off[-1] < 1e-3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("temperature", [1e-3, 1.0, 1e3])
def test_rounding_never_puts_a_smooth_margin_on_the_other_side(
    dtype: torch.dtype, size: float, temperature: float
) -> None:
    draw = torch.Generator().manual_seed(2)
    formula = always((X > 0).implies((Y > 0).until(X < Y, within=70)), lasting=300)
    signals = {name: size * torch.randn(2, 900, generator=draw, dtype=dtype) for name in "xy"}
    exact = DifferentiableMonitor(formula, 1, "cut")(signals)
    smooth = DifferentiableMonitor(formula, 1, "cut", smooth=temperature)(signals)
    assert bool((smooth.lo <= exact.lo).all())
    assert bool((smooth.lo >= exact.lo - smooth.bound).all())
    assert bool((smooth.hi >= exact.hi).all())
    assert bool((smooth.hi <= exact.hi + smooth.bound).all())


def test_holding_to_the_bound_moves_a_margin_by_rounding_only() -> None:
    draw = torch.Generator().manual_seed(3)
    formula = always((X > 0).implies((Y > 0).until(X < Y, within=70)), lasting=300)
    signals = {name: torch.randn(900, generator=draw, dtype=torch.float64) for name in "xy"}
    monitor = DifferentiableMonitor(formula, 1, "cut", smooth=0.05)
    passes = monitor._passes(signals)
    for side, held in zip((-1, 1), monitor(signals), strict=True):
        assert float((held - passes.smooth(side, 0.05)).abs().max()) < 1e-13


def test_second_derivatives_of_smooth_margins_are_right() -> None:
    draw = torch.Generator().manual_seed(5)
    formula = always((X * X > 0.5) | (Y > 0).until(X < Y, within=2), window=(1, 4))
    inputs = [torch.randn(2, 7, generator=draw, dtype=torch.float64).requires_grad_() for _ in "xy"]
    for end in ("cut", "horizon"):
        monitor = DifferentiableMonitor(formula, 1, end, smooth=0.5)  # type: ignore[arg-type]  # a kind

        def both(x: Tensor, y: Tensor) -> Tensor:
            pair = torch.stack(list(monitor({"x": x, "y": y})))  # noqa: B023  # this round's
            return torch.where(torch.isfinite(pair), pair, 0.0)

        assert torch.autograd.gradgradcheck(both, inputs, atol=1e-5)


def taped(window: int | None, samples: int, smooth: float | None) -> int:
    """Bytes that the backward pass of until waits for."""
    kept: dict[int, int] = {}

    def keep(values: Tensor) -> Tensor:
        storage = values.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return values

    formula = (X > 0).until(Y > 0, within=window)
    draw = torch.Generator().manual_seed(4)
    signals = {
        name: torch.randn(samples, generator=draw, dtype=torch.float64).requires_grad_()
        for name in "xy"
    }
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda values: values):
        low = DifferentiableMonitor(formula, 1, "cut", smooth=smooth).lower(signals)
    assert low.requires_grad
    return sum(kept.values())


@pytest.mark.parametrize("smooth", [None, 0.1])
@pytest.mark.parametrize("window", [50, 2000, None])
def test_memory_is_linear_in_the_episode_whatever_the_window(
    window: int | None, smooth: float | None
) -> None:
    one, two = taped(window, 8000, smooth), taped(window, 16_000, smooth)
    assert two <= 2.3 * one
    assert two <= 16_000 * 8 * (6 if smooth is None else 60)
