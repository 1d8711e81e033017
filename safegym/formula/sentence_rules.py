"""What a structured sentence means: one formula for each timing, in each scope.

A scope is one or more stretches of samples. `inside` tells that a sample lies in one, `left` that
the stretch that began earlier is over; None where a scope lasts to the episode's end. The duty
falls due at each trigger; what the scope's end cuts off is no longer owed, but for `eventually`.

After the semantics of FRET (Giannakopoulou, Pressburger, Mavridou and Schumann 2020), where a
scope, a condition, a timing and a response give a formula each.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from safegym.formula.build import (
    always,
    eventually,
    falling,
    historically,
    once,
    rising,
    weak_next,
)
from safegym.formula.nodes import TRUE, Formula

ScopeWord = Literal["while", "in mode", "before", "after"]
TriggerWord = Literal["when", "if", "upon", "whenever"]
TimingWord = Literal[
    "immediately",
    "at the next timepoint",
    "always",
    "never",
    "eventually",
    "within",
    "for",
    "after",
    "until",
    "before",
]
TIMED = ("within", "for", "after")
STOPPED = ("until", "before")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where a duty is owed. begins: the first sample of each stretch; None: sample 0."""

    inside: Formula = TRUE
    left: Formula | None = None
    begins: Formula | None = None

    def trigger(self, word: TriggerWord | None, condition: Formula | None) -> Formula | None:
        """Returns where the duty falls due; None at sample 0 alone."""
        if condition is None:
            return self.begins
        held = condition if self.inside is TRUE else self.inside & condition
        return held if word == "whenever" else rising(held)

    def or_left(self, formula: Formula) -> Formula:
        """Returns: the formula, or the stretch is over."""
        return formula if self.left is None else formula | self.left


def stretch_of(word: ScopeWord | None, condition: Formula | None) -> Stretch:
    """Returns the stretches that a scope names.

    while, in mode: each run of samples where the condition holds. before: from the start up to its
    first sample, or throughout if it never holds. after: from the end of its first run on.
    """
    if word is None or condition is None:
        return Stretch()
    if word == "before":
        return Stretch(historically(~condition), condition, None)
    if word == "after":
        inside = once(falling(condition))
        return Stretch(inside, None, rising(inside))
    return Stretch(condition, ~condition, rising(condition))


def meaning(
    scope: tuple[ScopeWord, Formula] | None,
    trigger: tuple[TriggerWord, Formula] | None,
    timing: TimingWord,
    time: Fraction | None,
    stop: Formula | None,
    response: Formula,
) -> Formula:
    """Returns the formula of a whole sentence."""
    stretch = stretch_of(*scope) if scope else Stretch()
    duty = _duty(stretch, timing, time, stop, response)
    due = stretch.trigger(*trigger) if trigger else stretch.begins
    if due is not None:
        return always(due.implies(duty))
    return duty if scope is None else (~scope[1]).implies(duty)


def _duty(
    stretch: Stretch,
    timing: TimingWord,
    time: Fraction | None,
    stop: Formula | None,
    response: Formula,
) -> Formula:
    """Returns what is owed from the sample on at which the duty falls due."""
    if time is not None:
        return _timed(stretch, timing, time, response)
    if stop is not None:
        return _stopped(stretch, timing, stop, response)
    if timing == "immediately":
        return response
    if timing == "at the next timepoint":
        return weak_next(stretch.or_left(response))
    if timing == "eventually":
        if stretch.left is None:
            return eventually(response)
        return (~stretch.left).until(response & ~stretch.left)
    held = ~response if timing == "never" else response
    return always(held) if stretch.left is None else held.weak_until(stretch.left)


def _timed(stretch: Stretch, timing: TimingWord, time: Fraction, response: Formula) -> Formula:
    if timing == "within":
        return eventually(stretch.or_left(response), within=time)
    if timing == "for":
        return _throughout(stretch, response, time)
    then = always(weak_next(stretch.or_left(response)), window=(time, time))
    if stretch.left is not None:
        then = eventually(stretch.left, within=time) | then
    return _throughout(stretch, ~response, time) & then


def _throughout(stretch: Stretch, held: Formula, time: Fraction) -> Formula:
    """Returns: held for `time` seconds, or as long as the stretch lasts."""
    if stretch.left is None:
        return always(held, lasting=time)
    return stretch.left.release(held | stretch.left, within=time)


def _stopped(stretch: Stretch, timing: TimingWord, stop: Formula, response: Formula) -> Formula:
    if timing == "until":
        return response.weak_until(stretch.or_left(stop))
    return (~stop).weak_until(stretch.or_left(response & ~stop))
