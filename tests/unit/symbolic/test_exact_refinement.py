"""`exact` decides over all binary64 values of unseen samples, and in any thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from safegym.check.dispatch import check
from safegym.errors import UnsupportedError
from safegym.formula.build import always, eventually
from safegym.formula.functions import norm
from safegym.formula.nodes import Formula
from safegym.formula.terms import Constant, Signal
from safegym.trace.model import Trace

X, Y = Signal("x"), Signal("y")
OPEN = Trace.from_arrays({"x": [1.0], "y": [1.0]}, dt="0.1", end="horizon")


def later(formula: Formula) -> Formula:
    return always(formula, lasting="0.5")


@pytest.mark.parametrize(
    ("formula", "breaks"),
    [
        (X + 1 > X, {"x": 1e17, "y": 0.0}),
        ((X + Y) - Y <= X, {"x": 0.1, "y": 1.7}),
        (X * 3 / 3 >= X, {"x": 1e-323, "y": 0.0}),
    ],
)
def test_what_only_real_arithmetic_makes_true_is_not_decided(
    formula: Formula, breaks: dict[str, float]
) -> None:
    """The second trace is one that a wrong "satisfied" would have ruled out."""
    assert check(later(formula), OPEN, exact=True).status == "inconclusive"
    values = {name: [1.0, value] for name, value in breaks.items()}
    found = check(later(formula), Trace.from_arrays(values, dt="0.1", end="horizon")).status
    assert found in ("violated", "inconclusive")


def test_a_trace_breaks_x_plus_one_above_x() -> None:
    broken = Trace.from_arrays({"x": [1.0, 1e17]}, dt="0.1", end="cut")
    assert check(later(X + 1 > X), broken).status == "violated"


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ((X > 0) | (X <= 0), "satisfied"),
        ((X + Y > 0) | (X + Y <= 0), "satisfied"),
        ((norm(X, Y) > 1) | (norm(X, Y) <= 1), "satisfied"),
        ((abs(X) >= 0) & (abs(-X) <= abs(X)), "satisfied"),
        ((X > 2) & (X < 1), "violated"),
        (X > Constant(0.1) + Constant(0.2), "inconclusive"),
        ((X > Constant(0.1) + Constant(0.2)) | (X <= 0.1 + 0.2), "satisfied"),
    ],
)
def test_what_holds_or_fails_for_every_value_is_decided(formula: Formula, status: str) -> None:
    formula = later(formula) if status != "violated" else eventually(formula, window=("0.2", "0.5"))
    assert check(formula, OPEN).status == "inconclusive"
    assert check(formula, OPEN, exact=True).status == status


def test_threads_share_z3_without_mixing_their_expressions() -> None:
    formulas = [later((X > level) | (X <= level)) for level in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda formula: check(formula, OPEN, exact=True).status, formulas))
    assert found == ["satisfied"] * 8


def test_a_window_too_wide_to_unroll_is_refused_at_once() -> None:
    wide = Trace.from_arrays({"x": np.ones(20_001), "y": np.ones(20_001)}, dt="0.1")
    for formula in (always(X > 0, lasting=10**12), (X > 0).until(Y > 0, window=(10**9, 10**10))):
        with pytest.raises(UnsupportedError, match="Unrolling needs more than"):
            check(formula, wide, backend="z3")
