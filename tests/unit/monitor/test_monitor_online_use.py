"""The online monitor as a user meets it (its agreement with offline: tests/agreement)."""

from types import MappingProxyType

import numpy as np
import pytest

from safegym.check.monitor import Monitor, compiled, robustness
from safegym.errors import TraceError
from safegym.formula.build import all_of, always, any_of, eventually, fraction
from safegym.formula.claim import Claim
from safegym.formula.functions import cos, exp, maximum, minimum, norm, sin, sqrt
from safegym.formula.terms import Signal
from safegym.formula.text import parse
from safegym.trace.model import Trace

X, Y = Signal("x"), Signal("y")
MODES: tuple[compiled.Mode, ...] = ("numpy", "numba")


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


@pytest.mark.parametrize("exact", [False, True])
def test_a_refused_sample_leaves_the_state_as_it_was(exact: bool) -> None:
    monitor = Monitor(always(X * 1e300 <= 2e300), dt="0.1", batch=2, exact=exact)
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


def test_a_refused_sample_names_claim_signal_episode_sample_and_value() -> None:
    claim = Claim(id="robot.near", statement=always(Signal("exp_arg") * X > 0))
    monitor = Monitor(claim, dt="0.1", batch=2)
    monitor.update({"x": np.ones(2), "exp_arg": np.ones(2)})
    told = r"Claim robot\.near: Signal x is not finite at sample 1 of episode 1 \(-inf\)"
    with pytest.raises(TraceError, match=told):
        monitor.update({"x": np.array([1.0, -np.inf]), "exp_arg": np.ones(2)})
    told = r"Claim robot\.near: The term exp_arg \* x has no finite value at sample 1 of episode 0"
    with pytest.raises(TraceError, match=told):
        monitor.update({"x": np.array([1e300, 1.0]), "exp_arg": np.array([1e300, 1.0])})


def test_a_refused_first_sample_does_not_fix_a_vectors_length() -> None:
    monitor = Monitor(parse("always(x[1] > 1)"), "0.1", batch=1)
    with pytest.raises(TraceError, match="not finite"):
        monitor.update({"x": [[2.0, 2.0, np.nan]]})
    assert monitor.update({"x": [[2.0, 2.0]]}).episode.hi.tolist() == [1.0]


def test_terms_are_computed_as_offline_to_the_last_bit() -> None:
    p, draw = Signal("p", shape=(3,)), np.random.default_rng(3).normal
    data = {"x": draw(size=200), "y": draw(size=200), "p": draw(size=(200, 3))}
    body = all_of(
        [
            minimum(X * Y, X - Y, -X) < abs(X + 2 * Y) / 3,
            norm(p) * sqrt(abs(X)) <= exp(sin(Y)) + cos(p[0]),
            maximum(p[0], p[1], p[2]) / 7 > -0.1,
        ]
    )
    formula = any_of([always(body), always(body, lasting=3)])
    samples = [{name: np.roll(data[name], k, axis=0) for name in data} for k in range(5)]
    for mode in MODES:
        with compiled.use(mode):
            monitor = Monitor(formula, dt=1, batch=200)
            found = [monitor.update(sample) for sample in samples][-1].episode
        for row in range(0, 200, 17):
            arrays = {name: np.stack([each[name][row] for each in samples]) for name in data}
            low, high = robustness(formula, Trace.from_arrays(arrays, dt=1, end="interrupted"))
            assert (low[0], high[0]) == (found.lo[row], found.hi[row])


def test_a_scale_too_small_for_a_margin_keeps_the_truth() -> None:
    far = Signal("far", scale=1e300)
    for comparison, wanted in ((far > 0, "satisfied"), (far < 0, "violated")):
        monitor = Monitor(always(comparison, lasting=0), dt=1)
        status, low, high = monitor.update({"far": np.array([1e-30])}).episode
        assert (status[0], low[0], high[0]) == (wanted, 0.0, 0.0)


def test_margins_that_do_not_compare_are_refused_and_truth_is_told() -> None:
    formula = always((Signal("a", "m") > 0) & (Signal("b", "s") > 0), lasting=0)
    outcome = Monitor(formula, dt=1).update({"a": [1.0], "b": [-1.0]}).episode
    assert (outcome.status[0], outcome.lo, outcome.hi) == ("violated", None, None)
    assert tuple(outcome)[1:] == (None, None)


@pytest.mark.parametrize("bad", [np.ones((1, 1)), np.ones(2), np.float64(1.0), np.ones(0), None])
def test_one_episodes_sample_has_shape_1(bad: object) -> None:
    monitor = Monitor((X > 0) & (Y > 0), dt="0.1")
    with pytest.raises(TraceError, match=r"must be \(1,\)|real numbers"):
        monitor.update({"x": np.ones(1), "y": bad})  # type: ignore[dict-item]  # on purpose
    with pytest.raises(TraceError, match="lacks"):
        monitor.update({"x": np.ones(1)})
    for good in (np.ones(1), [1.0], np.ones(1, np.int8), np.ones(1, bool)):
        assert monitor.update({"x": np.ones(1), "y": good}).episode.status[0] == "satisfied"
        monitor.reset()


def test_an_update_stays_what_it_was_when_the_next_sample_comes() -> None:
    monitor = Monitor(always(X > 0), dt="0.1")
    first = monitor.update({"x": np.array([2.0])})
    second = monitor.update({"x": np.array([-1.0])})
    assert (first.episode.hi[0], second.episode.hi[0]) == (2.0, -1.0)
    assert "inconclusive" in repr(first)


def test_a_sample_may_be_a_mapping_of_any_kind_and_of_any_real_numbers() -> None:
    monitor = Monitor(always(X > 0), dt="0.1", batch=2)
    for sample in (
        {"x": [1, 2]},
        {"x": np.array([1, 2], np.int32)},
        {"x": np.array([1.0, 2.0], np.float32)},
        MappingProxyType({"x": (True, 2)}),
        {"x": np.array([1.0, 9.0, 2.0])[::2]},
    ):
        assert monitor.update(sample).episode.hi.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("exact", [False, True])
def test_delayed_is_settled_at_the_horizon(exact: bool) -> None:
    monitor = Monitor(eventually(X > 0, window=("0.1", None)), "0.1", horizon=2, exact=exact)
    found = []
    for value in (5.0, -1.0, -2.0, -3.0):
        status, low, high = monitor.update({"x": np.array([value])}).delayed
        found.append((str(status[0]), low[0], high[0]))
    assert found == [
        ("inconclusive", -np.inf, np.inf),
        ("inconclusive", -1.0, np.inf),
        ("violated", -2.0, -2.0),
        ("inconclusive", -np.inf, np.inf),
    ]


def test_a_state_of_another_layout_is_refused() -> None:
    saved = Monitor(always(X > 0, lasting="0.2"), dt="0.1", batch=2).__getstate__()
    for state in ({"layout": 1}, {"words": np.zeros(3, np.int64)}):
        with pytest.raises(TraceError, match="saved by another version of safegym"):
            Monitor.__new__(Monitor).__setstate__({**saved, "state": {**saved["state"], **state}})
