"""A trace as JSON: exact, readable, and refused where it is not sound."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_strategies import traces

from safegym.errors import TraceError
from safegym.trace import Event, Trace
from safegym.trace import document as document_module

law = settings(deadline=None, derandomize=True, max_examples=80)


def full():
    return Trace.from_arrays(
        {"x": [0.1, -0.0, 5e-324], "p": np.eye(3)},
        dt="1/240",
        seed=2**80,
        actions=np.array([[0.1], [0.2]], dtype=np.float32),
        rewards=[1 / 3, 2e-308],
        observations=np.zeros((3, 2, 2), dtype=np.uint8),
        parameters={"mass": 0.1},
        events=[Event(1, "fault", "mötor")],
        versions={"mujoco": "3.17"},
        horizon=2,
    )


@law
@given(traces())
def test_a_trace_survives_the_way_through_json(trace):
    document = trace.to_json()
    assert Trace.from_json(document) == trace
    assert Trace.from_json(json.loads(json.dumps(document))) == trace
    assert Trace.from_text(trace.to_text()) == trace
    assert Trace.from_text(trace.to_text().encode()) == trace


@law
@given(traces())
def test_a_document_without_its_digest_still_holds_the_whole_trace(trace):
    document = {name: value for name, value in trace.to_json().items() if name != "digest"}
    assert Trace.from_json(document) == trace


def test_the_text_is_valid_json_with_one_field_a_line():
    text = full().to_text()
    assert json.loads(text) == full().to_json()
    assert '\n  "dt": "1/240",\n' in text
    assert '"x": [0.1, -0.0, 5e-324]' in text


def test_a_trace_can_be_written_by_hand():
    text = '{"dt": "0.1", "end": "failed", "signals": {"x": [1, 2.5]}, "actions": [1]}'
    trace = Trace.from_text(text)
    assert trace.end.time == 0.1
    assert trace.actions.dtype == np.int64
    assert trace == Trace.from_arrays({"x": [1, 2.5]}, dt="0.1", end="failed", actions=[1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ("[]", "is a JSON list; it must be an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"dt": "1", "dt": "2"}', "'dt' appears twice"),
        ('{"signals": {"x": [NaN]}}', "NaN is not allowed"),
        ('{"signals": {"x": [-Infinity]}}', "-Infinity is not allowed"),
        (b"\xff\xfe", "not valid JSON"),
        ('{"seed": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_text_that_is_no_sound_json_is_refused(text, words):
    with pytest.raises(TraceError, match=words):
        Trace.from_text(text)


def test_a_text_beyond_the_limit_is_not_parsed(monkeypatch):
    monkeypatch.setattr(document_module, "MAX_BYTES", 10)
    with pytest.raises(TraceError, match="at most 10 are read"):
        Trace.from_text(full().to_text())


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("format", "other", "this version reads safegym-trace-1"),
        ("colour", "red", "A trace has no field colour"),
        ("signals", {}, "at least one signal"),
        ("signals", {"x": []}, "Signal x has no samples"),
        ("signals", {"x": [1, "2", 3]}, r'"signals.x" must hold finite numbers .* found .2.'),
        ("signals", {"x": [1, True, 3]}, "found True"),
        ("signals", {"x": [1, 2**53 + 1, 3]}, "that float64 holds exactly"),
        ("signals", {"x": [1, float("inf"), 3]}, "found inf"),
        ("signals", {"x": [[1], [1, 2], [3]]}, "lists of different lengths"),
        ("signals", {"x": [[1], 2, [3]]}, r"found \[1\]"),
        ("signals", {"x": {"0": 1}}, "must be a list"),
        ("dt", None, "write text such as dt="),
        ("dt", "fast", "dt must be a number such as"),
        ("end", "gone", "must be one of absorbed"),
        ("end", {}, '"end" must be a kind'),
        ("end", [], '"end" must be a kind'),
        ("end", {"kind": "failed", "time": "now"}, "the time a number of seconds"),
        ("end", {"kind": "failed", "time": 9.0}, r"The end is at 9.0 s"),
        ("end", {"kind": "failed", "reason": 3}, '"reason" is 3; it must be text'),
        ("seed", 1.5, '"seed" is 1.5; it must be a whole number'),
        ("seed", True, '"seed" is True'),
        ("seed", "1e3", '"seed" is .1e3.'),
        ("horizon", "x", '"horizon" is .x.'),
        ("policy_digest", 3, '"policy_digest" is 3; it must be text'),
        ("parameters", [], '"parameters" must be an object'),
        ("parameters", {"m": "1"}, "maps names to finite numbers"),
        ("versions", {"m": 1}, "maps names to texts"),
        ("events", {}, '"events" must be a list'),
        ("events", [[0, "a"]], r"An event is \[step, kind, detail\]"),
        ("events", [[True, "a", "b"]], r"An event is \[step, kind, detail\]"),
        ("events", [[7, "a", "b"]], "outside 0..2"),
        ("rewards", [1.0], "Signal x has shape"),
        ("actions", {"type": "f4"}, 'an object of "type", "shape" and "values"'),
        ("actions", {"type": "O", "shape": [2], "values": [1, 2]}, "has type 'O'"),
        ("actions", {"type": [], "shape": [2], "values": [1, 2]}, r"has type \[\]"),
        ("actions", {"type": "f8", "shape": [], "values": [1]}, "has shape"),
        ("actions", {"type": "f8", "shape": [-1], "values": [1]}, "has shape"),
        ("actions", {"type": "f8", "shape": [2, 3], "values": [1.0]}, r"1 values for the shape"),
        ("actions", {"type": "f4", "shape": [2], "values": [0.1, 0.2]}, "would be rounded"),
        ("actions", {"type": "u1", "shape": [2], "values": [1, 256]}, "does not hold u1 values"),
        ("actions", {"type": "u1", "shape": [2], "values": [1, 1.0]}, "of another type"),
        ("actions", {"type": "u1", "shape": [0, 2**39], "values": []}, "has shape"),
        ("observations", 3, '"observations" must be a list'),
        ("digest", "sha256:0", "it was changed after it was recorded"),
        ("digest", 3, '"digest" is 3'),
    ],
)
def test_a_document_with_one_wrong_field_is_refused_and_names_it(field, value, words):
    document = {**full().to_json(), field: value}
    if field != "digest":
        del document["digest"]
    with pytest.raises(TraceError, match=words):
        Trace.from_json(document)


@pytest.mark.parametrize("field", ["signals", "dt", "end"])
def test_a_missing_field_is_named(field):
    document = full().to_json()
    del document[field]
    with pytest.raises(TraceError, match=f'has no "{field}"'):
        Trace.from_json(document)


def test_one_changed_number_is_noticed():
    document = full().to_json()
    document["signals"]["x"][2] = 0.0
    with pytest.raises(TraceError, match="it was changed after it was recorded"):
        Trace.from_json(document)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@law
@given(st.sampled_from(sorted(full().to_json())), json_values)
def test_any_value_in_any_field_gives_a_trace_or_a_trace_error(field, value):
    document = {**full().to_json(), field: value}
    with contextlib.suppress(TraceError):
        assert Trace.from_json(document) == full()


@law
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_text_gives_the_same_trace_or_a_trace_error(places):
    whole = bytearray(full().to_text().encode())
    for at, byte in places:
        whole[at % len(whole)] = byte
    with contextlib.suppress(TraceError):
        assert Trace.from_text(bytes(whole)) == full()
