"""Settling against its definition: the first violated prefix, found the slow way."""

from random import Random

import pytest

from safegym.check.monitor import Settling, judge, settling
from safegym.formula.build import always, eventually, fraction, historically, never, previous
from safegym.formula.nodes import Formula, all_of
from safegym.formula.terms import Signal
from safegym.trace.model import EndKind, Trace

END: EndKind = "interrupted"

X, Y = Signal("x"), Signal("y")
FORMULAS: list[Formula] = [
    always(X <= 1),
    never(X > 1),
    always(X <= 1, window=("0.2", "0.5")),
    all_of(always(X <= 1), always(Y <= 1)),
    always((X > 1).implies(eventually(Y > 0, within="0.2"))),
    (X <= 1).until(Y > 1, within="0.5"),
    (X <= 1).until(Y > 1),
    eventually(Y > 1),
    eventually(always(X <= 0, lasting="0.2"), within="0.4"),
    fraction(X <= 0) >= 0.75,
    all_of(always(X <= 1), eventually(Y > 1)),
]


def slow(formula: Formula, trace: Trace) -> Settling | None:
    if judge(formula, trace).status != "violated":
        return None
    for k in range(trace.steps):
        cut = {name: values[: k + 1] for name, values in trace.signals.items()}
        prefix = Trace.from_arrays(cut, dt="0.1", end="interrupted", horizon=trace.horizon)
        verdict = judge(formula, prefix)
        if verdict.status == "violated":
            assert verdict.robustness is not None
            return Settling(k, verdict.robustness.hi)
    verdict = judge(formula, trace)
    assert verdict.robustness is not None
    return Settling(trace.steps, verdict.robustness.hi)


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_settling_is_the_first_violated_prefix(formula: Formula) -> None:
    random = Random(str(formula))
    for end in ("horizon", "failed", "absorbed", "interrupted", "cut"):
        for horizon in (None, 9):
            for _ in range(6):
                x = [random.choice([0, 0, 0, 1, 2]) for _ in range(10)]
                y = [random.choice([0, 0, 0, 1, 2]) for _ in range(10)]
                trace = Trace.from_arrays({"x": x, "y": y}, dt="0.1", end=end, horizon=horizon)  # type: ignore[arg-type]  # a kind
                assert settling(formula, trace) == slow(formula, trace)


def test_a_duty_that_only_the_failure_breaks_settles_at_the_last_sample() -> None:
    trace = Trace.from_arrays({"x": [0, 0, 0]}, dt="0.1", end="failed")
    assert settling(eventually(X > 1), trace) == Settling(2, -1.0)
    assert settling(always(X < 1, lasting="0.5"), trace) == Settling(2, float("-inf"))


def test_without_comparable_margins_only_the_step_is_given() -> None:
    metres, newtons = Signal("m", unit="m"), Signal("n", unit="N")
    trace = Trace.from_arrays({"m": [0, 2], "n": [0, 0]}, dt="0.1")
    assert settling(always((metres < 1) & (newtons < 1)), trace) == Settling(1, None)


@pytest.mark.parametrize(
    ("formula", "step"),
    [
        (always((X > 0) & previous(X > 1), window=("0.2", "0.3")), 1),
        (always(historically(X > 1, lasting="0.3"), window=("0.3", "0.4")), 1),
        (always((X > 0) & previous(X > 1)), 0),
        (always(historically(X > 1, lasting="0.3")), 1),
    ],
)
def test_a_past_operator_settles_as_soon_as_its_samples_are_seen(
    formula: Formula, step: int
) -> None:
    trace = Trace.from_arrays({"x": [2.0, 1.0, 2.0, 2.0, 2.0]}, dt="0.1")
    found = settling(formula, trace)
    assert found is not None
    assert found.step == step
    prefixes = [
        judge(formula, Trace.from_arrays({"x": [2.0, 1.0, 2.0][: k + 1]}, dt="0.1", end=END)).status
        for k in range(step + 1)
    ]
    assert prefixes.index("violated") == step
