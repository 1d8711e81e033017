"""Unrolling a step formula into one z3 Boolean a sample, by the rules of the language.

Written from the semantics (docs/reference/language.md and docs/decisions/0001), apart from the
monitor, so that the two can be compared. A value that is not known is the Boolean `unknown`:
unrolling with False gives what must hold whatever it is, with True what may hold.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from safegym.check.symbolic.engine import Bool, total, z3
from safegym.check.symbolic.outline import Outline
from safegym.errors import UnsupportedError
from safegym.formula import nodes as n
from safegym.formula.nodes import Formula

AtomReading = Callable[[n.Atom, int], Bool]
LIMIT = 400_000
"""Most (subformula, sample) pairs that are unrolled."""
MOST_READS = 20_000_000
"""Most readings of them, which wide windows at many samples multiply."""


@dataclass
class Unrolling:
    """The formula's value at samples, each computed once.

    atom: (atom, sample 0..last) -> z3 Boolean. beyond: what an atom after the last sample is where
    the end leaves it open; None takes `unknown`. opposite: gives the unrolling with the other
    `unknown`, by which a share of time from above is counted; None where nothing is unknown.
    plain: count by sums of ordinary SMT-LIB instead of z3's own cardinality. opened: whether
    `unknown` was read, so that a formula and its negation may both be false.
    """

    outline: Outline
    atom: AtomReading
    unknown: bool
    beyond: AtomReading | None = None
    opposite: "Callable[[], Unrolling] | None" = None
    plain: bool = False
    opened: bool = field(default=False, init=False)
    _known: dict[tuple[Formula, int], Bool] = field(default_factory=dict)
    _spent: int = 0
    _before: int = 0

    def value(self, formula: Formula, at: int) -> Bool:
        """z3 Boolean of `formula` at sample `at`. Raises UnsupportedError beyond LIMIT pairs."""
        self._spent, self._before = 0, len(self._known)
        pending = [(formula, at)]
        while pending:
            node, k = pending[-1]
            if (node, k) in self._known:
                pending.pop()
                continue
            self._spend(node, k)
            missing = [pair for pair in self._reads(node, k) if pair not in self._known]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            self._known[node, k] = self._combine(node, k)
        return self._known[formula, at]

    def _spend(self, node: Formula, k: int) -> None:
        """Counts what is about to be read, before a list of it is made."""
        self._spent += 1
        if isinstance(node, n.WindowedUnary | n.WindowedBinary):
            places = self._places(node, k)
            self._spent += max(places.stop - min(k, places.start), 0)
        if len(self._known) - self._before > LIMIT or self._spent > MOST_READS:
            raise UnsupportedError(
                f"Unrolling needs more than {LIMIT} subformula values, or reads them more than "
                f"{MOST_READS} times; shorten the trace or the windows, or use the "
                '"monitor" backend.'
            )

    def _reads(self, node: Formula, k: int) -> Iterable[tuple[Formula, int]]:
        """The values that `_combine` looks up."""
        if isinstance(node, n.And | n.Or):
            return [(argument, k) for argument in node.arguments]
        if isinstance(node, n.Next | n.WeakNext):
            return [] if self._absent(k + 1) else [(node.argument, k + 1)]
        if isinstance(node, n.Previous | n.WeakPrevious):
            return [] if k == 0 else [(node.argument, k - 1)]
        if isinstance(node, n.Always | n.Eventually | n.Once | n.Historically):
            return [(node.argument, j) for j in self._places(node, k)]
        if isinstance(node, n.Until | n.Release | n.Since | n.Trigger):
            places = self._places(node, k)
            rights = [(node.right, j) for j in places]
            return rights + [(node.left, i) for i in self._path(node, k, places)]
        if isinstance(node, n.Fraction):
            return [] if _from_above(node) else [(node.argument, j) for j in self._samples()]
        return []

    def _combine(self, node: Formula, k: int) -> Bool:
        match node:
            case n.Boolean():
                return z3.BoolVal(node.value)
            case n.Atom():
                return self._atom(node, k)
            case n.And():
                return _all(self._known[a, k] for a in node.arguments)
            case n.Or():
                return _any(self._known[a, k] for a in node.arguments)
            case n.Next() | n.WeakNext():
                if self._absent(k + 1):
                    return z3.BoolVal(isinstance(node, n.WeakNext))
                return self._known[node.argument, k + 1]
            case n.Previous() | n.WeakPrevious():
                if k == 0:
                    return z3.BoolVal(isinstance(node, n.WeakPrevious))
                return self._known[node.argument, k - 1]
            case n.Always() | n.Eventually() | n.Once() | n.Historically():
                return self._one_place(node, k)
            case n.Until() | n.Release() | n.Since() | n.Trigger():
                return self._two_place(node, k)
            case n.Fraction():
                return self._share(node)
            case _:
                pass
        raise UnsupportedError(f"{type(node).__name__} is not a node of the step normal form.")

    def _atom(self, node: n.Atom, k: int) -> Bool:
        last, kind = self.outline.last, self.outline.kind
        if k <= last:
            return self.atom(node, k)
        if kind == "absorbed":
            return self.atom(node, last)
        if kind == "failed":
            return z3.BoolVal(False)
        if self.beyond is not None:
            return self.beyond(node, k)
        return self._unknown()

    def _unknown(self) -> Bool:
        self.opened = True
        return z3.BoolVal(self.unknown)

    def _absent(self, k: int) -> bool:
        return self.outline.kind == "cut" and k > self.outline.last

    def _places(self, node: n.WindowedUnary | n.WindowedBinary, k: int) -> range:
        """The samples of the window at k; empty where the rules for an empty range apply."""
        lo, hi = int(node.window.lo), node.window.hi
        if isinstance(node, n.Once | n.Historically | n.Since | n.Trigger):
            first = 0 if hi is None else max(0, k - int(hi))
            return range(first, k - lo + 1)
        if hi is not None:
            last = k + int(hi)
            if self.outline.kind == "cut":
                last = min(last, self.outline.last)
            return range(k + lo, last + 1)
        if k + lo > self.outline.end and self.outline.kind == "absorbed":
            return range(k + lo, k + lo + 1)
        return range(k + lo, self.outline.end + 1)

    def _path(self, node: n.WindowedBinary, k: int, places: range) -> range:
        """The samples at which the left side is read."""
        if isinstance(node, n.Since | n.Trigger):
            return range(places.start + 1, k + 1) if len(places) else range(0)
        if self._is_open(node, places):
            return range(k, self.outline.end + 1)
        return range(k, places.stop - 1) if len(places) else range(0)

    def _is_open(self, node: n.WindowedUnary | n.WindowedBinary, places: range) -> bool:
        """Whether the operator could still go on past what was seen."""
        future = isinstance(node, n.Always | n.Eventually | n.Until | n.Release)
        return future and node.window.hi is None and self.outline.open and len(places) > 0

    def _empty(self, node: n.WindowedUnary | n.WindowedBinary) -> Bool:
        """The value over an empty range of samples."""
        universal = isinstance(node, n.Always | n.Release | n.Historically | n.Trigger)
        future = isinstance(node, n.Always | n.Eventually | n.Until | n.Release)
        if not future or self.outline.kind == "cut":
            return z3.BoolVal(universal)
        return z3.BoolVal(False) if self.outline.kind == "failed" else self._unknown()

    def _one_place(self, node: n.WindowedUnary, k: int) -> Bool:
        places = self._places(node, k)
        if not len(places):
            return self._empty(node)
        universal = isinstance(node, n.Always | n.Historically)
        values = [self._known[node.argument, j] for j in places]
        if self._is_open(node, places):
            values.append(self._unknown())
        return _all(values) if universal else _any(values)

    def _two_place(self, node: n.WindowedBinary, k: int) -> Bool:
        """From the far end of the window to k, so that each step adds one connective."""
        places = self._places(node, k)
        if not len(places):
            return self._empty(node)
        strong = isinstance(node, n.Until | n.Since)
        past = isinstance(node, n.Since | n.Trigger)
        path = list(self._path(node, k, places))
        order = sorted({*path, *places}, reverse=not past)
        rest = self._unknown() if self._is_open(node, places) else z3.BoolVal(not strong)
        held = set(path)
        for i in order:
            rest = self._step(node, i, rest, strong, i in places, i in held)
        return rest

    def _samples(self) -> range:
        """The samples that a share of time is of, those that never came left out."""
        return range(self.outline.end + 1)

    def _share(self, node: n.Fraction) -> Bool:
        """Enough samples at which the argument holds, or does not; open ones are `unknown`."""
        end, horizon = self.outline.end, self.outline.horizon
        if self.outline.open and horizon is None:
            return z3.BoolVal(share_holds(node, int(self.unknown != _from_above(node)), 1))
        total = end + 1 if horizon is None or not self.outline.open else horizon + 1
        if _from_above(node):
            other = self if self.opposite is None else self.opposite()
            values = [_not(other.value(node.argument, j)) for j in self._samples()]
        else:
            values = [self._known[node.argument, j] for j in self._samples()]
        values += [z3.BoolVal(self.unknown)] * (total - end - 1)
        return at_least(values, least_count(node, total), plain=self.plain)

    def _step(
        self,
        node: n.WindowedBinary,
        i: int,
        rest: Bool,
        strong: bool,
        in_window: bool,
        on_path: bool,
    ) -> Bool:
        if on_path:
            left = self._known[node.left, i]
            rest = _all([left, rest]) if strong else _any([left, rest])
        if in_window:
            right = self._known[node.right, i]
            rest = _any([right, rest]) if strong else _all([right, rest])
        return rest


def _from_above(share: n.Fraction) -> bool:
    return share.comparison in ("<", "<=")


def least_count(share: n.Fraction, total: int) -> int:
    """At how many of `total` samples the argument must hold (fail, for a share from above).

    By the comparison of binary64 quotients that the monitor makes; total + 1 if no count meets it.
    """
    low, high = 0, total + 1
    while low < high:
        middle = (low + high) // 2
        if share_holds(share, total - middle if _from_above(share) else middle, total):
            high = middle
        else:
            low = middle + 1
    return low


def share_holds(share: n.Fraction, count: int, total: int) -> bool:
    """Whether `count` of `total` samples meet the bound on the share."""
    value = count / total
    match share.comparison:
        case "<":
            return value < share.bound
        case "<=":
            return value <= share.bound
        case ">":
            return value > share.bound
        case ">=":
            return value >= share.bound


_TRUE, _FALSE = z3.BoolVal(True), z3.BoolVal(False)
_TRUE_ID, _FALSE_ID = _TRUE.get_id(), _FALSE.get_id()


def is_true(value: Bool) -> bool:
    """Whether this is the constant; z3 keeps one expression of a kind, so its number tells."""
    return bool(value.get_id() == _TRUE_ID)


def is_false(value: Bool) -> bool:
    """Whether this is the constant."""
    return bool(value.get_id() == _FALSE_ID)


def at_least(values: Iterable[Bool], least: int, *, plain: bool = False) -> Bool:
    """Whether `least` of the Booleans hold; constants are counted at once."""
    free: list[Bool] = []
    for value in values:
        if is_true(value):
            least -= 1
        elif not is_false(value):
            free.append(value)
    if least <= 0 or least > len(free):
        return z3.BoolVal(least <= 0)
    if least == len(free):
        return _all(free)
    if least == 1:
        return _any(free)
    if plain:
        return total([z3.If(each, z3.RealVal(1), z3.RealVal(0)) for each in free]) >= least
    return z3.AtLeast(*free, least)


def _not(value: Bool) -> Bool:
    if is_true(value) or is_false(value):
        return z3.BoolVal(is_false(value))
    return z3.Not(value)


def _all(values: Iterable[Bool]) -> Bool:
    """Conjunction; constants are folded so that what is known stays small."""
    kept: list[Bool] = []
    for value in values:
        if is_false(value):
            return value
        if not is_true(value):
            kept.append(value)
    if len(kept) <= 1:
        return kept[0] if kept else z3.BoolVal(True)
    return _joined(z3.Z3_mk_and, kept)


def _any(values: Iterable[Bool]) -> Bool:
    """Disjunction, folded likewise."""
    kept: list[Bool] = []
    for value in values:
        if is_true(value):
            return value
        if not is_false(value):
            kept.append(value)
    if len(kept) <= 1:
        return kept[0] if kept else z3.BoolVal(False)
    return _joined(z3.Z3_mk_or, kept)


def _joined(make: Any, values: list[Bool]) -> Bool:
    """Many Booleans at once, without the checks of `z3.And` and `z3.Or` for each of them."""
    array = (z3.Ast * len(values))(*(value.as_ast() for value in values))
    context = z3.main_ctx()
    return z3.BoolRef(make(context.ref(), len(values), array), context)
