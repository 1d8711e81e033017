"""The trace: validation, copies, digests, equality, pickling."""

import copy
import hashlib
import pickle

import numpy as np
import pytest
import rfc8785
from hypothesis import given, settings
from trace_strategies import traces

from safegym.errors import TraceError
from safegym.trace import Clock, EpisodeEnd, Event, Trace
from safegym.trace.batch import TraceBatch
from safegym.trace.canonical import header_bytes, named_arrays

law = settings(deadline=None, derandomize=True, max_examples=60)
X = {"x": [0.0, 1.0, 2.0]}


def make(signals=None, **changes):
    return Trace.from_arrays(signals or X, **{"dt": "0.1", **changes})


def test_a_trace_keeps_what_it_was_given():
    trace = make({"x": [1, 2, 3], "p": np.ones((3, 2))}, horizon=2, seed=5, reason="done")
    assert trace.steps == 2
    assert trace.signals["x"].dtype == np.float64
    assert trace.signals["p"].shape == (3, 2)
    assert trace.end == EpisodeEnd("horizon", 0.2, "done")
    assert trace.times.tolist() == [0.0, 0.1, 0.2]
    assert trace.actions.shape == (2, 0)
    assert trace.validate() == ()


def test_arrays_are_copies_that_cannot_be_written():
    x = np.zeros(3)
    trace = make({"x": x})
    x[0] = 7.0
    assert trace.signals["x"][0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        trace.signals["x"][0] = 1.0
    with pytest.raises(TypeError):
        trace.signals["y"] = x  # type: ignore[index]  # the point of the test
    with pytest.raises(AttributeError):
        trace.seed = 3  # type: ignore[misc]  # the point of the test


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"signals": {"x": [0.0, np.nan, 1.0]}}, "Signal x is not finite at index 1"),
        ({"signals": {"x": [0.0, -np.inf]}}, "Signal x is not finite at index 1"),
        ({"signals": {"x": [0.0, 1.0], "y": [0.0]}}, r"Signal y has shape \(1,\)"),
        ({"signals": {"x": np.zeros((2, 2, 2))}}, r"must be \(2,\) or \(2, d\)"),
        ({"signals": {"x": np.zeros((2, 0))}}, "Signal x has shape"),
        ({"signals": {"x": ["a", "b"]}}, "Signal x is not an array of real numbers"),
        ({"signals": {"x": [1j, 2j]}}, "Signal x is not an array of real numbers"),
        ({"signals": {"x": [2**60 + 1, 0]}}, "cannot hold exactly"),
        ({"signals": {"a b": [0.0]}}, "A signal is named 'a b'"),
        ({"signals": {"": [0.0]}}, "A signal is named ''"),
        ({"signals": {"x": []}}, "Signal x has no samples"),
        ({"signals": {"x": 3.0}}, "Signal x has shape"),
        ({"actions": [[1.0]]}, r"array of actions has shape \(1, 1\)"),
        ({"actions": [[1.0], [np.nan]]}, "array of actions is not finite at index 1"),
        ({"actions": [["a"], ["b"]]}, "elements of type"),
        ({"rewards": [1.0, np.inf]}, "array of rewards is not finite at index 1"),
        ({"rewards": [1.0]}, "Signal x has shape"),
        ({"rewards": np.zeros((2, 1))}, "its shape must be"),
        ({"observations": np.zeros((2, 4))}, "array of observations has shape"),
        ({"observations": [[0.0], [0.0], [np.nan]]}, "observations is not finite at index 2"),
        ({"end": "crashed"}, "The end is 'crashed'; it must be one of absorbed, failed"),
        ({"horizon": 3}, "T = 2 steps and its horizon is 3"),
        ({"horizon": 0}, "it must be at least 1"),
        ({"horizon": 1.5}, "horizon is 1.5; write a whole number"),
        ({"end": EpisodeEnd("failed", 0.3)}, r"The end is at 0.3 s, but .* is at 0.2 s"),
        ({"events": [Event(3, "fault")]}, "Event 'fault' is at step 3, outside 0..2"),
        ({"parameters": {"mass": np.nan}}, "Parameter mass is nan"),
        ({"parameters": {"mass": "heavy"}}, "A parameter is not a number"),
        ({"seed": 1.0}, "seed is 1.0; write a whole number"),
        ({"seed": True}, "seed is True"),
        ({"reason": "\ud800", "end": "failed"}, "cannot be encoded"),
        ({"dt": "-1"}, "dt"),
    ],
)
def test_a_malformed_trace_is_refused_and_says_why(changes, words):
    with pytest.raises(TraceError, match=words):
        make(**changes)


def test_a_trace_without_signals_is_refused():
    with pytest.raises(TraceError, match="at least one signal"):
        Trace.from_arrays({}, dt="0.1")


def test_only_the_kind_horizon_needs_the_horizon_to_be_reached():
    for kind in ("absorbed", "failed", "interrupted", "cut"):
        assert make(end=kind, horizon=10).end.kind == kind
    assert make(end="horizon", horizon=1).steps == 2  # a tail


def test_huge_finite_numbers_are_finite_and_give_no_warning():
    assert make({"x": [1e308, -1e308, 1e200]}).signals["x"][0] == 1e308


def test_zero_and_minus_zero_are_different_content():
    assert make({"x": [0.0]}) != make({"x": [-0.0]})


@pytest.mark.parametrize(
    "changes",
    [
        {"signals": {"y": [0.0, 1.0, 2.0]}},
        {"signals": {"x": [0.0, 1.0, np.nextafter(2.0, 3.0)]}},
        {"dt": "0.2"},
        {"start": 1},
        {"end": "failed"},
        {"reason": "why"},
        {"horizon": 2},
        {"seed": 1},
        {"disturbance_seed": 1},
        {"rewards": [0.0, 1.0]},
        {"actions": np.zeros((2, 1))},
        {"actions": np.zeros(2)},
        {"actions": np.zeros(2, dtype=np.float32)},
        {"observations": np.zeros((3, 1))},
        {"parameters": {"m": 1.0}},
        {"events": [Event(0, "fault")]},
        {"versions": {"mujoco": "3"}},
        {"units": {"x": "m"}},
        {"gaps": [(1, 1)]},
        {"scenario_digest": "sha256:1"},
        {"policy_digest": "sha256:1"},
    ],
)
def test_every_field_is_in_the_digest(changes):
    assert make(**changes).digest != make().digest


def test_the_order_of_signals_is_not_content():
    a, b = [0.0, 1.0], [2.0, 3.0]
    assert make({"a": a, "b": b}) == make({"b": b, "a": a})


def test_a_wrong_digest_is_refused():
    fields = {name: getattr(make(), name) for name in Trace.__slots__}
    assert Trace(**fields) == make()
    with pytest.raises(TraceError, match="it was changed after it was recorded"):
        Trace(**{**fields, "seed": 9})


def test_memory_that_was_changed_is_noticed():
    trace = make()
    trace.signals["x"].flags.writeable = True
    trace.signals["x"][1] = 5.0
    assert "does not have the digest" in trace.validate()[0]
    trace.signals["x"][1] = np.nan
    assert "not finite" in trace.validate()[0]


def test_equality_is_by_digest():
    assert make() == make()
    assert len({make(), make(), make(seed=2)}) == 2
    assert make() != "a trace"
    assert copy.copy(make()) == copy.deepcopy(make()) == make()
    assert "T=2, dt=1/10 s, horizon" in repr(make())


@law
@given(traces())
def test_pickling_gives_an_equal_read_only_trace(trace):
    back = pickle.loads(pickle.dumps(trace))
    assert back == trace
    assert back.actions.dtype == trace.actions.dtype
    assert not any(values.flags.writeable for values in back.signals.values())


@law
@given(traces())
def test_the_digest_is_that_of_an_independent_encoder(trace):
    """Second opinion: RFC 8785 bytes and struct-free array bytes, hashed in one go."""
    arrays = {"actions": trace.actions, "rewards": trace.rewards}
    arrays |= {f"signals/{name}": values for name, values in trace.signals.items()}
    if trace.observations is not None:
        arrays["observations"] = trace.observations
    more = {}
    if trace.unseen:
        more["gaps"] = {name: [[a, b] for a, b in gaps] for name, gaps in trace.unseen.items()}
    if trace.resampling:
        more["resampling"] = {name: r.to_json() for name, r in trace.resampling.items()}
    header = rfc8785.dumps(
        {
            **more,
            "format": "safegym-trace-1",
            "scenario": trace.scenario_digest,
            "policy": trace.policy_digest,
            "seed": str(trace.seed),
            "dt": str(trace.clock.dt),
            "start": str(trace.clock.start),
            "horizon": trace.horizon,
            "end": [trace.end.kind, trace.end.time.hex(), trace.end.reason],
            "parameters": {k: v.hex() for k, v in trace.parameters.items()},
            "disturbance_seed": str(trace.disturbance_seed),
            "events": [[e.step, e.kind, e.detail] for e in trace.events],
            "versions": dict(trace.versions),
            "arrays": [
                [name, arrays[name].dtype.str[1:], list(arrays[name].shape)]
                for name in sorted(arrays)
            ],
        }
    )
    body = b"".join(
        arrays[name].astype(arrays[name].dtype.newbyteorder("<")).tobytes()
        for name in sorted(arrays)
    )
    whole = len(header).to_bytes(8, "little") + header + body
    assert header == header_bytes(trace, named_arrays(trace))
    assert trace.digest == "sha256:" + hashlib.sha256(whole).hexdigest()


def test_a_trace_of_one_sample_is_a_trace():
    trace = Trace.from_arrays({"x": [0.5]}, dt=Clock.parse("1/3").dt, end="interrupted")
    assert trace.steps == 0
    assert trace.end.time == 0.0


def test_what_is_no_mapping_is_refused_in_words():
    with pytest.raises(TraceError, match="signals is a list; write a mapping, such as"):
        Trace.from_arrays([0.0, 1.0], dt="0.1")
    with pytest.raises(TraceError, match="units is a list; write a mapping"):
        Trace.from_arrays({"x": [0.0]}, dt="0.1", units=["m"])
    with pytest.raises(TraceError, match="resampling is a list; write a mapping"):
        Trace.from_arrays({"x": [0.0]}, dt="0.1", resampling=["x"])
    with pytest.raises(TraceError, match="signals is a list"):
        TraceBatch.from_arrays([[0.0]], dt="0.1")
    with pytest.raises(TraceError, match="units is a list"):
        TraceBatch.from_arrays({"x": [[0.0]]}, dt="0.1", units=["m"])
    with pytest.raises(TraceError, match="not an array of real numbers"):
        Trace.from_arrays({"x": [[0.0], [0.0, 1.0]]}, dt="0.1")


def test_a_value_under_a_mask_is_no_reading():
    """What a masked array hides would otherwise be judged as if it had been seen."""
    hidden = np.ma.array([0.0, 9.0, 0.0], mask=[0, 1, 0])
    with pytest.raises(TraceError, match=r"Signal x is masked at index 1.*gaps="):
        Trace.from_arrays({"x": hidden}, dt="0.1")
    with pytest.raises(TraceError, match="Signal x is masked at index 0, 1"):
        TraceBatch.from_arrays({"x": hidden[None]}, dt="0.1")
    with pytest.raises(TraceError, match="array of actions is masked at index 1"):
        Trace.from_arrays({"x": [0.0] * 4}, dt="0.1", actions=hidden)
    bare = np.ma.array([0.0, 9.0], mask=False)
    assert Trace.from_arrays({"x": bare}, dt="0.1").signals["x"].tolist() == [0.0, 9.0]
