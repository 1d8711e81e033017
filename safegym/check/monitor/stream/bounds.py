"""Lower and upper keys of a subformula at one position, and the positions that it reads."""

from dataclasses import dataclass

from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.records import Key, Mask

SINCE_BEGUN = Mask(0, 1)
"""What was before counts from the second sample of an episode on."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower and upper key. tight: whether they are the offline interval on every prefix."""

    lower: Key
    upper: Key
    tight: bool

    def __invert__(self) -> "Bounds":
        return Bounds(~self.upper, ~self.lower, self.tight)


@dataclass(frozen=True, slots=True)
class Range:
    """Positions first..last at which an operand counts.

    open: whether the end of the episode bounds it, not a window; last is then the horizon, NEVER
    where none is declared. over: positions by which windows reach past that end.
    """

    first: int
    last: int
    open: bool = False
    over: int = 0

    @property
    def endless(self) -> bool:
        """Whether it never closes."""
        return self.last >= w.NEVER


def inside(program: Program, key: Key, lag: int, where: Range, fill: int = w.FALSE) -> Key:
    """Returns the key at the positions of the range, `fill` elsewhere."""
    if lag == 0 and where.first == 0 and where.endless:
        return key
    return program.gate(key, Mask(lag, where.first, where.last, fill))


def before(program: Program, key: Key, more: Key, lag: int, last: int) -> Key:
    """Returns the larger of key and of `more` at positions before `last`."""
    return program.also(key, more, Mask(lag, -w.NEVER, last - 1))
