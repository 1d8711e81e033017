"""Interval arithmetic on one box of plain floats: the quick look of a shield, in tens of us.

Every result is rounded outwards. Source: Moore, Kearfott and Cloud, Introduction to Interval
Analysis (2009), chapters 2 and 5, for the rules.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from safegym.check.loop.modes import Sides, decided
from safegym.errors import UnsupportedError
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import And, Atom, Boolean, Or
from safegym.formula.terms import Apply, Constant, Signal, Term

Interval = tuple[float, float]
Rule = Callable[[Interval, Interval], Interval]
LIBM = 1e-15
"""How far a sine, a cosine may be off: 4 units in the last place of 1, and more."""
_FAR = 1e6
_INF = math.inf


class Unbounded(Exception):
    """The interval left the finite numbers, or an operation's domain."""


class IntervalProgram:
    """Terms and margins worked out in order, each once.

    inputs: number of intervals that `run` is given; they are registers 0 to inputs - 1.
    """

    def __init__(self, inputs: int) -> None:
        self._inputs = inputs
        self._constants: list[tuple[int, Interval]] = []
        self._code: list[tuple[Rule, int, int, int]] = []
        self._size = inputs

    def run(self, box: Sequence[Interval]) -> list[Interval]:
        """Every register. Raises `Unbounded` where one has no finite interval."""
        found: list[Interval] = [*box, *([(0.0, 0.0)] * (self._size - self._inputs))]
        for at, value in self._constants:
            found[at] = value
        for rule, left, right, at in self._code:
            found[at] = rule(found[left], found[right])
        return found

    def constant(self, value: float) -> int:
        """A register that holds a number."""
        self._constants.append((self._size, (value, value)))
        self._size += 1
        return self._size - 1

    def apply(self, rule: Rule, left: int, right: int) -> int:
        """A register that holds what the rule makes of two others."""
        self._code.append((rule, left, right, self._size))
        self._size += 1
        return self._size - 1

    def term(self, root: Term, known: Mapping[str, int], sides: Sides) -> int:
        """The register of a term. known: signal name -> register. sides: of the `if`s."""
        found: dict[Interned, int] = {}
        chosen = decided(root, sides)
        for part in postorder(chosen):
            match part:
                case Constant():
                    found[part] = self.constant(part.value)
                case Signal():
                    found[part] = known[part.name]
                case Apply():
                    found[part] = self._applied(part, [found[each] for each in part.arguments])
                case _:
                    raise UnsupportedError(f"`{short(root)}` has no interval.")
        return found[chosen]

    def margin(self, formula: Formula, known: Mapping[str, int], sides: Sides) -> int:
        """The register of what is positive where a formula of one instant holds."""
        match formula:
            case Atom():
                left, right = (
                    self.term(side, known, sides) for side in (formula.left, formula.right)
                )
                more = formula.comparison in (">", ">=")
                return self.apply(_minus, *((left, right) if more else (right, left)))
            case Boolean():
                return self.constant(1.0 if formula.value else -1.0)
            case And() | Or():
                rule = _min if isinstance(formula, And) else _max
                at = self.margin(formula.arguments[0], known, sides)
                for each in formula.arguments[1:]:
                    at = self.apply(rule, at, self.margin(each, known, sides))
                return at
            case _:
                raise UnsupportedError(f"`{short(formula)}` is no condition on one instant.")

    def greater(self, left: int, right: int) -> int:
        """The register of the greater of two."""
        return self.apply(_max, left, right)

    def _applied(self, part: Apply, nodes: list[int]) -> int:
        operation = part.operation
        if operation == "*" and part.arguments[0] is part.arguments[1]:
            return self.apply(_square, nodes[0], nodes[0])
        if operation in _ONE:
            return self.apply(_ONE[operation], nodes[0], nodes[0])
        if operation == "norm":
            squares = [self.apply(_square, node, node) for node in nodes]
            return self.apply(_sqrt, at := self._folded(_plus, squares), at)
        if operation in _TWO:
            return self._folded(_TWO[operation], nodes)
        raise UnsupportedError(f"`{short(part)}` has no interval.")

    def _folded(self, rule: Rule, nodes: list[int]) -> int:
        at = nodes[0]
        for node in nodes[1:]:
            at = self.apply(rule, at, node)
        return at


def _outward(low: float, high: float) -> Interval:
    if not (-_INF < low <= high < _INF):
        raise Unbounded
    return math.nextafter(low, -_INF), math.nextafter(high, _INF)


def _plus(a: Interval, b: Interval) -> Interval:
    return _outward(a[0] + b[0], a[1] + b[1])


def _minus(a: Interval, b: Interval) -> Interval:
    return _outward(a[0] - b[1], a[1] - b[0])


def _times(a: Interval, b: Interval) -> Interval:
    (p, q), (r, s) = a, b
    ends = (p * r, p * s, q * r, q * s)
    if not math.isfinite(math.fsum(map(abs, ends))):
        raise Unbounded
    return _outward(min(ends), max(ends))


def _square(a: Interval, _: Interval) -> Interval:
    low, high = sorted((abs(a[0]), abs(a[1])))
    if a[0] <= 0.0 <= a[1]:
        return 0.0, _outward(0.0, high * high)[1]
    least, most = _outward(low * low, high * high)
    return max(least, 0.0), most


def _over(a: Interval, b: Interval) -> Interval:
    if b[0] <= 0.0 <= b[1]:
        raise Unbounded
    ends = (a[0] / b[0], a[0] / b[1], a[1] / b[0], a[1] / b[1])
    if not math.isfinite(math.fsum(map(abs, ends))):
        raise Unbounded
    return _outward(min(ends), max(ends))


def _neg(a: Interval, _: Interval) -> Interval:
    return -a[1], -a[0]


def _abs(a: Interval, _: Interval) -> Interval:
    low, high = sorted((abs(a[0]), abs(a[1])))
    return (0.0 if a[0] <= 0.0 <= a[1] else low), high


def _min(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), min(a[1], b[1])


def _max(a: Interval, b: Interval) -> Interval:
    return max(a[0], b[0]), max(a[1], b[1])


def _sqrt(a: Interval, _: Interval) -> Interval:
    if a[0] < 0.0:
        raise Unbounded
    low, high = _outward(math.sqrt(a[0]), math.sqrt(a[1]))
    return max(low, 0.0), high


def _exp(a: Interval, _: Interval) -> Interval:
    if a[1] > 700.0:
        raise Unbounded
    low, high = math.exp(a[0]), math.exp(a[1])
    return _outward(low * (1.0 - LIBM), high * (1.0 + LIBM))


def _sin(a: Interval, _: Interval) -> Interval:
    return _wave(a, math.sin, 0.5 * math.pi)


def _cos(a: Interval, _: Interval) -> Interval:
    return _wave(a, math.cos, 0.0)


def _wave(a: Interval, function: Callable[[float], float], peak: float) -> Interval:
    """The range of a wave with a peak there, of period 2 pi, -1 at half a period from it."""
    low, high = a
    if not (-_FAR < low <= high < _FAR):
        return -1.0, 1.0
    ends = sorted((function(low), function(high)))
    bottom = -1.0 if _meets(low, high, peak + math.pi) else max(ends[0] - LIBM, -1.0)
    top = 1.0 if _meets(low, high, peak) else min(ends[1] + LIBM, 1.0)
    return bottom, top


def _meets(low: float, high: float, point: float) -> bool:
    """Whether point + 2 pi k may lie in [low, high] for some k; sure where it says no."""
    slack = 1e-9
    turns = math.ceil((low - slack - point) / (2.0 * math.pi) - 1e-9)
    return point + turns * 2.0 * math.pi <= high + slack


_ONE: dict[str, Rule] = {
    "neg": _neg,
    "abs": _abs,
    "sqrt": _sqrt,
    "exp": _exp,
    "sin": _sin,
    "cos": _cos,
}
_TWO: dict[str, Rule] = {
    "+": _plus,
    "-": _minus,
    "*": _times,
    "/": _over,
    "min": _min,
    "max": _max,
}
