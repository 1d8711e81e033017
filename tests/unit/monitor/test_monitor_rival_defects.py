"""Defects measured in other monitors, each kept out by a test.

docs/explanation/rivals.md lists them with the test that keeps each out, here or elsewhere.
"""

import pickle
import re
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from safegym.check.monitor import Monitor, compiled, judge, robustness
from safegym.errors import FormulaError, TraceError
from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Apply, Signal
from safegym.formula.text import parse
from safegym.trace.model import Trace

ROOT = Path(__file__).resolve().parents[3]
X, Y = Signal("x"), Signal("y")


def trace(x: list[float], end: str = "horizon") -> Trace:
    return Trace.from_arrays({"x": x}, dt="0.1", end=end)  # type: ignore[arg-type]  # a kind


def test_nan_is_refused_with_its_signal_and_sample_never_dropped() -> None:
    seen = trace([1.0, 1.0, 1.0])
    spoilt = np.array([1.0, np.nan, 1.0])
    object.__setattr__(seen, "signals", {"x": spoilt})
    with pytest.raises(TraceError, match="Signal x is not finite at sample 1"):
        judge(always(X > 0), seen)
    with pytest.raises(TraceError, match="Signal x is not finite at sample 0 of episode 1"):
        Monitor(always(X > 0), "0.1", 2).update({"x": np.array([1.0, np.inf])})


def test_a_window_past_the_end_is_not_satisfied() -> None:
    assert judge(always(X > 0, lasting="1"), trace([1.0, 1.0])).status == "inconclusive"


def test_an_unresolved_eventually_is_not_satisfied() -> None:
    verdict = judge(eventually(X > 0, within="1"), trace([-1.0, -1.0], "interrupted"))
    assert verdict.status == "inconclusive"


def test_x_above_0_does_not_hold_at_0_and_x_at_least_0_does() -> None:
    strict, loose = judge(X > 0, trace([0.0])), judge(X >= 0, trace([0.0]))
    assert strict.status == "violated"
    assert loose.status == "satisfied"
    for verdict in (strict, loose):
        assert verdict.robustness is not None
        assert (verdict.robustness.lo, verdict.robustness.hi) == (0.0, 0.0)
        assert any("touched exactly" in note for note in verdict.notes)
    assert judge(X >= 0, trace([-0.0])).status == "satisfied"


def test_everything_pickles() -> None:
    formula, seen = always(X > 0), trace([1.0])
    verdict = judge(formula, seen)
    claim = Claim(id="a.b", statement=formula)
    for value in (verdict, formula, claim):
        assert pickle.loads(pickle.dumps(value)) == value
    assert pickle.loads(pickle.dumps(seen)).digest == seen.digest
    monitor = Monitor(always(X > 0), "0.1", 2)
    monitor.update({"x": [1.0, 2.0]})
    copy = pickle.loads(pickle.dumps(monitor))
    one, other = (m.update({"x": [0.5, -1.0]}).episode for m in (monitor, copy))
    assert one.hi is not None
    assert other.hi is not None
    assert one.hi.tolist() == other.hi.tolist() == [0.5, -1.0]


def test_margins_that_overflow_are_infinite_never_nan() -> None:
    huge = Apply("min", (X, X)) - 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = robustness((huge > -1e308) & (X < 1e308), trace([1.7e308, -1.7e308]))
    assert not np.isnan(low).any()
    assert not np.isnan(high).any()
    assert judge(X > -1e308, trace([1.7e308])).status == "satisfied"


def test_a_term_without_a_finite_value_is_refused() -> None:
    with pytest.raises(TraceError, match=r"no finite value at sample 1"):
        judge(always(Apply("sqrt", (X,)) >= 0), trace([1.0, -1.0]))
    with pytest.raises(TraceError, match=r"no finite value at sample 0"):
        judge(X * 1e300 * 1e300 > 0, trace([5.0]))


def test_subnormal_differences_keep_their_sign() -> None:
    tiny = 5e-324
    assert judge(X > 0, trace([tiny])).status == "satisfied"
    assert judge(X <= 0, trace([tiny])).status == "violated"


PAST_OVER_FUTURE = (
    "once[1,1](next(x > 0))",
    "previous(next(x > 0))",
    "rising(always[0,1](x > 0))",
    "historically[0,2](eventually[1,2](x > 0))",
    "(x < 2) since[1,3] (always[0,1](x > 0))",
    "always[0,2](once[0,1](x > 0) implies eventually[0,1](x > 1))",
)


@pytest.mark.parametrize("text", PAST_OVER_FUTURE)
def test_online_gives_the_offline_value_where_the_past_reads_the_future(text: str) -> None:
    formula = parse(text)
    draw = np.random.default_rng(5).integers(-2, 3, 20).astype(float)
    monitor = Monitor(formula, dt=1)
    wanted, _ = robustness(formula, Trace.from_arrays({"x": draw}, dt=1, end="interrupted"))
    for k, value in enumerate(draw):
        delayed = monitor.update({"x": [value]}).delayed
        at = k - monitor.look_ahead
        if at >= 0:
            assert delayed.lo is not None
            assert delayed.hi is not None
            assert delayed.lo[0] == delayed.hi[0] == wanted[at]


def test_judging_writes_nothing_into_its_inputs() -> None:
    x = np.array([1.0, 2.0, -1.0])
    before = x.tobytes()
    seen = Trace.from_arrays({"x": x}, dt="0.1", end="cut")
    formula = always(X > 0, lasting="0.5") & eventually(X > 0, within="0.5") & (X > -5)
    judge(formula, seen)
    robustness(formula, seen)
    assert x.tobytes() == before
    assert seen.signals["x"].tobytes() == before
    assert not seen.signals["x"].flags.writeable


def test_judging_twice_gives_the_same_verdict() -> None:
    seen, formula = trace([1.0, 2.0], "cut"), always(X > 0, lasting="0.5") & (X > 0)
    assert judge(formula, seen) == judge(formula, seen)


def test_one_sample_is_an_episode_like_another() -> None:
    for text in ("x > 0", "always[0,3](x > 0)", "(x > 0) until (x > 0)", "once(x > 0)"):
        formula = parse(text)
        low, high = robustness(formula, Trace.from_arrays({"x": [2.0]}, dt=1, end="cut"))
        assert low.tolist() == high.tolist() == [2.0]


def test_a_reversed_window_is_an_error_never_satisfied() -> None:
    with pytest.raises(FormulaError, match="reversed"):
        parse("always[2,1](x > 0)")
    with pytest.raises(FormulaError, match="reversed"):
        always(X > 0, window=(2, 1))


def test_falling_is_false_at_the_first_sample_where_nothing_fell() -> None:
    seen = Trace.from_arrays({"x": [-1.0, 1.0, -1.0]}, dt=1, end="cut")
    low, _ = robustness(parse("falling(x > 0)"), seen)
    assert low.tolist() == [-np.inf, -1.0, 1.0]


def test_two_false_sides_are_equal_whatever_their_margins() -> None:
    seen = Trace.from_arrays({"x": [-1.0], "y": [-3.0]}, dt=1, end="cut")
    assert robustness((X > 0).iff(Y > 0), seen)[0].tolist() == [1.0]
    assert robustness((X > 0).xor(Y > 0), seen)[0].tolist() == [-1.0]


def test_an_open_online_answer_is_inconclusive_never_satisfied() -> None:
    monitor = Monitor(eventually(X > 0, within="0.3"), "0.1")
    told = [str(monitor.update({"x": [-1.0]}).episode.status[0]) for _ in range(5)]
    assert told == ["inconclusive"] * 3 + ["violated"] * 2


def test_online_x_above_0_is_violated_at_0() -> None:
    assert str(Monitor(X > 0, "0.1").update({"x": [0.0]}).episode.status[0]) == "violated"
    assert str(Monitor(X >= 0, "0.1").update({"x": [0.0]}).episode.status[0]) == "satisfied"


def test_unbounded_operators_and_arithmetic_are_monitored_online() -> None:
    monitor = Monitor(always(abs(X * 2 - Y) <= 3), "0.1", 2)
    first = monitor.update({"x": [1.0, 1.0], "y": [0.0, 0.0]}).episode
    second = monitor.update({"x": [1.0, 9.0], "y": [0.0, 0.0]}).episode
    assert first.status.tolist() == ["inconclusive", "inconclusive"]
    assert second.status.tolist() == ["inconclusive", "violated"]


SHRINKING = (
    "always[0,1]((x > 0) until[0,2] (x > 0))",
    "eventually[0,2]((x > 1) until[0,2] (x < 0))",
    "always[1,3]((x < 0) until[0,2] (x > 0))",
    "(x > 0) release[0,3] (eventually[0,1](x > 0))",
)


@pytest.mark.parametrize("text", SHRINKING)
def test_the_online_interval_only_shrinks_onto_the_settled_value(text: str) -> None:
    formula = parse(text)
    for seed in range(20):
        draw = np.random.default_rng(seed).integers(-2, 4, 8).astype(float)
        monitor = Monitor(formula, dt=1)
        low, high = -np.inf, np.inf
        for value in draw:
            episode = monitor.update({"x": [value]}).episode
            assert episode.lo is not None
            assert episode.hi is not None
            assert low <= episode.lo[0] <= episode.hi[0] <= high
            low, high = episode.lo[0], episode.hi[0]
        whole, _ = robustness(formula, Trace.from_arrays({"x": draw}, dt=1, end="interrupted"))
        assert low == high == whole[0]


def test_a_batch_is_one_call() -> None:
    update = Monitor(always(X > 0), "0.1", 3).update({"x": [1.0, -1.0, 2.0]})
    assert update.episode.status.tolist() == ["inconclusive", "violated", "inconclusive"]


def _until(window: int) -> Formula:
    return parse(f"(x > -2) until[0,{window}] (x > 3)")


def _least(work: Callable[[], object]) -> float:
    work()
    best = float("inf")
    for _ in range(7):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best


def test_until_costs_the_same_for_a_window_a_hundred_times_longer() -> None:
    draw = np.random.default_rng(1).normal(size=30_000)
    seen = Trace.from_arrays({"x": draw}, dt=1, end="cut")
    with compiled.use("numba"):
        short, long = (_least(lambda w=w: robustness(_until(w), seen)) for w in (10, 1000))  # type: ignore[misc]  # bound now
    assert long < 4 * short, f"{long / short:.1f} times"


def test_the_memory_of_until_grows_with_the_trace_not_its_square() -> None:
    peaks = []
    for samples in (2_000, 8_000):
        draw = np.random.default_rng(1).normal(size=samples)
        seen = Trace.from_arrays({"x": draw}, dt=1, end="cut")
        formula = _until(samples // 2)
        with compiled.use("numpy"):
            robustness(formula, seen)
            tracemalloc.start()
            robustness(formula, seen)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 6 * peaks[0]


def test_no_padding_value_enters_a_margin() -> None:
    seen = Trace.from_arrays({"x": [-4e12, -3e12, -2e12]}, dt=1, end="cut")
    for text, wanted in (
        ("always[0,5](x > 0)", [-4e12, -3e12, -2e12]),
        ("eventually[0,5](x > 0)", [-2e12, -2e12, -2e12]),
        ("(x > -5e12) until[0,5] (x > 0)", [-2e12, -2e12, -2e12]),
        ("historically[0,5](x > 0)", [-4e12, -4e12, -4e12]),
        ("eventually[3,5](x > 0)", [-np.inf] * 3),
    ):
        for kernels in ("numpy", "numba"):
            with compiled.use(kernels):
                assert robustness(parse(text), seen)[0].tolist() == wanted


def test_a_digest_tells_one_unit_from_another() -> None:
    slow, fast = Signal("v", unit="km/h") <= 5, Signal("v", unit="m/s") <= 5
    assert slow.digest != fast.digest


def test_a_violation_comes_with_its_witness() -> None:
    witness = judge(always(X > 0), trace([1.0, -2.0, -1.0])).witness
    assert witness is not None
    assert (witness.step, witness.margin, witness.values) == (1, -2.0, {"x": -2.0})


def test_every_defect_of_the_page_names_a_test_that_is_there() -> None:
    page = (ROOT / "docs" / "explanation" / "rivals.md").read_text(encoding="utf-8")
    table = page.split("## Every defect")[1].split("\n## ")[0]
    defects = [line.split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    sources = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    there = set(re.findall(r"^def (test_\w+)", sources, re.MULTILINE))
    assert len(defects) > 30
    for *_, kept, _ in defects:
        named = re.findall(r"`([\w/.]+)`", kept)
        assert named
        for name in named:
            assert name in there or (ROOT / name).is_file(), name
