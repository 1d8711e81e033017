"""What explanations say of windows and operands, read back from the words, against the reference.

The reference walks every sample; the words are taken apart with regular expressions.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

import pytest
from reference import Reference
from reference_cases import Case, P, X, Y, random_case

from safegym.check.explanation import explain
from safegym.formula.nodes import Formula
from safegym.formula.text import parse
from safegym.trace.clock import Clock

TIME = r"(-?[\d.]+) s"
SPAN = rf"(?:from {TIME} to {TIME}|at {TIME})"


@dataclass
class Told:
    """The words about one case, and how often each kind of sentence was met."""

    case: Case
    words: str
    counts: Counter[str] = field(default_factory=Counter[str])

    def step(self, seconds: str) -> int:
        clock: Clock = self.case.trace.clock
        number = (Fraction(seconds) - clock.start) / clock.dt
        assert number.denominator == 1
        return int(number)

    def span(self, first: str | None, last: str | None, only: str | None) -> range:
        return (
            range(self.step(only), self.step(only) + 1)
            if only is not None
            else range(self.step(first or ""), self.step(last or "") + 1)
        )

    def must(self, formula: Formula, k: int) -> bool:
        return self.case.reference.value(formula, k)[0]

    def may(self, formula: Formula, k: int) -> bool:
        return self.case.reference.value(formula, k)[1]

    def found(self, kind: str, pattern: str) -> list[re.Match[str]]:
        found = [each for each in re.finditer(pattern, self.words) if "..." not in each[0]]
        self.counts[kind] += len(found)
        return found


def formula_of(text: str) -> Formula:
    found = parse(text, signals=(X, Y, P))
    assert isinstance(found, Formula)
    return found


def check_windows(told: Told) -> None:
    for each in told.found("every", rf"`([^`]+)` had to hold at every sample {SPAN}, and did not"):
        part = formula_of(each[1])
        assert not all(told.may(part, k) for k in told.span(*each.group(2, 3, 4))), told
    for each in told.found("held", rf"`([^`]+)` held at every sample {SPAN}"):
        part = formula_of(each[1])
        assert all(told.must(part, k) for k in told.span(*each.group(2, 3, 4))), told
    pattern = rf"`([^`]+)` had to hold at some sample {SPAN}(?:, looking [^,]*)?, and never did"
    for each in told.found("never", pattern):
        part = formula_of(each[1])
        assert not any(told.may(part, k) for k in told.span(*each.group(2, 3, 4))), told
    pattern = rf"`([^`]+)` was asked for at some sample {SPAN}, and held at {TIME}"
    for each in told.found("some", pattern):
        at = told.step(each[5])
        assert at in told.span(*each.group(2, 3, 4)), told
        assert told.must(formula_of(each[1]), at), told


def check_untils(told: Told) -> None:
    pattern = (
        rf"`([^`]+)` was due {SPAN}, with `([^`]+)` holding (until|since) then; "
        rf"(it never came)?(?:(?:, and )?`[^`]+` (?:(first|last) )?failed at {TIME})?"
        rf"(?:, (?:before|after) `[^`]+` held at {TIME})?"
    )
    for each in told.found("until", pattern):
        right, left = formula_of(each[1]), formula_of(each[5])
        came = [k for k in told.span(*each.group(2, 3, 4)) if told.may(right, k)]
        assert (each[7] is None) == bool(came), told
        if each[9] is not None:
            assert not told.may(left, told.step(each[9])), told
        if each[10] is not None:
            future, broke = each[6] == "until", told.step(each[9])
            assert told.step(each[10]) == (came[0] if future else came[-1]), told
            assert broke < came[0] if future else broke > came[-1], told
    pattern = (
        rf"`([^`]+)` had to hold [^`]*?, [^`]*? `[^`]+` [a-z ]+; it (?:first|last) failed at {TIME}"
    )
    for each in told.found("release", pattern):
        assert not told.may(formula_of(each[1]), told.step(each[2])), told


def check_stretch(told: Told) -> None:
    pattern = rf"`([^`]+)` failed from {TIME} to (?:the end at )?{TIME} \([^,]*, (\d+) samples\)"
    for each in told.found("stretch", pattern):
        part, steps = formula_of(each[1]), told.span(each[2], each[3], None)
        assert len(steps) == int(each[4]), told
        assert not any(told.may(part, k) for k in steps), told


def check_tail(told: Told, random: Random) -> None:
    """A tail that "would decide it" does, whatever its samples are."""
    for each in told.found("tail", rf"A tail of {TIME} past the horizon would decide it"):
        reference = told.case.reference
        more = int(Fraction(each[1]) / told.case.trace.clock.dt)
        for _ in range(4):
            signals: dict[str, Sequence[object]] = {
                name: [*values[: reference.end + 1], *(_drawn(random, name) for _ in range(more))]
                for name, values in reference.signals.items()
            }
            longer = Reference(signals, reference.dt, "horizon", reference.end)
            assert longer.status(told.case.formula) != "inconclusive", told


def _drawn(random: Random, name: str) -> object:
    one = random.randint(-2, 2)
    return [one, random.randint(-2, 2)] if name == "p" else one


def check(seeds: range, depth: int = 3) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in seeds:
        random = Random(seed)
        case = random_case(random, depth=depth, with_gaps=seed % 3 == 0)
        told = Told(case, explain(case.formula, case.trace).words, counts)
        check_windows(told)
        check_untils(told)
        check_stretch(told)
        check_tail(told, random)
    return counts


def test_sentences_about_windows_and_untils_are_true() -> None:
    counts = check(range(600))
    assert all(counts[kind] for kind in ("every", "held", "never", "some", "until", "tail"))


@pytest.mark.slow
def test_sentences_about_many_more_cases_are_true() -> None:
    counts = check(range(600, 6000), depth=5)
    assert all(count > 40 for count in counts.values())
    assert len(counts) == 8
