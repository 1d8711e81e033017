"""Resampling done slowly: one instant at a time, in fractions, straight from the rules."""

import bisect
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class Slow:
    """A log of one number a stamp on the instants start + k * dt, k = 0..steps."""

    nanoseconds: list[int]
    values: list[float]
    dt: Fraction
    start: Fraction
    steps: int
    rule: str
    longest: Fraction | None
    tolerance: Fraction
    between: str | None = None

    def __post_init__(self):
        self.places = [self._snapped(Fraction(each, 10**9)) for each in self.nanoseconds]

    def _snapped(self, time):
        instant = self.start + round((time - self.start) / self.dt) * self.dt
        return instant if abs(time - instant) <= self.tolerance else time

    def instant(self, k):
        return self.start + k * self.dt

    def _near(self, i):
        """Whether samples i and i + 1 exist and are close enough."""
        if self.longest is None or not 0 <= i < len(self.places) - 1:
            return False
        return self.places[i + 1] - self.places[i] <= self.longest + self.tolerance

    def last(self, time):
        return bisect.bisect_right(self.places, time) - 1

    def known(self, k):
        time = self.instant(k)
        i = self.last(time)
        there = (i >= 0 and self.places[i] == time) or self._near(i)
        if self.rule == "jitter" or k == 0 or self.between not in ("max", "min"):
            return there
        before = self.instant(k - 1)
        stop = i if i >= 0 and self.places[i] == time else i + 1
        return there and all(self._near(j) for j in range(self.last(before), stop))

    def plain(self, k):
        """The value by the rule alone, exact."""
        time = self.instant(k)
        i = self.last(time)
        here = Fraction(self.values[i])
        if self.rule != "linear" or self.places[i] == time:
            return here
        share = (time - self.places[i]) / (self.places[i + 1] - self.places[i])
        return here + (Fraction(self.values[i + 1]) - here) * share

    def inside(self, k):
        """The samples after instant k - 1, up to k; of instant 0 those that count as on it."""
        low, high = self.instant(k - 1), self.instant(k)
        found = [i for i, place in enumerate(self.places) if low < place <= high]
        return [i for i in found if self.places[i] >= self.start]

    def value(self, k):
        found = self.plain(k)
        if self.between in ("max", "min"):
            fold = max if self.between == "max" else min
            found = fold(found, *(Fraction(self.values[i]) for i in self.inside(k)), found)
        return float(found)

    def gaps(self):
        """Samples that are not known."""
        return [k for k in range(self.steps + 1) if not self.known(k)]

    def passed_over(self):
        """Samples of the log, inside the clock, that no known instant takes its value from."""
        taken = set()
        for k in range(self.steps + 1):
            if self.known(k):
                i = self.last(self.instant(k))
                taken.add(i)
                if self.rule == "linear" and self.places[i] != self.instant(k):
                    taken.add(i + 1)
        return [
            i
            for k in range(self.steps + 1)
            if self.known(k)
            for i in self.inside(k)
            if i not in taken
        ]

    def hidden(self):
        """How many samples lie beyond the values of the known instants around them."""
        count = 0
        for k in range(self.steps + 1):
            if self.known(k):
                around = [self.value(j) for j in (k - 1, k) if j >= 0 and self.known(j)]
                count += sum(
                    not min(around) <= self.values[i] <= max(around) for i in self.inside(k)
                )
        return count
