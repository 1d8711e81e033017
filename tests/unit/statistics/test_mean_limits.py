"""Limits on a bounded mean agree with the e-process that decides."""

import numpy as np
import pytest

from safegym.check.statistics import MeanEProcess, lower_limit, mean_limits, upper_limit
from safegym.errors import EvidenceError


def e_value_reaches(values: np.ndarray, c: float, claim: str) -> bool:
    """Whether the wealth at the end stands at 1/0.05 (a level of 1e-300 keeps it from latching)."""
    process = MeanEProcess(c, 1e-300, claim=claim)  # type: ignore[arg-type]  # a side
    for x in values.tolist():
        process.update(x)
    return process.e_value(claim) >= 20  # type: ignore[arg-type]  # a side


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_limits_are_where_the_e_process_starts_to_claim(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.beta(0.5, 2.0 + 3 * seed, size=80)
    lo, hi = mean_limits(values, level=0.05)
    assert 0.0 <= lo < values.mean() < hi <= 1.0
    assert e_value_reaches(values, hi * (1 + 1e-8), "below")
    assert not e_value_reaches(values, hi * (1 - 1e-8), "below")
    if lo > 0:
        assert e_value_reaches(values, lo * (1 - 1e-8), "above")
        assert not e_value_reaches(values, lo + (1 - lo) * 1e-8, "above")


def test_on_zeros_and_ones_they_are_the_limits_of_the_proportion() -> None:
    values = np.array([0.0] * 90 + [1.0] * 3)
    lo, hi = mean_limits(values, level=0.05)
    assert hi == pytest.approx(upper_limit(3, 93, level=0.05), rel=1e-9)
    assert lo == pytest.approx(1 - upper_limit(90, 93, level=0.05), abs=1e-9)
    assert lo <= lower_limit(3, 93, level=0.05) + 0.05


def test_open_values_and_ranges_widen_and_scale() -> None:
    values = np.linspace(0.2, 0.4, 60)
    lo, hi = mean_limits(values, level=0.05)
    wide_lo, wide_hi = mean_limits(values - 0.1, values + 0.1, level=0.05)
    assert wide_lo < lo < hi < wide_hi
    shifted = mean_limits(4 * values - 2, level=0.05, low=-2.0, high=2.0)
    assert shifted == pytest.approx((4 * lo - 2, 4 * hi - 2), abs=1e-9)


def test_few_or_extreme_values_never_give_an_empty_or_certain_answer() -> None:
    assert mean_limits([], level=0.05) == (0.0, 1.0)
    assert mean_limits([1.0] * 5, level=0.05)[1] == 1.0
    lo, hi = mean_limits([0.0] * 400, level=0.05)
    assert lo == 0.0
    assert 0.005 < hi < 0.01


@pytest.mark.parametrize(
    "values", [[1.2], [-0.1], [float("nan")], [[0.1, 0.2]]], ids=["high", "low", "nan", "table"]
)
def test_values_outside_are_refused(values: list[float]) -> None:
    with pytest.raises(EvidenceError, match="declare the range"):
        mean_limits(values, level=0.05)
    with pytest.raises(EvidenceError, match="declare the range"):
        mean_limits([0.5], [0.4], level=0.05)
