"""Logs with irregular stamps on an exact clock: against fractions, against numpy, and by laws."""

import time
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_resampling import Slow

from safegym import Signal, always, check
from safegym.errors import TraceError
from safegym.trace import Trace
from safegym.trace.gaps import hidden_at
from safegym.trace.stamps import nearest_nanosecond

law = settings(deadline=None, derandomize=True, max_examples=150)


def resample(times, x, **changes):
    return Trace.from_stamps(
        times, {"x": x}, **{"dt": "0.01", "rule": "hold", "longest_gap": "0.05", **changes}
    )


def listed(trace, name="x"):
    return trace.signals[name].tolist()


@st.composite
def logs(draw, least=1):
    """Nanosecond stamps that hit instants of a 10 ms clock, near them, and anything between."""
    count = draw(st.integers(least, 14))
    steps = draw(
        st.lists(
            st.sampled_from(
                [1, 10**4, 10**6, 3 * 10**6, 5 * 10**6, 10**7, 10**7 + 7, 10**7 - 10**4, 2 * 10**7]
            )
            | st.integers(1, 9 * 10**7),
            min_size=count - 1,
            max_size=count - 1,
        )
    )
    first = draw(st.sampled_from([0, 10**7, -3 * 10**7, 123_456_789, 1_700_000_000 * 10**9]))
    stamps = [first]
    for step in steps:
        stamps.append(stamps[-1] + step)
    if count > 1 and stamps[-1] < first + 10**7:  # less than a step is refused
        stamps[-1] = first + 10**7
    number = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 5e-324, 1e300])
    return stamps, draw(st.lists(number, min_size=count, max_size=count))


choices = st.builds(
    lambda dt, rule, longest, share, between: {
        "dt": dt,
        "rule": rule,
        "longest_gap": longest,
        "tolerance": Fraction(dt) * share,
        "between": between,
    },
    st.sampled_from(["0.01", "0.004", "1/240", "1/700"]),
    st.sampled_from(["hold", "linear"]),
    st.sampled_from(["0.01", "0.02", "0.05", "1/30", "10"]),
    st.sampled_from([Fraction(0), Fraction(1, 1000), Fraction(1, 10), Fraction(1, 3)]),
    st.sampled_from(["sample", "max", "min"]),
)


def slow_of(log, chosen, trace):
    return Slow(
        log[0],
        log[1],
        trace.clock.dt,
        trace.clock.start,
        trace.steps,
        chosen["rule"],
        Fraction(chosen["longest_gap"]) if "longest_gap" in chosen else None,
        Fraction(chosen["tolerance"]),
        chosen["between"],
    )


def assert_as_slow(log, chosen, trace):
    slow = slow_of(log, chosen, trace)
    hidden = hidden_at(trace.gaps, trace.steps + 1)
    assert np.flatnonzero(hidden).tolist() == slow.gaps()
    for k, value in enumerate(listed(trace)):
        if not hidden[k]:
            assert value == slow.value(k), k
    record = trace.resampling["x"]
    if chosen["between"] == "sample":
        assert record.passed_over == len(slow.passed_over())
        assert record.hidden == slow.hidden()
    assert record.samples == len(log[0])
    assert record.widest == max(np.diff(log[0]).tolist(), default=0) * Fraction(1, 10**9)


@law
@given(logs(), choices)
def test_every_value_and_every_gap_is_that_of_slow_exact_arithmetic(log, chosen):
    trace = resample(np.array(log[0]), log[1], unit="ns", **chosen)
    assert trace.clock.start == Fraction(log[0][0], 10**9)
    assert_as_slow(log, chosen, trace)


@law
@given(logs(), choices, st.integers(-6, 3), st.integers(0, 40))
def test_a_declared_start_and_stop_agree_with_slow_exact_arithmetic(log, chosen, early, steps):
    dt = Fraction(chosen["dt"])
    start = Fraction(log[0][0], 10**9) + Fraction(early, 700)
    if start > Fraction(log[0][-1], 10**9) or start + steps * dt < Fraction(log[0][0], 10**9):
        return
    trace = resample(
        np.array(log[0]), log[1], unit="ns", start=start, stop=start + steps * dt, **chosen
    )
    assert trace.steps == steps
    assert_as_slow(log, chosen, trace)


@pytest.mark.slow
@settings(law, max_examples=3000)
@given(logs(), choices, st.booleans())
def test_3000_more_logs_agree_with_slow_exact_arithmetic(log, chosen, back):
    ends = {"stop": Fraction(log[0][-1], 10**9)} if back else {}
    assert_as_slow(log, chosen, resample(np.array(log[0]), log[1], unit="ns", **ends, **chosen))


@law
@given(logs(least=2))
def test_linear_is_numpy_interp_up_to_rounding(log):
    """Second opinion, from floats that subtract the first stamp."""
    stamps, x = log
    chosen = {"rule": "linear", "longest_gap": "10", "between": "sample", "tolerance": "0"}
    trace = resample(np.array(stamps), x, unit="ns", **chosen)
    seconds = (np.array(stamps) - stamps[0]) / 1e9
    wanted = np.interp(np.arange(trace.steps + 1) * 0.01, seconds, x)
    assert trace.gaps == ()
    size = max(map(abs, x))
    assert np.abs(trace.signals["x"] - wanted).max() <= 1e-6 * size + 1e-300


@law
@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40),
    st.sampled_from(["0.01", "0.1", "1/240", "1/3", "2"]),
    st.sampled_from(["0", "12.5", "-3/7", "1700000000"]),
    st.sampled_from(["hold", "linear", "jitter"]),
)
def test_regular_stamps_give_identical_arrays(x, dt, start, rule):
    plain = Trace.from_arrays({"x": x}, dt=dt, start=start)
    fill = {"tolerance": "0.000001"} if rule == "jitter" else {"longest_gap": dt}
    trace = Trace.from_stamps(plain.times, {"x": x}, dt=dt, rule=rule, start=start, **fill)
    assert trace.signals["x"].tobytes() == plain.signals["x"].tobytes()
    assert trace.gaps == ()
    assert trace.clock == plain.clock
    assert trace.end == plain.end


def test_an_accumulated_clock_counts_as_regular():
    times = np.cumsum(np.full(200_000, 0.002))
    x = np.arange(200_000.0)
    trace = Trace.from_stamps(times, {"x": x}, dt="0.002", rule="hold", longest_gap="0.002")
    assert trace.gaps == ()
    assert trace.steps == 199_999
    assert np.array_equal(trace.signals["x"], x)


@law
@given(logs(), choices, st.sampled_from(["0.05", "0.08", "1"]))
def test_a_larger_longest_gap_only_shrinks_gaps_and_changes_nothing_known(log, chosen, larger):
    small = resample(np.array(log[0]), log[1], unit="ns", **chosen)
    more = max(Fraction(larger), Fraction(chosen["longest_gap"]))
    large = resample(np.array(log[0]), log[1], unit="ns", **{**chosen, "longest_gap": more})
    before = ~hidden_at(small.gaps, small.steps + 1)
    assert not hidden_at(large.gaps, large.steps + 1)[before].any()
    assert np.array_equal(small.signals["x"][before], large.signals["x"][before])


@law
@given(logs(), choices)
def test_linear_and_held_values_lie_within_the_log(log, chosen):
    trace = resample(np.array(log[0]), log[1], unit="ns", **chosen)
    assert min(log[1]) <= trace.signals["x"].min()
    assert trace.signals["x"].max() <= max(log[1])


@law
@given(logs(), choices, st.sampled_from(["max", "min"]))
def test_the_worst_of_what_lies_between_covers_every_sample_that_is_known_of(log, chosen, worst):
    """No sample of the log inside the clock is worse than the known instant at or after it."""
    trace = resample(np.array(log[0]), log[1], unit="ns", **{**chosen, "between": worst})
    slow = slow_of(log, {**chosen, "between": worst}, trace)
    hidden = hidden_at(trace.gaps, trace.steps + 1)
    sign = 1 if worst == "max" else -1
    for k in range(trace.steps + 1):
        if not hidden[k]:
            for i in slow.inside(k):
                assert sign * log[1][i] <= sign * trace.signals["x"][k]


@pytest.mark.parametrize("rule", ["hold", "linear"])
def test_the_worst_of_several_samples_on_the_first_instant_counts(rule):
    times, x = [0.0, 1e-6, 0.01, 0.02], [5.0, 0.0, 0.0, 0.0]
    log = {"dt": "0.01", "rule": rule, "longest_gap": "0.05"}
    trace = Trace.from_stamps(times, {"x": x}, between="max", **log)
    assert listed(trace) == [5.0, 0.0, 0.0]
    assert check(always(Signal("x") < 1), trace).status == "violated"
    assert listed(Trace.from_stamps(times, {"x": x}, between="min", **log)) == [0.0, 0.0, 0.0]
    alone = Trace.from_stamps(times[:2], {"x": x[:2]}, between="max", **log)
    assert listed(alone) == [5.0]


def test_hold_takes_the_last_value_at_or_before_an_instant():
    trace = resample([0.0, 0.012, 0.02, 0.035], [1.0, 2.0, 3.0, 4.0], between="sample")
    assert listed(trace) == [1.0, 1.0, 3.0, 3.0]
    assert trace.gaps == ()
    assert trace.resampling["x"].after == 1  # the last sample lies after 0.03 s


def test_linear_lies_between_the_neighbours_and_never_goes_beyond_the_log():
    trace = resample([0.0, 0.015, 0.03, 0.038], [0.0, 3.0, 0.0, 9.0], rule="linear")
    assert listed(trace) == [0.0, 2.0, 2.0, 0.0]
    assert trace.end.time == 0.03
    whole = {"start": 0, "stop": "0.05"}
    longer = resample([0.0, 0.015, 0.03, 0.038], [0.0, 3.0, 0.0, 9.0], rule="linear", **whole)
    assert longer.gaps == ((4, 5),)


def test_a_log_that_ends_in_a_crash_is_counted_back_from_its_last_sample():
    """Counted from the first sample, the last instant would come before the crash."""
    times = np.append(np.arange(101) * 0.01 + 0.003, 1.0071)
    force = np.append(np.zeros(101), 50.0)
    early = resample(times, force)
    assert not early.signals["x"].any()
    assert early.resampling["x"].after == 1
    for rule in ("hold", "linear"):
        trace = resample(times, force, rule=rule, between="max", stop=times[-1])
        assert listed(trace)[-1] == 50.0
        assert (trace.end.time, trace.steps) == (1.0071, 100)
        assert trace.clock.start == Fraction("0.0071")
        assert (trace.resampling["x"].before, trace.resampling["x"].after) == (1, 0)


@law
@given(logs(), choices)
def test_counting_back_from_the_last_sample_agrees_with_slow_exact_arithmetic(log, chosen):
    stop = Fraction(log[0][-1], 10**9)
    trace = resample(np.array(log[0]), log[1], unit="ns", stop=stop, **chosen)
    assert trace.clock.start + trace.steps * trace.clock.dt == stop
    assert trace.resampling["x"].after == 0
    assert_as_slow(log, chosen, trace)


def test_a_hole_is_a_gap_from_its_first_instant_to_its_last():
    times = np.concatenate([np.arange(0, 321), np.arange(390, 501)]) * 0.01
    for rule in ("hold", "linear"):
        trace = resample(times, np.ones(len(times)), rule=rule)
        assert trace.gaps == ((321, 389),)
        assert trace.unseen == {"x": ((321, 389),)}
        assert trace.resampling["x"].widest == Fraction("0.7")
        wide = resample(times, np.ones(len(times)), rule=rule, longest_gap="0.7")
        assert wide.gaps == ()


def test_what_stands_in_a_gap_is_the_last_known_value():
    trace = resample([0.0, 0.2, 0.21], [1.0, 7.0, 8.0], rule="linear", start="-0.02", stop="0.25")
    assert trace.gaps == ((0, 1), (3, 21), (24, 27))
    assert set(listed(trace)[3:22]) == {1.0}
    assert set(listed(trace)[:3]) == {1.0}
    assert set(listed(trace)[24:]) == {8.0}


def test_a_spike_between_two_instants_is_refused_kept_or_passed_over_as_declared():
    times, force = np.arange(21) * 0.005, np.zeros(21)
    force[7] = 30.0
    with pytest.raises(
        TraceError, match=r"10 of the 21 samples of x would be passed over .* sample 1, stamped"
    ):
        resample(times, force)
    kept = resample(times, force, between="max")
    assert listed(kept)[3:6] == [0.0, 30.0, 0.0]
    assert kept.resampling["x"].passed_over == kept.resampling["x"].hidden == 0
    blind = resample(times, force, between="sample")
    assert not blind.signals["x"].any()
    assert blind.resampling["x"].passed_over == 10
    assert blind.resampling["x"].hidden == 1
    assert "10 between instants were not looked at" in blind.resampling["x"].words("x")


def test_samples_after_the_last_instant_are_refused_like_those_between_two():
    """A dt longer than the log, or than its rate, leaves the end of it without an instant."""
    times, x = np.arange(50) * 0.1, [0.0] * 49 + [9.0]
    with pytest.raises(TraceError, match="dt = 10 s is longer than the log from start = 0 s on"):
        resample(times, x, dt="10", longest_gap="10", between="max")
    with pytest.raises(TraceError, match="1 of the 3 samples of x come after the last"):
        Trace.from_stamps([0, 0.01, 0.018], {"x": x[:3]}, dt="0.01", rule="jitter", tolerance=1e-3)
    with pytest.raises(TraceError, match="2 of the 4 samples of x come after the last"):
        resample([0.0, 0.01, 0.0125, 0.0175], [0.0, 0.0, 0.0, 9.0])
    judged = resample([0.0, 0.01, 0.0125, 0.0175], [0.0, 0.0, 0.0, 9.0], stop=0.0175, between="max")
    assert listed(judged)[-1] == 9.0
    kept = resample([0.0, 0.01, 0.0175], [0.0, 0.0, 9.0])
    assert kept.resampling["x"].after == 1
    one = resample(times, x, dt="10", longest_gap="10", between="max", stop="0")
    assert (one.steps, one.resampling["x"].after) == (0, 49)


def test_a_peak_that_a_line_cuts_is_counted_as_hidden():
    times, x = [0.0, 0.01, 0.015, 0.02, 0.03], [0.0, 0.0, 1.0, 0.0, 0.0]
    x[2] = 5.0
    cut = resample(times, x, rule="linear", between="sample")
    assert not cut.signals["x"].any()
    assert cut.resampling["x"].hidden == 1
    kept = resample(times, x, rule="linear", between="max")
    assert listed(kept) == [0.0, 0.0, 5.0, 0.0]


def test_a_worst_value_is_unknown_where_part_of_its_time_was_not_seen():
    """A hole from 0.02 s to 0.084 s: at 0.09 s the line is known, the worst since 0.08 s is not."""
    times, x = [0.0, 0.01, 0.02, 0.084, 0.09, 0.1], [0.0] * 6
    assert resample(times, x, between="sample").gaps == ((3, 8),)
    assert resample(times, x, between="max").gaps == ((3, 9),)


def test_nearly_regular_samples_are_taken_as_they_are():
    times = [0.0003, 0.0098, 0.0213, 0.0502]
    trace = Trace.from_stamps(
        times, {"x": [1.0, 2.0, 3.0, 4.0]}, dt="0.01", rule="jitter", tolerance="0.002", start=0
    )
    assert listed(trace)[:3] == [1.0, 2.0, 3.0]
    assert trace.gaps == ((3, 4),)
    assert trace.resampling["x"].furthest == Fraction("0.0013")
    assert "stamped up to 0.0013 s off the clock" in trace.resampling["x"].words("x")


def test_sensors_at_different_rates_keep_their_own_stamps_rules_and_gaps():
    slow_times = np.arange(11) * 0.1
    fast_times = np.delete(np.arange(101) * 0.01, range(31, 39))
    trace = Trace.from_stamps(
        {
            "mode": (slow_times, np.arange(11.0)),
            "speed": (fast_times, fast_times),
            "p": (fast_times, np.stack([fast_times, -fast_times], axis=1)),
        },
        dt="0.01",
        rule={"mode": "hold", "speed": "linear", "p": "linear"},
        longest_gap={"mode": "0.1", "speed": "0.02", "p": "1"},
        units={"speed": "m/s"},
        end="cut",
    )
    assert trace.steps == 100
    assert listed(trace, "mode")[18:22] == [1.0, 1.0, 2.0, 2.0]
    assert trace.unseen == {"speed": ((31, 38),)}
    assert trace.gaps == trace.gaps_of(["mode", "speed"]) == ((31, 38),)
    assert trace.gaps_of(["mode", "p"]) == ()
    assert trace.signals["p"].shape == (101, 2)
    assert np.allclose(trace.signals["p"][:, 0], np.arange(101) * 0.01)
    assert trace.units == {"speed": "m/s"}
    assert trace.end.kind == "cut"


def test_the_default_clock_covers_what_all_sensors_share_and_says_what_it_leaves_out():
    a, b = np.arange(100) * 0.01, np.arange(100) * 0.01 + 0.013
    trace = Trace.from_stamps(
        {"a": (a, a), "b": (b, b)}, dt="0.01", rule="hold", longest_gap="0.05"
    )
    assert trace.clock.start == Fraction("0.013")
    assert trace.gaps == ()
    assert (trace.resampling["a"].before, trace.resampling["a"].after) == (2, 1)
    assert "2 come before the trace begins, 1 after it ends" in trace.resampling["a"].words("a")
    late = np.arange(100) * 0.01 + 0.5
    with pytest.raises(TraceError, match="what they share would leave out much of a"):
        Trace.from_stamps({"a": (a, a), "b": (late, b)}, dt="0.01", rule="hold", longest_gap="0.05")
    whole = Trace.from_stamps(
        {"a": (a, a), "b": (late, b)},
        dt="0.01", rule="hold", longest_gap="0.05", start=0, stop="1.49",
    )  # fmt: skip
    assert whole.unseen == {"a": ((100, 149),), "b": ((0, 49),)}


def test_float_seconds_are_read_to_the_nearest_nanosecond():
    times = np.array([0.1, 0.2, 0.30000000000000004, 0.7000000000000001])
    trace = Trace.from_stamps(
        times, {"x": [1.0, 2.0, 3.0, 4.0]}, dt="0.1", rule="hold", longest_gap="0.4", tolerance=0
    )
    assert trace.clock.start == Fraction("0.1")
    assert listed(trace) == [1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 4.0]


@law
@given(st.lists(st.floats(-4e9, 4e9) | st.floats(-10, 10), min_size=1, max_size=30, unique=True))
def test_reading_float_seconds_is_rounding_the_exact_value(seconds):
    from safegym.trace.stamps import read_stamps

    ordered = sorted(seconds)
    wanted = [nearest_nanosecond(each) for each in ordered]
    if len(set(wanted)) < len(wanted):
        with pytest.raises(TraceError, match=r"same nanosecond|equals"):
            read_stamps(ordered, "s")
    else:
        assert read_stamps(ordered, "s").tolist() == wanted


def test_half_nanoseconds_are_rounded_to_even():
    from safegym.trace.stamps import read_stamps

    halves = [(2 * k + 1) / 2**10 * 2.0**-20 * 2**30 for k in range(3)]
    exact = [0.5**9 * k for k in range(1, 400)]  # k / 512 s: multiples of 1953125 ns, exact
    assert read_stamps(exact, "s").tolist() == [1953125 * k for k in range(1, 400)]
    ties = [k * 0.5**10 for k in range(1, 400)]  # odd k: half a nanosecond
    assert read_stamps(ties, "s").tolist() == [nearest_nanosecond(tie) for tie in ties]
    assert read_stamps(halves, "s").tolist() == [nearest_nanosecond(half) for half in halves]
    whole = np.sort(np.random.default_rng(0).choice(10**8, 20_000, replace=False)) * 10
    for sign in (1, -1):  # products with 1e9 that round to a tie, and are none
        near = np.sort(sign * (whole + 0.5) / 1e9)
        assert read_stamps(near, "s").tolist() == [nearest_nanosecond(each) for each in near]


def test_unix_times_in_float_seconds_count_as_regular():
    times = 1_700_000_000.0 + np.arange(5000) * 0.01
    x = np.arange(5000.0)
    trace = resample(times, x, longest_gap="0.01", start="1700000000")
    assert trace.gaps == ()
    assert np.array_equal(trace.signals["x"], x)


def test_the_log_is_named_in_the_record_and_the_record_in_the_digest():
    times, x = [0.0, 0.012, 0.02], [1.0, 2.0, 3.0]
    trace = resample(times, x, between="max")
    same = resample(np.array([0, 12_000_000, 20_000_000]), x, unit="ns", between="max")
    assert trace == same
    assert trace.resampling["x"].stamps.startswith("sha256:")
    moved = resample([0.0, 0.013, 0.02], x, between="max")
    assert moved.signals["x"].tolist() == trace.signals["x"].tolist()
    assert moved != trace
    assert resample(times, x, longest_gap="0.06", between="max") != trace
    plain = Trace.from_arrays({"x": listed(trace)}, dt="0.01")
    assert plain != trace


def test_one_stamp_is_a_trace_of_one_sample():
    trace = resample([2.5], [7.0])
    assert (trace.steps, listed(trace), trace.gaps) == (0, [7.0], ())
    assert trace.clock.start == Fraction("2.5")


@pytest.mark.parametrize(
    ("times", "x", "changes", "words"),
    [
        ([0.0, 0.01], [1.0, 2.0], {"rule": None}, r'No rule says how .* x .* rule="hold", longest'),
        ([0.0, 0.01], [1.0, 2.0], {"rule": "cubic"}, "The rule for x is 'cubic'; declare one"),
        ([0.0, 0.01], [1.0, 2.0], {"rule": 3}, "The rule for x is 3"),
        ([0.0, 0.01], [1.0, 2.0], {"longest_gap": None}, 'rule="hold" for x needs longest_gap='),
        ([0.0, 0.01], [1.0, 2.0], {"longest_gap": "0.005"}, "longest_gap = 0.005 s for x is short"),
        ([0.0, 0.01], [1.0, 2.0], {"longest_gap": "soon"}, "longest_gap must be a number"),
        ([0.0, 0.01], [1.0, 2.0], {"longest_gap": float("nan")}, "longest_gap must be a finite"),
        ([0.0, 0.01], [1.0, 2.0], {"between": "mean"}, "between is 'mean' for x"),
        ([0.0, 0.01], [1.0, 2.0], {"rule": {"xx": "hold"}}, "rule names .*'xx'.*did you mean x"),
        ([0.0, 0.01], [1.0, 2.0], {"rule": {}}, "No rule says how the log of x becomes samples"),
        ([0.0, 0.01], [1.0, 2.0], {"longest_gap": {"z9": "1"}}, "longest_gap names .*it has x"),
        ([], [], {}, r"stamps of the log have shape \(0,\)"),
        ([[0.0, 0.1]], [[1.0, 2.0]], {}, r"have shape \(1, 2\)"),
        (0.5, [1.0], {}, r"have shape \(\)"),
        ([0.0, np.nan], [1.0, 2.0], {}, "Stamp 1 of the log is nan"),
        ([0.0, np.inf], [1.0, 2.0], {}, "Stamp 1 of the log is inf"),
        ([0.0, 0.01], [1.0, np.nan], {}, r"x is not finite at sample 1 \(nan, stamped 0.01 s\)"),
        ([0.0, 0.01], [1.0], {}, r"x has shape \(1,\); with 2 stamps it must be \(2,\)"),
        ([0.0, 0.01], np.ones((2, 2, 2)), {}, r"x has shape \(2, 2, 2\)"),
        ([0.0, 0.01], np.ones((2, 0)), {}, r"x has shape \(2, 0\)"),
        ([0.0, 0.02, 0.01], [1.0] * 3, {}, r"stamp 2 of the log \(0.01\) goes back behind stamp 1"),
        ([0.0, 0.02, 0.02], [1.0] * 3, {}, r"stamp 2 of the log \(0.02\) equals stamp 1 \(0.02\)"),
        ([0.0, 1e-12], [1.0] * 2, {}, "stamp 1 .* is the same nanosecond as stamp 0"),
        ([0, 10**18], [1.0] * 2, {}, r'within 4.6e9 s of 0. If they are nanoseconds .* unit="ns"'),
        ([0.0, 1e300], [1.0] * 2, {}, "Stamp 1 of the log is 1e"),
        ([0.0, 0.01], [1.0] * 2, {"unit": "ns"}, "nanoseconds are whole numbers"),
        ([0, 2**63 - 1], [1.0] * 2, {"unit": "ns"}, "stamps lie within 4.6e9 s"),
        ([0.0, 0.01], [1.0] * 2, {"unit": "ms"}, "unit is 'ms'"),
        (["a", "b"], [1.0] * 2, {}, "The stamps of the log are <U1"),
        (np.array([0, 1], "M8[ms]"), [1.0] * 2, {}, r"astype\(.M8\[ns\].\).* unit=.ns"),
        ([0.0, 1.7e12], [1.0] * 2, {}, "4.6e9 s of 0. .* divide milliseconds by 1000"),
        ([0.0, 0.01], [1.0] * 2, {"events": [(0, "a", "b")]}, r"An event is \(0, 'a', 'b'\)"),
        ([0.0, 0.01], [1.0] * 2, {"reason": 5}, "reason is 5; it must be text"),
        ([0.0, 0.01], [1.0] * 2, {"policy_digest": 5}, "policy_digest is 5; it must be text"),
        ([[0.0], [0.0, 1.0]], [1.0] * 2, {}, r"The stamps of the log are no array \(n,\)"),
        (np.ma.array([0.0, 1.0], mask=[0, 1]), [1.0] * 2, {}, "of the log is masked at index 1"),
        ([0.0, 0.01], np.ma.array([1.0] * 2, mask=[0, 1]), {}, "Signal x is masked at index 1"),
        ([0.0, 0.01], [1.0] * 2, {"gaps": [(0, 1)]}, "from_stamps takes no gaps"),
        ([0.0, 0.01], [1.0] * 2, {"resampling": {}}, "from_stamps takes no resampling"),
        ([0.0, 0.01], [1.0] * 2, {"reasn": "x"}, "from_stamps takes no reasn; did you mean reason"),
        ([0.0, 0.01], [1.0] * 2, {"units": ["m"]}, "units is a list; .* mapping"),
        ([0.0, 0.01], [1.0] * 2, {"dt": "0"}, "dt"),
        ([0.0, 0.01], [1.0] * 2, {"dt": "-0.01"}, "dt"),
        ([0.0, 0.01], [1.0] * 2, {"start": 0, "stop": "0.015"}, r"stop = 0.015 s is .*; 0.01 s"),
        ([0.0, 0.01], [1.0] * 2, {"start": "5"}, "Nothing lies between start = 5 s and stop"),
        ([0.0, 0.01], [1.0] * 2, {"start": "1", "stop": "0"}, "Nothing lies between start = 1 s"),
        ([0.0, 0.01], [1.0] * 2, {"stop": "-1"}, "Nothing lies between"),
        ([0.0, 0.01], [1.0] * 2, {"tolerance": "0.005"}, "tolerance = 0.005 s must be .* dt/2"),
        ([0.0, 0.01], [1.0] * 2, {"tolerance": "-1"}, "tolerance = -1 s must be at least 0"),
        ([0.0, 1e7], [1.0] * 2, {}, "has 1000000001 samples of 1 numbers; at most 100000000"),
        ([0, 10**9], [1.0] * 2, {"dt": "1/1000000007"}, "has 1000000007000000001 samples"),
        ([0.0, 4e9], [1.0] * 2, {"dt": "10000/9999991", "longest_gap": "1e9"}, "samples of 1"),
        ([0.0, 4e9], [1.0] * 2, {"dt": "99999/997", "longest_gap": "1e9"}, "choose dt, start and"),
        ([0.0, 0.01], [1.0] * 2, {"end": "crashed"}, "The end is 'crashed'"),
    ],
)  # fmt: skip
def test_what_is_no_log_is_refused_with_the_line_that_would_work(times, x, changes, words):
    with pytest.raises(TraceError, match=words):
        resample(times, x, **changes)


@pytest.mark.parametrize(
    ("times", "changes", "words"),
    [
        ([0.0, 0.0135], {}, "Sample 1 of x, stamped 0.0135 s, is not within tolerance = 0.002 s"),
        ([0.0, 0.01], {"start": "0.005"}, "Sample 0 of x, stamped 0 s, is not within"),
        ([0.0, 0.0095, 0.0105], {}, r"Samples 1 and 2 of x are both within .* of 0.01 s"),
        ([0.0, 0.01], {"tolerance": None}, 'rule="jitter" needs tolerance='),
        ([0.0, 0.01], {"longest_gap": "0.05"}, "longest_gap means nothing: leave it out"),
        ([0.0, 0.01], {"between": "max"}, "nothing lies between"),
    ],
)
def test_a_log_that_is_not_nearly_regular_is_refused_as_one(times, changes, words):
    with pytest.raises(TraceError, match=words):
        Trace.from_stamps(
            times,
            {"x": [1.0] * len(times)},
            **{"dt": "0.01", "rule": "jitter", "tolerance": "0.002", **changes},
        )


def test_the_two_forms_of_a_log_are_told_apart():
    with pytest.raises(TraceError, match="where each has its own"):
        Trace.from_stamps({"x": ([0.0], [1.0])}, {"x": [1.0]}, dt="0.1", rule="hold")
    with pytest.raises(TraceError, match="Stamps alone make no trace"):
        Trace.from_stamps([0.0, 0.1], dt="0.1", rule="hold", longest_gap=1)
    with pytest.raises(TraceError, match=r"it is a pair, \{\"x\": \(times, values\)\}"):
        Trace.from_stamps({"x": [1.0, 2.0]}, dt="0.1", rule="hold", longest_gap=1)
    with pytest.raises(TraceError, match="at least one signal"):
        Trace.from_stamps([0.0], {}, dt="0.1", rule="hold", longest_gap=1)
    with pytest.raises(TraceError, match="stamp 1 of signal b"):
        Trace.from_stamps(
            {"a": ([0.0, 1.0], [1.0, 2.0]), "b": ([1.0, 0.0], [1.0, 2.0])},
            dt="0.1", rule="hold", longest_gap=1,
        )  # fmt: skip


def test_arrays_with_stamps_are_checked_and_an_irregular_log_is_sent_to_from_stamps():
    x = np.arange(100.0)
    times = 5 + np.arange(100) * 0.01
    trace = Trace.from_arrays({"x": x}, dt="0.01", times=times)
    assert trace.clock.start == 5
    with pytest.raises(TraceError, match=r'Sample 7 is stamped 5.072 s.*rule="hold", longest_gap='):
        Trace.from_arrays({"x": x}, dt="0.01", times=times + (np.arange(100) == 7) * 0.002)
    with pytest.raises(TraceError, match=r"Sample 9 is stamped 5.09002 s"):
        Trace.from_arrays({"x": x}, dt="0.01", times=times + (np.arange(100) == 9) * 2e-5)
    Trace.from_arrays({"x": x}, dt="0.01", times=times + (np.arange(100) == 9) * 0.9e-5)
    with pytest.raises(TraceError, match=r"Sample 1 is stamped 5.01 s, but a clock of dt = 1/50 s"):
        Trace.from_arrays({"x": x}, dt="0.02", times=times)
    with pytest.raises(TraceError, match="Sample 0 is stamped 5 s"):
        Trace.from_arrays({"x": x}, dt="0.01", times=times, start="4")
    with pytest.raises(TraceError, match="goes back behind"):
        Trace.from_arrays({"x": x}, dt="0.01", times=times[::-1])
    with pytest.raises(TraceError, match="99 stamps"):
        Trace.from_arrays({"x": x}, dt="0.01", times=times[:99])
    coarse = np.array([1e6, 1e6 + 0.125, 1e6 + 0.25], np.float32)
    with pytest.raises(TraceError, match=r"resolve 0\.0625 s, which cannot tell instants of dt ="):
        Trace.from_arrays({"x": x[:3]}, dt="0.1", times=coarse)


def test_a_million_stamps_take_well_under_a_second():
    draw = np.random.default_rng(0)
    times = np.sort(np.arange(1_000_000) * 0.01 + draw.uniform(-0.003, 0.003, 1_000_000))
    x = draw.normal(size=1_000_000)
    taken = []
    for rule, between in (("hold", "max"), ("linear", "sample")) * 2:
        begun = time.process_time()
        resample(times, x, rule=rule, between=between)
        taken.append(time.process_time() - begun)
    assert min(taken[0::2]) < 1.0
    assert min(taken[1::2]) < 1.0


def test_a_sparse_log_on_a_fine_clock_takes_little_more_than_its_trace():
    tracemalloc.start()
    trace = resample([0.0, 1.0, 10_000.0], [0.0, 1.0, 2.0], rule="linear", longest_gap="10000")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert trace.steps == 1_000_000
    assert most < 100 * trace.steps
