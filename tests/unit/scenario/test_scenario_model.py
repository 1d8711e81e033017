"""Models that do not fit are found out."""

from dataclasses import replace

import numpy as np
import pytest
from scenario_models import follower, walk

from safegym.errors import UnsupportedError
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.model import DifferentiableModel, deviations, model_of, simulate
from safegym.scenario.record import record


def still(xp, state, *rest):
    return state


MODEL = DifferentiableModel(
    start=lambda xp, parameters: (0.0,), step=still, signals=still, observe=still
)


def test_a_scenario_without_a_model_says_what_to_declare():
    with pytest.raises(
        UnsupportedError, match=r"test/walk-v0 has no differentiable model.*Scenari"
    ):
        model_of(walk())


def test_a_model_is_no_part_of_the_digest():
    assert walk(model=MODEL).digest == walk().digest
    assert model_of(walk(model=MODEL)) is MODEL


def test_a_wrong_model_deviates_by_as_much_as_it_is_wrong():
    trace = record(walk(), follower(), 7)
    found = deviations(walk(model=MODEL), trace)
    assert found == {"level": float(np.abs(trace.signals["level"]).max())}
    assert found["level"] > 0.0


def test_the_model_is_given_each_step_the_piece_that_acts():
    gust = Disturbance("gust", "N", -1.0, 1.0, 4)
    seen = []

    def step(xp, state, action, parameters, pushes, k):
        seen.append((k, pushes["gust"], action))
        return state

    spec = walk(model=replace(MODEL, step=step), disturbances=(gust,))
    rows = simulate(spec, np, {}, {"gust": (1, 2, 3, 4)}, lambda k, observation: -k, 40)
    assert len(rows) == 41
    assert [push for _, push, _ in seen] == np.repeat([1, 2, 3, 4], 10).tolist()
    assert [action for *_, action in seen] == [-k for k in range(40)]
