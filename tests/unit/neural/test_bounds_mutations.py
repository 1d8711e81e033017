"""A fault planted in the bounds is found by the soundness battery."""

import pytest
from mutations import QUICK, Mutation
from mutations_more import MORE
from soundness_battery import failures, mutant, plain_kit


def test_the_unchanged_bounds_pass_the_battery_compiled_anew() -> None:
    with mutant("engine", "class Bounds:", "class Bounds:") as kit:
        assert failures(kit) == []
    assert plain_kit()["engine"].__name__ == "safegym.check.neural.bounds.engine"


@pytest.mark.parametrize("mutation", QUICK, ids=lambda each: each[0])
def test_a_fault_of_the_first_dozen_is_found(mutation: Mutation) -> None:
    _, module, old, new = mutation
    with mutant(module, old, new) as kit:
        assert failures(kit, first_only=True)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MORE, ids=lambda each: each[0])
def test_each_further_fault_is_found(mutation: Mutation) -> None:
    _, module, old, new = mutation
    with mutant(module, old, new) as kit:
        assert failures(kit, first_only=True)
