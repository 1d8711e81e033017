"""Checks a safegym certificate in exact integer arithmetic: this file, and Python 3.11 or newer.

    python checker.py FOLDER [DIGEST]    exits 0 where it proves its statement (of that sha256)

Values are integers in units of 2**-96, slopes and coefficients in units of 2**-40, rounded outward.
docs/reference/certificates.md has the rules. python-flint, if it is there, multiplies faster.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from itertools import compress, pairwise
from operator import add, le, mul
from pathlib import Path
from typing import Any

fmpz_mat: Any = None
with suppress(ImportError):
    fmpz_mat = import_module("flint").fmpz_mat
B, F, ONE, HUGE, PIECES = 96, 40, 1 << 96, 1 << 216, 8  # of an interval, for lines of a curve
PI = 0x3243F6A8885A308D313198A2E03707344A4093822  # floor(pi * 2**160)
BEND = {"tanh": 4 * ONE // 5, "sigmoid": ONE // 10, "sin": ONE, "cos": ONE, "square": 2 * ONE}
UNIT = {"exact": 0, "float32": 24, "float64": 53}
ROUNDINGS = dict(linear=4, cast=1, relu=0, square=1, tanh=8, sigmoid=24, sin=8, cos=8)
NODE = ("bias", "inputs", "kind", "precision", "scale", "weights")
STATEMENT = ("claim", "clauses", "format", "network_sha256", "policy", "region", "semantics")
VERDICT = ("made", "statement", "statement_sha256", "tree_sha256")
FAULTS = ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError
MALFORMED = (*FAULTS, TypeError, ValueError)  # what Python may raise of a file not of the format
Row = Sequence[int]
Rows = Sequence[Row]
State = tuple[Any, ...]  # of a value: forms, slopes and intercepts, each below and above


class Refused(Exception):
    """The certificate does not prove its statement; the message names the fault."""


def need(holds: bool, fault: str) -> None:
    """Raises Refused unless it holds."""
    if not holds:
        raise Refused(fault)


def written(value: Any) -> bytes:
    """The one way in which a certificate writes JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def parts(value: Any, what: str, names: Sequence[str]) -> list[Any]:
    """What an object holds under exactly these names; bytes are read as JSON first."""
    if type(value) is bytes:
        text, value = value, json.loads(value, parse_float=str, parse_constant=str)
        need(written(value) == text, f"{what} is not in canonical form, or holds a decimal or NaN")
    need(type(value) is dict and set(value) == set(names), f"{what} does not have just {names}")
    return [value[name] for name in names]


def whole(rows: Rows, tall: int, wide: int) -> Rows:
    """The rows, if they are a matrix of integers of this size."""
    fits = len(rows) == tall and all(len(row) == wide for row in rows)
    need(fits and {type(x) for row in rows for x in row} <= {int}, "numbers do not fit")
    return rows


def product(rows: Rows, matrix: Any) -> Rows:
    """The rows times a matrix, which is one of python-flint or a list of its columns."""
    if isinstance(matrix, list):
        return [[sum(map(mul, row, each)) for each in matrix] for row in rows]
    return [list(map(int, row)) for row in (fmpz_mat(rows) * matrix).tolist()]


def pick(row: Row, under: Row, over: Row) -> list[int]:
    """Each coefficient times the lower number if it is positive, else times the upper one."""
    return [c * (x if c > 0 else y) for c, x, y in zip(row, under, over, strict=True)]


def series(x: int, order: int, step: int) -> int:
    """The alternating sum of x**k / k!, k = order, order + step, ..., for 0 <= x < 3.2."""
    total, term, sign = 0, x if order else ONE, 1
    while term:
        total, sign = total + sign * term, -sign
        for _ in range(step):
            order += 1
            term = term * x // (order << B)
    return total  # at most 80 terms, each short by less than 4 units: off by less than 400


def curve(kind: str, x: int) -> tuple[int, int]:
    """Encloses a function's value."""
    if kind == "square":
        return x * x >> B, -(-x * x >> B)
    if kind in ("sin", "cos"):
        turns = ((x << 65) + 2 * PI) // (4 * PI)
        x, e = x - (turns * PI >> 63), 500 + abs(turns)
        v = series(abs(x), 0, 2) if kind == "cos" else series(abs(x), 1, 2) * (1 if x > 0 else -1)
        return v - e, v + e
    if kind == "tanh":  # 2 sigmoid(2 x) - 1
        low, high = curve("sigmoid", 2 * x)
        return 2 * low - ONE, 2 * high - ONE
    halvings, low, high = max(0, x.bit_length() - B + 3), 0, 16
    if halvings <= 9:  # exp(-64) is below 2**-92; low <= exp(-|x|) <= high
        low, high = (series(abs(x) >> halvings, 0, 1) + e for e in (-400, 400))
        for _ in range(halvings):
            low, high = low * low >> B, (high * high >> B) + 1
    low, high = ONE * ONE // (ONE + high), ONE * ONE // (ONE + low) + 1
    return (low, high) if x >= 0 else (ONE - high, ONE - low)


def lines(kind: str, low: int, high: int) -> Row:
    """Least and greatest value of an operation; slopes, intercepts of a line below, one above."""
    if kind == "relu" and low < 0 < high:
        slope = -((-high << F) // (high - low))
        return 0, high, (high > -low) << F, slope, 0, -(slope * low >> F)
    if kind not in BEND:  # a cast, or a relu on one side of 0
        slope = (kind == "cast" or low >= 0) << F
        return low if slope else 0, high if slope else 0, slope, slope, 0, 0
    x = sorted({low + (high - low) * k // PIECES for k in range(PIECES + 1)})
    values, half, gaps, found = [curve(kind, at) for at in x], len(x) // 2, [0], list[Row]()
    for (a, (u, _)), (b, (_, v)) in pairwise(zip(x, values, strict=True)):
        gap = (BEND[kind] * (b - a) ** 2 >> 2 * B + 3) + 1  # from the curve to its chord
        gaps.append(min(gap, v - u) if kind in ("tanh", "sigmoid") else gap)
    for sign in (1, -1):  # a line below sign * curve, which is at least y at x
        y, middle = [min(sign * u, sign * v) for u, v in values], low + high >> 1
        pairs = [(i, j) for i in range(half) for j in range(half, len(x))]
        tries = [(i, (y[j] - y[i] << F) // (x[j] - x[i])) for i, j in pairs]
        _, p = min([(y[i] + (p * (middle - x[i]) >> F), p) for i, p in tries], default=(0, 0))
        rest = [v - (p * u >> F) - 1 for u, v in zip(x, y, strict=True)]
        ends = [min(each) for each in pairwise([rest[0], *rest])]
        under = min(u - v for u, v in zip(ends, gaps, strict=True))
        found.append((sign * (min(y) - max(gaps)), sign * p, sign * under))
    (least, p, s), (most, q, t) = found
    return max(least, 0 if kind == "square" else least), most, p, q, s, t


class Node:
    """One operation on earlier values; value 0 is the input, value k is of node k - 1."""

    def __init__(self, record: Any, sizes: Row, deployed: bool) -> None:
        bias, self.inputs, self.kind, unit, scale, weights = parts(record, "a node", NODE)
        known = self.kind in ROUNDINGS and unit in UNIT and type(scale) is int and scale > 0
        need(known, "a node of unknown kind, precision or scale")
        need(all(0 <= x < len(sizes) for x in self.inputs), "an input of a node is no earlier one")
        linear, wide = self.kind == "linear", [sizes[x] for x in self.inputs]
        need(linear or (len(wide) == 1 and bias == weights == []), "inputs of a node do not fit")
        self.size, self.parts = len(bias) if linear else wide[0], list[Any]()
        self.scale: int = scale if linear else 1 << F
        self.unit, self.terms, self.most = UNIT[unit] if deployed else 0, ROUNDINGS[self.kind], 1
        whole([[*bias, *self.inputs]], 1, len(bias) + len(self.inputs))
        self.bias = [(x << B) // scale for x in bias], [-((-x << B) // scale) for x in bias]
        for matrix, n in zip(weights, wide * linear, strict=True):
            own, columns = whole(matrix, self.size, n), [*zip(*matrix, strict=True)]
            all3 = own, columns, [[*map(abs, column)] for column in columns]
            self.parts.append([fmpz_mat(x) if fmpz_mat else [*zip(*x)] for x in all3])  # noqa: B905
            self.terms += max(sum(x != 0 for x in row) for row in matrix)
            self.most = max(self.most, (max(map(max, all3[2])) << B) // scale + 1)
        need(0 < self.size and self.terms < 1 << 20, "a node is empty or has too many weights")

    def state(self, ends: Sequence[State], sides: Row) -> State:
        """From its inputs' states. Forms: bounds, coefficients of x - corner, constants."""
        p, q, (s, t), n = list[int](), list[int](), self.bias, len(sides)
        forms: list[Any] = [[x, *[[0] * self.size] * n, [y << F for y in x]] for x in (s, t)]
        most, size = self.most, [max(-x, y) for x, y in zip(s, t, strict=True)]
        for old, (_, by, largest) in zip(ends, self.parts, strict=bool(self.parts)):
            pairs = list(zip(*old[:2], strict=True))
            m = [max(-x, y) + 1 for x, y in zip(*pairs[0], strict=True)]
            gaps = [[y - x for x, y in zip(*each, strict=True)] for each in pairs]
            middle = product([[*map(add, *each)] for each in pairs], by)
            *reach, bulk = product([*gaps, m], largest)
            for sign, form in zip((1, -1), forms, strict=True):
                for k, each in enumerate(zip(middle, reach, strict=True)):
                    less = [(sign * x - y) // (2 * self.scale) for x, y in zip(*each, strict=True)]
                    form[k] = [x + sign * y for x, y in zip(form[k], less, strict=True)]
            size = [x - (-y // self.scale) for x, y in zip(size, bulk, strict=True)]
            most = max(most, *m)
        if self.kind != "linear":
            most = max(map(abs, (*ends[0][0][0], *ends[0][1][0])))
            found = map(lines, [self.kind] * self.size, ends[0][0][0], ends[0][1][0])
            low, high, p, q, s, t = (list(column) for column in zip(*found, strict=True))
            least = ONE if self.kind in ("sin", "cos", "sigmoid") else 0
            size = [max(-a, b, least) for a, b in zip(low, high, strict=True)]
            for sign, form, slope, more in ((1, forms[0], p, s), (-1, forms[1], q, t)):
                for k, each in enumerate(zip(*ends[0][:2][::sign], strict=True)):
                    form[k] = [sign * (sign * x >> F) for x in pick(slope, *each)]
                form[0] = (low, high)[sign < 0]
                form[-1] = [x + (y << F) for x, y in zip(form[-1], more, strict=True)]
        need(max(*size, most) < HUGE, f"a {self.kind} may overflow")
        near, extra = (1 << self.unit) - self.terms, self.terms * (3 + (most >> 140))
        e = [extra - (-x * self.terms // near) if self.unit else 0 for x in size]  # of rounding
        for sign, form in zip((1, -1), forms, strict=True):
            form[-1] = end = [x - sign * (y << F) for x, y in zip(form[-1], e, strict=True)]
            for side, row in zip(sides, form[1:], strict=False):
                end = [x + sign * side * min(0, sign * c) for x, c in zip(end, row, strict=True)]
            three = zip(form[0], e, end, strict=True)
            form[0] = [sign * max(sign * x - y, sign * z >> F) for x, y, z in three]
        return *forms, p, q, [x - y for x, y in zip(s, e, strict=True)], [*map(add, t, e)]


def margin(net: Sequence[Node], low: Row, high: Row, data: Any, cuts: Rows) -> tuple[int, Row]:
    """A lower bound on a box of a sum of outputs and cuts; coefficients of the input."""
    size, sides = len(low), [y - x for x, y in zip(low, high, strict=True)]
    unit = [[(i == j) << F for i in range(size)] for j in range(size)]
    state: list[State] = [([low, *unit, z := [x << F for x in low]], [high, *unit, z])]
    for node in net:
        state.append(node.state([state[j] for j in node.inputs], sides))
    row, inward, total = [0] * net[-1].size, [0] * size, 0
    for o, f in whole(data[0], len(data[0]), 2):
        need(f > 0 and 0 <= o < len(row), "no such output, or a multiplier is not above 0")
        row[o] += f << F
    for i, f in whole(data[1], len(data[1]), 2):
        need(f > 0 and 0 <= i < len(cuts), "no such cut, or a multiplier is not above 0")
        inward = [x + (f * c << F) for x, c in zip(inward, cuts[i][:-1], strict=True)]
        total -= f * cuts[i][-1] << B + F
    plain = total + sum(pick(row, state[-1][0][0], state[-1][1][0])) + sum(pick(inward, low, high))
    waiting = {0: inward, len(net): row}  # node after node is replaced by its inputs
    for i in (i for i in range(len(net), 0, -1) if i in waiting):
        row, node, (_, _, p, q, s, t) = waiting.pop(i), net[i - 1], state[i]
        total += sum(pick(row, s, t))
        for part, j in enumerate(node.inputs):
            more = product([row], node.parts[part][0])[0] if node.parts else pick(row, p, q)
            lost = [max(0, -x) for x in state[j][0][0]]  # what rounding a coefficient may cost
            total -= sum(compress(lost, [c % node.scale for c in more]))
            down = [c // node.scale for c in more]
            waiting[j] = [*map(add, waiting[j], down)] if j in waiting else down
    return max(plain, total + sum(pick(waiting[0], low, high))), waiting[0]


def step(net: Sequence[Node], text: bytes, cuts: Rows, low: Row, high: Row, clause: Any) -> Any:
    """Checks a line of the tree on its box: gives the two parts of a split, none of a leaf."""
    kind, data = parts(text, "it", ("kind", "data"))
    if kind == "split":
        d, at = whole([data], 1, 2)[0]
        need(0 <= d < len(low) and low[d] < at < high[d], "splits off its box")
        upper, under = ([*side[:d], at, *side[d + 1 :]] for side in (low, high))
        return [(upper, high, clause), (low, under, clause)]  # the last is read first
    need(kind == "sum", f"unknown kind {kind!r}")
    strict, named = dict(clause), [o for o, _ in data[0]]
    need(set(named) <= set(strict), "names an output not in its clause")
    bound, _ = margin(net, low, high, data, cuts)
    need(bound >= all(strict[o] for o in named), f"outputs {named} are not shown positive")
    return []


def prove(folder: Path, expected: str | None) -> dict[str, Any]:
    """The statement that the certificate in a folder proves; raises Refused or a Python error."""
    files = [folder / name for name in ("verdict.json", "network.json", "tree.jsonl")]
    for file in files:
        need(file.is_file() and file.stat().st_size <= 1 << 30, f"no {file.name} of at most 1 GiB")
    texts = [file.read_bytes() for file in files[:2]]
    _, statement, said, tree = parts(texts[0], "verdict.json", VERDICT)
    found = [hashlib.sha256(text).hexdigest() for text in (written(statement), texts[1])]
    need(found[0] == said, "verdict.json: the statement is not the one of its digest")
    need(expected in (None, said, f"sha256:{said}"), f"it proves another statement, {said}")
    claim, clauses, form, network, policy, region, semantics = parts(statement, "it", STATEMENT)
    known = form == "safegym certificate 1" and type(claim) is type(policy) is str
    need(known and semantics in ("real", "deployed float32"), "an unknown format or semantics")
    need(found[1] == network, "network.json is not the network of the statement")
    inputs, records = parts(texts[1], "network.json", ("inputs", "nodes"))
    net = list[Node]()
    for each in records:
        net.append(Node(each, [inputs, *(node.size for node in net)], semantics != "real"))
    cuts, high, low, scale = parts(region, "the region", ("cuts", "high", "low", "scale"))
    whole([*cuts, [*low, scale], [*high, inputs]], len(cuts) + 2, inputs + 1)
    need(scale > 0 and all(map(le, low, high)), "the region is empty")
    box = [(x << B) // scale for x in low], [-((-x << B) // scale) for x in high]
    need(len(clauses) > 0 and len(net) > 0, "the statement says nothing")
    for clause in clauses:
        fine = all((type(o), type(s)) == (int, bool) and 0 <= o < net[-1].size for o, s in clause)
        need(fine and len(dict(clause)) == len(clause) > 0, "a clause does not fit")
    waiting, lines, n = list[Any]((*box, clause) for clause in reversed(clauses)), 0, len(clauses)
    with files[2].open("rb") as own:
        need(hashlib.file_digest(own, "sha256").hexdigest() == tree, "tree.jsonl is another tree")
        own.seek(0)
        while waiting:
            line, lines = own.readline(), lines + 1
            need(line != b"", "tree.jsonl ends before its leaves fill the region")
            try:
                waiting += step(net, line, cuts, *waiting.pop())
            except (Refused, *MALFORMED) as fault:
                raise Refused(f"tree.jsonl line {lines}: {fault}") from None
        need(own.read(1) == b"", "tree.jsonl goes on after its last leaf")
    return dict(statement=statement, statement_sha256=said, lines=lines, leaves=(lines + n) // 2)


def check(folder: str | Path, expected: str | None = None) -> dict[str, Any]:
    """What `prove` gives; raises Refused, with the fault in words, whatever the files hold."""
    try:
        return prove(Path(folder), expected)
    except MALFORMED as fault:
        raise Refused(f"malformed: {type(fault).__name__}: {fault}") from None


if __name__ == "__main__":
    try:
        print(json.dumps(check(*(sys.argv[1:3] or ["."])), indent=1, sort_keys=True))
    except Refused as fault:
        sys.exit(f"refused: {fault}")
