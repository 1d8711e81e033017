"""Bad input, tampered states and numbers at the ends: refused with a line that helps."""

import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from safegym.check.statistics import (
    ConfidenceSequence,
    EProcess,
    EProcesses,
    FixedSample,
    FixedValues,
    MeanEProcess,
    Screen,
    StratifiedEProcess,
    TwoSidedEProcess,
    certification_plan,
    dkw_radius,
    episodes_for_quantile,
    holm,
    holm_adjusted,
    interval,
    joint_power,
    joint_statement,
    mean_limits,
    mean_plan,
    observed_statement,
    operating,
    p_value,
    process_interval,
    quantile_limits,
    read_weights,
    refuse_in_gate,
    release_level,
    spent_level,
    statement,
    stratum_of,
    upper_limit,
    upper_limits,
    worst_mean_limits,
)
from safegym.errors import EvidenceError

STRANGE = [
    None,
    "0.1",
    b"1",
    True,
    np.True_,
    math.nan,
    math.inf,
    -1,
    10**400,
    Decimal("NaN"),
    Decimal("sNaN"),
    1j,
    [0.1],
    np.array([0.5, 0.4]),
]


def one_value() -> FixedValues:
    sample = FixedValues(1, low=0.0, high=1.0)
    sample.update(0.5)
    return sample


NUMBERS: dict[str, Callable[[Any], object]] = {
    "threshold": lambda x: EProcess(x, 0.05),
    "level": lambda x: EProcess(0.01, x),
    "many": lambda x: EProcesses([x], [0.05]),
    "mean": lambda x: MeanEProcess(x, 0.05),
    "mean value": lambda x: MeanEProcess(0.5, 0.05).update(x),
    "fixed value": lambda x: FixedValues(2, low=0.0, high=1.0).update(x),
    "fixed range": lambda x: FixedValues(2, low=x, high=-2.0),
    "fixed size": FixedSample,
    "p-value": p_value,
    "holm": lambda x: holm([x], 0.05),
    "holm adjusted": lambda x: holm_adjusted([x]),
    "count": lambda x: interval(x, 10),
    "confidence": lambda x: interval(1, 10, confidence=x),
    "method": lambda x: interval(1, 10, method=x),
    "sequence method": lambda x: ConfidenceSequence(method=x),
    "side": lambda x: interval(1, 10, side=x),
    "process method": lambda x: process_interval(EProcess(0.1, 0.05), method=x),
    "limit level": lambda x: upper_limit(1, 10, level=x),
    "limits": lambda x: upper_limits([x], [10], level=0.05),
    "mean limits": lambda x: mean_limits([x, 7.0], level=0.05),
    "cap": lambda x: certification_plan(0.01, 0.05, cap=x),
    "share": lambda x: certification_plan(0.01, 0.05, cap=100, share=x),
    "planned threshold": lambda x: certification_plan(x, 0.05, cap=100),
    "assumed": lambda x: operating(x, 0.01, 0.05, cap=10),
    "assumed mean": lambda x: mean_plan(0.5, 0.05, cap=10, assumed=[x]),
    "powers": lambda x: joint_power([x]),
    "spent": lambda x: spent_level(0.05, x),
    "release": lambda x: release_level([x]),
    "joint": lambda x: joint_statement([x], "one at a time"),
    "display": lambda x: joint_statement([0.05], x),
    "quantile": lambda x: quantile_limits(one_value(), x, level=0.05),
    "quantile episodes": lambda x: episodes_for_quantile(x, level=0.05),
    "worst": lambda x: worst_mean_limits(one_value(), x, level=0.05),
    "radius": lambda x: dkw_radius(x, level=0.05),
    "weights": lambda x: read_weights([x, 0.5]),
    "all weights": lambda x: StratifiedEProcess(0.1, 0.05, x),
    "stratum": lambda x: StratifiedEProcess(0.1, 0.05, [0.5, 0.5]).update(x, "safe"),
    "index": lambda x: stratum_of(x, [0.5, 0.6]),
    "validity": lambda x: refuse_in_gate(x, "it"),
    "said confidence": lambda x: statement(
        EProcess(0.1, 0.05), confidence=0.99 if x is None else x
    ),
    "observed": lambda x: observed_statement(x, 0, 0),
    "futile": lambda x: EProcess(0.1, 0.05).futile(x),
    "violations": lambda x: EProcess(0.1, 0.05).update(violations=x),
    "undecided": lambda x: EProcess(0.1, 0.05).update(undecided=x),
    "skipped": lambda x: EProcess(0.1, 0.05).update(skipped=x),
    "doubtful": lambda x: EProcess(0.1, 0.05).update(doubtful=x),
    "each": lambda x: EProcess(0.1, 0.05).update_each(x),
    "each of a sequence": lambda x: ConfidenceSequence().update_each(x),
    "each of a screen": lambda x: Screen(3).update_each(x),
    "each of two sides": lambda x: TwoSidedEProcess(0.1, 0.05).update_each(x),
    "each of a sample": lambda x: FixedSample(3).update_each(x),
    "each of strata": lambda x: StratifiedEProcess(0.1, 0.05, [0.5, 0.5]).update_each(x),
    "each of many": lambda x: EProcesses([0.1], [0.05]).update(x),
    "number of a claim": lambda x: EProcesses([0.1], [0.05]).decision(x),
    "process of a claim": lambda x: EProcesses([0.1], [0.05]).process(x),
    "outcome count": lambda x: FixedSample(3).count(x),
    "side of e": lambda x: EProcess(0.1, 0.05).e_value(x),
    "side of a mean's e": lambda x: MeanEProcess(0.5, 0.05).e_value(x),
}


@pytest.mark.parametrize("door", NUMBERS)
def test_no_strange_argument_passes_or_ends_in_anything_but_a_refusal(door: str) -> None:
    for strange in STRANGE:
        if door == "p-value" and isinstance(strange, int) and strange > 1:
            continue  # an e-value may be as large as it likes
        if door == "limits" and isinstance(strange, bool | np.bool_):
            continue  # an array of truths is one of zeros and ones
        with pytest.raises(EvidenceError) as refused:
            NUMBERS[door](strange)
        assert len(str(refused.value)) > 20


def test_counts_of_numpy_are_counted_and_stored_like_others() -> None:
    process = EProcess(0.1, 0.05)
    process.update(skipped=np.int64(0))  # type: ignore[arg-type]  # as from an array
    process.update(doubtful=np.int64(2), skipped=np.int32(1))  # type: ignore[arg-type]  # as from an array
    assert json.loads(json.dumps(process.state()))["skipped"] == 1
    assert (process.episodes, process.doubtful) == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"episodes": None, "violations": 0}, "episodes must be a whole number, got None"),
        ({"skipped": 0.0}, "skipped must be a whole number"),
        ({"doubtful": False}, "doubtful must be a whole number"),
        (
            {"violations": 0, "episodes": 400, "decision": "below", "surplus": [1, 5, 0, 0, 0]},
            "fit",
        ),
        ({"violations": 0, "episodes": 400, "decision": "below", "surplus": [10**16] * 5}, "10.15"),
        ({"surplus": None}, "malformed"),
    ],
)
def test_a_tampered_state_of_an_e_process_is_refused(change: dict[str, Any], message: str) -> None:
    process = EProcess(0.01, 0.05)
    process.update(violations=1, episodes=10)
    with pytest.raises(EvidenceError, match=message):
        EProcess.from_state(process.state() | change)


@pytest.mark.parametrize("kind", [EProcess, EProcesses, MeanEProcess, StratifiedEProcess])
def test_what_is_no_state_at_all_is_refused(kind: Any) -> None:
    for strange in (*STRANGE, np.float64(1.0), {}, []):
        with pytest.raises(EvidenceError, match="state"):
            kind.from_state(strange)


def test_wealth_that_no_values_can_have_given_is_refused() -> None:
    process = MeanEProcess(0.5, 0.05)
    with pytest.raises(EvidenceError, match="'hoped' is more than its 0 episodes can have given"):
        MeanEProcess.from_state(process.state() | {"hoped": ["30"] * 13, "decision": "below"})
    with pytest.raises(EvidenceError, match="'other' is more than"):
        MeanEProcess.from_state(process.state() | {"other": ["1"] * 12})
    with pytest.raises(EvidenceError, match="surplus where nothing is decided"):
        MeanEProcess.from_state(process.state() | {"surplus": 5})
    for claim in ("below", "above"):
        for x in (0.0, 0.25, 1.0):
            process = MeanEProcess(0.25, 1e-3, claim=claim)  # type: ignore[arg-type]  # a side
            for _ in range(60):
                process.update(x)
                assert MeanEProcess.from_state(process.state()).state() == process.state()


def test_a_mean_that_went_badly_for_a_million_episodes_reads_back() -> None:
    """Its wealth is below the range of the default decimal context."""
    state = MeanEProcess(0.5, 0.05).state() | {"episodes": 2 * 10**6}
    state |= {"hoped": ["0", *["1E-3000000"] * 12], "other": ["1E-3000000"] * 12}
    assert MeanEProcess.from_state(state).episodes == 2 * 10**6


def test_a_range_beyond_binary64_and_a_threshold_at_its_end_are_refused() -> None:
    with pytest.raises(EvidenceError, match="too wide for binary64"):
        MeanEProcess(0.0, 0.05, low=-1.7e308, high=1.7e308)
    with pytest.raises(EvidenceError, match="declare the range with low= and high="):
        mean_limits([0.0], level=0.05, low=-1.7e308, high=1.7e308)
    with pytest.raises(EvidenceError, match="within 1e-12 of an end"):
        MeanEProcess(Fraction(10**400 - 1, 10**400), 0.05)


def test_the_line_that_a_refused_threshold_proposes_works() -> None:
    with pytest.raises(EvidenceError, match="such as 1e-11"):
        EProcess(1e-12, 0.05)
    assert EProcess(1e-11, 0.05).first_clean > 10**11


def test_rounds_take_weights_as_they_are_written() -> None:
    assert [stratum_of(i, [0.5, 0.5]) for i in range(4)] == [0, 1, 0, 1]
    assert stratum_of(0, ["2/3", "1/3"]) == 0


def test_an_e_value_of_any_size_gives_a_p_value_at_once() -> None:
    assert p_value(Decimal("1e999999999999")) == math.ulp(0.0)
    assert p_value(10**400) == math.ulp(0.0)
    assert p_value(Fraction(10**30)) >= Fraction(1, 10**30)
    process = EProcess(0.5, 0.05)
    process.update(episodes=10**12)
    assert p_value(process.e_value("below")) == math.ulp(0.0)


def test_infinite_robustness_and_tiny_shares_give_limits_that_are_moved_outward() -> None:
    endless = FixedValues(3)
    for x in (math.inf, 2.0, -1.0):
        endless.update(x)
    assert worst_mean_limits(endless, 0.5, level=0.5) == (-math.inf, math.inf)
    large = FixedValues(3, low=-1e20, high=1e20)
    for x in (-1e20, 0.0, 1e20):
        large.update(x)
    lo, hi = worst_mean_limits(large, 0.9, level=0.5)
    reach = Fraction(dkw_radius(3, level=0.5))
    exact = -(10**20) * (reach + Fraction(1, 3)) + 10**20 * max(
        0, Fraction(0.9) - reach - Fraction(2, 3)
    )
    assert Fraction(lo) <= exact / Fraction(0.9)
    assert lo == pytest.approx(float(exact / Fraction(0.9)), rel=1e-9)
    assert lo < hi
    assert worst_mean_limits(large, 1e-15, level=0.5)[0] == -1e20


def test_many_processes_refuse_what_no_run_can_give_and_survive_tiny_thresholds() -> None:
    many = EProcesses([1e-11], [0.05])
    state = many.state()
    open_ = [[0], [0], [10**15], [0], [0]]
    found = EProcesses.from_state(state | {"counts": open_})
    assert found.process(0).undecided == 10**15
    for row in (["safe"], ["undecided"]):
        with pytest.raises(EvidenceError, match=r"at most 10\^15"):
            found.update(row)  # type: ignore[arg-type]  # names
    almost = EProcesses.from_state(
        state | {"counts": [[0], [10**5], [10**14], [0], [0]]} | {"decisions": ["above"]}
    )
    assert almost.update(["safe"]).tolist() == [2]
    with pytest.raises(EvidenceError, match=r"10\^15"):
        EProcesses.from_state(state | {"counts": [[10**15], [1], [0], [0], [0]]})
    with pytest.raises(EvidenceError, match="Claim 1 of 1: claims are numbered from 0"):
        many.decision(1)
