"""Every row of the page of differences is true: what the rival says, and what we say."""

import math
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rival_texts import (
    mstlo_module,
    mstlo_verdicts,
    rtamt_module,
    rtamt_offline,
    rtamt_online,
    sentil_module,
    sentil_offline,
)

from safegym.check.monitor import judge, robustness
from safegym.errors import SafegymError
from safegym.formula.text import parse
from safegym.trace.model import Trace

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "rivals.md"
DELAYED = "DelayedQuantitative"
EVALUATE: dict[str, Callable[[str, dict[str, list[float]]], list[float]]] = {
    "rtamt": rtamt_offline,
    "rtamt, online": rtamt_online,
    "sentil": sentil_offline,
    "mstlo": lambda text, signals: list(mstlo_verdicts(text, signals, DELAYED).values()),
}


def rows() -> list[list[str]]:
    """The cells of the table in numbers."""
    part = PAGE.read_text(encoding="utf-8").split("## Where they differ, in numbers")[1]
    lines = [line for line in part.split("\n## ")[0].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def samples_of(cell: str) -> dict[str, list[float]]:
    found = {}
    for part in cell.split(";"):
        name, values = part.split("=")
        found[name.strip()] = [float(value) for value in values.split()]
    return found


def same(found: list[float], wanted: list[float]) -> bool:
    pairs = zip(found, wanted, strict=True)
    return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in pairs)


def our_answer(text: str, samples: dict[str, list[float]], end: str) -> str:
    """As the page writes it: the status and robustness, or the error."""
    try:
        trace = Trace.from_arrays(samples, dt=1, end=end)  # type: ignore[arg-type]  # a kind
        formula = parse(text)
        low, high = robustness(formula, trace)
    except SafegymError as error:
        return type(error).__name__
    numbers = [
        f"{a:g}" if a == b else f"{a:g}..{b:g}"
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
    return f"{judge(formula, trace).status}: {' '.join(numbers)}"


def test_the_page_has_its_table() -> None:
    assert len(rows()) >= 17
    assert {row[0] for row in rows()} == {"rtamt", "sentil", "mstlo"}


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}: {row[1].strip('`')}")
def test_we_say_what_the_page_says(row: list[str]) -> None:
    _, _, samples, _, ours, end, answer = row
    assert our_answer(ours.strip("`"), samples_of(samples), end) == answer


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}: {row[1].strip('`')}")
def test_the_rival_says_what_the_page_says(row: list[str]) -> None:
    rival, asked, samples, answer, *_ = row
    text, how = re.fullmatch(r"`(.*)`(, online)?", asked).groups()  # type: ignore[union-attr]  # a row
    found = EVALUATE[rival + (how or "")](text, samples_of(samples))
    assert same(found, [float(value) for value in answer.split()])


def test_rtamt_makes_the_callers_list_longer() -> None:
    x = [1.0, 2.0]
    assert rtamt_offline("always[0,5](x)", {"x": x}) == [1.0, 2.0]
    assert len(x) == 6


def test_rtamt_fails_where_a_lengthened_list_is_read_again() -> None:
    rtamt_module()
    with pytest.raises(IndexError):
        rtamt_offline("(always[0,5](x)) and (x > 0)", {"x": [1.0, 2.0]})


def test_rtamt_fails_on_one_sample() -> None:
    rtamt_module()
    with pytest.raises(UnboundLocalError):
        rtamt_offline("x > 0", {"x": [1.0]})


def test_rtamt_fails_on_unless_without_a_window() -> None:
    rtamt_module()
    with pytest.raises(AttributeError):
        rtamt_offline("(x > 0) unless (y > 0)", {"x": [1.0, 1.0], "y": [1.0, 1.0]})


def pickles(value: object) -> bool:
    try:
        pickle.dumps(value)
    except (TypeError, AttributeError, pickle.PicklingError):
        return False
    return True


def test_no_rival_pickles() -> None:
    specification = rtamt_module().StlDiscreteTimeOfflineSpecification()
    sentil = sentil_module()
    for value in (specification, sentil.Formula.parse("x > 0"), sentil.OnlineMonitor("x > 0")):
        assert not pickles(value)


def test_sentil_is_satisfied_before_it_is_resolved() -> None:
    found = sentil_module().OnlineMonitor("eventually[0,3](x > 0)").update(0.0, {"x": -1.0})
    assert (found.resolved, found.satisfied) == (False, True)


def test_sentil_says_that_0_is_above_0() -> None:
    found = sentil_module().OnlineMonitor("x > 0").update(0.0, {"x": 0.0})
    assert (found.resolved, found.satisfied, found.value) == (True, True, 0.0)


@pytest.mark.parametrize("text", ["always(x > 0)", "G(x > 0)", "x + 1 > 0", "abs(x) > 1"])
def test_mstlo_has_no_unbounded_operator_and_no_arithmetic(text: str) -> None:
    with pytest.raises(ValueError, match="Parse error"):
        mstlo_module().parse_formula(text)


def test_mstlo_contradicts_itself() -> None:
    text, signals = "G[0,1]((x > 0) U[0,2] (x > 0))", {"x": [2.0, 0.0, 3.0, -1.0, 2.0, 1.0, -2.0]}
    delayed = mstlo_verdicts(text, signals, DELAYED)
    interval = mstlo_verdicts(text, signals, "Rosi")
    low, high = interval[1.0]
    assert not low <= delayed[1.0] <= high


def test_mstlo_lets_nan_through() -> None:
    signals = {"x": [1.0, math.nan, 1.0, 1.0]}
    assert mstlo_verdicts("G[0,1](x > 0)", signals, "Rosi")[0.0] == (1.0, 1.0)
