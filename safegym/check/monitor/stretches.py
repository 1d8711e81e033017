"""A long episode, worked through in stretches of samples so that what lies between input and result
stays small, whatever the formula.

A stretch reads some samples on either side of it. Unbounded operators carry a running value from
one stretch to the next: past ones in the order of time, future ones against it. Where they are
nested in each other the episode is swept several times: each sweep finds the running values of
operators over those that earlier sweeps found, and the last one the result.
"""

from collections.abc import Mapping

import numpy as np

from safegym.check.monitor.evaluate import Stretch, evaluate
from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.lattice import Lattice, Values
from safegym.check.monitor.plan import Plan
from safegym.check.monitor.preparing import prepared
from safegym.check.monitor.readings import Floats, Unseen
from safegym.check.monitor.strip import take

Edges = dict[int, tuple[Values, Values]]


def in_stretches(
    plan: Plan,
    frame: Frame,
    arrays: Mapping[str, Floats],
    gaps: Unseen,
    lattice: Lattice,
    tiles: list[Span],
) -> tuple[Values, Values]:
    """Returns the root's lower and upper values at samples 0..T, (T+1,); one array if the same.

    tiles: the stretches of wanted samples, in the order of time.
    """
    futures = frozenset(i for i, slot in enumerate(plan.slots) if slot.unbounded_future)
    carried = [futures] * (len(tiles) - 1) + [frozenset[int]()]
    reach = [
        prepared(plan, frame, arrays, gaps, tile, known)[0]
        for tile, known in zip(tiles, carried, strict=True)
    ]
    wanted = _wanted(plan, reach)
    edges: list[Edges] = [{} for _ in tiles]
    turns = turns_of(plan)
    last = max(turns.values(), default=0)
    result = _Result(frame.last + 1, lattice)
    for turn in sorted({*turns.values(), last}):
        only = None if turn == last else _below(plan, [i for i in turns if turns[i] == turn])
        step = 1 if turn % 2 else -1
        for place in range(len(tiles))[::step]:
            tile = tiles[place]
            spans, samples = prepared(plan, frame, arrays, gaps, tile, carried[place])
            stretch = Stretch(edges[place], wanted[place], only)
            found = evaluate(plan, frame, samples, spans, lattice, keep=False, stretch=stretch)
            if 0 <= place + step < len(tiles):
                edges[place + step].update(
                    {i: pair for i, pair in found.edges.items() if turns[i] == turn}
                )
            if turn == last:
                low = take(found.lower[-1], tile.first, tile.last)
                shared = found.upper[-1] is found.lower[-1]
                high = low if shared else take(found.upper[-1], tile.first, tile.last)
                result.put(tile, low, high)
    return result.low, result.high


def turns_of(plan: Plan) -> dict[int, int]:
    """Returns for each unbounded slot in which sweep its running values are found.

    Odd sweeps go with time and are about the past, even ones against it and about the future.
    """
    found: dict[int, int] = {}
    below: list[int] = []
    for index, slot in enumerate(plan.slots):
        turn = max((below[operand] for operand in slot.operands), default=0)
        if slot.hi is None:
            turn = max(turn, 1)
            turn += slot.unbounded_future == bool(turn % 2)
            found[index] = turn
        below.append(turn)
    return found


def _below(plan: Plan, slots: list[int]) -> frozenset[int]:
    """These slots and all that they are made of."""
    found: set[int] = set()
    while slots:
        index = slots.pop()
        if index not in found:
            found.add(index)
            slots.extend(plan.slots[index].operands)
    return frozenset(found)


def _wanted(plan: Plan, spans: list[tuple[Span, ...]]) -> list[dict[int, int]]:
    """For each stretch, the samples whose running values its neighbours ask for."""
    found: list[dict[int, int]] = [{} for _ in spans]
    for index, slot in enumerate(plan.slots):
        if slot.hi is not None:
            continue
        for place in range(len(spans) - 1):
            if slot.unbounded_future:
                found[place + 1][index] = spans[place][index].last + slot.lo + 1
            else:
                found[place][index] = spans[place + 1][index].first - slot.lo - 1
    return found


class _Result:
    """The root's values so far; the upper ones apart only once they differ."""

    def __init__(self, count: int, lattice: Lattice) -> None:
        self.low: Values = np.empty(count, lattice.dtype)
        self.high = self.low
        self.begun = False

    def put(self, tile: Span, low: Values, high: Values) -> None:
        if high is not low and self.high is self.low:
            self.high = self.low.copy() if self.begun else np.empty_like(self.low)
        self.begun = True
        part = slice(tile.first, tile.last + 1)
        self.low[part] = low
        if self.high is not self.low:
            self.high[part] = high
