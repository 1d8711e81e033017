"""Disturbances: their pieces, their declaration, and their place in the digest."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scenario_models import walk

from safegym.scenario import fingerprint
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter

GUST = Disturbance("gust", "N", -1.0, 2.0, 4)
MASS = Parameter("mass", "kg", 1.0, 2.0, 1.5)


@pytest.mark.parametrize(("pieces", "horizon"), [(1, 7), (4, 40), (3, 40), (7, 40), (40, 40)])
def test_the_pieces_are_equal_stretches_in_order_to_within_a_step(pieces, horizon):
    channel = replace(GUST, pieces=pieces)
    acting = [channel.piece_at(step, horizon) for step in range(horizon)]
    assert acting == sorted(acting)
    lengths = Counter(acting)
    assert set(lengths) == set(range(pieces))
    assert max(lengths.values()) - min(lengths.values()) <= 1


def test_past_the_horizon_the_last_piece_goes_on():
    assert [GUST.piece_at(step, 40) for step in (39, 40, 4000)] == [3, 3, 3]


def test_a_trace_names_the_pieces_by_their_number():
    assert GUST.piece_names == ("gust[0]", "gust[1]", "gust[2]", "gust[3]")


def test_a_schedule_is_what_piece_at_says_at_every_step():
    inputs = Inputs(40, disturbances=(replace(GUST, pieces=7),))
    values = [0.1 * piece for piece in range(7)]
    drawn = inputs.draw(np.random.default_rng(0), {"disturbances": {"gust": values}})
    expected = tuple(values[replace(GUST, pieces=7).piece_at(step, 40)] for step in range(40))
    assert drawn.schedule("gust") == expected
    assert drawn.schedule("other") is None


@pytest.mark.parametrize(
    ("changes", "issue"),
    [
        ({"disturbances": (replace(GUST, low=3.0),)}, "Disturbance gust has low 3.0, neutral 0.0"),
        ({"disturbances": (replace(GUST, neutral=5.0),)}, "low <= neutral <= high"),
        ({"disturbances": (replace(GUST, high=float("inf")),)}, "they must be finite"),
        ({"disturbances": (replace(GUST, neutral=float("nan")),)}, "they must be finite"),
        ({"disturbances": (replace(GUST, pieces=0),)}, "a whole number from 1 to 40"),
        ({"disturbances": (replace(GUST, pieces=41),)}, "has 41 pieces; with a horizon of 40"),
        ({"disturbances": (replace(GUST, pieces=2.0),)}, "has 2.0 pieces"),
        ({"disturbances": (GUST, GUST)}, "'gust' is declared 2 times (disturbance, disturbance)"),
        (
            {"disturbances": (GUST,), "faults": (replace(MASS, name="gust"),)},
            "'gust' is declared 2 times (fault, disturbance)",
        ),
        (
            {"parameters": (MASS,), "faults": (MASS,)},
            "'mass' is declared 2 times (parameter, fault)",
        ),
        ({"disturbances": (replace(GUST, name="gust[0]"),)}, "needs a name of letters, digits"),
        ({"parameters": (replace(MASS, name="m/s"),)}, "The parameter 'm/s' needs a name of"),
        ({"parameters": (replace(MASS, role="start"),)}, "has role 'start'; write 'parameter' or"),
    ],
)
def test_each_mistake_in_an_input_is_an_issue_in_words(changes, issue):
    found = replace(walk(), **changes).validate()
    assert any(issue in each for each in found), found


def test_sound_inputs_have_no_issues():
    spec = walk(parameters=(MASS,), faults=(replace(MASS, name="loss"),), disturbances=(GUST,))
    assert spec.validate() == []


def test_a_disturbance_and_each_of_its_numbers_are_in_the_digest_but_not_its_meaning():
    plain, pushed = walk(), walk(disturbances=(GUST,))
    changes = (
        {"name": "wind"},
        {"unit": "kN"},
        {"low": -2.0},
        {"high": 3.0},
        {"pieces": 5},
        {"neutral": 1.0},
    )
    others = [walk(disturbances=(replace(GUST, **change),)) for change in changes]
    digests = {spec.digest for spec in (plain, pushed, *others)}
    assert len(digests) == 2 + len(changes)
    assert walk(disturbances=(replace(GUST, meaning="wind"),)).digest == pushed.digest


def test_a_role_is_in_the_digest_only_where_it_is_not_the_ordinary_one():
    ordinary = walk(parameters=(MASS,))
    initial = walk(parameters=(replace(MASS, role="initial"),))
    assert ordinary.digest != initial.digest


def test_a_scenario_without_the_new_declarations_keeps_its_digest(monkeypatch):
    seen = []
    monkeypatch.setattr(fingerprint, "digest_json", lambda document: seen.append(document) or "d")
    walk(parameters=(MASS,))
    assert set(seen[0]) == {
        *("name", "make_env", "read_signals", "sources", "parameters", "faults", "signals"),
        *("claims", "horizon", "dt", "start", "terminals", "tail", "versions"),
    }
    assert seen[0]["parameters"] == [["mass", "kg", "1.0", "2.0", "1.5"]]


def test_a_parameter_without_a_default_rests_at_its_lower_end():
    assert MASS.resting == 1.5
    assert replace(MASS, default=None).resting == 1.0
