"""What has no gradient, and signals that do not fit, are told so, with the line that would work."""

import numpy as np
import pytest
import torch

from safegym.check.gradient import DifferentiableMonitor, robustness, support
from safegym.errors import FormulaError, SafegymError, TraceError, UnsupportedError
from safegym.formula.build import always, eventually, fraction, mean
from safegym.formula.claim import Claim
from safegym.formula.functions import exp, sqrt
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal, Term

X, P = Signal("x"), Signal("p", shape=(2,))
GOOD = {"x": torch.ones(4)}


def test_a_share_is_refused_with_a_soft_share_that_works() -> None:
    share = fraction(X > 0.25) >= 0.5
    with pytest.raises(UnsupportedError, match=r"no slope.*clamp\(0, 1\)\.mean\(-1\)"):
        DifferentiableMonitor(share, 1)
    draw = torch.Generator().manual_seed(0)
    for _ in range(50):
        x = torch.randn(20, generator=draw, dtype=torch.float64)
        lo, _ = robustness(X > 0.25, {"x": x}, dt=1)
        assert float((lo / 0.1).clamp(0, 1).mean(-1)) <= float((x > 0.25).double().mean())


def test_mixed_units_without_scales_are_refused() -> None:
    formula = (Signal("v", unit="m/s") > 0) & (Signal("d", unit="m") > 0)
    with pytest.raises(UnsupportedError, match=r"margins do not compare\. Give every signal"):
        DifferentiableMonitor(formula, 1)


@pytest.mark.parametrize(
    ("subject", "ok", "reason"),
    [
        (always(X > 0), True, ""),
        (fraction(X > 0) >= 0.5, False, "no slope"),
        ((Signal("v", unit="m/s") > 0) & (Signal("d", unit="m") > 0), False, "do not compare"),
        (Claim(id="a.b", statement=mean(fraction(X > 0)) >= 0.5), False, "mean over episodes"),
        (Claim(id="a.b", statement=always(X > 0)), True, ""),
    ],
)
def test_support_says_what_has_gradients(subject: Formula, ok: bool, reason: str) -> None:
    found = support(subject)
    assert found.ok is ok
    assert reason in found.reason
    assert bool(found.subformula) is not ok


def test_a_text_is_no_formula() -> None:
    with pytest.raises(TypeError, match=r"safegym\.parse"):
        DifferentiableMonitor("always(x > 0)", 1)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("signals", "error", "told"),
    [
        (torch.ones(4), TypeError, r"mapping from name to tensor, found Tensor.*\{\"x\": x\}"),
        ({}, TypeError, "mapping from name to tensor"),
        ({"xx": torch.ones(4)}, TraceError, "reads signal x, .*did you mean xx"),
        ({"x": np.ones(4)}, TypeError, r"x is ndarray.*torch\.as_tensor\(x, dtype=torch\.float64"),
        ({"x": torch.ones(4).long()}, TraceError, r"torch\.int64.*x\.double\(\)"),
        ({"x": torch.ones(4).bfloat16()}, TraceError, r"torch\.bfloat16.*x\.double\(\)"),
        ({"x": torch.ones(())}, TraceError, r"shape \(\.\.\., T\+1\).*found \(\)"),
        ({"x": torch.ones(2, 0)}, TraceError, r"shape \(\.\.\., T\+1\).*found \(2, 0\)"),
        ({"x": torch.tensor([1.0, torch.nan])}, TraceError, r"not finite at sample 1 \(nan\)"),
        (
            {"x": torch.tensor([[1.0, 1.0], [torch.inf, 1.0]])},
            TraceError,
            r"not finite at sample 0 of row \(1,\) \(inf\).*end=\"interrupted\"",
        ),
    ],
)
def test_signals_that_do_not_fit_are_refused(
    signals: object, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        robustness(always(X > 0), signals, dt=1)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (torch.ones(4, 3), r"shape \(\.\.\., T\+1, 2\).*found \(4, 3\)"),
        (torch.ones(5, 2), r"rows and samples \(4,\), signal p \(5,\)"),
        (torch.ones(6, 4, 2), r"rows and samples \(4,\), signal p \(6, 4\).*expand"),
        (torch.ones(4, 2).double(), r"float32 on cpu, signal p torch\.float64.*p\.to\(x\)"),
    ],
)
def test_signals_that_do_not_fit_each_other_are_refused(other: torch.Tensor, told: str) -> None:
    with pytest.raises(TraceError, match=told):
        robustness((X > 0) & (P[1] > 0), {"x": torch.ones(4), "p": other}, dt=1)


def test_a_component_that_a_vector_lacks_is_refused() -> None:
    formula = Signal("v", shape=(-1,))[3] > 0
    with pytest.raises(TraceError, match="components 0 to 1 here"):
        robustness(formula, {"v": torch.ones(4, 2)}, dt=1)


@pytest.mark.parametrize("term", [sqrt(1 - X), exp(X * 1000), X * X * X * X * X])
def test_a_term_outside_the_reals_is_refused(term: Term) -> None:
    x = torch.tensor([0.0, 0.0, 1e9])
    with pytest.raises(TraceError, match="no finite value at sample 2 "):
        robustness(term > 0, {"x": x}, dt=1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"end": "truncated"}, "'truncated'; it must be one of absorbed, failed, horizon"),
        ({"horizon": 0}, "at least 1, or None"),
        ({"horizon": 2.5}, "whole number of steps"),
        ({"horizon": True}, "whole number of steps"),
        ({"horizon": 9}, "ends as 'horizon' at sample 3, before its declared horizon 9"),
        ({"smooth": 0.0}, "finite number > 0"),
        ({"smooth": float("inf")}, "finite number > 0"),
        ({"smooth": "cold"}, "finite number > 0 .* smooth=0.05"),
        ({"smooth": True}, "finite number > 0"),
        ({"at": "end"}, '"all" samples or at the "start"'),
        ({"dt": 0}, "dt"),
        ({"dt": "fast"}, "dt"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(SafegymError, match=told):
        robustness(always(X > 0), GOOD, **{"dt": 1, **options})  # type: ignore[arg-type]  # on purpose


def test_a_bound_off_the_grid_is_refused_or_rounded_as_the_claim_says() -> None:
    formula = eventually(X > 0, within="0.25")
    with pytest.raises(FormulaError, match="not a multiple of dt"):
        DifferentiableMonitor(formula, "0.1")
    claim = Claim(id="a.b", statement=formula, rounding="conservative")
    x = torch.tensor([-3.0, -2.0, -1.0, 5.0])
    low = DifferentiableMonitor(claim, "0.1", end="cut", at="start").lower({"x": x})
    assert float(low) == -1.0


def test_a_refusal_names_the_claim() -> None:
    claim = Claim(id="arm.stop", statement=always(X > 0))
    with pytest.raises(TraceError, match=r"Claim arm\.stop: .*lacks"):
        robustness(claim, {"y": torch.ones(3)}, dt=1)


def test_an_episode_of_no_samples_has_no_bound() -> None:
    with pytest.raises(TraceError, match="one sample or more, found 0"):
        DifferentiableMonitor(always(X > 0), 1, smooth=0.1).bound(0)


@pytest.mark.parametrize(
    ("gaps", "told"),
    [([(2, 4)], r"samples 0\.\.3"), ({"y": [(0, 1)]}, "gaps name"), ([3], r"gaps=\[\(3, 5\)\]")],
)
def test_gaps_that_do_not_fit_are_refused(gaps: object, told: str) -> None:
    with pytest.raises(TraceError, match=told):
        robustness(always(X > 0), GOOD, dt=1, gaps=gaps)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("smooth", [1e-300, 1e-40, 1e300])
def test_a_temperature_out_of_the_tensors_range_is_refused_not_turned_into_nan(
    smooth: float,
) -> None:
    monitor = DifferentiableMonitor(always(X > 0), 1, smooth=smooth)
    with pytest.raises(TraceError, match=r"out of range of float32 tensors; take one between"):
        monitor(GOOD)
    wide = monitor({"x": torch.ones(4, dtype=torch.float64)})
    assert torch.isfinite(wide.lo).all()
