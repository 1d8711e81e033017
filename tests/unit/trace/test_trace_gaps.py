"""Gaps of a trace: their normal form, the digest, documents, shards, and traces without any."""

import json
import pickle
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_strategies import intervals, records

from safegym.errors import TraceError
from safegym.trace import Trace
from safegym.trace.gaps import gaps_where, hidden_at, union
from safegym.trace.resampling import Resampling
from safegym.trace.store import ShardWriter, read_shard, shard_digest

law = settings(deadline=None, derandomize=True, max_examples=100)
OLDER = Path(__file__).resolve().parents[2] / "assets" / "older_shard" / "episodes.arrow"
X = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [0.0] * 6}


def make(**changes):
    return Trace.from_arrays(X, **{"dt": "0.1", **changes})


def logged():
    """A resampled log with a hole."""
    times = [0.0, 0.1, 0.2, 0.6, 0.7]
    return Trace.from_stamps(times, {"x": times}, dt="0.1", rule="linear", longest_gap="0.2")


def test_a_trace_has_no_gaps_unless_it_is_given_some():
    assert make().gaps == ()
    assert make().unseen == {}
    assert make(gaps=[]) == make(gaps={}) == make(gaps={"x": []}) == make()


def test_gaps_that_all_signals_share_and_gaps_of_one():
    shared = make(gaps=[(1, 2)])
    assert shared.gaps == ((1, 2),)
    assert shared.unseen == {"x": ((1, 2),), "y": ((1, 2),)}
    own = make(gaps={"y": [(4, 5)], "x": [(1, 1), (3, 3)]})
    assert own.gaps == ((1, 1), (3, 5))
    assert own.gaps_of(["x"]) == ((1, 1), (3, 3))
    assert own.gaps_of(["y", "x"]) == own.gaps
    assert own.gaps_of([]) == own.gaps_of(["z"]) == ()


@law
@given(st.integers(0, 9).flatmap(lambda steps: st.tuples(st.just(steps), intervals(steps))))
def test_gaps_are_kept_sorted_disjoint_and_apart(drawn):
    steps, given_intervals = drawn
    trace = Trace.from_arrays({"x": np.zeros(steps + 1)}, dt="0.1", gaps=given_intervals)
    wanted = {k for first, last in given_intervals for k in range(first, last + 1)}
    hidden = hidden_at(trace.gaps, steps + 1)
    assert set(np.flatnonzero(hidden).tolist()) == wanted
    assert gaps_where(hidden) == trace.gaps
    assert all(a[1] + 1 < b[0] for a, b in zip(trace.gaps, trace.gaps[1:], strict=False))
    assert union([trace.gaps, trace.gaps]) == trace.gaps
    again = Trace.from_arrays({"x": np.zeros(steps + 1)}, dt="0.1", gaps=given_intervals[::-1])
    assert again == trace


@pytest.mark.parametrize(
    ("gaps", "words"),
    [
        ([(3, 2)], "Signal x has a gap from sample 3 to sample 2; a gap lies within"),
        ([(0, 6)], r"from sample 0 to sample 6; .* 0\.\.5"),
        ([(-1, 2)], "from sample -1"),
        ([(1.0, 2.0)], r"The gaps of x are \[\(1.0, 2.0\)\]; write pairs of sample indices"),
        ([1, 2], "write pairs of sample indices"),
        ([(1, 2, 3)], "write pairs of sample indices"),
        (7, "write pairs of sample indices"),
        ("ab", "write pairs of sample indices"),
        ({"speed": [(1, 2)]}, "gaps name a signal 'speed' that the log does not have; it has x, y"),
        ({"xx": [(1, 2)]}, "did you mean x"),
    ],
)
def test_what_is_no_gap_is_refused(gaps, words):
    with pytest.raises(TraceError, match=words):
        make(gaps=gaps)


def test_traces_without_gaps_have_the_digest_they_had():
    """Digests from before traces had gaps."""
    for trace, digest in zip(read_shard(OLDER), OLD_DIGESTS, strict=True):
        again = Trace.from_text(trace.to_text())
        assert trace.digest == again.digest == digest
        assert "gaps" not in trace.to_json()
        assert "resampling" not in trace.to_json()


OLD_DIGESTS = (
    "sha256:0cec41b25846428fda41ac8b6c15cf4d69be97ae846b884a79b98f66182449e4",
    "sha256:58dfef659997c085feb71dcd16f132a4bf92f777a211be71c38d498c14fdd42c",
)


def test_a_shard_from_before_traces_had_gaps_still_reads():
    old = "sha256:caaa4b8de2ce9ce107f4c81646998862e6977b0306ab65b67a3ebdaabf9ec8f4"
    assert shard_digest(OLDER) == old
    traces = read_shard(OLDER, digest=old)
    assert [trace.gaps for trace in traces] == [(), ()]
    assert [dict(trace.units) for trace in traces] == [{}, {"x": "m"}]


def test_a_shard_whose_gaps_were_taken_out_is_refused(tmp_path):
    """The digest of each trace holds its gaps; a sealed shard without them is no older one."""
    with ShardWriter(tmp_path / "a.arrow") as writer:
        writer.append(logged())
    whole = (tmp_path / "a.arrow").read_bytes()
    assert whole.count(b'{"x": [[3, 5]]}') == 1
    (tmp_path / "b.arrow").write_bytes(whole.replace(b'{"x": [[3, 5]]}', b"{}             "))
    with pytest.raises(TraceError, match="it was changed after it was recorded"):
        read_shard(tmp_path / "b.arrow", digest=shard_digest(tmp_path / "b.arrow"))


def test_resampled_traces_survive_documents_shards_and_pickling(tmp_path):
    traces = [logged(), Trace.from_arrays({"x": [1.0, 2.0]}, dt="0.1"), logged()]
    with ShardWriter(tmp_path / "a.arrow") as writer:
        writer.extend(traces)
    assert read_shard(tmp_path / "a.arrow") == traces
    for back in (
        read_shard(tmp_path / "a.arrow")[0],
        Trace.from_text(logged().to_text()),
        pickle.loads(pickle.dumps(logged())),
        replace(logged(), digest=""),
    ):
        assert back == logged()
        assert back.unseen == {"x": ((3, 5),)}
        assert back.resampling == logged().resampling
        assert back.resampling["x"].longest_gap == Fraction("0.2")
    shutil.rmtree(tmp_path)


@law
@given(records)
def test_a_record_of_resampling_survives_json(record):
    assert Resampling.from_json(json.loads(json.dumps(record.to_json()))) == record


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rule": "cubic"}, "A resampling is by hold, linear, jitter"),
        ({"rule": ["hold"]}, "A resampling is by hold, linear, jitter"),
        ({"between": "mean"}, "A resampling is by"),
        ({"tolerance": None}, "The tolerance of a resampling is None"),
        ({"tolerance": "-1"}, "The tolerance of a resampling is '-1'"),
        ({"widest": 0.5}, "The widest of a resampling is 0.5; seconds as exact text"),
        ({"samples": -1}, "The samples of a resampling is -1"),
        ({"samples": True}, "The samples of a resampling is True"),
        ({"stamps": 3}, "The stamps of a resampling is 3"),
        ({"extra": 3}, "A resampling has exactly the fields"),
    ],
)
def test_a_damaged_record_of_resampling_is_refused(change, words):
    document = logged().to_json()
    document["resampling"]["x"].update(change)
    with pytest.raises(TraceError, match=words):
        Trace.from_json(document)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("gaps", [], '"gaps" must be an object'),
        ("gaps", {"x": [[1]]}, r"A gap is \[first, last\]"),
        ("gaps", {"x": [[1, 2.0]]}, r"A gap is \[first, last\]"),
        ("gaps", {"x": [[True, 2]]}, r"A gap is \[first, last\]"),
        ("gaps", {"x": 3}, '"gaps.x" must be a list'),
        ("gaps", {"z": [[1, 2]]}, "gaps name a signal 'z'"),
        ("gaps", {"x": [[4, 99]]}, "from sample 4 to sample 99"),
        ("gaps", {"x": [[3, 4]]}, "it was changed after it was recorded"),
        ("gaps", {}, "it was changed after it was recorded"),
        ("resampling", {}, "it was changed after it was recorded"),
        ("resampling", [], '"resampling" must be an object'),
        ("resampling", {"x": 3}, "A resampling has exactly the fields"),
    ],
)
def test_a_document_with_other_gaps_is_refused(field, value, words):
    with pytest.raises(TraceError, match=words):
        Trace.from_json({**logged().to_json(), field: value})


def test_a_record_for_a_signal_that_is_not_there_is_refused():
    record = logged().resampling["x"]
    with pytest.raises(TraceError, match=r"resampling\['z'\]"):
        make(resampling={"z": record})
    with pytest.raises(TraceError, match=r"resampling\['x'\] is str"):
        make(resampling={"x": "hold"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"longest_gap": 0.2}, "longest_gap of a resampling is 0.2; a Fraction"),
        ({"tolerance": None}, "tolerance of a resampling is None; a Fraction"),
        ({"samples": 1.5}, "samples of a resampling is 1.5"),
        ({"rule": "cubic"}, "A resampling is by hold"),
    ],
)
def test_a_record_that_no_document_could_give_back_is_refused(change, words):
    record = replace(logged().resampling["x"], **change)
    with pytest.raises(TraceError, match=words):
        make(resampling={"x": record})


def test_a_memory_that_lost_its_gaps_is_noticed():
    trace = logged()
    object.__setattr__(trace, "unseen", {})
    assert "does not have the digest" in trace.validate()[0]
