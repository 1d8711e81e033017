"""The online monitor as a user meets it (its agreement with offline: tests/agreement)."""

import time

import numpy as np
import pytest

from safegym.check.monitor import Monitor
from safegym.errors import TraceError
from safegym.formula.build import always, eventually, fraction, once
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal

X = Signal("x")


def test_episode_and_delayed_unpack_as_status_lo_hi() -> None:
    monitor = Monitor(always((X > 1).implies(eventually(X < 0, within="0.2"))), dt="0.1", batch=2)
    assert monitor.look_ahead == 2
    for values in ([0, 2], [0, 2], [0, 2]):
        update = monitor.update({"x": np.array(values, float)})
    status, lo, hi = update.episode
    assert status.tolist() == ["inconclusive", "violated"]
    assert hi.tolist() == [1.0, -1.0]
    assert lo.tolist() == [-np.inf, -np.inf]
    assert update.delayed.status.tolist() == ["inconclusive", "violated"]


def test_reset_by_mask_starts_a_new_episode_there_only() -> None:
    monitor = Monitor(always(X > 0), dt="0.1", batch=2)
    monitor.update({"x": [-1.0, -1.0]})
    monitor.reset([True, False])
    assert monitor.update({"x": [1.0, 1.0]}).episode.status.tolist() == ["inconclusive", "violated"]
    assert monitor.steps.tolist() == [0, 1]


def test_the_declared_horizon_closes_the_episode() -> None:
    monitor = Monitor(always(X > 0), dt="0.1", batch=1, horizon=1)
    assert monitor.update({"x": [1.0]}).episode.status[0] == "inconclusive"
    assert monitor.update({"x": [2.0]}).episode.status[0] == "satisfied"
    assert monitor.update({"x": [-1.0]}).episode.status[0] == "satisfied"


def test_a_claim_and_a_share_can_be_monitored() -> None:
    claim = Claim(id="a.b", statement=fraction(X > 0) >= 0.5)
    monitor = Monitor(claim, dt="0.1", batch=1, horizon=3)
    for value in (-1.0, -1.0, -1.0):
        update = monitor.update({"x": [value]})
    assert update.episode.status[0] == "violated"
    assert update.delayed.status[0] == "inconclusive"


def test_a_refused_sample_leaves_the_state_as_it_was() -> None:
    monitor = Monitor(always(X * 1e300 <= 2e300), dt="0.1", batch=2)
    monitor.update({"x": [1.0, 1.0]})
    for bad, words in (
        ({"x": [1.0, np.nan]}, "not finite at sample 1 of episode 1"),
        ({"x": [1.0]}, "shape"),
        ({"y": [1.0, 1.0]}, "lacks"),
        ({"x": [1.0, 1e300]}, "no finite value"),
    ):
        with pytest.raises(TraceError, match=words):
            monitor.update(bad)
    update = monitor.update({"x": [3.0, 1.0]})
    assert monitor.steps.tolist() == [1, 1]
    assert update.episode.status.tolist() == ["violated", "inconclusive"]


@pytest.mark.parametrize("arguments", [{"batch": 0}, {"horizon": 0}])
def test_a_monitor_that_makes_no_sense_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(TraceError, match="at least 1"):
        Monitor(always(X > 0), "0.1", **arguments)
    with pytest.raises(
        TraceError, match=r"has shape \(1,\); it must be truth values of shape \(2,\)"
    ):
        Monitor(always(X > 0), "0.1", 2).reset([True])


def test_an_update_costs_the_same_late_in_a_long_episode() -> None:
    formula = always((X > 2).implies(eventually(X < 0, within="1"))) & always(once(X < 9))
    monitor = Monitor(formula, dt="0.1", batch=4)

    def cost(updates: int) -> float:
        times = []
        for _ in range(updates):
            begun = time.process_time()
            monitor.update({"x": np.ones(4)})
            times.append(time.process_time() - begun)
        return float(np.median(times))

    cost(60)
    early = cost(100)
    cost(2000)
    assert cost(100) < 3 * early
