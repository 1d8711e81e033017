"""Slopes and bounds for a line of the tree, found in binary64 and left to the checker to prove."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.certificate import checker
from safegym.check.neural.certificate.checker import B, F, Node
from safegym.check.neural.certificate.quantised import above, below, near, shift_of
from safegym.check.neural.certificate.slopes import CURVES, line

Array = NDArray[np.float64]
State = dict[int, tuple[list[int], ...]]
Box = tuple[Sequence[int], Sequence[int]]
Numbers = dict[int, dict[int, list[int]]]
_UNIT, _SLOPE = float(1 << B), float(1 << F)
_WORTH = 0.02
"""Share of its width by which an interval must shrink for a bound to be written down."""
_MOVED = 0.15
"""Share of its width by which an interval must shrink for its lines to be chosen anew."""
_SLACK = 1e-11
"""Of the size of the terms of a sum: far above what binary64 loses in it."""


class Proposals:
    """Back-substitution in binary64 over the same numbers that the checker has."""

    def __init__(self, net: Sequence[Node], arrays: Sequence[Sequence[Array]]) -> None:
        self.net, self.arrays = net, arrays
        self._held: dict[int, tuple[Any, tuple[Array, ...]]] = {}
        feeding = {node.inputs[0] for node in net if node.kind not in ("input", "linear")}
        self.wanted = {k for k in feeding if net[k].kind == "linear"}

    def improve(
        self, box: Box, state: State, outputs: Sequence[int], cover: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Brings a state to a box with better slopes and bounds; gives the tables of its line.

        cover: the share of what the open lines cost the outputs that new bounds must cover; 1
        tightens every entry, less saves the checker work.
        """
        seen: dict[int, Array] = {}
        if cover < 1.0 and state.keys() >= set(range(len(self.net))):
            unit = np.eye(self.net[-1].size)[list(outputs)]
            self.values(box, state, len(self.net) - 1, unit, seen)
        bounds, slopes = _Bounds(self, box, state, seen, cover), _Slopes(self.net, state)
        checker.tighten(self.net, box, state, bounds, slopes, _believed)
        return bounds.tables, slopes.tables

    def values(
        self, box: Box, state: State, k: int, rows: Array, seen: dict[int, Array] | None = None
    ) -> tuple[Array, Array, Array]:
        """Of rows @ node k: lower bounds, the size of their terms, coefficients of the input.

        seen: is given, for each node, the size of its coefficients.
        """
        width = len(box[0])
        waiting = {k: rows}
        total, size = np.zeros(len(rows)), np.zeros(len(rows))
        inward = np.zeros((len(rows), width))
        for i in range(k, -1, -1):
            if i not in waiting:
                continue
            node, matrix = self.net[i], waiting.pop(i)
            if node.kind == "input":
                inward[:, node.first : node.first + node.size] += matrix
                continue
            _, under, over, rise, climb = self._floats(state, i)
            if seen is not None and node.kind != "linear":
                reach = (np.maximum(-matrix, 0.0) if node.kind == "relu" else np.abs(matrix)).sum(
                    axis=0
                )
                seen[node.inputs[0]] = seen.get(node.inputs[0], 0.0) + reach
            up, down = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
            total += up @ under + down @ over
            size += up @ np.abs(under) - down @ np.abs(over)
            for j in node.inputs:  # what the checker loses by rounding coefficients down
                total -= 1.01 * np.maximum(-self._floats(state, j)[0], 0.0).sum() / _SLOPE
            if node.kind == "linear":
                for j, weights in zip(node.inputs, self.arrays[i], strict=True):
                    _gather(waiting, j, matrix @ weights)
            else:
                _gather(waiting, node.inputs[0], up * rise + down * climb)
        ends = np.array([[x / _UNIT for x in side] for side in box])
        up, down = np.maximum(inward, 0.0), np.minimum(inward, 0.0)
        total += up @ ends[0] + down @ ends[1]
        size += np.abs(inward) @ np.abs(ends).max(axis=0)
        return total, size, inward

    def _floats(self, state: State, k: int) -> tuple[Array, ...]:
        """Lower bounds, intercepts below and above, slopes below and above of a node's lines."""
        held = self._held.get(k)
        if held is None or held[0] is not state[k]:
            low, _, t, g, s, d = state[k]
            pairs = [(t, g, 2.0 * _UNIT), (s, d, 2.0 * _SLOPE)]
            lines = [
                np.array([(x + sign * y) / unit for x, y in zip(both, gap, strict=True)])
                for both, gap, unit in pairs
                for sign in (-1, 1)
            ]
            held = state[k], (np.array([x / _UNIT for x in low]), *lines)
            self._held[k] = held
        return held[1]


def _believed(net: Any, box: Any, state: Any, k: int, rows: Sequence[Any]) -> list[int]:
    """In the place of a proof, which the checker gives later."""
    return [checker.HUGE << F] * len(rows)


class _Bounds:
    """Asked by the checker for each node in turn: bounds better than those by intervals."""

    def __init__(
        self, proposals: Proposals, box: Box, state: State, seen: dict[int, Array], cover: float
    ) -> None:
        self.proposals, self.box, self.state = proposals, box, state
        self.seen, self.cover = seen, cover
        self.tables: dict[str, Any] = {}

    def get(self, k: int, default: Mapping[int, list[int]]) -> Mapping[int, list[int]]:
        if k not in self.proposals.wanted:
            return default
        low, high = (np.array([x / _UNIT for x in side]) for side in self.state[k][:2])
        entries = self._chosen(k, low, high, np.flatnonzero(self._loose(k, low, high)))
        if len(entries) == 0:
            return default
        unit = np.eye(len(low))[entries]
        found, size, _ = self.proposals.values(
            self.box, self.state, k, np.concatenate([unit, -unit])
        )
        found -= _SLACK * size
        least, most = found[: len(entries)], -found[len(entries) :]
        width = high[entries] - low[entries]
        gain = np.maximum(least - low[entries], 0) + np.maximum(high[entries] - most, 0)
        kept = np.flatnonzero(gain > _WORTH * width)
        return self._noted(k, entries[kept], least[kept], most[kept]) if len(kept) else default

    def _chosen(
        self, k: int, low: Array, high: Array, entries: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """The few entries that make up the wanted share of what the open lines cost."""
        if k not in self.seen:
            return entries
        a, b = low[entries], high[entries]
        cost = self.seen[k][entries] * (np.maximum(-a, 0.0) * np.maximum(b, 0.0) / (b - a))
        if {n.kind for n in self.proposals.net if k in n.inputs} - {"relu", "linear"}:
            cost = self.seen[k][entries] * (b - a)
        order = np.argsort(-cost, kind="stable")
        total = np.cumsum(cost[order])
        if len(total) == 0 or total[-1] == 0.0:
            return entries
        count = int(np.searchsorted(total, self.cover * total[-1])) + 1
        return np.sort(entries[order[:count]])

    def _loose(self, k: int, low: Array, high: Array) -> NDArray[np.bool_]:
        kinds = {n.kind for n in self.proposals.net if n.kind != "linear" and k in n.inputs}
        return (low < 0.0) & (high > 0.0) if kinds == {"relu"} else high > low

    def _noted(
        self, k: int, entries: NDArray[np.intp], least: Array, most: Array
    ) -> Mapping[int, list[int]]:
        shift = shift_of([*least.tolist(), *most.tolist()], B - 8)
        lows = [below(float(x), shift) for x in least]
        highs = [above(float(x), shift) for x in most]
        numbers = [int(x) for x in entries]
        self.tables[str(k)] = [shift, numbers, lows, highs]
        pairs = zip(numbers, lows, highs, strict=True)
        return {j: [a << B - shift, b << B - shift] for j, a, b in pairs}


class _Slopes:
    """Asked by the checker for each operation in turn: slopes for the bounds that it now has."""

    def __init__(self, net: Sequence[Node], state: State) -> None:
        self.net, self.state = net, state
        self.tables: dict[str, Any] = {}

    def get(self, k: int, default: Mapping[int, list[int]]) -> Mapping[int, list[int]]:
        node = self.net[k]
        low, high = self.state[node.inputs[0]][:2]
        held = self.state.get(-1 - k)  # the bounds for which the lines were chosen
        lines: dict[int, tuple[float, ...]] = {}
        for j, (a, b) in enumerate(zip(low, high, strict=True)):
            if held is None or self._moved(node.kind, a, b, held[0][j], held[1][j]):
                divisor = float(node.values[j]) if node.values else 1.0
                found = line(node.kind, a / _UNIT, b / _UNIT, divisor)
                if held is not None or any(found):
                    lines[j] = found if node.kind in CURVES else found[:2]
        if held is None:
            self.state[-1 - k] = list(low), list(high)
        elif lines:
            pairs = zip(held, (low, high), strict=True)
            self.state[-1 - k] = tuple(
                [now[j] if j in lines else old[j] for j in range(node.size)] for old, now in pairs
            )
        return self._noted(k, lines) if lines else default

    def _moved(self, kind: str, a: int, b: int, old_a: int, old_b: int) -> bool:
        if kind == "divide" or (kind == "relu" and (old_a >= 0 or old_b <= 0)):
            return False
        settled = kind == "relu" and (a >= 0 or b <= 0)
        return settled or (b - a) < (1.0 - _MOVED) * (old_b - old_a)

    def _noted(self, k: int, lines: dict[int, tuple[float, ...]]) -> Mapping[int, list[int]]:
        columns = list(zip(*lines.values(), strict=True))
        small = min((abs(x) for column in columns for x in column if x), default=1.0)
        shift = 24 if small > 0.01 else F
        whole = [[near(x, shift) for x in column] for column in columns]
        self.tables[str(k)] = [shift, list(lines), *whole]
        rows = zip(lines, *whole, strict=True)
        return {j: [*(x << F - shift for x in row), 0, 0][:4] for j, *row in rows}


def _gather(waiting: dict[int, Array], at: int, rows: Array) -> None:
    waiting[at] = waiting[at] + rows if at in waiting else rows
