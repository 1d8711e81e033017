"""Batches of episodes: made, refused, and judged together."""

from fractions import Fraction

import numpy as np
import pytest

from safegym.check.monitor.judge_batch import judge_batch
from safegym.check.monitor.robustness import robustness, satisfaction
from safegym.errors import TraceError, UnitError, UnsupportedError
from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.nodes import Fraction as Share
from safegym.formula.terms import Apply, Signal
from safegym.formula.text import parse
from safegym.trace.batch import TraceBatch
from safegym.trace.model import Trace

X = Signal("x")
SOON = eventually(X > 1, within=2)


def test_a_batch_answers_at_every_sample_of_every_episode() -> None:
    batch = TraceBatch.from_arrays({"x": [[0, 2, 0, 0], [0, 0, 0, 3]]}, dt=1, end="cut")
    low, high = robustness(SOON, batch)
    assert low.tolist() == [[1, 1, -1, -1], [-1, 2, 2, 2]]
    assert high is low
    must, may = satisfaction(SOON, batch)
    assert must.tolist() == [[True, True, False, False], [False, True, True, True]]
    assert may is must


def test_answers_are_read_only() -> None:
    batch = TraceBatch.from_arrays({"x": [[0.0, 2.0]]}, dt=1)
    for found in (*robustness(SOON, batch), *satisfaction(SOON, batch)):
        with pytest.raises(ValueError, match="read-only"):
            found[0, 0] = 0


def test_what_lies_past_a_length_is_never_read() -> None:
    x = np.array([[0.0, 2.0, np.nan, np.inf], [0.0, 0.0, 0.0, 3.0], [5.0, np.nan, np.nan, np.nan]])
    batch = TraceBatch.from_arrays({"x": x}, dt=1, end="cut", lengths=[2, 4, 1])
    low, _ = robustness(SOON, batch)
    np.testing.assert_array_equal(
        low, [[1, 1, np.nan, np.nan], [-1, 2, 2, 2], [4, np.nan, np.nan, np.nan]]
    )
    must, may = satisfaction(SOON, batch)
    assert must.tolist()[0] == [True, True, False, False]
    assert may.tolist()[2] == [True, False, False, False]


def test_a_term_is_not_worked_out_past_a_length() -> None:
    x = np.array([[4.0, -1.0, -1.0], [1.0, 4.0, 9.0]])
    batch = TraceBatch.from_arrays({"x": x}, dt=1, lengths=[1, 3])
    root = Apply("sqrt", (X,))
    assert robustness(always(root >= 1), batch)[0][:, 0].tolist() == [1.0, 0.0]


def test_each_episode_ends_as_it_did() -> None:
    kinds = ["absorbed", "failed", "horizon", "interrupted", "cut"]
    x = np.full((5, 3), 2.0)
    hold = always(X > 1, lasting=5)
    must, may = satisfaction(hold, TraceBatch.from_arrays({"x": x}, dt=1, end=kinds))
    assert must[:, 0].tolist() == [True, False, False, False, True]
    assert may[:, 0].tolist() == [True, False, True, True, True]


def test_vectors_have_their_components_last() -> None:
    p = np.arange(12.0).reshape(2, 3, 2)
    batch = TraceBatch.from_arrays({"p": p}, dt=1, lengths=[3, 2], end="cut")
    low, _ = robustness(always(Signal("p", shape=(2,))[1] >= 0), batch)
    np.testing.assert_array_equal(low, [[1, 3, 5], [7, 9, np.nan]])


def test_a_share_has_one_answer_at_all_samples() -> None:
    batch = TraceBatch.from_arrays({"x": [[0, 2, 2, 2], [0, 2, 9, 9]]}, dt=1, lengths=[4, 2])
    low, high = robustness(Share(X > 1, ">=", 0.75), batch)
    np.testing.assert_array_equal(low, [[0] * 4, [-0.25, -0.25, np.nan, np.nan]])
    np.testing.assert_array_equal(low, high)
    must, _ = satisfaction(Share(X > 1, ">=", 0.75), batch)
    assert must.tolist() == [[True] * 4, [False] * 4]


def test_units_are_converted_as_for_one_trace() -> None:
    speed = Signal("v", unit="m/s")
    batch = TraceBatch.from_arrays({"v": [[3.6, 36.0]]}, dt=1, units={"v": "km/h"})
    assert robustness(speed <= 20, batch)[0].tolist() == [[19.0, 10.0]]
    with pytest.raises(UnitError, match="v"):
        robustness(Signal("v", unit="m") <= 20, batch)


def test_verdicts_of_a_batch_name_the_episodes_traces() -> None:
    claim = Claim(id="x.low", statement=always(X < 1))
    batch = TraceBatch.from_arrays({"x": [[0.0, 0.5], [0.0, 2.0]]}, dt="0.5")
    found = judge_batch(claim, batch)
    assert [verdict.status for verdict in found] == ["satisfied", "violated"]
    assert [verdict.trace_digest for verdict in found] == [batch.trace(b).digest for b in (0, 1)]
    assert found[1].witness is not None
    assert found[1].witness.time == 0.5


def test_a_batch_of_traces_keeps_them() -> None:
    traces = [
        Trace.from_arrays({"x": [0.0] * (k + 1)}, dt="0.1", end="cut", start=k) for k in range(3)
    ]
    batch = TraceBatch.of(traces)
    assert len(batch) == 3
    assert batch.samples == 3
    assert batch.dt == Fraction(1, 10)
    assert batch.lengths.tolist() == [1, 2, 3]
    assert all(batch.trace(b) is traces[b] for b in range(3))


def test_a_batch_of_arrays_is_a_copy_and_read_only() -> None:
    x = np.zeros((2, 3))
    batch = TraceBatch.from_arrays({"x": x}, dt=1)
    x[0, 0] = 7.0
    assert batch.signals["x"][0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        batch.signals["x"][0, 0] = 1.0
    with pytest.raises(TypeError):
        batch.signals["y"] = x  # type: ignore[index]  # a mapping that cannot be written


@pytest.mark.parametrize(
    ("signals", "more", "message"),
    [
        ({}, {}, "at least one signal"),
        ({"x": [1.0, 2.0]}, {}, r"Signal x has shape \(2,\).*\(B, n\)"),
        ({"x": np.zeros((2, 0))}, {}, r"Signal x has shape \(2, 0\)"),
        ({"x": np.zeros((2, 3)), "y": np.zeros((2, 4))}, {}, r"Signal y has shape \(2, 4\)"),
        ({"x": [["a"]]}, {}, "Signal x is not an array of real numbers"),
        (
            {"x": [[0.0, 1.0], [0.0, np.nan]]},
            {},
            r"Signal x is not finite at sample 1 of episode 1 \(nan\).*lengths\[1\] = 1",
        ),
        ({"x": np.zeros((2, 3))}, {"lengths": [3, 0]}, "Episode 1 has length 0.*1 to 3"),
        ({"x": np.zeros((2, 3))}, {"lengths": [3, 4]}, "Episode 1 has length 4"),
        ({"x": np.zeros((2, 3))}, {"lengths": [3]}, "write 2 whole numbers"),
        ({"x": np.zeros((2, 3))}, {"lengths": [3.0, 1.0]}, "float64; write 2 whole numbers"),
        ({"x": np.zeros((2, 3))}, {"end": ["cut"]}, "1 kinds of end for 2 episodes"),
        ({"x": np.zeros((2, 3))}, {"end": ["cut", "over"]}, "end of episode 1 is 'over'"),
        ({"x": np.zeros((2, 3))}, {"horizon": 0}, "must be at least 1"),
        ({"x": np.zeros((2, 3))}, {"horizon": 2.5}, "horizon is 2.5; write a whole number"),
        ({"x": np.zeros((2, 3))}, {"horizon": True}, "horizon is True; write a whole number"),
        ({"a b": np.zeros((2, 3))}, {}, "named 'a b'; use letters, digits and underscores"),
        (
            {"x": np.zeros((2, 3))},
            {"horizon": 2, "lengths": [3, 2]},
            'episode 1 is "horizon", but it has T = 1 steps and the horizon is 2',
        ),
    ],
)
def test_a_batch_that_is_wrong_says_where(signals: object, more: object, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        TraceBatch.from_arrays(signals, dt=1, **more)  # type: ignore[arg-type]  # wrong on purpose


def test_traces_that_are_not_alike_are_refused() -> None:
    one = Trace.from_arrays({"x": [0.0]}, dt=1)
    with pytest.raises(TraceError, match="at least one trace"):
        TraceBatch.of([])
    with pytest.raises(TraceError, match="Trace 1 has dt = 2 s"):
        TraceBatch.of([one, Trace.from_arrays({"x": [0.0]}, dt=2)])
    with pytest.raises(TraceError, match="Trace 1 has signal x not at all"):
        TraceBatch.of([one, Trace.from_arrays({"y": [0.0]}, dt=1)])
    with pytest.raises(TraceError, match=r"signal x with components \(2,\)"):
        TraceBatch.of([one, Trace.from_arrays({"x": [[0.0, 1.0]]}, dt=1)])
    with pytest.raises(TraceError, match="has the units"):
        TraceBatch.of([one, Trace.from_arrays({"x": [0.0]}, dt=1, units={"x": "m"})])
    with pytest.raises(TraceError, match="Item 0 of a batch is a str"):
        TraceBatch.of("ab")  # type: ignore[arg-type]  # wrong on purpose


def test_a_batch_that_does_not_fit_the_formula_is_refused() -> None:
    batch = TraceBatch.from_arrays({"speed": [[0.0, 1.0]], "p": [[[1.0, 2.0]] * 2]}, dt=1)
    with pytest.raises(TraceError, match="did you mean speed"):
        robustness(Signal("sped") > 1, batch)
    with pytest.raises(TraceError, match=r"must have shape \(1, 2\); found \(1, 2, 2\)"):
        satisfaction(Signal("p") > 1, batch)
    root = Apply("sqrt", (Signal("speed") - 1,))
    with pytest.raises(TraceError, match="no finite value at sample 0"):
        robustness(root > 1, batch)
    many = TraceBatch.from_arrays({"speed": [[1.0, 1.0], [1.0, 0.0]]}, dt=1)
    with pytest.raises(TraceError, match="no finite value at sample 1 of episode 1"):
        robustness(root > 1, many)
    mixed = (Signal("speed", unit="m") > 1) & (Signal("q", unit="s") > 1)
    two = TraceBatch.from_arrays({"speed": [[0.0]], "q": [[0.0]]}, dt=1)
    with pytest.raises(UnsupportedError, match="No margins"):
        robustness(mixed, two)
    assert not satisfaction(mixed, two)[0].any()


def test_a_formula_in_text_is_told_how_to_be_read() -> None:
    with pytest.raises(TypeError, match="parse"):
        robustness("x > 1", TraceBatch.from_arrays({"x": [[0.0]]}, dt=1))  # type: ignore[arg-type]  # wrong on purpose


def test_one_trace_has_its_truth_at_every_sample() -> None:
    trace = Trace.from_arrays({"x": [0, 2, 0, 0]}, dt=1, end="horizon")
    must, may = satisfaction(parse("eventually[0,1](x > 1)"), trace)
    assert must.tolist() == [True, True, False, False]
    assert may.tolist() == [True, True, False, True]
