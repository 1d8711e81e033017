"""Bounds at the ends of the formats, of the waves' range, and where entries are left out."""

import numpy as np
import pytest
from mutations import Mutation
from mutations_extremes import EDGES
from soundness_battery import Kit, mutant, plain_kit
from soundness_extremes import EXTREMES

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.bounds.rounding import gamma
from safegym.check.neural.graph import GraphBuilder
from safegym.errors import UnsupportedError


def failures(kit: Kit) -> list[str]:
    """The first check's failures, in words; a mutant may break in any way."""
    for check in EXTREMES:
        try:
            found = check(kit)
        except Exception as error:
            found = [f"{check.__name__} raised {error!r}"]
        if found:
            return found
    return []


@pytest.mark.parametrize("check", EXTREMES, ids=lambda check: check.__name__)
def test_the_checks_of_the_extremes_find_nothing_wrong(check) -> None:  # type: ignore[no-untyped-def]
    assert check(plain_kit()) == []


@pytest.mark.parametrize("mutation", EDGES, ids=lambda each: each[0])
def test_a_fault_at_an_edge_is_found(mutation: Mutation) -> None:
    _, module, old, new = mutation
    with mutant(module, old, new) as kit:
        assert failures(kit)


@pytest.mark.parametrize("end", [-1e6, 1e6])
def test_a_wave_at_the_end_of_its_range_keeps_its_trough(end: float) -> None:
    builder = GraphBuilder(1)
    wave = builder.apply("sin", builder.input())
    builder.linear([(wave, [[1.0], [-1.0]])])
    low, high = min(end, end - np.copysign(2.0, end)), max(end, end - np.copysign(2.0, end))
    found = Bounds(builder.graph(), "real").linear([[low]], [[high]])
    least = np.sin(np.linspace(low, high, 2001)).min()
    assert found.lower[0, 0] <= least
    assert found.lower[0, 1] <= -np.sin(np.linspace(low, high, 2001)).max()


def test_a_clip_does_not_bound_an_action_that_may_be_no_number() -> None:
    builder = GraphBuilder(2)
    held = builder.apply("cast", builder.input(), precision="float32")
    total = builder.linear([(held, [[2.0, -2.0]])], precision="float32")
    builder.clip(total, -1.0, 1.0)
    bounds = Bounds(builder.graph(), "deployed float32")
    found = bounds.linear([[2e38, 2e38], [1.0, 1.0]], [[3e38, 3e38], [2.0, 2.0]], upper=True)
    assert found.upper is not None
    assert (found.lower[0, 0], found.upper[0, 0]) == (-np.inf, np.inf)
    assert (found.lower[1, 0], found.upper[1, 0]) == (-1.0, 1.0)


def test_a_slope_that_binary32_cannot_hold_is_refused() -> None:
    builder = GraphBuilder(1)
    builder.apply("leaky_relu", builder.input(), slope=1e39, precision="float32")
    with pytest.raises(UnsupportedError, match="A number of a leaky_relu is too large"):
        Bounds(builder.graph(), "deployed float32")


def test_a_sum_of_too_many_products_has_no_relative_error_bound() -> None:
    assert gamma(2**23 + 1, 2.0**-24) == np.inf
    assert gamma(100, 2.0**-24) == pytest.approx(100 * 2.0**-24, rel=1e-4)


def test_two_entries_of_one_input_are_bounded_together() -> None:
    builder = GraphBuilder(1)
    both = builder.apply("relu", builder.linear([(builder.input(), [[1.0], [1.0]])]))
    bent = builder.apply("relu", builder.linear([(both, [[1.0, -1.0]])]))
    builder.linear([(bent, [[-1.0]])])
    found = Bounds(builder.graph(), "real").linear([[-1.0]], [[1.0]])
    assert found.lower[0, 0] > -1.0 + 0.4
