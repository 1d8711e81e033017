"""Hypothesis strategies for traces."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from safegym.trace import Event, Trace
from safegym.trace.resampling import Resampling

finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.sampled_from(["x", "v_lat", "contact", "body.tilt", "Z9"])
text = st.text(st.characters(min_codepoint=1, max_codepoint=0xD7FF), max_size=12)


def arrays(dtype, shape):
    elements = {"allow_nan": False, "allow_infinity": False} if dtype.startswith("f") else {}
    return hnp.arrays(np.dtype(dtype), shape, elements=elements)


def intervals(steps):
    """Intervals of samples within 0..steps, in any order, overlapping or not."""
    ends = st.tuples(st.integers(0, steps), st.integers(0, steps)).map(
        lambda ends: tuple(sorted(ends))
    )
    return st.lists(ends, max_size=3)


seconds = st.fractions(0, 10**6, max_denominator=10**9)
records = st.builds(
    Resampling,
    rule=st.sampled_from(["hold", "linear", "jitter"]),
    between=st.sampled_from([None, "sample", "max", "min"]),
    longest_gap=st.none() | seconds,
    tolerance=seconds,
    widest=seconds,
    furthest=seconds,
    samples=st.integers(0, 2**40),
    before=st.integers(0, 2**40),
    after=st.integers(0, 2**40),
    passed_over=st.integers(0, 9),
    hidden=st.integers(0, 9),
    stamps=text,
    values=text,
)


@st.composite
def traces(draw, *, layout=None):
    steps = draw(st.integers(0, 6))
    if layout is None:
        widths = st.none() | st.integers(1, 3)
        layout = draw(st.dictionaries(names, widths, min_size=1, max_size=3))
    signals = {
        name: draw(arrays("f8", (steps + 1,) if width is None else (steps + 1, width)))
        for name, width in layout.items()
    }
    action = draw(st.sampled_from([(), (1,), (2,), (2, 2)]))
    kind = draw(st.sampled_from(["f8", "f4", "i4", "u1", "b1"]))
    horizon = draw(st.none() | st.integers(1, 6))
    ends = ["absorbed", "failed", "interrupted", "cut"]
    reached = horizon is None or steps >= horizon
    seen = draw(st.none() | st.sampled_from(["f4", "u1", "i8"]))
    return Trace.from_arrays(
        signals,
        dt=draw(st.sampled_from(["0.1", "1/240", "1"])),
        start=draw(st.sampled_from(["0", "-3/7"])),
        end=draw(st.sampled_from([*ends, "horizon"] if reached else ends)),
        reason=draw(text),
        horizon=horizon,
        actions=draw(arrays(kind, (steps, *action))),
        rewards=draw(arrays("f8", (steps,))),
        observations=None if seen is None else draw(arrays(seen, (steps + 1, 2))),
        seed=draw(st.integers(-1, 2**80)),
        disturbance_seed=draw(st.integers(0, 2**80)),
        parameters=draw(st.dictionaries(text, finite, max_size=2)),
        versions=draw(st.dictionaries(text, text, max_size=2)),
        events=[Event(draw(st.integers(0, steps)), draw(text), draw(text))],
        gaps={name: draw(intervals(steps)) for name in signals} if draw(st.booleans()) else (),
        resampling=draw(st.dictionaries(st.sampled_from(sorted(signals)), records, max_size=2)),
        scenario_digest=draw(text),
        policy_digest=draw(text),
    )
