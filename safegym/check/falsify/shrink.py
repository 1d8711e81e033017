"""Making a counterexample smaller: fewer components first, then smaller ones.

Every step that is taken was run and still violates the claim, so the result is a counterexample
however the system behaves. Nothing says that it is the smallest one there is.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from math import floor, log10

from safegym.check.falsify.arena import Arena
from safegym.check.falsify.coordinate import KINDS
from safegym.check.falsify.space import SearchSpace, Values
from safegym.check.falsify.trial import Trial

HALVINGS = 6
"""Bisections of one magnitude: it ends within 1/64 of its first distance from neutral."""


class _Spent(Exception):  # not an error: the share for shrinking is used up
    """Ends the shrinking."""


class Shrinker:
    """Shrinks one counterexample at a time, within what the arena allows."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._space: SearchSpace = arena.space
        self._neutral = arena.space.neutral
        self._tried: dict[Values, bool] = {}
        self.finished = False
        """Whether the last one was shrunk to the end: each component left was tried without."""

    def shrink(self, found: Trial) -> Trial:
        """The smallest counterexample that was seen on the way, with the same seed."""
        self._best, self._tried, self.finished = found, {found.values: True}, False
        with suppress(_Spent):
            self._all()
            self.finished = True
        return self._best

    def _all(self) -> None:
        original = self._best.values
        if self._accept(self._neutral):
            return
        for kind in KINDS:
            self._fewer([i for i, each in enumerate(self._space.free) if each.kind == kind])
        self._one_by_one()
        self._alone(original)
        self._together()
        for index in self._active():
            self._smaller(index)
        self._rounded()
        self._one_by_one()

    def _active(self) -> list[int]:
        values = self._best.values
        return [i for i, v in enumerate(values) if v != self._neutral[i]]

    def _is_fault(self, index: int) -> bool:
        return self._space.free[index].kind == "fault"

    def _fewer(self, members: Sequence[int]) -> None:
        """Delta debugging over one kind of component: keep a part of them, or drop a part."""
        parts = 1
        while active := [i for i in self._active() if i in set(members)]:
            parts = min(parts, len(active))
            pieces = _split(active, parts)
            if any(self._drop(piece) for piece in pieces):
                parts = max(1, parts - 1)
            elif parts > 2 and any(self._drop(_without(active, piece)) for piece in pieces):
                parts = 2
            elif parts == len(active):
                return
            else:
                parts = min(2 * parts, len(active))

    def _one_by_one(self) -> None:
        """Until no single component can be given up."""
        again = True
        while again:
            again = any(self._drop([index]) for index in self._active())

    def _alone(self, original: Values) -> None:
        """Whether one component of the original does it alone; a fault only in a fault's place."""
        active = self._active()
        if len(active) < 2:
            return
        faulty = any(self._is_fault(index) for index in active)
        for index, value in enumerate(original):
            if self._is_fault(index) and not faulty:
                continue
            alone = _put(self._neutral, index, value)
            if value != self._neutral[index] and self._accept(alone):
                return

    def _together(self) -> None:
        """All magnitudes by one factor."""
        active, whole = self._active(), self._best.values
        if len(active) < 2:
            return
        passes, fails = 0.0, 1.0
        for _ in range(HALVINGS // 2):
            share = (passes + fails) / 2.0
            scaled = whole
            for index in active:
                scaled = _put(scaled, index, self._between(index, whole[index], share))
            if self._accept(scaled):
                fails = share
            else:
                passes = share

    def _smaller(self, index: int) -> None:
        """One magnitude, by bisection between neutral and where it is."""
        whole = self._best.values[index]
        passes, fails = 0.0, 1.0
        for _ in range(HALVINGS):
            share = (passes + fails) / 2.0
            value = self._between(index, whole, share)
            if self._accept(_put(self._best.values, index, value)):
                fails = share
            else:
                passes = share

    def _rounded(self) -> None:
        """The same with short numbers, away from neutral, if that still violates."""
        active = self._active()
        if self._accept(_with(self._best.values, active, self._short)):
            return
        for index in active:
            self._accept(_put(self._best.values, index, self._short(index)))

    def _short(self, index: int) -> float:
        each, value = self._space.free[index], self._best.values[index]
        if value in (each.low, each.high):
            return value
        step = 10.0 ** _decimals(each.span)
        count = abs(value - each.neutral) / step
        away = step * (int(count) + (0 if count == int(count) else 1))
        found = each.neutral + (away if value > each.neutral else -away)
        return min(each.high, max(each.low, float(f"{found:.12g}")))

    def _between(self, index: int, value: float, share: float) -> float:
        neutral = self._neutral[index]
        return neutral + share * (value - neutral)

    def _drop(self, indices: Sequence[int]) -> bool:
        if not indices:
            return False
        return self._accept(_with(self._best.values, indices, lambda i: self._neutral[i]))

    def _accept(self, values: Values) -> bool:
        """Run it, and go on from it if it violates the claim. Raises _Spent without allowance."""
        if values in self._tried:
            return False
        if not self._arena.left:
            raise _Spent
        (trial,) = self._arena.run([values], [self._best.seed])
        self._tried[values] = trial.score.violated
        if trial.score.violated:
            self._best = trial
        return trial.score.violated


def _with(values: Values, indices: Sequence[int], change: Callable[[int], float]) -> Values:
    chosen = set(indices)
    return tuple(change(i) if i in chosen else value for i, value in enumerate(values))


def _put(values: Values, index: int, value: float) -> Values:
    return (*values[:index], value, *values[index + 1 :])


def _without(whole: Sequence[int], part: Sequence[int]) -> list[int]:
    return [index for index in whole if index not in set(part)]


def _split(whole: Sequence[int], parts: int) -> list[list[int]]:
    bounds = [len(whole) * k // parts for k in range(parts + 1)]
    return [list(whole[a:b]) for a, b in pairwise(bounds) if a < b]


def _decimals(span: float) -> int:
    """The power of ten that is a hundredth to a thousandth of a range."""
    return floor(log10(span)) - 2
