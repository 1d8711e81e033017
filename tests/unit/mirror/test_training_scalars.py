"""The numbers of a training's events, each checked against what it is made from."""

import math

import pytest
from told_events import decided, epoch_ended, evidence, screen, short_run

from safegym.check.statistics.intervals import interval
from safegym.gate.events import AttemptClosed, EpisodeJudged
from safegym.gate.mirror.scalars import Scalars
from safegym.gate.trainer.events import RunStarted, ViolationFound


def told(events):
    """Tag -> [(steps, value)], as a mirror would hold them."""
    scalars, found = Scalars(), {}
    for event in events:
        for name, value in scalars.of(event).items():
            found.setdefault(name, []).append((scalars.steps, value))
    return found


def test_a_run_tells_its_return_rates_weights_bank_and_decisions_at_environment_steps():
    found = told(short_run())
    assert found["training/mean_return"] == [(200, -4.0), (300, 6.0)]
    assert found["training/violation_rate/cart.upright"] == [(200, 0.25)]
    assert found["penalty/weight/cart.upright"] == [(200, 4.5), (400, 4.5)]
    assert found["replay/bank"] == [(200, 7.0), (400, 7.0)]
    assert found["reward/alive"] == [(200, 1.5), (400, 1.5)]
    assert found["gate/decision"] == [(200, 0.0), (400, 1.0)]
    assert found["screen/margin_lowest/cart.upright"] == [(200, -0.5), (400, 0.25)]
    assert found["certify/bound_upper/cart.upright"] == [(400, 0.09)]
    assert (found["suite/failed"], found["burst/finds"]) == ([(400, 0.0)], [(400, 2.0)])


def test_a_screens_interval_is_one_that_holds_wherever_the_screen_stopped():
    found = told([RunStarted(50, 100), screen(1, 2, 20)])
    low, high = interval(2, 20, confidence=0.95, method="beta-mixture")
    assert found["screen/violation_rate/cart.upright"] == [(50, 0.1)]
    assert found["screen/violation_rate_low/cart.upright"] == [(50, low)]
    assert found["screen/violation_rate_high/cart.upright"] == [(50, high)]
    assert 0.0 < low < 0.1 < high < 1.0


def test_a_baselines_screen_stands_under_its_own_name():
    found = told([screen(0, 1, 10, label="guidance")])
    assert found["baseline/guidance/violation_rate/cart.upright"] == [(0, 0.1)]
    assert not any(name.startswith("screen/") for name in found)


def test_the_worst_margin_of_an_epoch_is_its_lowest_finite_one_and_begins_anew():
    def hit(margin):
        return ViolationFound("cart.upright", None, 3, margin, 0, 1)

    margins = [hit(-0.1), hit(-0.7), hit(-math.inf), hit(None), hit(-0.2)]
    found = told([*margins, epoch_ended(1, 100), hit(-0.05), epoch_ended(2, 200)])
    assert found["training/worst_margin/cart.upright"] == [(100, -0.7), (200, -0.05)]


def test_a_refuted_claims_limit_is_a_lower_one():
    refuted = evidence(status="violated", bound=0.2, side="lower")
    found = told([AttemptClosed(1, "refuted", (), (refuted,))])
    assert found["certify/bound_lower/cart.upright"] == [(0, 0.2)]
    assert found["certify/certified"] == [(0, 0.0)]


@pytest.mark.parametrize(
    ("action", "value"), [("promote", 1.0), ("hold", 0.0), ("rollback", -1.0), ("stop", -2.0)]
)
def test_each_decision_has_its_own_number(action, value):
    assert told([decided(1, action)])["gate/decision"] == [(0, value)]


def test_single_episodes_of_a_gate_tell_nothing():
    assert told([EpisodeJudged("screen", 1, 10, 0, 0)]) == {}
