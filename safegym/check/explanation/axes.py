"""Axes: ranges around values, round ticks and their texts."""

import math
from dataclasses import dataclass

HUGE = 1e307
"""Values beyond are drawn at the edge."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Values lo..hi to pixels start..end, evenly; values outside are drawn at the edge."""

    lo: float
    hi: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        inside = min(max(value, self.lo), self.hi)
        return self.start + (inside - self.lo) / (self.hi - self.lo) * (self.end - self.start)


def room(lo: float, hi: float, pad: float) -> tuple[float, float]:
    """Returns a range around lo..hi with `pad` of its length added at each end, never empty."""
    lo, hi = max(lo, -HUGE), min(hi, HUGE)
    lo, hi = min(lo, HUGE), max(hi, -HUGE)
    more = (hi - lo) * pad
    if more <= max(abs(lo), abs(hi)) * 1e-12:
        more = max(abs(lo), abs(hi)) * 0.1 or 1.0
    return lo - more, hi + more


def ticks(lo: float, hi: float, most: int) -> list[float]:
    """Returns round values in [lo, hi], at most about `most` of them; none of a broken range."""
    rough = (hi - lo) / max(most, 1)
    if not 0.0 < rough < math.inf:
        return []
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10, 20) if size * factor >= rough * 0.999999)
    first, last = math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9)
    if last - first > 10 * most:
        return []
    return [number * step for number in range(first, last + 1)]


def tick_texts(values: list[float]) -> list[str]:
    """Returns the ticks' texts, all with the same number of decimal places."""
    if len(values) < 2:
        return [f"{value:.4g}" for value in values]
    step = values[1] - values[0]
    largest = max(abs(value) for value in values)
    if largest >= 1e6 or step < 1e-5:
        digits = max(1, math.ceil(math.log10(largest / step)) + 1)
        return [f"{value:.{min(digits, 17)}g}" for value in values]
    places = max(0, -math.floor(math.log10(step * 1.000001)))
    return [f"{value + 0.0:.{places}f}" for value in values]
