"""Traces on their way between processes: nothing of them changes."""

import pickle
from functools import partial

import numpy as np
import pytest
from scenario_models import Walk, follower, walk

from safegym.errors import TraceError
from safegym.scenario.campaign import Campaign
from safegym.scenario.record import record
from safegym.trace.model import Trace
from safegym.trace.transport import pack, unpack


def crossed(trace):
    return unpack(pickle.loads(pickle.dumps(pack(trace))))


def lost():
    spec = walk(partial(Walk, faults={2: "reset"}))
    with Campaign(spec, follower(), seed_of=lambda i: 1 + i, tail=0, episodes=2) as campaign:
        return list(campaign)[1][1]


TRACES = {
    "plain": lambda: record(walk(), follower(), 3),
    "observations": lambda: record(walk(), follower(), 3, keep_observations=True),
    "tail": lambda: record(walk(partial(Walk, endless=True)), follower(), 3, tail=4),
    "lost": lost,
    "odd shapes": lambda: Trace.from_arrays(
        {"x": np.arange(6.0).reshape(3, 2), "y": np.zeros(3)},
        dt="0.1",
        actions=np.array([[1], [2]], np.int8),
        gaps={"y": [(1, 2)]},
        parameters={"mass": 1.5},
        units={"x": "m"},
    ),
    "no step": lambda: Trace.from_arrays({"x": [0.5]}, dt="0.1"),
}


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_that_crossed_is_the_trace_that_left(name):
    trace = TRACES[name]()
    again = crossed(trace)
    assert again.validate() == ()
    assert again.digest == trace.digest
    assert again == trace
    assert again.to_text() == trace.to_text()
    assert (again.observations is None) == (trace.observations is None)
    assert again.actions.dtype == trace.actions.dtype


def test_what_crossed_cannot_be_written_to():
    again = crossed(TRACES["observations"]())
    for values in (again.actions, again.rewards, again.observations, *again.signals.values()):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0
        assert values.flags.aligned
    with pytest.raises(TypeError):
        again.parameters["mass"] = 2.0


def test_a_trace_that_is_stored_or_pickled_has_its_digest_recomputed_all_the_same():
    fields, table, block = pack(TRACES["plain"]())
    forged = unpack((fields, table, bytes(len(block))))
    assert forged.validate() == (f"The content does not have the digest {forged.digest}.",)
    with pytest.raises(TraceError, match="it was changed"):
        pickle.loads(pickle.dumps(forged))
