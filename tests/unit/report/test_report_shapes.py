"""What is shaded in a violated episode agrees with the monitor, a second opinion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.audit.report.model import Promised
from safegym.audit.report.shapes import holds, runs, shape_of, values_of, window_samples
from safegym.audit.report.signals import signal_plot
from safegym.check.monitor import judge, settling
from safegym.formula.build import always, eventually, fraction, prob, rising
from safegym.formula.claim import Claim
from safegym.formula.functions import norm
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

X = Signal("x", scale=1.0)
V = Signal("v", shape=(2,), scale=1.0)
STATEMENTS = (
    always(X <= 0.5),
    always((abs(X) <= 0.7) & (V[0] > -0.9)),
    always((X > 0.2).implies(V[1] < 0.3)),
    always(norm(V[0], V[1]) < 1.1, window=("0.3", "0.9")),
    prob(eventually(0.8 <= X)) < 0.1,
)


def claim_of(statement: object) -> Claim:
    return Claim("a.claim", statement)  # type: ignore[arg-type]  # several kinds of statement


def promised(claim: Claim) -> Promised:
    text = claim.canonical_text
    return Promised(
        claim.id, claim.digest, text, str(claim.statement), claim, True, None, None, False, ""
    )


def trace_of(seed: int, end: str = "horizon") -> Trace:
    rng = np.random.default_rng(seed)
    signals = {"x": rng.uniform(-1, 1, 16), "v": rng.uniform(-1, 1, (16, 2))}
    return Trace.from_arrays(signals, dt="0.1", end=end, horizon=15)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(seed=st.integers(0, 10_000), number=st.sampled_from(range(len(STATEMENTS))))
def test_the_first_shaded_sample_is_where_the_monitor_settles(seed: int, number: int) -> None:
    claim, trace = claim_of(STATEMENTS[number]), trace_of(seed)
    shape = shape_of(claim)
    assert shape is not None
    assert shape.must == "always"
    held = holds(shape.body, trace)
    assert held is not None
    window = window_samples(shape, trace)
    broken = [k for k in window if not held[k]]
    settled = settling(claim, trace)
    assert (settled is None) == (not broken)
    if settled is not None:
        assert settled.step == broken[0]
    assert (judge(claim, trace).status == "violated") == bool(broken)


def test_an_awaited_event_that_never_comes_is_a_shaded_wait() -> None:
    claim = claim_of(prob(eventually(X > 2.0, within="1")) >= 0.9)
    _, words = signal_plot("s", promised(claim), trace_of(3), "episode 0")
    assert words.startswith("What the claim asks for did not happen by 1\N{NO-BREAK SPACE}s")


def test_a_violation_that_only_the_end_brings_is_said_to_be_the_ends() -> None:
    trace = Trace.from_arrays(
        {"x": np.zeros(6)}, dt="0.1", end="failed", reason="motor", horizon=15
    )
    claim = claim_of(always(X <= 0.5, window=(0, 1)))
    assert judge(claim, trace).status == "violated"
    picture, words = signal_plot("s", promised(claim), trace, "episode 0")
    assert picture
    assert "failed (motor), does" in words


@pytest.mark.parametrize(
    "statement",
    [
        always(rising(X > 0).implies(eventually(V[0] > 0, within="0.3"))),
        (X > -2).until(V[0] > 5.0),
    ],
)
def test_claims_over_several_moments_are_drawn_without_shading(statement: object) -> None:
    picture, words = signal_plot("s", promised(claim_of(statement)), trace_of(1), "episode 0")
    assert "badzone" not in picture
    assert "relates several moments" in words


@pytest.mark.parametrize("statement", [always(X < V[0]), always(X * X < 0.5)])
def test_claims_without_a_signal_against_a_constant_are_not_drawn(statement: object) -> None:
    picture, words = signal_plot("s", promised(claim_of(statement)), trace_of(1), "episode 0")
    assert not picture
    assert "compares no single signal with a constant" in words


def test_a_share_of_the_episode_is_drawn_without_shading() -> None:
    claim = claim_of(fraction(X > 0.9) >= 0.99)
    picture, words = signal_plot("s", promised(claim), trace_of(1), "episode 0")
    assert picture
    assert "badzone" not in picture
    assert "relates several moments" in words


def test_a_trace_without_the_claims_signal_is_not_drawn() -> None:
    trace = Trace.from_arrays({"y": np.zeros(4)}, dt="0.1", end="horizon")
    picture, words = signal_plot("s", promised(claim_of(always(X < 1))), trace, "episode 0")
    assert not picture
    assert words == "The stored episode lacks the claim's signals."
    assert values_of(X, trace) is None


def test_long_episodes_keep_their_extremes_within_a_small_picture() -> None:
    x = np.zeros(20_001)
    x[7_777] = 3.0
    trace = Trace.from_arrays({"x": x}, dt="0.01", end="horizon")
    picture, words = signal_plot("s", promised(claim_of(always(X < 1))), trace, "episode 0")
    assert "First violation at 77.77" in words
    assert len(picture) < 20_000


def test_runs_are_the_stretches_of_true_values() -> None:
    assert list(runs(np.array([True, False, True, True]))) == [(0, 0), (2, 3)]
    assert list(runs(np.zeros(3, dtype=bool))) == []
