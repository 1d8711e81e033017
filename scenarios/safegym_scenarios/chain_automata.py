"""Automata of episode properties, written by hand from the language's definition.

They know nothing of the monitor, so that the two can be held against each other.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from safegym_scenarios.chain_exact import Automaton, End, Memory, Sample

Test = Callable[[Sample], bool]


def reaching(test: Test) -> Automaton:
    """Breaks `never(test)`: remembers whether some sample up to the horizon met the test."""

    def then(memory: Any, sample: Sample, late: bool) -> bool:
        return memory or (not late and test(sample))

    return Automaton(lambda sample: test(sample), then, lambda memory, end: bool(memory))


def until(left: Test, right: Test) -> Automaton:
    """Breaks `left until right`: 0 is still open, 1 met, -1 broken."""

    def judged(sample: Sample) -> int:
        return 1 if right(sample) else 0 if left(sample) else -1

    def then(memory: Any, sample: Sample, late: bool) -> int:
        return int(memory) if memory or late else judged(sample)

    return Automaton(judged, then, lambda memory, end: memory != 1)


def response(trigger: Test, duty: Test, steps: int) -> Automaton:
    """Breaks `always(trigger implies eventually(duty, within=steps))`.

    Remembers the age in steps of the oldest trigger that waits, None without one, -1 once broken;
    one duty answers all that wait. A trigger past the horizon asks nothing. At an absorbing end the
    last sample is held, and it does not meet the duty where one still waits; a failure discharges
    nothing; a horizon must be run past by `steps`.
    """

    def judged(age: Any, sample: Sample, late: bool) -> int | None:
        if age == -1:
            return -1
        if duty(sample):
            return None
        if age is None:
            age = -1 if not late and trigger(sample) else None
            if age is None:
                return None
        age += 1
        return -1 if age >= steps else int(age)

    def first(sample: Sample) -> int | None:
        return judged(None, sample, False)

    return Automaton(first, judged, lambda memory, end: memory is not None)


def share(test: Test) -> Automaton:
    """For `fraction(test)`: remembers (samples that met it, samples), up to the horizon."""

    def then(memory: Any, sample: Sample, late: bool) -> tuple[int, int]:
        hits, samples = memory
        return (hits, samples) if late else (hits + test(sample), samples + 1)

    return Automaton(lambda sample: (int(test(sample)), 1), then, lambda memory, end: False)


def share_of(memory: Any, end: End) -> Fraction:
    """The share that a `share` automaton ended with."""
    hits, samples = memory
    return Fraction(hits, samples)


def lowest(margin: Callable[[Sample], float], least: float = 0.0) -> Automaton:
    """Robustness of `always(atom)`: remembers the least margin. Breaks "robustness > least"."""

    def then(memory: Any, sample: Sample, late: bool) -> float:
        return float(memory) if late else min(memory, margin(sample))

    return Automaton(margin, then, lambda memory, end: memory <= least)


def both(one: Automaton, other: Automaton) -> Automaton:
    """Two at once: remembers a pair; breaks where either does."""

    def then(memory: Any, sample: Sample, late: bool) -> tuple[Memory, Memory]:
        return one.then(memory[0], sample, late), other.then(memory[1], sample, late)

    return Automaton(
        lambda sample: (one.first(sample), other.first(sample)),
        then,
        lambda memory, end: fails_first(one, memory, end) or fails_second(other, memory, end),
    )


def fails_first(one: Automaton, memory: Any, end: End) -> bool:
    """Whether the first of `both` fails."""
    return one.fails(memory[0], end)


def fails_second(other: Automaton, memory: Any, end: End) -> bool:
    """Whether the second of `both` fails."""
    return other.fails(memory[1], end)
