"""Every scope, condition and timing of a sentence against its meaning in plain quantifiers."""

from collections.abc import Iterator
from random import Random
from typing import get_args

import pytest

from safegym import Trace, check
from safegym.formula.sentence import sentence
from safegym.formula.sentence_rules import ScopeWord, TimingWord, TriggerWord
from safegym.formula.terms import Signal

Rows = dict[str, list[bool]]
M, C, R, S = (Signal(name) for name in ("m", "c", "r", "s"))
DEFINITIONS = {"mode": M > 0, "cond": C > 0, "resp": R > 0, "halt": S > 0}
SCOPES = ("", *get_args(ScopeWord))
TRIGGERS = ("", *get_args(TriggerWord))
TIMINGS = get_args(TimingWord)


def text_of(scope: str, trigger: str, timing: str) -> str:
    opening = f"{scope} mode, " if scope else ""
    condition = f"{trigger} cond, " if trigger else ""
    time = " 2 s" if timing in ("within", "for", "after") else ""
    stop = " halt" if timing in ("until", "before") and not time else ""
    return f"{opening}{condition}the thing shall {timing}{time}{stop} satisfy resp"


def stretches(scope: str, mode: list[bool]) -> Iterator[range]:
    """The samples of each stretch of the scope, in words: runs of the mode, before, after."""
    size = len(mode)
    runs = [
        (i, next((j for j in range(i, size) if not mode[j]), size))
        for i in range(size)
        if mode[i] and (i == 0 or not mode[i - 1])
    ]
    if not scope:
        yield range(size)
    elif scope in ("while", "in mode"):
        yield from (range(first, stop) for first, stop in runs)
    elif scope == "before":
        stop = runs[0][0] if runs else size
        if stop:
            yield range(stop)
    elif runs and runs[0][1] < size:
        yield range(runs[0][1], size)


def due(span: range, trigger: str, cond: list[bool]) -> list[int]:
    if not trigger:
        return [span.start]
    if trigger == "whenever":
        return [i for i in span if cond[i]]
    return [i for i in span if cond[i] and (i == span.start or not cond[i - 1])]


def kept(i: int, span: range, timing: str, rows: Rows) -> bool:
    """Whether the duty of sample i is kept. The scope closes where another sample follows it."""
    resp, halt, size = rows["r"], rows["s"], len(rows["r"])
    rest = range(i, span.stop)
    closes = span.stop < size
    if timing == "immediately":
        return resp[i]
    if timing == "at the next timepoint":
        return i + 1 >= span.stop or resp[i + 1]
    if timing == "always":
        return all(resp[j] for j in rest)
    if timing == "never":
        return not any(resp[j] for j in rest)
    if timing == "eventually":
        return any(resp[j] for j in rest)
    near = [j for j in rest if j <= i + 2]
    if timing == "within":
        return any(resp[j] for j in near) or (closes and span.stop <= i + 2)
    if timing == "for":
        return all(resp[j] for j in near)
    if timing == "after":
        return not any(resp[j] for j in near) and (i + 3 >= span.stop or resp[i + 3])
    halts = [j for j in rest if halt[j]]
    if timing == "until":
        return all(resp[j] for j in rest if not halts or j < halts[0])
    assert timing == "before"
    return not halts or any(resp[j] for j in range(i, halts[0]))


def meant(scope: str, trigger: str, timing: str, rows: Rows) -> bool:
    return all(
        kept(i, span, timing, rows)
        for span in stretches(scope, rows["m"])
        for i in due(span, trigger, rows["c"])
    )


def random_rows(random: Random, size: int) -> Rows:
    rates = {name: random.choice([0.2, 0.5, 0.8]) for name in "mcrs"}
    return {name: [random.random() < rate for _ in range(size)] for name, rate in rates.items()}


def trace_of(rows: Rows, end: str) -> Trace:
    values = {name: [float(value) for value in row] for name, row in rows.items()}
    return Trace.from_arrays(values, dt=1, end=end)  # type: ignore[arg-type]  # a kind


CASES = [(scope, trigger, timing) for scope in SCOPES for trigger in TRIGGERS for timing in TIMINGS]


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("scope", SCOPES)
def test_a_sentence_means_what_its_scope_condition_and_timing_say(scope: str, timing: str) -> None:
    random = Random(f"{scope} {timing}")
    for trigger in TRIGGERS:
        formula = sentence(text_of(scope, trigger, timing), [M, C, R, S], DEFINITIONS).formula
        seen = set()
        for _ in range(60):
            rows = random_rows(random, random.randint(1, 9))
            expected = meant(scope, trigger, timing, rows)
            status = check(formula, trace_of(rows, "cut")).status
            assert status == ("satisfied" if expected else "violated"), (trigger, rows)
            seen.add(expected)
        assert seen == {True, False}, trigger


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("scope", SCOPES)
def test_what_is_sure_at_an_interruption_stays_so_however_the_episode_goes_on(
    scope: str, timing: str
) -> None:
    random = Random(f"{timing} {scope}")
    for trigger in TRIGGERS:
        formula = sentence(text_of(scope, trigger, timing), [M, C, R, S], DEFINITIONS).formula
        for _ in range(8):
            rows = random_rows(random, random.randint(1, 6))
            status = check(formula, trace_of(rows, "interrupted")).status
            for _ in range(6):
                more = random_rows(random, random.randint(4, 7))
                longer = {name: row + more[name] for name, row in rows.items()}
                later = "satisfied" if meant(scope, trigger, timing, longer) else "violated"
                assert status in ("inconclusive", later), (trigger, rows, longer)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_sentence_prints_as_english_that_reads_back(case: tuple[str, str, str]) -> None:
    text = text_of(*case)
    found = sentence(text, [M, C, R, S], DEFINITIONS)
    assert str(found) == text
    assert sentence(str(found), found.signals, found.definitions) == found
    assert hash(sentence(text, [M, C, R, S], DEFINITIONS)) == hash(found)
